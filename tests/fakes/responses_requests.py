"""Requests to Responses upstreams in the making, for tests: a caller's members in, a body out."""

from typing import Any

from motes.dialects.base import Traits, UpstreamBody
from motes.dialects.openai_responses import DIALECT
from motes.intake import parse_request
from motes.quirks import Quirks
from motes.vendors.catalogue import speaking
from motes.vendors.table import VENDORS

USER = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


def build(
    vendor: str | Quirks = "openai", model: str = "gpt-6-sol", reasons: bool | None = None, **members: Any
) -> UpstreamBody:
    quirks = vendor if isinstance(vendor, Quirks) else speaking(VENDORS[vendor], DIALECT.name).quirks
    request = parse_request({"messages": [USER], **members})
    return DIALECT.body(request, model, quirks, Traits(reasoning=reasons))


def sent(*args: Any, **members: Any) -> dict[str, Any]:
    return build(*args, **members).json


def items(*messages: dict[str, Any], vendor: str | Quirks = "openai", **members: Any) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = sent(vendor, messages=list(messages), **members)["input"]
    return out


def told(out: UpstreamBody) -> str:
    return "\n".join(out.warnings)


def turn(*ids: str, **members: Any) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **members}


def result(id: str, content: Any = "r", **members: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content, **members}


def said(text: str, **members: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content, **members}


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
