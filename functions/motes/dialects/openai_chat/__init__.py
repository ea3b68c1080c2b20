"""The chat-completions house: OpenAI's protocol and every vendor that copies it."""

from motes.demux.sse import sse_or_whole
from motes.dialects.base import Dialect
from motes.dialects.openai_chat.parser import ChatParser
from motes.dialects.openai_chat.request import body, path

DIALECT = Dialect(name="openai-chat", path=path, body=body, demuxer=sse_or_whole, parser=ChatParser)
