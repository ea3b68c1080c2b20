"""What `motes.dataclass` makes behaves as what the standard library makes."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, is_dataclass, replace
from typing import Any, Generic, TypeVar

import pytest

from motes.dataclass import changer, dataclass, known_of, maker, members_of
from motes.dataclass import replace as quickly_replaced

T = TypeVar("T")


def counted() -> int:
    """A factory."""
    return 7


def point() -> type:
    """Fields of every kind."""

    class Point:
        """A point."""

        x: int
        secret: str = field(repr=False)
        y: int = 2
        tags: list[str] = field(default_factory=list, metadata={"key": "t"})

        @property
        def both(self) -> int:
            return self.x + self.y

    return Point


def empty() -> type:
    """No field at all."""

    class Empty:
        """Nothing."""

    return Empty


def box() -> type:
    """A generic one."""

    class Box(Generic[T]):
        """Of any type."""

        kept: T
        size: int = field(default_factory=counted)
        note: str = field(default="", compare=False)
        loose: dict[str, int] = field(default_factory=dict, hash=False)

    return Box


def wide() -> type:
    """One of many fields, which is filled in another way where it is frozen."""

    class Wide(Generic[T]):
        """Of many things."""

        a: T
        b: int
        c: int = 3
        d: list[str] = field(default_factory=list)
        e: int = field(default_factory=counted)
        f: str = field(default="", repr=False)
        g: str = field(default="", compare=False)

    return Wide


KINDS = [
    {"frozen": frozen, "slots": True, "kw_only": kw_only}
    for frozen in (True, False)
    for kw_only in (True, False)
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


def both(body: Callable[[], type], kind: dict[str, Any]) -> tuple[Any, Any]:
    """Ours, and the standard library's."""
    return dataclass(**kind)(body()), dataclasses.dataclass(**kind)(body())


@every_kind
@pytest.mark.parametrize("body", [point, empty, box, wide])
def test_the_class_looks_the_same(kind: dict[str, Any], body: Callable[[], type]) -> None:
    ours, theirs = both(body, kind)
    assert is_dataclass(ours)
    assert [_told(one) for one in fields(ours)] == [_told(one) for one in fields(theirs)]
    for name in ("__match_args__", "__slots__", "__doc__", "__name__", "__qualname__", "__module__"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))


def _told(one: "dataclasses.Field[Any]") -> tuple[Any, ...]:
    return one.name, one.type, one.default, one.default_factory, one.repr, one.kw_only, one.metadata


@every_kind
def test_the_values_behave_the_same(kind: dict[str, Any]) -> None:
    for made in both(point, kind):
        one = made(x=1, secret="s")
        assert repr(one) == "point.<locals>.Point(x=1, y=2, tags=[])"
        assert (one.both, one.secret) == (3, "s")
        assert one == made(x=1, secret="s", y=2, tags=[])
        assert one != replace(one, secret="t")
        assert one.tags is not made(x=1, secret="s").tags
        assert one != (1, "s", 2, [])
        assert asdict(one) == {"x": 1, "secret": "s", "y": 2, "tags": []}
        assert astuple(one) == (1, "s", 2, [])
        assert copy.deepcopy(one) == copy.copy(one) == one
        assert not hasattr(one, "__dict__")
        # The standard library stumbles over itself there when it is frozen.
        with pytest.raises((AttributeError, TypeError)):
            one.z = 1


@pytest.mark.parametrize("body", [empty, point, wide])
@pytest.mark.parametrize("frozen", [True, False])
def test_who_makes_many_makes_the_same_and_refuses_the_same(frozen: bool, body: Callable[[], type]) -> None:
    made: Any = dataclass(frozen=frozen, slots=True, kw_only=True)(body())
    make, given = maker(made), {"x": 1, "secret": "s"} if body is point else {}
    given = {"a": 1, "b": 2, "f": "g"} if body is wide else given
    one = make(**given)
    assert type(one) is made
    assert one == made(**given)
    assert repr(one) == repr(made(**given))
    if body is not empty:
        name = fields(made)[-1].name
        assert getattr(one, name) == getattr(make(**given), name)
        with pytest.raises((AttributeError, TypeError)) if frozen else nullcontext():
            setattr(one, name, getattr(one, name))
    for wrong in ({**given, "z": 3}, {name: given[name] for name in list(given)[1:]}):
        words = []
        for call in (make, made):
            try:
                words.append(repr(call(**wrong)))
            except TypeError as refusal:
                words.append(str(refusal))
        assert words[0] == words[1]


def test_a_function_makes_nothing_whose_fields_have_places() -> None:
    with pytest.raises(TypeError, match="takes what is not named"):
        maker(dataclass(frozen=True, slots=True)(point()))


