"""Google's Interactions API: models and agents, streamed or whole, kept at the vendor or not."""

from typing import Final

from motes.demux.sse import sse_or_whole
from motes.dialects.base import Dialect
from motes.dialects.gemini_interactions.parser import InteractionsParser
from motes.dialects.gemini_interactions.request import body, path
from motes.dialects.gemini_interactions.runs import STORED_RUNS

DIALECT: Final = Dialect(
    name="gemini-interactions",
    path=path,
    body=body,
    demuxer=sse_or_whole,
    parser=InteractionsParser,
    # The revision whose events are steps; without it the vendor decides.
    headers={"api-revision": "2026-05-20"},
    stored_runs=STORED_RUNS,
)
