"""`dataclass` as the standard library has it, made in a tenth of the time.

The standard library writes the source of six methods for every class and compiles it, which for ours is a
tenth of a cold start. Here one compiled `__init__` serves all classes of one shape (its names are exchanged),
the other methods are shared by all, and `__dataclass_fields__` is made by the standard library itself when
somebody asks (`fields`, `replace`, `asdict`, `repr`). What is made behaves the same, as a test compares.

Only what motes uses: always slotted, no inheritance, no `__post_init__`, and of `field` neither `init` nor
`kw_only`. Must refuse anything else rather than ignore it.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import cache
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import Any, Final, Literal, ParamSpec, TypeVar, dataclass_transform

P = ParamSpec("P")
T = TypeVar("T")

_FIELDS: Final = "__dataclass_fields__"
_NOT_COPIED: Final = frozenset({"__dict__", "__weakref__"})
# From so many fields on it is faster to fill what is frozen while it is of a class that is not.
_MANY: Final = 5
_new: Final = object.__new__
_enter: Final = object.__dict__["__class__"].__set__


class _Factory:
    """Stands for an argument that was left out and has a factory."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY: Final = _Factory()


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(
    *,
    slots: Literal[True],  # noqa: ARG001 (said where it is used, as with the standard library's)
    frozen: bool = False,
    kw_only: bool = False,
) -> Callable[[type[T]], type[T]]:
    """As `dataclasses.dataclass`. Raises TypeError and ValueError as that one does."""

    def make(cls: type[T]) -> type[T]:
        return _made(cls, frozen, kw_only)

    return make


def maker(cls: Callable[P, T]) -> Callable[P, T]:
    """The class itself, for where one is made with every request: a function that gives one. What is named in
    a call Python hands to a function as it stands, and to a class in a dictionary, which takes twice as long.
    Raises TypeError where not all fields are named.
    """
    init: Any = cls.__init__
    if init.__code__.co_argcount > 1:
        raise TypeError(f"{cls.__qualname__} takes what is not named")
    made: Any = FunctionType(init.__code__, init.__globals__, init.__qualname__, (None,))
    made.__kwdefaults__ = init.__kwdefaults__
    return made  # type: ignore[no-any-return]


def replace(value: T, **changes: Any) -> T:
    """As `dataclasses.replace`, for what is made here and is changed with every request: it asks no field
    what it is. Raises TypeError as that one does.
    """
    cls: Any = type(value)
    opened, copied = _copier(cls)
    if opened is None:
        return cls(**(members_of(value) | changes))  # type: ignore[no-any-return]
    made: Any = _new(opened)
    copied(value, made)
    try:
        for name, changed in changes.items():
            setattr(made, name, changed)
    except AttributeError:
        raise TypeError(f"{cls.__qualname__} has no field {name!r}") from None
    made.__class__ = cls
    return made  # type: ignore[no-any-return]


@cache
def changer(cls: type[T], *names: str) -> Callable[..., T]:
    """What gives one like another but for the fields of these names: called with that one, and with their
    values in this order. For what is filled while it is open, in one frame.
    """
    fields: Any = cls.__slots__  # type: ignore[attr-defined]
    opened = cls.__init__.__globals__["_opened"]
    if unknown := set(names) - set(fields):
        raise TypeError(f"{cls.__qualname__} has no field {min(unknown)!r}")
    lines = [f"made.{name} = {name if name in names else f'value.{name}'}" for name in fields]
    body = ["made = _new(_opened)", *lines, "made.__class__ = _made", "return made"]
    changed: Callable[..., T] = _function(["value", *names], body, _new=_new, _opened=opened, _made=cls)
    return changed


def members_of(value: object) -> dict[str, Any]:
    """The fields of what is made here, by their names; what is in them is not taken apart."""
    cls: Any = type(value)
    return _tellers(cls)[0](value)


def known_of(value: object) -> dict[str, Any]:
    """The same without those that are None."""
    cls: Any = type(value)
    return _tellers(cls)[1](value)


