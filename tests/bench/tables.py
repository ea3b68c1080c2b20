"""What was measured, as Markdown: medians with their spread, and ratios of figures of the same round."""

import statistics
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.bench.__main__ import Bench

Measure = Callable[[str, str], dict[str, float]]


def table(
    bench: "Bench",
    title: str,
    measure: Measure,
    beside: dict[str, list[str]],
    names: list[str],
    added: dict[str, list[str]] | None = None,
) -> None:
    """Medians (least to most), and medians of ratios within a round. `added`: of which figures to tell what
    is more than without anything between, and beside whose.
    """
    say(f"\n### {title}\n")
    head: list[str] = []
    for dialect, name, figures, of in bench.rounds(measure, names):
        pairs = [(f, o) for f, others in beside.items() for o in others if o in names]
        more = {f: [o for o in others if o in names] for f, others in (added or {}).items()}
        if not head:
            head = ["dialect", "target", *figures, *(f"{f} ÷ {o}" for f, o in pairs)]
            for f, others in more.items():
                head += [f"{f} added", *(f"{f} added ÷ {o}" for o in others)]
            say(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        cells = [
            f"{shown(statistics.median(v))} ({shown(min(v))} to {shown(max(v))})" for v in figures.values()
        ]
        ratios = [ratio(figures[f], of(o)[f]) for f, o in pairs]
        for f, others in more.items():
            own = differences(figures[f], of("direct")[f])
            ratios += [
                shown(statistics.median(own)),
                *(ratio(own, differences(of(o)[f], of("direct")[f])) for o in others),
            ]
        say(f"| {' | '.join([dialect, name, *cells, *ratios])} |")


def ratio(own: list[float], other: list[float]) -> str:
    return f"{statistics.median(a / b if b else 0.0 for a, b in zip(own, other, strict=True)):.3g}"


def differences(own: list[float], other: list[float]) -> list[float]:
    return [a - b for a, b in zip(own, other, strict=True)]


def shown(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
