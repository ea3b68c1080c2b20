"""A whole answer laid beside what was told of it: what is left to tell.

For a vendor's snapshot, which has the answer in other pieces than its stream had. Pure. Must never tell a
piece twice: where the two do not fit, the reader is told to begin anew.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from motes import jsontext
from motes import particles as p
from motes.codec import to_wire

_SPOKEN: Final = (p.Text, p.Reasoning, p.Refusal)
_PASSED: Final = (p.Metrics, p.Warn, p.Issue, p.End)


def left_to_tell(told: Sequence[p.Particle] | None, whole: Sequence[p.Particle]) -> list[p.Particle]:
    """What of the whole answer is still to be told; `told` is None where nobody knows what was."""
    whole = [one for one in whole if not isinstance(one, p.Heartbeat | p.RetryReset)]
    if told is not None and (rest := _rest(told, whole)) is not None:
        return rest
    return [_ANEW, *whole]


_ANEW: Final = p.RetryReset(
    scope="srv-op",
    clear="all",
    reason="the vendor's copy of the answer does not continue what was told: it follows whole",
    attempt=1,
    max_attempts=1,
    delay_ms=0,
)


class _Misfit(Exception):
    """The whole is not what was told, and more."""


def _rest(told: Sequence[p.Particle], whole: Sequence[p.Particle]) -> list[p.Particle] | None:
    try:
        return _Told(told).without(whole)
    except _Misfit:
        return None


class _Told:
    """What was told, taken off as it is found in the whole."""

    def __init__(self, told: Iterable[p.Particle]) -> None:
        self._words: dict[type, str] = {}
        self._calls: list[tuple[p.ToolCall, str]] = []
        self._others: Counter[bytes] = Counter()
        for particle in told:
            self._take(particle)

    def _take(self, particle: p.Particle) -> None:
        match particle:
            case p.Text() | p.Reasoning() | p.Refusal():
                self._words[type(particle)] = self._words.get(type(particle), "") + particle.text
            case p.ToolCall():
                self._calls.append((particle, particle.arguments or ""))
            case p.ToolCallArguments():
                at = self._index(particle.id)
                call, arguments = self._calls[at]
                self._calls[at] = (call, arguments + particle.arguments)
            case p.RetryReset() if particle.clear == "all":
                self.__init__(())  # type: ignore[misc]
            case _:
                self._others[_key(particle)] += 1

    def _index(self, id: str | None) -> int:
        found = [at for at, (call, _) in enumerate(self._calls) if id in (None, call.id)]
        if not found:
            raise _Misfit
        return found[-1]

    def without(self, whole: Iterable[p.Particle]) -> list[p.Particle]:
        """The particles of the whole that were not told. Raises _Misfit."""
        out: list[p.Particle] = []
        calls = _joined_calls(whole)
        for particle in calls:
            out += self._left_of(particle)
        if any(self._words.values()) or self._calls:
            raise _Misfit
        return out

    def _left_of(self, particle: p.Particle) -> list[p.Particle]:
        match particle:
            case p.Text() | p.Reasoning() | p.Refusal():
                return self._left_of_words(particle)
            case p.ToolCall() if self._calls:
                return self._left_of_call(particle)
            case p.Metrics() | p.Warn() | p.Issue() | p.End():
                return [particle]
        key = _key(particle)
        if self._others[key] > 0:
            self._others[key] -= 1
            return []
        return [particle]

    def _left_of_words(self, particle: p.Text | p.Reasoning | p.Refusal) -> list[p.Particle]:
        kind = type(particle)
        told, words = self._words.get(kind, ""), particle.text
        if not told:
            return [particle]
        if told.startswith(words):
            self._words[kind] = told[len(words) :]
            return []
        if not words.startswith(told):
            raise _Misfit
        self._words[kind] = ""
        return [kind(words[len(told) :])]

    def _left_of_call(self, call: p.ToolCall) -> list[p.Particle]:
        before, told = self._calls.pop(0)
        arguments = call.arguments or ""
        if (before.id, before.name) != (call.id, call.name) or not arguments.startswith(told):
            raise _Misfit
        rest = arguments[len(told) :]
        return [p.ToolCallArguments(rest, call.id)] if rest else []


def _joined_calls(whole: Iterable[p.Particle]) -> list[p.Particle]:
    """The particles with each call's arguments in its first piece."""
    out: list[p.Particle] = []
    for particle in whole:
        if not isinstance(particle, p.ToolCallArguments):
            out.append(particle)
            continue
        places = [
            at for at, one in enumerate(out) if isinstance(one, p.ToolCall) and particle.id in (None, one.id)
        ]
        if places:
            call = out[places[-1]]
            assert isinstance(call, p.ToolCall)  # noqa: S101 (for the type)
            out[places[-1]] = p.ToolCall(call.id, call.name, (call.arguments or "") + particle.arguments)
    return out


def _key(particle: p.Particle) -> bytes:
    wire: Any = to_wire(particle)
    return jsontext.dump_bytes(wire)
