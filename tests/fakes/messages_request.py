"""Chat requests turned into Messages requests, for tests."""

from typing import Any

from motes.dialects.anthropic_messages import DIALECT
from motes.dialects.base import NO_TRAITS, Traits, UpstreamBody
from motes.intake import parse_request
from motes.quirks import NO_QUIRKS, Quirks

MODEL = "claude-sonnet-4-5"


def sent(
    request: dict[str, Any], model: str = MODEL, quirks: Quirks = NO_QUIRKS, traits: Traits = NO_TRAITS
) -> UpstreamBody:
    return DIALECT.body(parse_request(request), model, quirks, traits)


def body_of(*messages: dict[str, Any], model: str = MODEL) -> dict[str, Any]:
    return sent({"messages": list(messages)}, model).json


def notes_of(messages: list[dict[str, Any]]) -> tuple[str, ...]:
    return sent({"messages": messages}).warnings


def asked(model: str = MODEL, **parameters: Any) -> UpstreamBody:
    """One question with these parameters."""
    return sent({"messages": [user("hi")], **parameters}, model)


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for message in body["messages"] for block in message["content"]]
