"""The shape of a recorded answer, without what the model said: what can change at a vendor, and be told.

Which events there are and in which order, which members each has and of which types, with which words an
answer ends, and where its usage lies. Pure. Must never look at the values of texts, ids or counts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from motes import jsontext
from motes.cli.reading import Reading
from motes.cli.recording import Recording
from motes.dataclass import dataclass
from motes.demux.base import MAX_EVENT_BYTES, WireEvent

NAMELESS: Final = "(event)"
_THEN: Final = " > "
_DEPTH: Final = 40
_WORD_CHARS: Final = 24
# Signs of life: they come whenever nothing else does.
_IDLE: Final = frozenset({"ping", "keepalive", "heartbeat"})
_FINISH: Final = frozenset(
    {"finish_reason", "native_finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason"}
)
# Runs that are kept have a status in the place of a finish reason.
_RUNS: Final = frozenset({"response", "interaction"})
_RUNNING: Final = frozenset({"in_progress", "queued"})
_EMPTY: Final[tuple[object, ...]] = (None, "", [], {})
_NAMED: Final = 3

Fields = Mapping[tuple[str, str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Sort:
    """One sort of event."""

    name: str
    said: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """`fields`: the types at each (event, path). `events`: their names. `order`: what sorts of events there
    are, by first appearance: a sort is a name and what is said beyond what every event of that name says.
    `words`: how it ends. `usage`: where that is told.
    """

    status: int
    fields: Fields
    events: frozenset[str]
    order: tuple["Sort", ...]
    words: frozenset[str]
    usage: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: what sort of thing, which one, how it was recorded, how it is now."""

    what: str
    which: str
    was: str
    now: str


def structure_of(recording: Recording, reading: Reading) -> Structure:
    """The shape of a recording."""
    seen = _Seen()
    for event in _events(recording, reading):
        seen.add(event)
    return Structure(
        status=recording.status,
        fields={place: frozenset(types) for place, types in seen.fields.items()},
        events=frozenset(name for name, _ in seen.said) - _IDLE,
        order=_order(seen.said),
        words=frozenset(seen.words),
        usage=tuple(sorted(seen.usages())),
    )


def changes(was: Structure, now: Structure) -> list[Change]:
    """Everything that differs."""
    found = [Change("status", "HTTP", str(was.status), str(now.status))] if was.status != now.status else []
    found += _events_changed(was, now)
    found += _fields_changed(was.fields, now.fields)
    found += _set_changed("finish word", was.words, now.words)
    found += _set_changed("usage", frozenset(was.usage), frozenset(now.usage))
    return found


def _order(said: list[tuple[str, frozenset[str]]]) -> tuple[Sort, ...]:
    always: dict[str, frozenset[str]] = {}
    for name, paths in said:
        always[name] = always.get(name, paths) & paths
    return tuple(dict.fromkeys(Sort(name, paths - always[name]) for name, paths in said if name not in _IDLE))


def _events_changed(was: Structure, now: Structure) -> Iterator[Change]:
    yield from _set_changed("event", was.events, now.events)
    both = was.events & now.events
    before, after = (tuple(sort for sort in one.order if sort.name in both) for one in (was, now))
    if before != after:
        yield Change("order", "events", _shown(before), _shown(after))


def _shown(order: tuple[Sort, ...]) -> str:
    """The sorts in a few words: what most of them say tells none apart."""
    counts = Counter((sort.name, path) for sort in order for path in sort.said)
    sorts = Counter(sort.name for sort in order)
    words = []
    for sort in order:
        rare = [path for path in sort.said if counts[sort.name, path] * 2 <= max(sorts[sort.name], 2)]
        members = sorted({path.rpartition(".")[2] for path in rare})
        shown = "+".join(members[:_NAMED]) + ("+…" if len(members) > _NAMED else "")
        name = "" if sort.name == NAMELESS and shown else sort.name
        words.append(" ".join(part for part in (name, shown) if part))
    return _THEN.join(words)


