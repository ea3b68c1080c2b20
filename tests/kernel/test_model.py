"""What `motes.model` checks, it checks as pydantic does, and what it makes behaves as pydantic's models do."""

import copy
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import PydanticUndefined, ValidationError

from motes.chat import ChatRequest
from motes.model import Field, FieldInfo, Model, Secret, Strict, field_validator
from motes.settings import Settings, VendorSettings


@cache
def twin(model: type[Model]) -> Any:
    """The model as pydantic would have it."""
    fields = {name: (swapped(field.annotation), _wanted(field)) for name, field in model.model_fields.items()}
    checks = {
        f"check_{name}": pydantic.field_validator(name, mode="before")(_of_class(field.check))
        for name, field in model.model_fields.items()
        if field.check
    }
    config = pydantic.ConfigDict(extra=model.model_config["extra"])
    made: Any = pydantic.create_model(model.__name__, __config__=config, __validators__=checks, **fields)  # type: ignore[call-overload]
    return made


def _of_class(check: Callable[[Any], Any]) -> Any:
    def _check(_: Any, value: Any) -> Any:
        return check(value)

    return classmethod(_check)


def _wanted(field: FieldInfo) -> Any:
    default = field.default if field.has_default else PydanticUndefined
    if field.default_factory is not None:
        # What it makes is of the other kind.
        plain = not (isinstance(field.default_factory, type) and issubclass(field.default_factory, Model))
        factory = field.default_factory if plain else twin(field.default_factory)
        return pydantic.Field(default_factory=factory, **field.limits)
    return pydantic.Field(default, alias=field.alias, **field.limits)


def swapped(wanted: Any) -> Any:
    """A type with pydantic's models for ours."""
    origin, arguments = get_origin(wanted), get_args(wanted)
    if isinstance(wanted, type) and issubclass(wanted, Model):
        return twin(wanted)
    if wanted is Secret:
        return pydantic.SecretStr
    if origin is Annotated:
        return Annotated[swapped(arguments[0]), _mark(arguments[1])]
    if origin in (Union, UnionType):
        return Union[tuple(map(swapped, arguments))]  # noqa: UP007 (made at run time)
    if origin in (list, dict, tuple):
        return origin[tuple(map(swapped, arguments))]
    return wanted


def _mark(mark: Any) -> Any:
    if isinstance(mark, FieldInfo):
        return pydantic.Field(discriminator=mark.discriminator, **mark.limits)
    return pydantic.Strict()


def said(model: Any, data: Any) -> Any:
    """What it makes of it: its members, or its complaints."""
    try:
        return model.model_validate(data).model_dump()
    except ValidationError as error:
        return [(one["type"], _place(one["loc"]), one["msg"]) for one in error.errors(include_url=False)]


