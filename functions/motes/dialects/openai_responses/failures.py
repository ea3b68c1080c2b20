"""What a failed run says of itself, in every shape this protocol has for it.

Must never call a refusal of the prompt a fault of the server: it would be asked again in vain. Source: OpenAI
API reference, "Responses", `error.code` (read 2026-11-29).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from motes import vendor_errors
from motes.dialects.openai_responses.fields import Json
from motes.errors import RETRYABLE_KINDS, ErrorKind, VendorError

_KIND_OF_CODE: Final[Mapping[str, ErrorKind]] = {
    "invalid_prompt": "content_blocked",
    "bio_policy": "content_blocked",
    "misalignment_policy_violation": "content_blocked",
    "image_content_policy_violation": "content_blocked",
    "data_residency_mismatch": "invalid_request",
    "vector_store_timeout": "timeout",
    "failed_to_download_image": "invalid_request",
    "unsupported_image_media_type": "invalid_request",
    "empty_image_file": "invalid_request",
}
# `image_too_large`, `invalid_base64_image` and their like: all of them name the request's image.
_IMAGE_HEADS: Final = ("image_", "invalid_image", "invalid_base64_image")


def failure_in(body: Json) -> VendorError:
    """The failure an event or a body reports, nested in `error` or beside it."""
    error = body.get("error")
    return _named(vendor_errors.from_body(error if _tells(error) else _bare(body)))


def failure_of(response: Json, event: Json) -> VendorError:
    """Why a run failed: the response says so, or the event does; or nobody does."""
    if _tells(response.get("error")):
        return failure_in(response)
    if _tells(event.get("error")) or event.get("message"):
        return failure_in(event)
    status = "the upstream reported that the run failed, without saying why"
    return VendorError(message=status, kind="server_error", code="failed", retryable=True)


def cancelled() -> VendorError:
    """Somebody stopped the run at the vendor."""
    return VendorError(message="the run was cancelled", kind="server_error", code="cancelled")


def pending(status: str) -> VendorError:
    """The run is not over. Asking again tells more; starting it again would start another one."""
    return VendorError(
        message=f"the run is not over, its status is {status!r}: ask for it again",
        kind="timeout",
        code="pending",
    )


def _tells(error: Any) -> bool:
    return any(error.values()) if isinstance(error, dict) else bool(error)


def _bare(body: Json) -> dict[str, Any]:
    """The members of an error that is not nested; what tells of the run itself is no part of it."""
    words = {name: value for name, value in body.items() if name not in ("response", "output", "error")}
    if not isinstance(words.get("status"), int):
        words.pop("status", None)
    return words


def _named(error: VendorError) -> VendorError:
    """The error with the kind that its code stands for."""
    code = error.code or ""
    kind = _KIND_OF_CODE.get(code)
    if kind is None and code.startswith(_IMAGE_HEADS):
        kind = "invalid_request"
    return error if kind is None else replace(error, kind=kind, retryable=kind in RETRYABLE_KINDS)
