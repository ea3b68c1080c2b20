"""Reads the price list of genai-prices without holding anybody up. Call it in a thread.

The whole list is forty providers, of which a gateway asks few: what one vendor needs is taken out of it. Most
of that package is one module of a megabyte and a half. Where it has no bytecode (it was just installed, or
Python may write none), compiling it would hold the interpreter, and with it every stream, for half a second:
then another process compiles it. Must never raise for a list that is not installed, nor for a provider that
is not in it: that is None.
"""

import importlib.util
import os
import subprocess
import sys
import threading
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import ModuleSpec, SourcelessFileLoader
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import TYPE_CHECKING, Final, cast

from motes.api.price_package import DATA, open_package, read
from motes.dataclass import dataclass

if TYPE_CHECKING:
    from importlib.abc import InspectLoader

    from genai_prices.types import ModelInfo, Provider

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
    with _LOADING:
        try:
            open_package()
            from genai_prices.data_snapshot import DataSnapshot
        except ImportError:
            return None
        if (code := _code()) is None:
            return None
        heads, numbers = read(code)
        head = next((one for one in heads if one.id == name), None)
        if head is None:
            with suppress(LookupError):
                head = DataSnapshot(heads, from_auto_update=False).find_provider(None, None, url)
        if head is None:
            return None
        fallbacks = head.fallback_model_providers or ()
        whole, _ = read(code, [numbers[id] for id in (head.id, *fallbacks) if id in numbers])
        provider = next(one for one in whole if one.id == head.id)
        return Excerpt(provider, [one for one in whole if one.id in fallbacks])


def _code() -> CodeType | None:
    """What makes the list."""
    spec = importlib.util.find_spec(DATA)
    if spec is None:
        return None
    return _compiled_elsewhere(spec) or cast("InspectLoader", spec.loader).get_code(DATA)


def _compiled_elsewhere(spec: ModuleSpec) -> CodeType | None:
    """The code of a module, unless it has bytecode or there is no other process to be had. The bytecode is
    kept, where Python may do that, for the next vendor and the next process.
    """
    if not spec.origin or (spec.cached and Path(spec.cached).exists()):
        return None
    is_kept = not sys.dont_write_bytecode and os.access(Path(spec.origin).parent, os.W_OK)
    with suppress(OSError, ImportError, EOFError, subprocess.SubprocessError), TemporaryDirectory() as folder:
        made = spec.cached if is_kept and spec.cached else f"{folder}/data.pyc"
        command = [sys.executable, "-I", "-S", "-c", _COMPILE, spec.origin, made]
        subprocess.run(command, capture_output=True, check=True, timeout=_SECONDS)  # noqa: S603 (ours)
        return SourcelessFileLoader(spec.name, made).get_code(spec.name)
    return None
