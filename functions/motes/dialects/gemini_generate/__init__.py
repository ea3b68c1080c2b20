"""Google's generateContent: Gemini API and Vertex, streamed or whole."""

from typing import Final

from motes.demux.whole import SSEOrWholeDemuxer
from motes.dialects.base import Dialect
from motes.dialects.gemini_generate.parser import GenerateParser
from motes.dialects.gemini_generate.request import body, path

DIALECT: Final = Dialect(
    name="gemini-generate",
    path=path,
    body=body,
    demuxer=SSEOrWholeDemuxer,
    parser=GenerateParser,
)
