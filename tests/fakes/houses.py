"""One house at a time, for tests: events in, a message or its particles out; a caller's members in, a body out."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fakes.recordings import merged, message, particles
from motes import particles as p
from motes.dialects.base import Dialect, Traits, UpstreamBody
from motes.fragments import Message
from motes.intake import parse_request
from motes.quirks import NO_QUIRKS, Quirks

USER = {"role": "user", "content": "hi"}


@dataclass(frozen=True)
class House:
    """A dialect, and how one of its streams is written."""

    dialect: Dialect
    before: str = ""
    after: str = "\n"

    def wire(self, *events: Any) -> bytes:
        texts = (event if isinstance(event, str) else json.dumps(event) for event in events)
        return "".join(f"{self.before}{text}{self.after}" for text in texts).encode()

    def run(self, *events: Any, quirks: Quirks = NO_QUIRKS) -> list[p.Particle]:
        return merged(particles(self.dialect, [self.wire(*events)], quirks))

    def read(self, *events: Any, quirks: Quirks = NO_QUIRKS) -> Message:
        return message(self.run(*events, quirks=quirks))

    def whole(self, body: Any, indent: int | None = None) -> Message:
        return message(particles(self.dialect, [json.dumps(body, indent=indent).encode()]))

    def build(
        self, model: str = "m", quirks: Quirks = NO_QUIRKS, reasons: bool | None = None, **members: Any
    ) -> UpstreamBody:
        request = parse_request({"messages": [USER], **members})
        return self.dialect.body(request, model, quirks, Traits(reasoning=reasons))

    def sent(self, *args: Any, **members: Any) -> dict[str, Any]:
        return self.build(*args, **members).json

    def messages(self, *raw: dict[str, Any], **members: Any) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = self.sent(messages=list(raw), **members)["messages"]
        return out


def told(out: UpstreamBody) -> str:
    return "\n".join(out.warnings)


def codes(m: Message) -> list[str]:
    return [warning.code for warning in m.warnings]


def calls(m: Message) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in m.tool_calls]


def of(kind: type, run: Iterable[p.Particle]) -> list[Any]:
    return [particle for particle in run if isinstance(particle, kind)]


def turn(*ids: str, **members: Any) -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": made, **members}


def result(id: str, content: Any = "r", **members: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content, **members}
