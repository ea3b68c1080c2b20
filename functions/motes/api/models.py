"""`GET /v1/models` and `/v1/models/{id}`, in OpenAI's shape or, for a client that speaks it, in Anthropic's.

What a vendor does not tell of a model is left out. Must never fail because a vendor does: one that does not
answer is named in a header, and the others are listed.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from motes import jsontext
from motes.api.auth import authenticate
from motes.api.gateway import Gateway

if TYPE_CHECKING:
    from motes.api.model_lists import Entry, ModelLists

MISSING: Final = "x-motes-models-missing"
"""The header that names the vendors whose list could not be had."""


class Models:
    """The two endpoints."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._created = int(gateway.now())
        self._opened: ModelLists | None = None

    async def list(self, request: Request) -> Response:
        """Every alias, and what every vendor that can be asked lists."""
        await authenticate(request.headers, self._gateway.keys)
        entries, missing = await self._lists().entries()
        headers = {MISSING: ", ".join(missing)} if missing else {}
        if _is_anthropic(request.headers):
            return _json(_anthropic_page([self._anthropic(entry) for entry in entries]), headers)
        return _json({"object": "list", "data": [self._openai(entry) for entry in entries]}, headers)

    async def get(self, request: Request) -> Response:
        """One model, listed or not: a vendor serves whatever name it knows."""
        await authenticate(request.headers, self._gateway.keys)
        entry = await self._lists().entry(request.path_params["id"])
        shape = self._anthropic if _is_anthropic(request.headers) else self._openai
        return _json(shape(entry), {})

    def _lists(self) -> "ModelLists":
        """Made by the first who asks: a process that only chats does not load the readers."""
        from motes.api.model_lists import ModelLists

        if self._opened is None:
            self._opened = ModelLists(self._gateway)
        return self._opened

    def _openai(self, entry: "Entry") -> dict[str, Any]:
        model = entry.model
        able = {"tools": model.tools, "vision": model.vision, "reasoning": model.reasoning}
        told = {
            "name": model.name,
            "context_length": model.context_length,
            "max_output_tokens": model.max_output_tokens,
            "capabilities": {name: value for name, value in able.items() if value is not None} or None,
            "pricing": model.pricing or None,
        }
        return {
            "id": entry.name,
            "object": "model",
            "created": model.created or self._created,
            "owned_by": entry.owner,
        } | {name: value for name, value in told.items() if value is not None}

    def _anthropic(self, entry: "Entry") -> dict[str, Any]:
        model = entry.model
        created = datetime.fromtimestamp(model.created or self._created, UTC)
        told = {"max_input_tokens": model.context_length, "max_tokens": model.max_output_tokens}
        return {
            "type": "model",
            "id": entry.name,
            "display_name": model.name or entry.name,
            "created_at": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
        } | {name: value for name, value in told.items() if value is not None}


def _json(value: dict[str, Any], headers: dict[str, str]) -> Response:
    return Response(jsontext.dump_bytes(value), media_type="application/json", headers=headers)


def _is_anthropic(headers: Headers) -> bool:
    return "anthropic-version" in headers


def _anthropic_page(models: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "data": models,
        "has_more": False,
        "first_id": models[0]["id"] if models else None,
        "last_id": models[-1]["id"] if models else None,
    }
