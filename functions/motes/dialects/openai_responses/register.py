"""Which item an event means, and every item of one answer.

An item is found by its id, else by its place in the output, else it is begun here: servers leave out
announcements, ids and indexes, and some change ids on the way. Must never tell an item twice because its last
form came under another id.
"""

from collections.abc import Sequence
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
        item = self._by_id.get(text(raw, "id")) or self._placed(event, self._class_of(kind, raw))
        if item is None:
            item = self._new(kind, raw, event, out)
        item.finish(raw, out)

    def spoken(self, event: Json, out: Emitter, *, kind: str = "message") -> SpokenItem:
        """The message or reasoning item an event means; `kind` is what it is if nobody announced it."""
        return self._found(SpokenItem, kind, event, out)

    def call(self, kind: str, event: Json, out: Emitter) -> Called:
        """The call an event means: a client's, or one the vendor runs."""
        found = self._by_id.get(text(event, "item_id"))
        if isinstance(found, Called):
            return found
        if kind in _CLIENTS:
            return self._found(CallItem, kind, event, out)
        return self._found(HostedItem, kind, event, out)

    def settle(self, output: Sequence[Json], out: Emitter) -> None:
        """The final list of items: what of it was not told yet is told now. Then every item is closed."""
        known = [self._known(row) for row in output]
        claimed = {id(item) for item in known if item is not None}
        for row, found in zip(output, known, strict=True):
            kind = text(row, "type")
            item = found or self._unclaimed(kind, self._class_of(kind, row), claimed)
            if item is None:
                item = self._new(kind, row, {}, out)
            claimed.add(id(item))
            item.finish(row, out)
        for item in self._all:
            item.close(out)

    def _known(self, row: Json) -> Item | None:
        """The item that a row of the final list names by its id, or by the id its result will have."""
        found = self._by_id.get(text(row, "id"))
        call_id, kind = text(row, "call_id"), text(row, "type")
        if found is not None or not call_id:
            return found
        return next((item for item in self._all if (item.kind, item.call_id) == (kind, call_id)), None)

    def _unclaimed(self, kind: str, wanted: type[Item], claimed: set[int]) -> Item | None:
        """The first item of that kind that no row of the final list names."""
        if wanted is UnknownItem:
            return None
        alike = (item for item in self._all if item.kind == kind and isinstance(item, wanted))
        return next((item for item in alike if id(item) not in claimed), None)

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
        item.kind = kind
        item.id = text(raw, "id") or (f"{kind}_{len(self._all)}" if isinstance(item, HostedItem) else "")
        item.call_id = text(raw, "call_id")
        if isinstance(item, ResultItem):
            self._attach(item)
        self._all.append(item)
        if text(raw, "id"):
            self._by_id[text(raw, "id")] = item
        index = place(event, "output_index")
        if index is not None:
            self._by_index[index] = item
        return item

    def _attach(self, result: ResultItem) -> None:
        """Let a result follow its call."""
        calls = (item for item in self._all if isinstance(item, HostedItem) and item.call_id)
        call = next((item for item in calls if item.call_id == result.call_id), None)
        if call is not None:
            result.follow(call)

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

    def _class_of(self, kind: str, raw: Json) -> type[Item]:
        if kind in _SPOKEN:
            return SpokenItem
        if kind in _CLIENTS and not self._is_hosted(raw):
            return CallItem
        return HostedItem if kind in TOOLS or kind in RESULTS else UnknownItem
