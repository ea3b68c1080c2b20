"""Function calls: whole ones, and those whose arguments Vertex streams piece by piece.

A streamed call is told when it is complete, because its pieces name places in a JSON value and not
characters of a text. Must never give a call twice, and never lose one that stayed open.

Source: Vertex AI reference, FunctionCall and PartialArg (streamFunctionCallArguments), read 2026-11-29.
"""

import re
from dataclasses import field
from typing import Any, Final

from motes import jsontext
from motes import particles as p
from motes.dataclass import dataclass
from motes.dialects.gemini_generate.events import FunctionCall, PartialArg
from motes.dialects.gemini_generate.fields import member, objects, text
from motes.transmitter import Emitter

# RFC 9535 as far as a single place needs it: .name, ['name'], ["name"], [0].
_STEP: Final = re.compile(r"""\.?([^.\[\]'"$]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]""")
_MAX_INDEX: Final = 10_000
_MAX_DEPTH: Final = 64
# Places made for one call; its pieces only name them, so that few bytes could ask for very many.
_MAX_PLACES: Final = 10_000
_VALUES: Final = ("stringValue", "numberValue", "boolValue")

Step = str | int


def signature_state(signature: str) -> p.VendorState:
    """The thought signature of the part before, to be sent back with it unchanged."""
    return p.VendorState("gemini", {"thoughtSignature": signature})


@dataclass(slots=True)
class _Streamed:
    """A call whose arguments are still coming."""

    id: str | None
    name: str
    signature: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    growing: dict[str, list[str]] = field(default_factory=dict)
    """The pieces of each text that goes on, by its place."""
    places: int = 0


class Calls:
    """Reads functionCall parts; one per answer."""

    def __init__(self) -> None:
        self._open: _Streamed | None = None

    def take(self, call: FunctionCall, signature: str, out: Emitter) -> None:
        """One functionCall part, with the signature that came with it."""
        name = text(member(call, "name"))
        partial = member(call, "partialArgs") is not None or member(call, "willContinue") is not None
        if partial or (self._open is not None and not name):
            self._on_piece(call, name, signature, out)
            return
        self.close(out)
        arguments = member(call, "args")
        if not name and not arguments:
            out.warn("empty_function_call", "a function call without name and arguments was skipped")
            return
        _say(text(member(call, "id")) or None, name, _arguments(arguments), signature, out)

    def close(self, out: Emitter) -> None:
        """Give the streamed call that is still open, if any, as far as it came."""
        call, self._open = self._open, None
        if call is not None:
            for path in list(call.growing):
                _settle(call, path)
            _say(call.id, call.name, jsontext.dumps(call.arguments), call.signature, out)

    def _on_piece(self, call: FunctionCall, name: str, signature: str, out: Emitter) -> None:
        if name and self._open is not None and self._open.name:
            self.close(out)
        if self._open is None:
            self._open = _Streamed(text(member(call, "id")) or None, name)
        self._open.name = self._open.name or name
        self._open.signature = signature or self._open.signature
        for piece in objects(member(call, "partialArgs")):
            if not _lay(self._open, piece):
                out.warn("partial_argument", "a piece of a streamed argument has no place and was skipped")
        if member(call, "willContinue") is not True:
            self.close(out)


def _say(id: str | None, name: str, arguments: str, signature: str, out: Emitter) -> None:
    out.tool_call(id, name, arguments)
    if signature:
        out.add(signature_state(signature))


def _arguments(value: object) -> str:
    """The arguments as JSON text; a string that holds an object is taken at its word."""
    if value is None:
        return "{}"
    if isinstance(value, str) and jsontext.as_object(value) is not None:
        return value
    return jsontext.dumps(value)


def _lay(call: _Streamed, piece: PartialArg) -> bool:
    """Put one piece where it belongs; text goes on where the last piece at that place said it would."""
    path = text(member(piece, "jsonPath"))
    steps = _steps(path)
    if not steps:
        return False
    value = next((v for name in _VALUES if (v := member(piece, name)) is not None), None)
    pieces = call.growing.get(path)
    if pieces is not None and isinstance(value, str):
        pieces.append(value)
    else:
        call.growing.pop(path, None)
        if not _set(call, steps, value):
            return False
    if member(piece, "willContinue") is not True:
        _settle(call, path)
    elif path not in call.growing and isinstance(value, str):
        call.growing[path] = [value]
    return True


def _settle(call: _Streamed, path: str) -> None:
    """Put a text that came in pieces where it belongs, once."""
    pieces = call.growing.pop(path, [])
    if len(pieces) > 1:
        _set(call, _steps(path), "".join(pieces))


def _steps(path: str) -> list[Step]:
    found = _STEP.findall(path[: _MAX_DEPTH * 64])
    steps = [int(index[:9]) if index else name or single or double for name, index, single, double in found]
    sane = len(steps) <= _MAX_DEPTH and all(isinstance(s, str) or s <= _MAX_INDEX for s in steps)
    return steps if sane else []


def _set(call: _Streamed, steps: list[Step], value: object) -> bool:
    """Set the value at a place, making what is missing on the way. False where the way is blocked."""
    here: Any = call.arguments
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        missing = _missing(here, step)
        if missing is None or call.places + missing > _MAX_PLACES:
            return False
        _make(here, step, missing)
        call.places += missing
        old = here[step]
        if following is None:
            here[step] = value
        elif old is None:
            here[step] = [] if isinstance(following, int) else {}
        here = here[step]
    return True


def _missing(here: Any, step: Step) -> int | None:
    """How many places this value lacks to have one of that name; None where it cannot have one."""
    if isinstance(step, int):
        return max(0, step + 1 - len(here)) if isinstance(here, list) else None
    return int(step not in here) if isinstance(here, dict) else None


def _make(here: Any, step: Step, missing: int) -> None:
    if isinstance(step, int):
        here.extend([None] * missing)
    else:
        here.setdefault(step, None)
