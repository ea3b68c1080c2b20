"""Requests to chat-completions upstreams in the making, for tests: a caller's members in, a body out."""

from dataclasses import replace
from typing import Any

from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.openai_chat import DIALECT
from motes.intake import parse_request
from motes.model_rules import of_model
from motes.normaliser import prepared
from motes.quirks import Quirks
from motes.vendors.catalogue import speaking
from motes.vendors.table import VENDORS
from motes.vendors.vendor import Vendor

USER = {"role": "user", "content": "hi"}
COMPATIBLE = "openai-compatible"
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


def build(
    vendor: str | Quirks = COMPATIBLE, model: str = "m", reasons: bool | None = None, **members: Any
) -> UpstreamBody:
    quirks = of_model(vendor if isinstance(vendor, Quirks) else _of_chat(VENDORS[vendor]), model)
    request, changes = prepared(parse_request({"messages": [USER], **members}), quirks)
    out = DIALECT.body(request, model, quirks, Traits(reasoning=reasons))
    return replace(out, warnings=(*changes, *out.warnings))


def _of_chat(row: Vendor) -> Quirks:
    """What a vendor differs in where it chats; there, or in general, where it does not."""
    spoken = {surface.dialect for surface in row.surfaces}
    return (speaking(row, DIALECT.name) if DIALECT.name in spoken else row).quirks


def sent(*args: Any, **members: Any) -> dict[str, Any]:
    return build(*args, **members).json


def messages(*raw: dict[str, Any], vendor: str | Quirks = COMPATIBLE, **members: Any) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = sent(vendor, messages=list(raw), **members)["messages"]
    return out


def told(out: UpstreamBody) -> str:
    return "\n".join(out.warnings)


def turn(*ids: str, **members: Any) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **members}


def result(id: str, content: Any = "r", **members: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content, **members}
