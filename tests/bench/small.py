"""One live stream on a small share of a processor, as Lambda grants it by memory: 1,769 MB are one whole.

The share is a control group's quota in periods of 20 ms (version 1 of the kernel's interface, as root): where
that is not to be had, the case says so and measures nothing. Memory is not limited, but told.

Source: AWS Lambda developer guide, "Configure Lambda function memory" (read 2026-11-30); Linux kernel
documentation, "CFS Bandwidth Control".
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.gauge import tree
from tests.bench.tables import say, table
from tests.bench.wires import Script

if TYPE_CHECKING:
    from tests.bench.__main__ import Bench

GROUPS = Path("/sys/fs/cgroup/cpu")
PERIOD_US = 20_000
# Of a processor: 513, 256 and 128 MB.
SHARES = (0.29, 0.145, 0.0723)


def small(bench: "Bench") -> None:
    """Does a stream of 100 events a second keep its pace, and how much memory does that take?"""
    if not (GROUPS / "cpu.cfs_quota_us").exists():
        say("\nThe kernel offers no quota of a processor here (control groups, version 1, as root)\n")
        return
    names = [name for name in ("direct", "raw_template", *MEASURED) if name in bench.running]
    for share in SHARES:

        def measure(name: str, dialect: str, share: float = share) -> dict[str, float]:
            script = Script(n=200, size=32, pause=10_000, wait=50, stamp=1)
            with limited(bench.running[name].pid, 1.0 if name == "direct" else share):
                told = bench.ask(name, dialect, script, 1, 1)
            return {
                "seconds a stream": told["total_s"],
                "first token ms": told["first_ms"] - script.wait,
                "event late by µs, p50": told["late_us"],
                "p99": told["late_p99_us"],
                "peak MB": told["peak_mb"],
            }

        title = f"One stream of 100 events a second on {share:g} of a processor"
        table(bench, title, measure, {"seconds a stream": ["direct"]}, names)


MEASURED = ("motes", "motes_dynamodb", "portkey", "litellm")


@contextmanager
def limited(pid: int, share: float) -> Iterator[None]:
    """Give the process and those below it so much of a processor."""
    group = GROUPS / f"motes-bench-{pid}"
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(round(PERIOD_US * share)))
        for one in tree(pid):
            (group / "cgroup.procs").write_text(str(one))
        yield
    finally:
        for one in tree(pid):
            (GROUPS / "cgroup.procs").write_text(str(one))
        group.rmdir()
