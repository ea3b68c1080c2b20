"""Loads the price list of genai-prices without holding anybody up. Call it in a thread.

Most of that list is one module of a megabyte and a half. Where it has no bytecode (it was just installed, or
Python may write none), compiling it would hold the interpreter, and with it every stream, for half a second:
then another process compiles it. Must never raise for a list that is not installed: that is None.
"""

import importlib.util
import marshal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

_DATA: Final = "genai_prices.data"
_COMPILE: Final = (
    "import marshal, sys\n"
    "with open(sys.argv[1], 'rb') as source:\n"
    "    code = compile(source.read(), sys.argv[1], 'exec', dont_inherit=True)\n"
    "sys.stdout.buffer.write(marshal.dumps(code))\n"
)
_SECONDS: Final = 60.0


def price_list() -> "DataSnapshot | None":
    """The list, or None where the package is not there."""
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    if _DATA not in sys.modules:
        _compile_elsewhere()
    return get_snapshot()


def _compile_elsewhere() -> None:
    """Have the module in place, unless it has bytecode or there is no other process to be had."""
    spec = importlib.util.find_spec(_DATA)
    if spec is None or not spec.origin or (spec.cached and Path(spec.cached).exists()):
        return
    command = [sys.executable, "-I", "-S", "-c", _COMPILE, spec.origin]
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=_SECONDS)  # noqa: S603 (ours)
        code = marshal.loads(done.stdout)  # noqa: S302 (of the same Python)
    except (OSError, ValueError, EOFError, TypeError, subprocess.SubprocessError):
        return
    module = importlib.util.module_from_spec(spec)
    exec(code, module.__dict__)  # noqa: S102 (what an import does)
    sys.modules[_DATA] = module