@cache
def _tellers(cls: Any) -> tuple[Callable[[Any], dict[str, Any]], Callable[[Any], dict[str, Any]]]:
    """What gives all fields, and what gives those that are not None: in half the time that a loop over their
    names takes.
    """
    names: tuple[str, ...] = cls.__slots__
    told = f"return {{{', '.join([f'{name!r}: value.{name}' for name in names])}}}"
    known = [f"if (found := value.{name}) is not None: known[{name!r}] = found" for name in names]
    return _function(["value"], [told]), _function(["value"], ["known = {}", *known, "return known"])


@cache
def _copier(cls: Any) -> tuple[Any, Callable[[Any, Any], None]]:
    """For what is filled while it is open: the class that it is of then, and what fills one like another,
    which takes a fifth of the time that arguments take. None for the class of what is made in the usual way.
    """
    names: tuple[str, ...] = cls.__slots__
    opened = cls.__init__.__globals__.get("_opened")
    lines = [f"made.{name} = value.{name}" for name in names] if opened else ["pass"]
    return opened, _function(["value", "made"], lines)


def _function(arguments: Iterable[str], lines: Iterable[str], **room: Any) -> Any:
    """The function of these lines, which name nothing but our own fields."""
    exec(f"def function({', '.join(arguments)}):\n " + "\n ".join(lines), room)  # noqa: S102 (see above)
    return room["function"]


def _made(cls: type[T], frozen: bool, kw_only: bool) -> type[T]:
    types: dict[str, Any] = dict(cls.__annotations__)
    body = {name: value for name, value in cls.__dict__.items() if name not in _NOT_COPIED}
    given = {name: body.pop(name) for name in types if name in body}
    body |= {
        "__qualname__": cls.__qualname__,
        "__slots__": tuple(types),
        "__compared__": tuple([name for name in types if _is_compared(given.get(name))]),
        "__hashed__": tuple([name for name in types if _is_hashed(given.get(name))]),
        "__match_args__": () if kw_only else tuple(types),
        "__init__": _init(cls.__qualname__, types, given, frozen, kw_only),
        _FIELDS: _Fields(types, given, kw_only),
        **(_FROZEN if frozen else _MUTABLE),
    }
    made: type[T] = type(cls.__name__, cls.__bases__, body)
    body["__init__"].__globals__.update(_begun=made)
    if _is_filled_open(frozen, len(types)):
        # Of a generic class the bases alone do not tell of what.
        layout: dict[str, Any] = {
            name: body[name] for name in ("__slots__", "__orig_bases__") if name in body
        }
        opened = type(cls.__name__, cls.__bases__, layout)
        body["__init__"].__globals__.update(_begun=opened, _opened=opened, _made=made)
    elif frozen:
        # Each slot's own way in, which asks nobody.
        ways = {f"_set{at}": made.__dict__[name].__set__ for at, name in enumerate(types)}
        body["__init__"].__globals__.update(ways)
    return made


def _is_filled_open(frozen: bool, fields: int) -> bool:
    """Whether it is made as one of a class with the same slots, which refuses nothing. To set a field of what
    refuses takes five times as long.
    """
    return frozen and fields >= _MANY


def _init(
    owner: str, types: Mapping[str, Any], given: Mapping[str, Any], frozen: bool, kw_only: bool
) -> FunctionType:
    """The class's own `__init__`: that of its shape, with its names and defaults."""
    names: dict[str, Any] = {"_new": _new, "_enter": _enter, "_FACTORY": _FACTORY}
    defaults: dict[str, Any] = {}
    shape = ""
    for name in types:
        default, factory = _default_of(name, given)
        if factory is not MISSING:
            names[f"_make{len(shape)}"] = factory
            default = _FACTORY
        if default is not MISSING:
            defaults[name] = default
        elif defaults and not kw_only:
            raise TypeError(f"non-default argument {name!r} follows default argument")
        shape += "." if factory is MISSING else "f"
    made = FunctionType(_named(_shaped(shape, frozen, kw_only), owner, tuple(types), kw_only), names)
    if kw_only:
        made.__kwdefaults__ = defaults
    else:
        made.__defaults__ = tuple(defaults.values())
    made.__annotations__ = {**types, "return": None}
    return made


def _default_of(name: str, given: Mapping[str, Any]) -> tuple[Any, Any]:
    """The default and the factory of a field; each may be missing."""
    default = given.get(name, MISSING)
    if not isinstance(default, Field):
        if default.__class__.__hash__ is None:
            raise ValueError(f"mutable default for field {name!r}: use default_factory")
        return default, MISSING
    if not default.init or default.kw_only is True:
        raise TypeError(f"field {name!r}: neither init nor kw_only is supported here")
    return default.default, default.default_factory


