"""How a recording is to be read: its dialect's house and its vendor's quirks, by whatever name it gives.

As tolerant as can be: a vendor or dialect that is no row of ours is mapped, or read by the dialect's
defaults, with a word. Must never guess a dialect.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, cast, get_args

from pydantic import TypeAdapter, ValidationError

from motes.cli.recording import Recording, Unreadable
from motes.dataclass import dataclass
from motes.dialects.base import Dialect, DialectName
from motes.dialects.registry import resolve
from motes.model_rules import of_model
from motes.quirks import NO_QUIRKS, Quirks
from motes.vendors.catalogue import speaking
from motes.vendors.table import ALIASES, DIALECT_ALIASES, VENDORS
from motes.vendors.vendor import Vendor

_DIALECTS: Final[tuple[str, ...]] = get_args(DialectName)
_QUIRKS: Final = TypeAdapter(Quirks)
Word = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """A dialect and the quirks to read it with."""

    dialect: Dialect
    quirks: Quirks


def reading_of(recording: Recording, vendor: str | None, dialect: str | None, word: Word) -> Reading:
    """How to read a recording; the options `vendor` and `dialect` go before its own words.

    The dialect decides the parser, the vendor lends quirks only. Raises Unreadable.
    """
    lender, given = vendor or recording.vendor, dialect or recording.dialect
    row = _row(lender, word)
    if given is not None:
        name = _dialect(given, word)
    elif row is not None:
        name = row.surfaces[0].dialect
    elif lender is not None and lender in DIALECT_ALIASES:
        name = DIALECT_ALIASES[lender]
    else:
        raise Unreadable("it names no dialect and no vendor of ours: give --dialect")
    lent = of_model(_lent(row, name), recording.model or "")
    quirks = _with(lent, recording.quirks, word)
    return Reading(resolve(name), quirks)


def _lent(row: Vendor | None, dialect: DialectName) -> Quirks:
    """What a vendor differs in, there where it speaks that dialect."""
    if row is None:
        return NO_QUIRKS
    spoken = any(surface.dialect == dialect for surface in row.surfaces)
    return speaking(row, dialect).quirks if spoken else row.quirks


def _row(name: str | None, word: Word) -> Vendor | None:
    if name is None or name in VENDORS:
        return VENDORS.get(name or "")
    if name in ALIASES:
        word(f"vendor {name!r} is read as {ALIASES[name]!r}")
        return VENDORS[ALIASES[name]]
    word(f"vendor {name!r} is no row of ours: read with its dialect's defaults")
    return None


def _dialect(name: str, word: Word) -> DialectName:
    if name in _DIALECTS:
        return cast(DialectName, name)
    known = DIALECT_ALIASES.get(name)
    if known is None:
        row = VENDORS.get(ALIASES.get(name, name))
        known = row.surfaces[0].dialect if row else None
    if known is None:
        raise Unreadable(f"no dialect is called {name!r}: known are {', '.join(_DIALECTS)}")
    word(f"dialect {name!r} is read as {known!r}")
    return known


def _with(quirks: Quirks, changes: Mapping[str, Any], word: Word) -> Quirks:
    """The quirks with those of `changes` that exist and are of their kind."""
    known: dict[str, Any] = {}
    for name, value in changes.items():
        try:
            known[name] = getattr(_QUIRKS.validate_python({name: value}), name)
        except (ValidationError, AttributeError):
            word(f"quirk {name!r} was passed over: there is none of that name and kind")
    return replace(quirks, **known)
