"""Is framing linear? Time per byte of one huge event against many small ones, in the same run.

uv run python -m tests.bench.framing
"""

import time
from collections.abc import Callable
from statistics import median

from motes.demux.base import Demuxer
from motes.demux.jsonl import JSONLinesDemuxer
from motes.demux.sse import SSEDemuxer

HUGE = 32 * 1024 * 1024
READ = 16 * 1024
ROUNDS = 5


def ns_per_byte(make: Callable[[int], Demuxer], body: bytes) -> float:
    """Processor time of one pass over a body in reads of 16 KiB."""
    reads = [body[i : i + READ] for i in range(0, len(body), READ)]
    demuxer = make(2 * HUGE)
    started = time.process_time_ns()
    events = sum(len(list(demuxer.feed(read))) for read in reads) + len(list(demuxer.close()))
    spent = time.process_time_ns() - started
    assert events
    assert demuxer.error is None
    return spent / len(body)


def row(name: str, make: Callable[[int], Demuxer], frame: tuple[bytes, bytes]) -> str:
    """One line of the table: medians of the rounds, and the median of their paired ratios."""
    head, tail = frame
    one = head + b"x" * HUGE + tail
    many = (head + b"x" * 200 + tail) * 1000
    pairs = [(ns_per_byte(make, one), ns_per_byte(make, many)) for _ in range(ROUNDS)]
    huge, small = median(a for a, _ in pairs), median(b for _, b in pairs)
    ratio = median(a / b for a, b in pairs)
    return f"| {name} | {huge:.2f} | {small:.2f} | {ratio:.2f} |"


def main() -> None:
    """Print the table."""
    print("| framing | one 32 MiB event, ns a byte | 1,000 small ones, ns a byte | ratio |")  # noqa: T201
    print("|---|---|---|---|")  # noqa: T201
    print(row("server-sent events", SSEDemuxer, (b"data: ", b"\n\n")))  # noqa: T201
    print(row("JSON lines", JSONLinesDemuxer, (b'"', b'"\n')))  # noqa: T201


if __name__ == "__main__":
    main()