def _place(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Without the form of a value that was tried: pydantic names it by how it is made."""
    return tuple("…" if isinstance(step, str) and "[" in step else step for step in loc)


many = settings(max_examples=300)
TEXTS = st.sampled_from(["", "x", "user", "assistant", "tool", "text", "image_url", "function", "1", "true"])
PLAIN = st.none() | st.booleans() | st.integers(-2, 3) | st.floats(-3, 3) | TEXTS
PARTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image_url", "input_audio", "file", "refusal", "odd"])},
    optional={
        "text": PLAIN,
        "image_url": PLAIN | st.just({"url": "u", "more": 1}),
        "file": PLAIN,
        "odd": PLAIN,
    },
)
CALLS = st.fixed_dictionaries(
    {},
    optional={"id": PLAIN, "function": PLAIN | st.just({"name": "f", "arguments": {"a": 1}}), "odd": PLAIN},
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "function", "odd"])},
    optional={
        "content": PLAIN | st.lists(PARTS | PLAIN, max_size=2),
        "tool_calls": PLAIN | st.lists(CALLS, max_size=2),
        "tool_call_id": PLAIN,
        "name": PLAIN,
        "is_error": PLAIN,
    },
)
VALUES = PLAIN | st.lists(PLAIN, max_size=2) | st.dictionaries(TEXTS, PLAIN, max_size=2)
OTHERS = [name for name in (*ChatRequest.model_fields, "schema", "odd") if name != "messages"]


@many
@given(
    messages=st.lists(MESSAGES | PLAIN, max_size=3) | PLAIN,
    others=st.dictionaries(st.sampled_from(OTHERS), VALUES, max_size=5),
)
def test_a_request_is_taken_or_refused_as_pydantic_would(messages: Any, others: dict[str, Any]) -> None:
    data = {"messages": messages, **others}
    assert said(ChatRequest, data) == said(twin(ChatRequest), data)


@many
@given(st.dictionaries(st.sampled_from([*ChatRequest.model_fields]), VALUES, min_size=1, max_size=3))
def test_one_member_at_a_time_is_taken_or_refused_as_pydantic_would(others: dict[str, Any]) -> None:
    data = {"messages": [{"role": "user", "content": "x"}], **others}
    assert said(ChatRequest, data) == said(twin(ChatRequest), data)


@pytest.mark.parametrize("data", [None, 1, "x", [], {}, {"messages": None}])
def test_what_is_no_request_is_refused_as_pydantic_would(data: Any) -> None:
    assert said(ChatRequest, data) == said(twin(ChatRequest), data)


@given(st.dictionaries(st.sampled_from([*VendorSettings.model_fields, "odd"]), VALUES, max_size=4))
def test_settings_of_a_vendor_are_taken_or_refused_as_pydantic_would(data: dict[str, Any]) -> None:
    ours, theirs = said(VendorSettings, data), said(twin(VendorSettings), data)
    if isinstance(ours, dict):
        ours["key"], theirs["key"] = map(repr, (ours["key"], theirs["key"]))
        ours["key"] = ours["key"].replace("Secret(", "SecretStr(")
    assert ours == theirs


SET = [name for name in Settings.model_fields if name not in ("home", "source", "base_urls")]


@given(st.dictionaries(st.sampled_from([*SET, "odd"]), VALUES, max_size=4))
def test_settings_are_taken_or_refused_as_pydantic_would(data: dict[str, Any]) -> None:
    data["home"] = Path("home")
    if "prices" in data:
        data["prices"] = {"vendor/model": {"input": data["prices"], "output": "1.5", "cached_input": -1}}
    assert said(Settings, data) == said(twin(Settings), data)


class Inner(Model, extra="allow"):
    """A member of the next."""

    word: str = "w"
    none: int | None = None


class Outer(Model, extra="allow"):
    """Every kind of field."""

    name: str
    inner: Inner = Field(default_factory=Inner)
    many: list[Inner] | None = None
    kept_: int | None = Field(default=None, alias="kept", ge=1)
    hidden: str = Field(default="h", repr=False)
    flag: Annotated[bool, Strict()] = False
    key: Secret | None = None

    @field_validator("name", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) else value


GIVEN: dict[str, Any] = {"name": 5, "many": [{"word": "x", "odd": None}, {}], "kept": 2, "odd": [1]}
HOWS: list[dict[str, bool]] = [
    {},
    {"exclude_unset": True},
    {"exclude_none": True},
    {"by_alias": True},
    {"exclude_unset": True, "by_alias": True},
]


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_a_value_is_dumped_as_pydantic_would(how: dict[str, bool]) -> None:
    ours, theirs = Outer.model_validate(GIVEN), twin(Outer).model_validate(GIVEN)
    assert ours.model_dump(**how) == theirs.model_dump(**how)
    assert list(ours.model_dump(**how)) == list(theirs.model_dump(**how))


def test_a_copy_differs_where_it_was_told_to() -> None:
    update = {"name": "n", "more": 1}
    ours, theirs = Outer.model_validate(GIVEN), twin(Outer).model_validate(GIVEN)
    copied = ours.model_copy(update=update)
    assert copied.model_dump() == theirs.model_copy(update=update).model_dump()
    dumped = copied.model_dump(exclude_unset=True)
    assert dumped == theirs.model_copy(update=update).model_dump(exclude_unset=True)
    assert (ours.name, ours.model_extra) == ("5", {"odd": [1]})
    assert copied.many is ours.many


def test_what_is_no_field_can_be_asked_for_by_its_name() -> None:
    value: Any = Outer.model_validate(GIVEN)
    assert value.odd == [1]
    with pytest.raises(AttributeError, match="'Outer' object has no attribute 'other'"):
        value.other  # noqa: B018 (what is asked for)


def test_values_are_equal_where_their_members_are() -> None:
    one = Outer.model_validate(GIVEN)
    assert one == Outer.model_validate(GIVEN)
    assert one == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))  # noqa: S301 (our own bytes)
    assert one != one.model_copy(update={"odd": 2})
    assert one != one.model_copy(update={"name": "6"})
    assert Inner() != Outer(name="w")
    assert Inner() != {"word": "w", "none": None}


def test_a_value_shows_neither_what_is_hidden_nor_a_secret() -> None:
    value = Outer(name="n", key="sk-secret", odd=1)  # type: ignore[arg-type, call-arg]
    assert value.key is not None
    assert value.key.get_secret_value() == "sk-secret"
    assert repr(value) == (
        "Outer(name='n', inner=Inner(word='w', none=None), many=None, kept_=None, flag=False, "
        "key=Secret('**********'), odd=1)"
    )


def test_a_value_cannot_be_changed() -> None:
    value: Any = Inner()
    for name in ("word", "other"):
        with pytest.raises(AttributeError, match="frozen"):
            setattr(value, name, "x")


def test_defaults_are_not_shared() -> None:
    assert Outer(name="a").inner is not Outer(name="a").inner


@pytest.mark.parametrize("wanted", [set[int], complex, tuple[int, int], Annotated[int, "a remark"]])
def test_a_type_that_is_not_known_is_refused(wanted: Any) -> None:
    made = type("Odd", (Model,), {"__annotations__": {"odd": wanted}})
    with pytest.raises(TypeError, match="no schema for"):
        made(odd=1)
