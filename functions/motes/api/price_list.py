"""Reads the price list of genai-prices without holding anybody up. Call it in a thread.

The whole list is forty providers and ten megabytes, of which a gateway asks few: what one vendor needs is
taken out of it, and the rest goes again. Most of that package is one module of a megabyte and a half. Where
it has no bytecode (it was just installed, or Python may write none), compiling it would hold the interpreter,
and with it every stream, for half a second: then another process compiles it. Must never raise for a list
that is not installed, nor for a provider that is not in it: that is None.
"""

import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.machinery import SourcelessFileLoader
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import httpx

from motes.dataclass import dataclass

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

_DATA: Final = "genai_prices.data"
_CLIENT: Final = "httpx2"
_COMPILE: Final = "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], doraise=True)"
_SECONDS: Final = 60.0
_MOST_EXCERPTS: Final = 100
# One list at a time is in memory, whoever asks.
_LOADING: Final = threading.Lock()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A provider of the list, and those whose models it sells too."""

    provider: "Provider"
    fallbacks: "list[Provider]"

    def model(self, name: str) -> "ModelInfo | None":
        """The model of that name, by the list's rules of what is called how."""
        return self.provider.find_model(name, all_providers=self.fallbacks)


@lru_cache(_MOST_EXCERPTS)
def excerpt(name: str, url: str) -> Excerpt | None:
    """What the list has of the provider of that name, or else of that address."""
    try:
        with _without_another_client():
            from genai_prices.data_snapshot import DataSnapshot
    except ImportError:
        return None
    snapshot = DataSnapshot(_providers(), from_auto_update=False)
    provider = next((one for one in snapshot.providers if one.id == name), None)
    if provider is None:
        with suppress(LookupError):
            provider = snapshot.find_provider(None, None, url)
    if provider is None:
        return None
    fallbacks = provider.fallback_model_providers or ()
    return Excerpt(provider, [one for one in snapshot.providers if one.id in fallbacks])


@contextmanager
def _without_another_client() -> Iterator[None]:
    """genai-prices loads an HTTP client to renew its list with, which is never asked for here: two megabytes,
    and 25 ms of a processor. While it is loaded, the client that is here stands in its place; it has the same
    interface.
    """
    with _LOADING:
        is_needed = _CLIENT not in sys.modules
        if is_needed:
            sys.modules[_CLIENT] = httpx
        try:
            yield
        finally:
            if is_needed:
                sys.modules.pop(_CLIENT, None)


def _providers() -> "list[Provider]":
    """All of them. Nobody but the caller keeps them."""
    with _LOADING:
        if _DATA not in sys.modules:
            _compile_elsewhere()
        from genai_prices.data import providers

        sys.modules.pop(_DATA, None)
        # The package has its modules by name too.
        vars(sys.modules["genai_prices"]).pop("data", None)
        return providers


def _compile_elsewhere() -> None:
    """Have the module in place, unless it has bytecode or there is no other process to be had. The bytecode
    is kept, where Python may do that, for the next vendor and the next process.
    """
    spec = importlib.util.find_spec(_DATA)
    if spec is None or not spec.origin or (spec.cached and Path(spec.cached).exists()):
        return
    is_kept = not sys.dont_write_bytecode and os.access(Path(spec.origin).parent, os.W_OK)
    with suppress(OSError, ImportError, EOFError, subprocess.SubprocessError), TemporaryDirectory() as folder:
        made = spec.cached if is_kept and spec.cached else f"{folder}/data.pyc"
        command = [sys.executable, "-I", "-S", "-c", _COMPILE, spec.origin, made]
        subprocess.run(command, capture_output=True, check=True, timeout=_SECONDS)  # noqa: S603 (ours)
        code = SourcelessFileLoader(_DATA, made).get_code(_DATA)
        assert code is not None  # noqa: S101 (for the type: a file without code raises)
        module = importlib.util.module_from_spec(spec)
        exec(code, module.__dict__)  # noqa: S102 (what an import does)
        sys.modules[_DATA] = module
