"""The end of a message: how its run came out, and what that makes of its parts.

The only place that decides completed, aborted or failed. Must never drop what came, but for what was only
there while it was awaited: a preview of an image that is whole now, a handle of a run that is done.
"""

from dataclasses import replace
from typing import Final

from motes import jsontext
from motes import particles as p
from motes.fragments import (
    Fragment,
    MediaFragment,
    Message,
    OperationFragment,
    Outcome,
    ToolCallFragment,
    is_whole,
)

_LIMIT: Final = "out-of-tokens"
_NO_ANSWER: Final = ("cg-issue", "filter-content", "filter-recitation", "filter-refusal")


def finalised(message: Message) -> Message:
    """The same message, decided; a run without an end was cut."""
    end = message.end = message.end or p.End("done-dispatch-closed")
    message.outcome = _outcome(end)
    if message.outcome == "completed":
        message.handle = message.waiting = None
        message.fragments = [fragment for fragment in message.fragments if not is_preview(fragment)]
    for fragment in message.fragments:
        if isinstance(fragment, OperationFragment) and fragment.operation.state is None:
            _close(fragment, is_done=message.outcome == "completed")
        elif isinstance(fragment, ToolCallFragment):
            # The token limit may have cut the last of them.
            fragment.complete = is_whole(end) and (end.stop != _LIMIT or _is_json(fragment.arguments))
    return message


def is_preview(fragment: Fragment) -> bool:
    """Whether it is an image that a later one replaces."""
    return (
        isinstance(fragment, MediaFragment) and isinstance(fragment.media, p.Image) and fragment.media.partial
    )


def _outcome(end: p.End) -> Outcome:
    """Why the model stopped outranks how the stream closed; a filter's word is no answer."""
    if is_whole(end):
        return "failed" if end.stop in _NO_ANSWER else "completed"
    return "aborted" if end.reason == "done-dispatch-aborted" else "failed"


def _close(fragment: OperationFragment, *, is_done: bool) -> None:
    """Mark an operation whose end never came."""
    fragment.operation = replace(fragment.operation, state="done" if is_done else "error")
    fragment.interrupted = not is_done


def _is_json(text: str) -> bool:
    try:
        jsontext.loads(text)
    except ValueError:
        return False
    return True
