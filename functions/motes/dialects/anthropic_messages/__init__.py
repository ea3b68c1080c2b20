"""Anthropic's Messages API, also as spoken by the hosts and clones of it."""

from typing import Final

from motes.demux.sse import sse_or_whole
from motes.dialects.anthropic_messages.parser import MessagesParser
from motes.dialects.anthropic_messages.request import body
from motes.dialects.base import Dialect

VERSION: Final = "2023-06-01"
"""The version whose sampling parameters older models still take; a newer one refuses them for all."""

DIALECT: Final = Dialect(
    name="anthropic-messages",
    path=lambda _model: "v1/messages",
    body=body,
    demuxer=sse_or_whole,
    parser=MessagesParser,
    headers={"anthropic-version": VERSION},
)
