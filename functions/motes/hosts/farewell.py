"""How a response ends that the app could not end by itself: its last words, in the language it was speaking.

The app ends its streams in good order as long as it can; this is for a bug in it, for a host that is told to
stop, and for the last moment before the platform's kill. Must never look like success, and never tell what
went wrong inside.
"""

from typing import Any, Final

from motes import jsontext
from motes import particles as p
from motes.codec import to_wire
from motes.dataclass import dataclass
from motes.egress.failure import error_object
from motes.egress.openai_chat import DONE
from motes.errors import VendorError

_END: Final = p.End("issue-dispatch-rpc")


@dataclass(frozen=True, slots=True)
class Ending:
    """Why it ends: the status where none is out yet, the error, and the name the platform is told."""

    status: int
    error: VendorError
    type: str

    @property
    def json(self) -> bytes:
        """The body of an answer that had not begun."""
        return jsontext.dump_bytes(self._object)

    def last_words(self, path: str, content_type: str) -> bytes:
        """The end of a stream; nothing where its language has no words for it."""
        if "application/x-ndjson" in content_type:
            return b"".join(particle + b"\n" for particle in self._particles)
        if "text/event-stream" not in content_type:
            return b""
        if path.endswith("/particles"):
            return b"".join(_event(particle) for particle in self._particles)
        return _event(self.json) + DONE

    @property
    def _issue(self) -> p.Issue:
        return p.Issue("dispatch-read", self.error.message, self.error)

    @property
    def _object(self) -> dict[str, Any]:
        """The egress has words for a vendor's failures; this one is ours, and so is its code."""
        error = error_object(self._issue)["error"]
        return {"error": {**error, "code": self.error.code}}

    @property
    def _particles(self) -> tuple[bytes, bytes]:
        return jsontext.dump_bytes(to_wire(self._issue)), jsontext.dump_bytes(to_wire(_END))


def bug(request_id: str) -> Ending:
    """The app raised, or left without an answer."""
    message = f"the gateway failed; its log says more under request id {request_id}"
    error = VendorError(message=message, kind="server_error", code="internal_error")
    return Ending(500, error, "Motes.InternalError")


def too_late() -> Ending:
    """The platform is about to cut it."""
    message = "the time limit of this gateway ended the request"
    error = VendorError(message=message, kind="timeout", code="platform_deadline", retryable=True)
    return Ending(504, error, "Motes.PlatformDeadline")


def stopping() -> Ending:
    """The host was told to stop."""
    message = "this part of the gateway is shutting down; ask again"
    error = VendorError(message=message, kind="overloaded", code="gateway_stopping", retryable=True)
    return Ending(503, error, "Motes.Stopping")


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"
