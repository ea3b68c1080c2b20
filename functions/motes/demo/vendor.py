"""The demo vendor's mind: one HTTP request in, one answer out. No socket and no clock.

Must answer every request, also one that makes no sense, as the vendor of its path would.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import count
from typing import Final

from motes import jsontext
from motes.dataclass import dataclass
from motes.demo.chat_wire import ChatWire
from motes.demo.generate_wire import GenerateWire
from motes.demo.messages_wire import MessagesWire
from motes.demo.scripts import SCRIPTS, Beat, Cut, Fail, Pause, Script
from motes.demo.wire import Asked, Refused, Step, Wire

RETRY_AFTER_S: Final = 1
_JSON: Final = "application/json"
_WIRES: Final[tuple[tuple[str, Wire], ...]] = (
    ("/v1/chat/completions", ChatWire()),
    ("/v1/messages", MessagesWire()),
    ("/v1beta/models/", GenerateWire()),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server is to send. `length` is told to the client where the body is one piece."""

    status: int
    steps: Iterator[Step]
    content_type: str = _JSON
    length: int | None = None
    headers: dict[str, str] = field(default_factory=dict)


class DemoVendor:
    """Answers requests; remembers only how many there were and whom it told to come back."""

    def __init__(self) -> None:
        self._serials = count(1)
        self._waiting: set[tuple[str, str]] = set()

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes, created: int) -> Answer:
        """The answer to one request. Header names are lower case; `created` is in epoch seconds."""
        path = target.partition("?")[0]
        prefix, wire = next((row for row in _WIRES if path.startswith(row[0])), _WIRES[0])
        try:
            if method != "POST" or not path.startswith(prefix):
                raise Refused(404, "not_found", f"no such resource: {method} {path[:80]}")
            asked = wire.read(target, headers, body)
            script = self._script(asked, prefix)
            named = replace(asked, serial=next(self._serials), created=created)
            return _answered(wire, named, script.about(asked.question, asked.tools, asked.result))
        except Refused as refused:
            return _refusal(wire, refused)

    def _script(self, asked: Asked, prefix: str) -> Script:
        script = SCRIPTS.get(asked.model)
        if script is None:
            known = ", ".join(SCRIPTS)
            raise Refused(404, "model_not_found", f"no model {asked.model[:80]!r} here; there are {known}")
        place = (prefix, asked.model)
        if script.refuses_first and place not in self._waiting:
            self._waiting.add(place)
            raise Refused(429, "rate_limit_exceeded", "Rate limit reached. Please try again in 1s.")
        self._waiting.discard(place)
        return script


def _answered(wire: Wire, asked: Asked, beats: Sequence[Beat]) -> Answer:
    if asked.stream:
        content_type = _JSON if asked.as_array else wire.stream_type
        return Answer(status=200, steps=wire.stream(asked, beats), content_type=content_type)
    if any(isinstance(beat, Fail) for beat in beats):
        raise wire.overloaded
    body = jsontext.dump_bytes(wire.whole(asked, beats))
    return Answer(status=200, steps=_at_once(body, beats), length=len(body))


def _at_once(body: bytes, beats: Sequence[Beat]) -> Iterator[Step]:
    """A whole body after all its pauses; a script that is cut breaks in the middle of it."""
    seconds = sum(beat.seconds for beat in beats if isinstance(beat, Pause))
    if seconds:
        yield Pause(seconds)
    if any(isinstance(beat, Cut) for beat in beats):
        yield body[: len(body) // 2]
        yield Cut()
    else:
        yield body


def _refusal(wire: Wire, refused: Refused) -> Answer:
    body = jsontext.dump_bytes(wire.refusal(refused))
    headers = {"retry-after": str(RETRY_AFTER_S)} if refused.status == 429 else {}
    return Answer(status=refused.status, steps=iter((body,)), length=len(body), headers=headers)
