"""`Model`: a value that is checked when it is made, by pydantic's core, without pydantic around it.

pydantic takes a third of a cold start before it has checked anything; its core, which does the checking and
finds the complaints, takes a quarter of that. A class says here what it wants as it would to pydantic, with
the few means that are used (`Field`, `Strict`, `field_validator`), and keeps pydantic's names for what it can
do, so that pydantic describes it as one of its own. Must refuse a type it does not know rather than guess.

Source: pydantic, "Models" and "pydantic_core.core_schema" (docs.pydantic.dev, read 2026-11-30).
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    Self,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
)

from pydantic_core import SchemaValidator

T = TypeVar("T")
Schema = dict[str, Any]
Extra = Literal["allow", "forbid"]

_MISSING: Final[Any] = object()
_CHECKS: Final = "__checks__"
_NAMES: Final[Mapping[Any, str]] = {
    Any: "any",
    Decimal: "decimal",
    NoneType: "none",
    bool: "bool",
    float: "float",
    int: "int",
    str: "str",
}


class FieldInfo:
    """What a field wants besides its type. `limits` are the core's own words (`ge`, `min_length`, …)."""

    def __init__(self, default: Any, **wanted: Any) -> None:
        self.annotation: Any = Any
        self.default = default
        self.default_factory = wanted.pop("default_factory", None)
        self.alias: str | None = wanted.pop("alias", None)
        self.discriminator: str | None = wanted.pop("discriminator", None)
        self.repr: bool = wanted.pop("repr", True)
        self.limits: Mapping[str, Any] = wanted
        self.check: Callable[[Any], Any] | None = None

    @property
    def has_default(self) -> bool:
        """Whether `default` is one."""
        return self.default is not _MISSING


def Field(default: Any = _MISSING, **wanted: Any) -> Any:  # noqa: N802 (pydantic's name)
    """A field's default or `default_factory`, `alias`, `discriminator`, whether `repr` shows it, limits."""
    return FieldInfo(default, **wanted)


class Strict:
    """Marks a type that takes nothing which could be taken for it."""


class Secret:
    """A text that does not show itself."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_secret_value(self) -> str:
        """The text."""
        return self._text

    def __repr__(self) -> str:
        return "Secret('**********')" if self._text else "Secret('')"


def field_validator(name: str, *, mode: Literal["before"]) -> Callable[[T], T]:  # noqa: ARG001 (said in full)
    """A class method that gives a field's value another form before it is checked."""

    def mark(method: T) -> T:
        setattr(method, _CHECKS, name)
        return method

    return mark


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
class Model:
    """Base of what is checked. `extra` says what becomes of members that are no field."""

    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")

    model_fields: ClassVar[Mapping[str, FieldInfo]] = {}
    model_config: ClassVar[Mapping[str, Extra]] = {"extra": "forbid"}
    __pydantic_core_schema__: ClassVar[Any]
    _validator: ClassVar[SchemaValidator]

    __pydantic_extra__: dict[str, Any] | None
    __pydantic_fields_set__: set[str]

    def __init_subclass__(cls, *, extra: Extra | None = None) -> None:
        if extra is not None:
            cls.model_config = {"extra": extra}
        cls.model_fields = {**cls.model_fields, **_fields_of(cls)}
        cls.__pydantic_core_schema__ = _Lazily("__pydantic_core_schema__", _schema_of_model)
        cls._validator = cast("SchemaValidator", _Lazily("_validator", _validator_of))

    def __init__(self, **members: Any) -> None:
        """Raises pydantic_core.ValidationError."""
        self._validator.validate_python(members, self_instance=self)

    @classmethod
    def model_validate(cls, data: Any) -> Self:
        """Made of members by their names. Raises pydantic_core.ValidationError."""
        return cast("Self", cls._validator.validate_python(data))

    @classmethod
    def prepare(cls) -> None:
        """Make now what the first value would have to wait for."""
        cls._validator  # noqa: B018 (made when it is asked for)

    @property
    def model_extra(self) -> dict[str, Any] | None:
        """The members that are no field, where they are allowed."""
        return self.__pydantic_extra__

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """The same with other values, which are not checked."""
        members, extra = dict(self.__dict__), self.__pydantic_extra__
        others = {} if extra is None else dict(extra)
        for name, value in (update or {}).items():
            (members if name in self.model_fields else others)[name] = value
        copied = object.__new__(type(self))
        state = (members, None if extra is None else others, {*self.__pydantic_fields_set__, *(update or ())})
        copied.__setstate__(state)
        return copied

    def model_dump(
        self, *, exclude_unset: bool = False, exclude_none: bool = False, by_alias: bool = False
    ) -> dict[str, Any]:
        """Plain objects and lists; without what was not given, or without what is None."""
        how = {"exclude_unset": exclude_unset, "exclude_none": exclude_none, "by_alias": by_alias}

        def plain(value: Any) -> Any:
            if isinstance(value, Model):
                return value.model_dump(**how)
            if isinstance(value, dict):
                return {name: plain(one) for name, one in value.items() if not (exclude_none and one is None)}
            return [plain(one) for one in value] if isinstance(value, list) else value

        given = self.__pydantic_fields_set__ if exclude_unset else self.__dict__
        aliases = {name: field.alias for name, field in self.model_fields.items()} if by_alias else {}
        members = {aliases.get(name) or name: value for name, value in self.__dict__.items() if name in given}
        dumped: dict[str, Any] = plain(members | (self.__pydantic_extra__ or {}))
        return dumped

    if not TYPE_CHECKING:  # A member that is no field can only be asked for by its name.

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            extra = self.__pydantic_extra__
            if not extra or name not in extra:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return extra[name]

    def __setattr__(self, name: str, _: Any) -> None:
        raise AttributeError(f"{type(self).__name__!r} is frozen: cannot set {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model) or type(self) is not type(other):
            return NotImplemented
        return self.__dict__ == other.__dict__ and self.__pydantic_extra__ == other.__pydantic_extra__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = {name: value for name, value in self.__dict__.items() if self.model_fields[name].repr}
        shown |= self.__pydantic_extra__ or {}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __getstate__(self) -> tuple[Any, ...]:
        return self.__dict__, self.__pydantic_extra__, self.__pydantic_fields_set__

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        names = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__")
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)


