"""Ollama's native chat: lines of JSON from a local server, or from Ollama's cloud."""

from typing import Final

from motes.demux.jsonl import json_lines_or_whole
from motes.dialects.base import Dialect
from motes.dialects.ollama_chat.parser import ChatParser
from motes.dialects.ollama_chat.request import body

DIALECT: Final = Dialect(
    name="ollama-chat",
    path=lambda _model: "api/chat",
    body=body,
    demuxer=json_lines_or_whole,
    parser=ChatParser,
    headers={"accept": "application/x-ndjson, application/json"},
    inline_media=True,
)