def _fields_changed(was: Fields, now: Fields) -> Iterator[Change]:
    events = {event for event, _ in was} & {event for event, _ in now}
    for event, path in sorted(was.keys() | now.keys()):
        place = (event, path)
        if event not in events or was.get(place) == now.get(place):
            continue
        parent = (event, _parent(path))
        # A member that came or went with what it is part of is told by that.
        if (place in was) != (place in now) and path and (parent in was) != (parent in now):
            continue
        yield Change("field", f"{event} {path or '(whole)'}", _types(was.get(place)), _types(now.get(place)))


def _parent(path: str) -> str:
    return path[:-2] if path.endswith("[]") else path.rpartition(".")[0]


def _types(types: frozenset[str] | None) -> str:
    return "-" if types is None else "|".join(sorted(types))


def _set_changed(what: str, was: frozenset[str], now: frozenset[str]) -> Iterator[Change]:
    for one in sorted(was ^ now):
        yield Change(what, one, "there" if one in was else "-", "there" if one in now else "-")


class _Seen:
    """What was seen of the events so far."""

    def __init__(self) -> None:
        self.fields: dict[tuple[str, str], set[str]] = {}
        self.said: list[tuple[str, frozenset[str]]] = []
        self.words: set[str] = set()
        self._at = 0
        self._finish: int | None = None
        self._usage: dict[str, int] = {}

    def add(self, event: WireEvent) -> None:
        """The next event."""
        try:
            value = jsontext.loads(event.data)
        except ValueError:
            # A mark such as [DONE], or something broken.
            name, value = event.data.strip()[:_WORD_CHARS], None
        else:
            name = _name_of(event, value)
        self._at += 1
        told = set[str]()
        if value is not None:
            self._look(name, "", value, told)
        self.said.append((name, frozenset(told)))

    def usages(self) -> Iterator[str]:
        """Where usage lies, and whether that is before, with or after the finish."""
        for place, at in self._usage.items():
            if self._finish is None:
                yield f"{place}, without a finish"
            else:
                when = "before" if at < self._finish else "after" if at > self._finish else "with"
                yield f"{place}, {when} the finish"

    def _look(self, name: str, path: str, value: Any, told: set[str]) -> None:
        """Note a value and all below it; `told` gets the paths that say something."""
        self.fields.setdefault((name, path), set()).add(_type_of(value))
        if path.count(".") + path.count("[]") >= _DEPTH:
            return
        if isinstance(value, dict):
            for key, item in value.items():
                below = f"{path}.{key}" if path else key
                self._note(key, f"{name} {below}", item, value)
                self._look(name, below, item, told)
        elif isinstance(value, list):
            for item in value:
                self._look(name, f"{path}[]", item, told)
        elif value not in _EMPTY:
            told.add(path)

    def _note(self, key: str, place: str, value: Any, parent: Mapping[str, Any]) -> None:
        is_finish = key in _FINISH or (key == "status" and parent.get("object") in _RUNS)
        if is_finish and isinstance(value, str) and value:
            self.words.add(f"{place} = {value[:_WORD_CHARS]}")
            if value not in _RUNNING:
                self._finish = self._at
        if value is not None and (key.lower().startswith("usage") or key.endswith("eval_count")):
            self._usage.setdefault(place, self._at)


def _name_of(event: WireEvent, value: Any) -> str:
    if event.name:
        return event.name
    members = value if isinstance(value, dict) else {}
    told = members.get("type") or members.get("event_type")
    return told if isinstance(told, str) else NAMELESS


def _type_of(value: Any) -> str:
    return _TYPES.get(type(value), "null")


_TYPES: Final[Mapping[type, str]] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    dict: "object",
    list: "list",
}


def _events(recording: Recording, reading: Reading) -> Iterable[WireEvent]:
    demuxer = reading.dialect.demuxer(MAX_EVENT_BYTES)
    yield from demuxer.feed(recording.body)
    yield from demuxer.close()
