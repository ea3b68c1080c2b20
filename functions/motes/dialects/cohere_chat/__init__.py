"""Cohere's Chat API, version 2: typed events that cite their sources."""

from typing import Final

from motes.demux.sse import sse_or_whole
from motes.dialects.base import Dialect
from motes.dialects.cohere_chat.parser import ChatParser
from motes.dialects.cohere_chat.request import body

DIALECT: Final = Dialect(
    name="cohere-chat",
    path=lambda _model: "v2/chat",
    body=body,
    demuxer=sse_or_whole,
    parser=ChatParser,
)
