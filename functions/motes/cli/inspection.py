"""What can be said about the settings without sending anything: facts, doubts and faults, as sentences.

Pure but for the settings and key files it reads. Must never quote a value that may be a key.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from motes.cli.absent import ONLY_SERVED, absence, whole_catalogue
from motes.credentials import vendor_keys
from motes.dataclass import dataclass
from motes.errors import MotesError, PrepareError
from motes.settings import FILE_NAME, Settings, closest, load_settings
from motes.store.files import FileKeys
from motes.store.opening import key_file
from motes.vendors.catalogue import Catalogue, base_url_variable
from motes.vendors.sendable import address_fault, key_fault, shown_address, value_fault
from motes.vendors.vendor import Vendor

_PREFIX: Final = "MOTES_"
_TABLES: Final = ("aliases", "vendors")
_FILE_ONLY: Final = frozenset({"source", "base_urls", *_TABLES})
_VARIABLES: Final = frozenset(
    {"CONFIG", "API_KEY", *(name.upper() for name in Settings.model_fields if name not in _FILE_ONLY)}
)
_CALLERS_KEY: Final = "MOTES_API_KEY"
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(slots=True)
class Inspection:
    """What was found: how things are, what may be meant otherwise, and what is wrong."""

    facts: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def inspect(environ: Mapping[str, str], directory: Path) -> Inspection:
    """Look at the settings that a process with this environment and working directory would have."""
    found = Inspection()
    try:
        settings = load_settings(environ, directory)
        catalogue = whole_catalogue(settings)
        found.facts.append(f"settings file: {settings.source or 'none'}")
        found.facts.append(_callers(settings, environ.get(_CALLERS_KEY)))
    except PrepareError as error:
        found.faults += error.message.splitlines()
        return found
    _look_at_names(catalogue, found)
    wanting: list[str] = []
    for row in catalogue.vendors.values():
        keys = vendor_keys(row.id, row.key_names, settings, environ)
        lack = _lack(row, keys, settings)
        if lack is None:
            found.facts.append(f"vendor {row.id}: {_state(row, keys, settings)}")
        else:
            wanting.append(f"{row.id} ({lack})")
        found.faults += _unsendable(row, keys)
        found.doubts += _exposed(row, keys)
    if wanting:
        found.facts.append(f"vendors not set up, and what each lacks: {', '.join(wanting)}")
    found.faults += _unusable(environ.get(_CALLERS_KEY))
    found.doubts += [doubt for name in sorted(environ) if (doubt := _doubt(name)) is not None]
    return found


def _callers(settings: Settings, environment_key: str | None) -> str:
    beside = f", and {_CALLERS_KEY}" if environment_key and environment_key.strip() else ""
    if settings.table is not None:
        return f"callers' keys: in the table {settings.table}{beside}"
    path = key_file(settings)
    enabled = sum(not key.disabled for key in FileKeys(path).now())
    return f"callers' keys: {enabled} enabled in {path}{beside}"


def _look_at_names(catalogue: Catalogue, found: Inspection) -> None:
    """Names in the settings that lead nowhere are faults; those that lead to the demo, doubts."""
    targets = [(f"aliases.{name}", target) for name, target in catalogue.aliases.items()]
    if catalogue.default_model:
        targets.append(("default_model", catalogue.default_model))
    for place, target in targets:
        try:
            row = catalogue.find(target).vendor
        except MotesError as error:
            found.faults.append(f"{place}: {error.message}")
            continue
        why = absence(row)
        if why is not None:
            told = found.doubts if why == ONLY_SERVED else found.faults
            told.append(f"{place}: vendor {row.id!r} {why}")


def _lack(row: Vendor, keys: Sequence[str], settings: Settings) -> str | None:
    """The variable that a vendor of ours lacks, where nothing at all was said of it."""
    variable = base_url_variable(row.id)
    if row.id in settings.vendors or variable in settings.base_urls or absence(row) == ONLY_SERVED:
        return None
    if not row.base_url:
        return variable
    is_open = bool(keys) or not row.key_required or row.auth.kind == "none"
    return None if is_open or settings.key_path is not None else row.key_name


def _state(row: Vendor, keys: Sequence[str], settings: Settings) -> str:
    """Whether a vendor can be asked, and where it stands if the environment moved it."""
    variable = base_url_variable(row.id)
    if absence(row) == ONLY_SERVED:
        return ONLY_SERVED
    if not row.base_url:
        return f"no address (set {variable})"
    moved = f", at {shown_address(row.base_url)} ({variable})" if variable in settings.base_urls else ""
    return f"{_readiness(row, keys, settings.key_path)}{moved}"


def _readiness(row: Vendor, keys: Sequence[str], key_path: str | None) -> str:
    if row.auth.kind == "none":
        return "ready, without a key"
    if keys:
        return "ready" if len(keys) == 1 else f"ready, with {len(keys)} keys"
    if not row.key_required:
        return "ready, without a key"
    if key_path is not None:
        return f"no key here (set {row.key_name}, or see whether SSM has {key_path}/{row.key_name})"
    return f"no key (set {row.key_name})"


def _unsendable(row: Vendor, keys: Sequence[str]) -> Iterator[str]:
    """What no request can hold. The headers of a row have been looked at when the settings were read."""
    address = address_fault(row.base_url) if row.base_url else None
    if address is not None:
        yield f"{base_url_variable(row.id)}: {address}"
    for at, key in enumerate(keys, 1):
        fault = key_fault(row.auth, key)
        if fault is not None:
            which = f"key {at} of {len(keys)}" if len(keys) > 1 else "key"
            yield f"vendor {row.id}: its {which} ({row.key_name}, or `key` in its settings) {fault}"


def _unusable(callers_key: str | None) -> Iterator[str]:
    fault = value_fault(callers_key.strip()) if callers_key else None
    if fault is not None:
        yield f"environment variable {_CALLERS_KEY}: no caller can send that key: it {fault}"


def _exposed(row: Vendor, keys: Sequence[str]) -> Iterator[str]:
    if not keys or row.auth.kind == "none" or not row.base_url or address_fault(row.base_url) is not None:
        return
    parts = urlsplit(row.base_url)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        yield f"vendor {row.id}: its key travels unencrypted to {parts.hostname}; use https://"


def _doubt(name: str) -> str | None:
    """Why a variable that looks like one of ours is none."""
    word = name.removeprefix(_PREFIX)
    if word == name or word in _VARIABLES:
        return None
    table = next((table for table in _TABLES if f"{word}_".startswith(f"{table.upper()}_")), None)
    if table is not None:
        return f"environment variable {name}: not read, `{table}` is a table of {FILE_NAME}"
    near = closest(word, _VARIABLES).replace("'", f"'{_PREFIX}", 1)
    return f"environment variable {name}: no such setting{near}" if near else None