def _is_compared(default: Any) -> bool:
    return default.compare if isinstance(default, Field) else True


def _is_hashed(default: Any) -> bool:
    if isinstance(default, Field) and default.hash is not None:
        return default.hash
    return _is_compared(default)


@cache
def _shaped(shape: str, frozen: bool, kw_only: bool) -> CodeType:
    """An `__init__` with made-up names; in the shape, `f` is a field with a factory, `.` one without. Where
    all are named it makes one and gives it, if it is called without a self: see `maker`.
    """
    lines, is_open = [], _is_filled_open(frozen, len(shape))
    for at, kind in enumerate(shape):
        value = f"_make{at}() if _{at} is _FACTORY else _{at}" if kind == "f" else f"_{at}"
        lines.append(f"_set{at}(self, {value})" if frozen and not is_open else f"self._{at} = {value}")
    begin = "_enter(self, _opened)" if is_open else "pass"
    if is_open:
        lines.append("self.__class__ = _made")
    if kw_only:
        begin = f"if self is None: made = self = _new(_begun)\n else: made = None; {begin}"
        lines.append("return made")
    lines.insert(0, begin)
    arguments = ", ".join(["self", *(f"_{at}" for at in range(len(shape)))])
    source = f"def __init__({arguments}):\n " + "\n ".join(lines)
    code = compile(source, "<dataclass>", "exec")
    return next(const for const in code.co_consts if isinstance(const, CodeType))


def _named(code: CodeType, owner: str, names: tuple[str, ...], kw_only: bool) -> CodeType:
    """The same code with the names of one class."""
    own = {f"_{at}": name for at, name in enumerate(names)}
    return code.replace(
        co_argcount=1 if kw_only else 1 + len(names),
        co_kwonlyargcount=len(names) if kw_only else 0,
        co_varnames=_exchanged(code.co_varnames, own),
        co_consts=_exchanged(code.co_consts, own),
        co_names=_exchanged(code.co_names, own),
        co_qualname=f"{owner}.__init__",
    )


def _exchanged(found: Iterable[Any], own: Mapping[str, str]) -> tuple[Any, ...]:
    return tuple([own.get(name, name) for name in found])


class _Fields:
    """`__dataclass_fields__` of a class, made when somebody asks."""

    def __init__(self, types: Mapping[str, Any], given: Mapping[str, Any], kw_only: bool) -> None:
        self._types = types
        self._given = given
        self._kw_only = kw_only

    def __get__(self, _: Any, owner: type) -> Mapping[str, Field[Any]]:
        # With a docstring, or one would be made of the signature.
        body = {"__annotations__": dict(self._types), "__doc__": "", **self._given}
        plain = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=self._kw_only)
        made: Mapping[str, Field[Any]] = getattr(plain(type(owner.__name__, (), body)), _FIELDS)
        type.__setattr__(owner, _FIELDS, made)
        return made


def _values(self: Any, names: Iterable[str]) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in names])


@recursive_repr()
def _repr(self: Any) -> str:
    told = [f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr]
    return f"{type(self).__qualname__}({', '.join(told)})"


def _eq(self: Any, other: object) -> Any:
    compared: tuple[str, ...] = self.__compared__
    if other is self:
        return True
    if other.__class__ is not self.__class__:
        return NotImplemented
    for name in compared:
        # As two tuples are compared: what is the same is equal.
        own, others = getattr(self, name), getattr(other, name)
        if own is not others and own != others:
            return False
    return True


def _hash(self: Any) -> int:
    return hash(_values(self, self.__hashed__))


def _refuse_to_set(_: Any, name: str, __: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> tuple[Any, ...]:
    return _values(self, self.__slots__)


def _set_state(self: Any, state: Iterable[Any]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)


_MUTABLE: Final = {"__repr__": _repr, "__eq__": _eq, "__hash__": None}
_FROZEN: Final = {
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    # For copies: what is frozen cannot be filled in the usual way.
    "__getstate__": _state,
    "__setstate__": _set_state,
}