@every_kind
def test_arguments_are_refused_in_the_same_words(kind: dict[str, Any]) -> None:
    wrong: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}),
        ((), {"x": 1}),
        ((1, "s", 2, [], 5), {}),
        ((), {"x": 1, "secret": "s", "z": 3}),
    ]
    for positional, named in wrong:
        words = []
        for made in both(point, kind):
            with pytest.raises(TypeError) as caught:
                made(*positional, **named)
            words.append(str(caught.value))
        assert words[0] == words[1]


def test_what_is_frozen_cannot_be_changed_and_can_be_a_key() -> None:
    for made in both(box, KINDS[1]):
        one = made("k")
        assert {one: 1}[made("k", 7)] == 1
        assert hash(one) == hash(made("k", note="other")) == hash(("k", 7))
        assert one == made("k", note="other")
        with pytest.raises(FrozenInstanceError, match="assign to field 'kept'"):
            one.kept = 1
        with pytest.raises(FrozenInstanceError, match="delete field 'kept'"):
            del one.kept
    for made in both(box, KINDS[3]):
        with pytest.raises(TypeError, match="unhashable"):
            hash(made("k"))


@every_kind
def test_a_wide_one_behaves_the_same(kind: dict[str, Any]) -> None:
    for made in both(wide, kind):
        one = made(a="k", b=2, f="f")
        assert type(one) is made
        assert repr(one) == "wide.<locals>.Wide(a='k', b=2, c=3, d=[], e=7, g='')"
        assert one == replace(one, g="other") == copy.deepcopy(one) == copy.copy(one)
        assert one != replace(one, f="")
        assert one.d is not made(a="k", b=2).d
        assert not hasattr(one, "__dict__")
        with pytest.raises(TypeError):
            made(a="k")
        if kind["frozen"]:
            with pytest.raises(FrozenInstanceError, match="assign to field 'a'"):
                one.a = 1
            with pytest.raises(FrozenInstanceError, match="delete field 'g'"):
                del one.g


@dataclass(frozen=True, slots=True)
class Frozen:
    """To be found again by its name."""

    a: int
    inner: "Frozen | None" = None


def test_a_frozen_value_is_pickled_and_matched_by_position() -> None:
    one = Frozen(1, Frozen(2))
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 (our own bytes)
    match one:
        case Frozen(a, Frozen(b)):
            assert (a, b) == (1, 2)
        case _:
            pytest.fail("not matched")


def test_a_value_that_holds_itself_can_be_shown() -> None:
    for made in both(point, KINDS[2]):
        one = made(x=1, secret="s")
        one.tags = one
        assert repr(one) == "point.<locals>.Point(x=1, y=2, tags=...)"


class Shared:
    """A default that all would share."""

    names: list[str] = []  # noqa: RUF012 (the mistake)


class Unordered:
    """No default after one."""

    a: int = 1
    b: int


class Hidden:
    """Wants what is not there."""

    a: int = field(init=False, default=1)


@pytest.mark.parametrize(
    ("body", "error"), [(Shared, ValueError), (Unordered, TypeError), (Hidden, TypeError)]
)
def test_a_class_that_cannot_be_is_refused(body: type, error: type[Exception]) -> None:
    with pytest.raises(error):
        dataclass(slots=True)(body)


def test_the_members_of_a_value_are_its_fields_and_those_that_are_known_are_not_none() -> None:
    one = dataclass(slots=True, frozen=True)(point())(1, None)
    assert members_of(one) == {"x": 1, "secret": None, "y": 2, "tags": []} == asdict(one)
    assert known_of(one) == {"x": 1, "y": 2, "tags": []}
    assert members_of(one)["tags"] is one.tags


def test_what_is_replaced_is_what_the_standard_library_replaces() -> None:
    for made, values, changes in (
        (dataclass(slots=True, frozen=True)(point()), (1, "s"), {"y": 5, "tags": ["a"]}),
        (dataclass(slots=True)(box()), ([2],), {"kept": 3}),
        (dataclass(slots=True)(empty()), (), {}),
        (dataclass(slots=True, frozen=True)(wide()), (1, 2), {"a": "s", "g": "other"}),
        (dataclass(slots=True)(wide()), (1, 2), {"d": ["a"]}),
    ):
        value = made(*values)
        assert quickly_replaced(value, **changes) == replace(value, **changes)
        assert quickly_replaced(value) == value
        assert quickly_replaced(value) is not value
        assert type(quickly_replaced(value, **changes)) is made
        with pytest.raises(TypeError):
            quickly_replaced(value, unknown=1)


def test_what_changes_some_fields_gives_what_the_standard_library_replaces() -> None:
    made = dataclass(slots=True, frozen=True)(wide())
    value = made(1, 2)
    changed = changer(made, "g", "a")
    assert changed(value, "other", "s") == replace(value, g="other", a="s") != value
    assert type(changed(value, "other", "s")) is made
    with pytest.raises(FrozenInstanceError):
        changed(value, "other", "s").a = 1
    with pytest.raises(TypeError, match="unknown"):
        changer(made, "unknown")
