"""Amazon Bedrock's Converse API: one protocol for the models of many vendors."""

from typing import Final

from motes.demux.eventstream import event_stream_or_whole
from motes.dialects.base import Dialect
from motes.dialects.bedrock_converse.parser import ConverseParser
from motes.dialects.bedrock_converse.request import body, path

DIALECT: Final = Dialect(
    name="bedrock-converse",
    path=path,
    body=body,
    demuxer=event_stream_or_whole,
    parser=ConverseParser,
    # A stream of events where all goes well, JSON where it does not.
    headers={"accept": "application/vnd.amazon.eventstream, application/json"},
    inline_media=True,
)
