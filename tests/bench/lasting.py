"""Streams that last: does an event cost the same at the end as at the start, and does memory stay where it is?"""

from typing import TYPE_CHECKING

from tests.bench.tables import table
from tests.bench.wires import Script

if TYPE_CHECKING:
    from tests.bench.__main__ import Bench

STREAMS = 64
PAUSE_US = 100_000


def lasting(bench: "Bench") -> None:
    """64 streams of ten events a second, for as long as the bench is told; and how the run's tenths differ."""

    def measure(name: str, dialect: str) -> dict[str, float]:
        events = max(100, round(bench.options.minutes * 60_000_000 / PAUSE_US))
        script = Script(n=events, size=32, pause=PAUSE_US, wait=50, stamp=1)
        told = bench.ask(name, dialect, script, STREAMS, STREAMS, 2.0)
        # The first tenth opens streams, the last one closes them.
        first, second, *_, eighth, ninth = [
            told["course"][len(told["course"]) * at // 10] for at in range(1, 10)
        ]
        return {
            "µs an event": told["cpu_s"] / max(1, told["events"]) * 1e6,
            "ninth tenth ÷ second": (ninth[0] - eighth[0]) / (second[0] - first[0]),
            "MB after a tenth": first[1],
            "MB after nine": ninth[1],
            "most MB": told["peak_mb"],
            "event late by µs, p50": told["late_us"],
            "p99": told["late_p99_us"],
        }

    names = [name for name in ("raw_pass", "motes") if name in bench.running]
    title = f"{STREAMS} streams of {1e6 / PAUSE_US:g} events a second, {bench.options.minutes:g} minutes"
    table(bench, title, measure, {"µs an event": ["raw_pass"]}, names)
