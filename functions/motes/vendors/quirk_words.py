"""Other words for what a row of `motes.toml` may say: those that the field's single-upstream proxies use.

Each is a quirk, a time-out or a header of ours under another name; what every request of motes does anyway
may be said, and not denied. Must never mean anything that has no name of ours.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic_core import ValidationError

from motes.complaints import told
from motes.model import Model
from motes.settings import TimeoutSettings, VendorSettings

T = TypeVar("T", bound=Model)

_QUIRKS: Final[Mapping[str, tuple[str, Mapping[bool, Any]]]] = {
    "require_system": ("system_required", {True: True, False: False}),
    "schema_drop": ("schema", {True: "plain", False: "any"}),
    "tool_choice_string": ("tool_choice", {True: "words", False: "full"}),
}
_ALWAYS: Final[Mapping[str, str]] = {
    "force_stream": "the upstream is always asked for a stream, with usage",
    "scrub_empty": "empty members of the upstream's chunks never reach a client",
}

WORDS: Final = (*_QUIRKS, *_ALWAYS, "idle_s", "extra_headers")


def translated(changes: VendorSettings) -> VendorSettings:
    """The same in our own words. Raises ValueError, its places in front."""
    quirks = {name: value for name, value in changes.quirks.items() if name not in WORDS}
    if len(quirks) == len(changes.quirks):
        return changes
    faults: list[str] = []
    for name, value in changes.quirks.items():
        if name in (*_QUIRKS, *_ALWAYS) and not isinstance(value, bool):
            faults.append(f".quirks.{name}: must be true or false")
        elif name in _QUIRKS:
            ours, meanings = _QUIRKS[name]
            quirks[ours] = meanings[value]
        elif name in _ALWAYS and not value:
            faults.append(f".quirks.{name}: cannot be false: {_ALWAYS[name]}")
    idle = _read(TimeoutSettings, {"idle": changes.quirks.get("idle_s")}, "idle_s", faults)
    headers = {"headers": changes.quirks.get("extra_headers", {})}
    extra = _read(VendorSettings, headers, "extra_headers", faults)
    if faults or idle is None or extra is None:
        raise ValueError("\n".join(faults))
    timeouts = (
        changes.timeouts if idle.idle is None else changes.timeouts.model_copy(update={"idle": idle.idle})
    )
    update = {"quirks": quirks, "timeouts": timeouts, "headers": {**changes.headers, **extra.headers}}
    return changes.model_copy(update=update)


def _read(model: type[T], members: Mapping[str, Any], word: str, faults: list[str]) -> T | None:
    """A part of a row in our own words; what is wrong with it under the word that was used."""
    try:
        return model.model_validate(members)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            rest = ".".join(map(str, item["loc"][1:]))
            faults.append(f".quirks.{word}{rest and '.'}{rest}: {told([item], 'a table')}")
        return None
