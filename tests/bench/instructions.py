"""What an event costs in instructions of the machine, those of C code among them: motes beside the template.

    uv run python -m tests.bench.instructions

Counted by valgrind's cachegrind, which must be installed, and not timed: the figures are the same at every load.
It counts whole processes, so each way takes a short stream and a long one, each in a process of its own; what
the long one takes more is that of its events alone.
"""

import gc
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from itertools import product
from pathlib import Path

from .translation import WAYS, reads
from .wires import DIALECTS

FEW, MANY = 400, 2400
ROOT = Path(__file__).parents[2]
CACHEGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
COUNT = re.compile(r"^==\d+== I +refs: +([\d,]+)$", re.MULTILINE)


def an_event(dialect: str) -> dict[str, float]:
    """Instructions an event, by way."""
    told = subprocess.run(
        [*CACHEGRIND, sys.executable, "-m", "tests.bench.instructions", dialect],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    # The last one is that of the process the others came from.
    counts = [int(count.replace(",", "")) for count in COUNT.findall(told.stderr)][:-1]
    if told.returncode or len(counts) != 2 * len(WAYS):
        raise RuntimeError(told.stderr)
    return {
        way: (many - few) / (MANY - FEW)
        for way, few, many in zip(WAYS, counts[::2], counts[1::2], strict=True)
    }


def run_each(dialect: str) -> None:
    """Every way through the short stream and the long one, in this order. What is made once a process is made
    before, and is nothing that a garbage collection in one of the runs would look through.
    """
    streams = [reads(dialect, n) for n in (FEW, MANY)]
    for way in WAYS.values():
        deque(way(dialect, streams[0]), maxlen=0)
    gc.collect()
    gc.freeze()
    for way, stream in product(WAYS.values(), streams):
        run_apart(lambda way=way, stream=stream: deque(way(dialect, stream), maxlen=0))


def run_apart(work: Callable[[], object]) -> None:
    """Work in a fork of this process, which valgrind tells the count of when it ends."""
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("a run has failed")


def main() -> None:
    """Print the table."""
    sys.stdout.write(f"| dialect | {' | '.join(WAYS)} | ratio |\n|---|{'---|' * len(WAYS)}---|\n")
    for dialect in DIALECTS:
        found = an_event(dialect)
        cells = [f"{count:,.0f}" for count in found.values()]
        sys.stdout.write(f"| {dialect} | {' | '.join(cells)} | {found['motes'] / found['template']:.2f} |\n")


if __name__ == "__main__":
    if sys.argv[1:]:
        run_each(sys.argv[1])
    else:
        main()
