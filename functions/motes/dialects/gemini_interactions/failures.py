"""What a run that gave no answer says of itself.

Must never call a run that is still going on a failure that another attempt would mend: starting it again
would start, and bill, another one. Source: google-genai 3.6.1, `ErrorEvent` and `Interaction.errors` (read
2026-11-29).
"""

from dataclasses import replace
from typing import Any

from motes import vendor_errors
from motes.dialects.gemini_interactions.fields import Json, inner, rows, text
from motes.errors import VendorError


def failure_in(error: Json) -> VendorError:
    """The failure an error object tells; its code may be an address whose last segment is the word."""
    body: dict[str, Any] = dict(error)
    code = body.get("code")
    if isinstance(code, str) and "/" in code:
        body["code"] = code.rstrip("/").rpartition("/")[2]
    return vendor_errors.from_body(body)


def failure_of(run: Json, step: Json) -> VendorError:
    """Why a run failed: it says so itself, or the step that failed does; or nobody does."""
    told = next((error for error in [*rows(run, "errors"), inner(run, "error"), step] if tells(error)), None)
    if told is not None:
        return failure_in(told)
    words = "the upstream reported that the run failed, without saying why"
    return VendorError(message=words, kind="server_error", code="failed", retryable=True)


def tells(error: Json) -> bool:
    """Whether an error object says anything; an empty one is no failure."""
    return any(error.get(name) not in (None, "", {}, []) for name in ("code", "message", "status"))


def cancelled() -> VendorError:
    """Somebody stopped the run at the vendor."""
    return VendorError(message="the run was cancelled", kind="server_error", code="cancelled")


def pending(status: str, run: Json) -> VendorError:
    """The run is not over: asking for it again tells more. Since when it has been at work, and how far it
    came, is in the details, by which a run that is stuck can be told from a slow one.
    """
    since = {name: value for name in ("created", "updated") if (value := text(run, name))}
    return VendorError(
        message=f"the run is not over, its status is {status!r}: ask for it again",
        kind="timeout",
        code="pending",
        details={"status": status, "steps": len(rows(run, "steps", "outputs")), **since},
    )


def waiting() -> VendorError:
    """The run waits for an action, and named no call that would be it."""
    words = "the run waits for an action of the caller, and does not say which"
    return VendorError(message=words, kind="invalid_request", code="requires_action")


def final(error: VendorError) -> VendorError:
    """The same, not to be tried again: the run is kept at the vendor, and another would be billed anew."""
    return replace(error, retryable=False)
