"""What the client raises, and nothing else does.

A run that fails is no exception: it is a message with an outcome. These are for readers that see nothing but
text, and for questions beside the runs.
"""

from typing import TYPE_CHECKING

from motes.client.line import Broken
from motes.errors import MotesError, RunNotFound, Unauthenticated, VendorError

if TYPE_CHECKING:
    from motes.fragments import Message


class RunFailed(MotesError):
    """An answer that is not whole. `answer` holds what came of it, `error` why there is no more."""

    status_hint = 502
    code = "run_failed"

    def __init__(self, answer: "Message") -> None:
        error = answer.error
        said = error.message if error else f"the run was {answer.outcome or 'left'} before its end"
        super().__init__(said, code=error.code if error else None)
        self.answer = answer
        self.error = error


class GatewayError(MotesError):
    """A question beside the runs that the gateway refused, or that never reached it."""

    status_hint = 502
    code = "gateway_error"

    def __init__(self, error: VendorError) -> None:
        super().__init__(error.message, code=error.code)
        self.error = error


def raised(broken: Broken) -> MotesError:
    """The exception for a question that went wrong."""
    error = broken.error
    if error.http_status == Unauthenticated.status_hint:
        return Unauthenticated(error.message, code=error.code)
    if error.http_status == RunNotFound.status_hint:
        return RunNotFound(error.message, code=error.code)
    return GatewayError(error)