class _Lazily:
    """A class's attribute, made when it is first asked for."""

    def __init__(self, name: str, make: Callable[[type[Model]], Any]) -> None:
        self._name = name
        self._make = make

    def __get__(self, _: Any, owner: type[Model]) -> Any:
        made = self._make(owner)
        setattr(owner, self._name, made)
        return made


def _fields_of(cls: type[Model]) -> dict[str, FieldInfo]:
    fields: dict[str, FieldInfo] = {}
    for name, wanted in cls.__annotations__.items():
        default = cls.__dict__.get(name, _MISSING)
        fields[name] = default if isinstance(default, FieldInfo) else FieldInfo(default)
        fields[name].annotation = wanted
        if default is not _MISSING:
            delattr(cls, name)
    for method in list(cls.__dict__.values()):
        if isinstance(method, classmethod) and hasattr(method, _CHECKS):
            fields[getattr(method, _CHECKS)].check = method.__get__(None, cls)
    return fields


def _validator_of(cls: type[Model]) -> SchemaValidator:
    return SchemaValidator(cls.__pydantic_core_schema__)


def _schema_of_model(cls: type[Model]) -> Schema:
    fields = {name: _schema_of_field(field) for name, field in cls.model_fields.items()}
    return {
        "type": "model",
        "cls": cls,
        "schema": {"type": "model-fields", "model_name": cls.__name__, "fields": fields},
        "config": {"title": cls.__name__, "extra_fields_behavior": cls.model_config["extra"]},
        "ref": f"{cls.__module__}.{cls.__qualname__}:{id(cls)}",
    }


def _schema_of_field(field: FieldInfo) -> Schema:
    schema = _limited(_schema_of(field.annotation), field.limits)
    if field.check is not None:
        function = {"type": "no-info", "function": field.check}
        schema = {"type": "function-before", "function": function, "schema": schema}
    if field.default_factory is not None:
        schema = {"type": "default", "schema": schema, "default_factory": field.default_factory}
    elif field.has_default:
        schema = {"type": "default", "schema": schema, "default": field.default}
    told: Schema = {"type": "model-field", "schema": schema}
    return told | ({"validation_alias": field.alias} if field.alias else {})


def _schema_of(wanted: Any) -> Schema:
    """The core's schema of a type. Raises TypeError for one that is not known here."""
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is None:
        return _schema_of_class(wanted)
    if origin is Annotated:
        return _marked(*arguments)
    if origin in (Union, UnionType):
        return _union(arguments)
    if origin is Literal:
        return {"type": "literal", "expected": list(arguments)}
    if origin is Mapping:  # Of our own making.
        return {"type": "is-instance", "cls": Mapping}
    members = [_schema_of(argument) for argument in arguments if argument is not ...]
    if origin is tuple and arguments[1:] == (...,):
        return {"type": "tuple", "items_schema": members, "variadic_item_index": 0}
    if origin is list:
        return {"type": "list", "items_schema": members[0]}
    if origin is dict:
        return {"type": "dict", "keys_schema": members[0], "values_schema": members[1]}
    raise TypeError(f"no schema for {wanted!r}")


def _schema_of_class(wanted: Any) -> Schema:
    if isinstance(wanted, type) and issubclass(wanted, Model):
        schema: Schema = wanted.__pydantic_core_schema__
        return schema
    if wanted is Secret:
        return {
            "type": "function-after",
            "function": {"type": "no-info", "function": Secret},
            "schema": {"type": "str"},
        }
    if wanted is Path:  # Of our own making.
        return {"type": "is-instance", "cls": Path}
    if wanted not in _NAMES:
        raise TypeError(f"no schema for {wanted!r}")
    return {"type": _NAMES[wanted]}


def _marked(wanted: Any, mark: Any) -> Schema:
    """A type with one remark on it."""
    if isinstance(mark, FieldInfo) and mark.discriminator:
        return _tagged(get_args(wanted), mark.discriminator)
    if isinstance(mark, FieldInfo):
        return _limited(_schema_of(wanted), mark.limits)
    if mark is Strict or isinstance(mark, Strict):
        return _limited(_schema_of(wanted), {"strict": True})
    raise TypeError(f"no schema for {mark!r} on {wanted!r}")


def _tagged(models: tuple[type[Model], ...], tag: str) -> Schema:
    """One of several models, told apart by the member that has their names."""
    choices = {
        word: model.__pydantic_core_schema__
        for model in models
        for word in get_args(model.model_fields[tag].annotation)
    }
    return {"type": "tagged-union", "discriminator": tag, "choices": choices}


def _union(members: tuple[Any, ...]) -> Schema:
    choices = [_schema_of(member) for member in members if member is not NoneType]
    schema = choices[0] if len(choices) == 1 else {"type": "union", "choices": choices}
    return {"type": "nullable", "schema": schema} if NoneType in members else schema


def _limited(schema: Schema, limits: Mapping[str, Any]) -> Schema:
    """The limits are those of the value, if there is one."""
    if schema["type"] == "nullable" and limits:
        return schema | {"schema": _limited(schema["schema"], limits)}
    return {**schema, **limits}
