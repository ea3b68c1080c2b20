"""OpenAI's Responses API, also as spoken by Azure, xAI, OpenRouter, Sakana and the hosts that copy it."""

from typing import Final

from motes.demux.sse import sse_or_whole
from motes.dialects.base import Dialect
from motes.dialects.openai_responses.parser import ResponsesParser
from motes.dialects.openai_responses.request import body, path
from motes.dialects.openai_responses.runs import STORED_RUNS

DIALECT: Final = Dialect(
    name="openai-responses",
    path=path,
    body=body,
    demuxer=sse_or_whole,
    parser=ResponsesParser,
    stored_runs=STORED_RUNS,
)
