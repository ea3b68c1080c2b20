"""Google's generateContent: Gemini API and Vertex, streamed or whole."""

from typing import Final

from motes.demux.sse import sse_or_whole
from motes.dialects.base import Dialect
from motes.dialects.gemini_generate.parser import GenerateParser
from motes.dialects.gemini_generate.request import body, path

DIALECT: Final = Dialect(
    name="gemini-generate",
    path=path,
    body=body,
    demuxer=sse_or_whole,
    parser=GenerateParser,
)
