"""Why an answer ended, in OpenAI's closed set of words.

Pure, and the only place that knows the mapping. Must never pass a vendor's own word on: typed clients
break on a value they do not know.
"""

from typing import Final, Literal

from motes import particles as p

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]

_FINISH: Final[dict[p.StopReason, FinishReason]] = {
    "ok": "stop",
    "ok-tool_invocations": "tool_calls",
    "cg-issue": "stop",
    "filter-content": "content_filter",
    "filter-recitation": "content_filter",
    "filter-refusal": "content_filter",
    "out-of-tokens": "length",
}


def finish_reason(end: p.End, refused: bool) -> FinishReason | None:
    """The word for an end; None where the run failed or was cut and there is none.

    `refused`: refusal text was shown. A refusal the reader can see is an ordinary stop, as OpenAI has it;
    one without a word of explanation is a filter.
    """
    if end.stop is None or end.reason not in ("done-dialect", "done-dispatch-closed"):
        return None
    if end.stop == "filter-refusal" and refused:
        return "stop"
    return _FINISH[end.stop]
