"""What can be said about the settings without sending anything: facts, doubts and faults, as sentences.

Pure but for the settings and key files it reads. Must never quote a value that may be a key.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from motes.credentials import vendor_key
from motes.errors import MotesError, PrepareError
from motes.settings import Settings, closest, load_settings
from motes.store.files import FileKeys
from motes.store.opening import key_file
from motes.vendors.catalogue import Catalogue, base_url_variable, build_catalogue
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import Vendor

_PREFIX: Final = "MOTES_"
_FILE_ONLY: Final = frozenset({"source", "base_urls", "aliases", "vendors"})
_VARIABLES: Final = frozenset(
    {"CONFIG", "API_KEY", *(name.upper() for name in Settings.model_fields if name not in _FILE_ONLY)}
)
_ADDRESS: Final = re.compile(r"(https?)://(\[[0-9a-f:]+\]|[^/:\s@]+)", re.I)
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})


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
        catalogue = build_catalogue(VENDORS, ALIASES, settings)
        found.facts.append(f"settings file: {settings.source or 'none'}")
        found.facts.append(_callers(settings, environ.get("MOTES_API_KEY")))
    except PrepareError as error:
        found.faults += error.message.splitlines()
        return found
    found.faults += [*_unroutable(catalogue), *_addresses(catalogue)]
    for row in catalogue.vendors.values():
        key = vendor_key(row.id, row.key_name, settings, environ)
        found.facts.append(f"vendor {row.id}: {_state(row, key, settings.key_path)}")
        found.doubts += _exposed(row, key)
    found.doubts += _misspelt(environ)
    return found


def _callers(settings: Settings, environment_key: str | None) -> str:
    beside = ", and MOTES_API_KEY" if environment_key else ""
    if settings.table is not None:
        return f"callers' keys: in the table {settings.table}{beside}"
    path = key_file(settings)
    enabled = sum(not key.disabled for key in FileKeys(path).now())
    return f"callers' keys: {enabled} enabled in {path}{beside}"


def _state(row: Vendor, key: str | None, key_path: str | None) -> str:
    if not row.base_url:
        return f"no address (set {base_url_variable(row.id)})"
    if key:
        return "ready"
    if not row.key_required:
        return "ready, without a key"
    if key_path is not None:
        return f"no key here (set {row.key_name}, or see whether SSM has {key_path}/{row.key_name})"
    return f"no key (set {row.key_name})"


def _unroutable(catalogue: Catalogue) -> Iterator[str]:
    """Names in the settings that lead nowhere."""
    targets = [(f"aliases.{name}", target) for name, target in catalogue.aliases.items()]
    if catalogue.default_model:
        targets.append(("default_model", catalogue.default_model))
    for place, target in targets:
        try:
            catalogue.resolve(target)
        except MotesError as error:
            yield f"{place}: {error.message}"


def _addresses(catalogue: Catalogue) -> Iterator[str]:
    for row in catalogue.vendors.values():
        if row.base_url and not _ADDRESS.match(row.base_url):
            yield f"{base_url_variable(row.id)}: must be an address that begins with http:// or https://"


def _exposed(row: Vendor, key: str | None) -> Iterator[str]:
    address = _ADDRESS.match(row.base_url)
    if key and address and address[1].lower() == "http" and address[2].lower() not in _LOOPBACK:
        yield f"vendor {row.id}: its key travels unencrypted to {address[2]}; use https://"


def _misspelt(environ: Mapping[str, str]) -> Iterator[str]:
    """Variables that look like ours and are none."""
    for name in sorted(environ):
        word = name.removeprefix(_PREFIX)
        near = closest(word, _VARIABLES)
        if word != name and word not in _VARIABLES and near:
            meant = near.replace("'", f"'{_PREFIX}", 1)
            yield f"environment variable {name}: no such setting{meant}"
