"""Which item an event means, and every item of one answer.

An item is found by its id, else by its place in the output, else it is begun here: servers leave out
announcements, ids and indexes, and some change ids on the way. Must never tell an item twice because its last
form came under another id.
"""

from collections.abc import Iterable
from typing import Final, TypeVar

from motes.dialects.openai_responses.answer import Answer
from motes.dialects.openai_responses.calls import Called, CallItem
from motes.dialects.openai_responses.fields import Json, inner, place, text
from motes.dialects.openai_responses.hosted import RESULTS, TOOLS, HostedItem, ResultItem, hosted
from motes.dialects.openai_responses.items import Item, SpokenItem
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt

_SPOKEN: Final = frozenset({"message", "reasoning"})
_CLIENTS: Final = frozenset({"function_call", "custom_tool_call"})
_I = TypeVar("_I", bound=Item)


class UnknownItem(Item):
    """An item of a type that is not known yet; it says nothing."""


class Items:
    """The items of one answer."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._all: list[Item] = []
        self._by_id: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}

    @property
    def has_whole_message(self) -> bool:
        """Whether a message came that the vendor called completed."""
        return any(isinstance(item, SpokenItem) and item.whole for item in self._all)

    def begin(self, event: Json, out: Emitter) -> None:
        """An item is announced."""
        raw = inner(event, "item")
        item = self._by_id.get(text(raw, "id"))
        if item is None:
            item = self._new(text(raw, "type"), raw, event, out)
        item.add(raw, out)

    def finish(self, event: Json, out: Emitter) -> None:
        """An item is whole."""
        raw = inner(event, "item")
        kind = text(raw, "type")
        item = self._by_id.get(text(raw, "id")) or self._placed(event, self._class_of(kind))
        if item is None:
            item = self._new(kind, raw, event, out)
        item.finish(raw, out)

    def spoken(self, event: Json, out: Emitter) -> SpokenItem:
        """The message or reasoning item an event means."""
        return self._found(SpokenItem, "message", event, out)

    def call(self, kind: str, event: Json, out: Emitter) -> Called:
        """The call an event means: a client's, or one the vendor runs."""
        found = self._by_id.get(text(event, "item_id"))
        if isinstance(found, Called):
            return found
        if kind in _CLIENTS:
            return self._found(CallItem, kind, event, out)
        return self._found(HostedItem, kind, event, out)

    def settle(self, output: Iterable[Json], out: Emitter) -> None:
        """The final list of items: what of it was not told yet is told now. Then every item is closed."""
        rows = list(output)
        claimed = {id(item): item for row in rows if (item := self._by_id.get(text(row, "id"))) is not None}
        for row in rows:
            kind = text(row, "type")
            item = self._by_id.get(text(row, "id")) or self._unclaimed(self._class_of(kind), claimed)
            if item is None:
                item = self._new(kind, row, {}, out)
            claimed[id(item)] = item
            item.finish(row, out)
        for item in self._all:
            item.close(out)

    def _unclaimed(self, wanted: type[_I], claimed: dict[int, Item]) -> _I | None:
        """The first item of that kind that no row of the final list names."""
        if wanted is UnknownItem:
            return None
        return next((i for i in self._all if isinstance(i, wanted) and id(i) not in claimed), None)

    def _found(self, wanted: type[_I], kind: str, event: Json, out: Emitter) -> _I:
        found = self._by_id.get(text(event, "item_id"))
        if isinstance(found, wanted):
            return found
        placed = self._placed(event, wanted)
        if placed is not None:
            return placed
        if not text(event, "item_id") and place(event, "output_index") is None:
            latest = next((i for i in reversed(self._all) if isinstance(i, wanted)), None)
            if latest is not None:
                return latest
        out.warn("implicit_item", "an event without its output_item.added began an item")
        made = self._new(kind, {"id": event.get("item_id")}, event, out)
        assert isinstance(made, wanted)  # noqa: S101 (each caller names a kind of its class)
        return made

    def _placed(self, event: Json, wanted: type[_I]) -> _I | None:
        index = place(event, "output_index")
        item = None if index is None else self._by_index.get(index)
        return item if isinstance(item, wanted) else None

    def _new(self, kind: str, raw: Json, event: Json, out: Emitter) -> Item:
        item = self._made(kind, raw, out)
        item.id = text(raw, "id") or (f"{kind}_{len(self._all)}" if isinstance(item, HostedItem) else "")
        item.call_id = text(raw, "call_id")
        call = self._caller(item.call_id) if isinstance(item, ResultItem) else None
        if call is not None and isinstance(item, ResultItem):
            item.follow(call)
        self._all.append(item)
        if text(raw, "id"):
            self._by_id[text(raw, "id")] = item
        index = place(event, "output_index")
        if index is not None:
            self._by_index[index] = item
        return item

    def _caller(self, call_id: str) -> HostedItem | None:
        """The call whose result another item is."""
        calls = (item for item in self._all if isinstance(item, HostedItem))
        return next((item for item in calls if call_id and item.call_id == call_id), None)

    def _made(self, kind: str, raw: Json, out: Emitter) -> Item:
        if kind in _SPOKEN:
            return SpokenItem(self._answer)
        if kind == "function_call":
            return CallItem(self._answer)
        if kind == "custom_tool_call" and not self._is_hosted(raw):
            return CallItem(self._answer, "input")
        if kind in TOOLS or kind in RESULTS:
            return hosted(self._answer, kind)
        out.warn("unknown_item", f"an output item of type {excerpt(kind, 40)!r} was skipped")
        return UnknownItem(self._answer)

    def _is_hosted(self, raw: Json) -> bool:
        """Whether a free-form call is one the vendor makes itself, by its name or its id."""
        names = (text(raw, "name"), text(raw, "call_id"))
        return any(name.startswith(prefix) for name in names for prefix in self._answer.hosted_prefixes)

    def _class_of(self, kind: str) -> type[Item]:
        if kind in _SPOKEN:
            return SpokenItem
        if kind in _CLIENTS:
            return CallItem
        return HostedItem if kind in TOOLS or kind in RESULTS else UnknownItem
