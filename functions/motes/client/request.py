"""What a caller of the client asks, as the body that a gateway takes.

Must never change a member of a request but those it was told to.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from motes.errors import InvalidRequest

if TYPE_CHECKING:
    from motes.chat import ChatRequest

Request: TypeAlias = "str | Sequence[Mapping[str, Any]] | Mapping[str, Any] | ChatRequest"
"""A question; or the messages of a conversation; or a whole request in OpenAI's form."""


def body_of(
    request: Request, model: str | None, aliases: Mapping[str, str], *, resumable: bool
) -> dict[str, Any]:
    """The body of a request; `model` goes before the one that it names. Raises InvalidRequest."""
    body = _body(request)
    asked = model or body.get("model")
    if asked is not None:
        body["model"] = aliases.get(asked, asked)
    if resumable:
        body["motes"] = {**(body.get("motes") or {}), "resumable": True}
    return body


def _body(request: Request) -> dict[str, Any]:
    if isinstance(request, str):
        return {"messages": [{"role": "user", "content": request}]}
    if isinstance(request, Mapping):
        return dict(request)
    if isinstance(request, Sequence):
        return {"messages": list(request)}
    if hasattr(request, "model_dump"):
        return request.model_dump(exclude_unset=True, by_alias=True)
    raise InvalidRequest(f"a request is a text, messages or a mapping, not {type(request).__name__}")
