"""What an event costs, counted and not timed: steps of the interpreter, beside the least a translator can do.

A step is one instruction of the interpreter; the count is the same on every machine and at every load. What a
step costs differs, and C code counts as nothing: `test_instructions_an_event.py` counts that. Where a limit here
is passed, something was added to the path that every event of every stream takes.
"""

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import orjson
import pytest

from bench.translation import reads, translated
from bench.wires import DIALECTS, text_in
from motes.dialects.base import DialectName

FEW, MANY = 50, 250


def least(dialect: str, pieces: list[bytes]) -> Iterator[bytes]:
    """Events split, decoded, looked into, and filled into a template; nothing is checked, nothing else read."""
    held, end = b"", b"\r\n\r\n" if dialect == "gemini-generate" else b"\n\n"
    for piece in pieces:
        out = b""
        *events, held = (held + piece).split(end)
        for event in events:
            data = event[event.find(b"data: ") + 6 :]
            if data != b"[DONE]" and (text := text_in(orjson.loads(data), dialect)):
                out += b'data: {"choices":[{"delta":{"content":' + orjson.dumps(text) + b"}}]}\n\n"
        yield out


def steps(work: Callable[[], object]) -> int:
    """How many instructions of the interpreter the work takes."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def an_event(way: Callable[[Any, list[bytes]], Iterator[bytes]], dialect: Any) -> float:
    few, many = (reads(dialect, n) for n in (FEW, MANY))
    list(way(dialect, few))
    counts = [steps(lambda pieces=pieces: list(way(dialect, pieces))) for pieces in (few, many)]
    return (counts[1] - counts[0]) / (MANY - FEW)


@pytest.mark.parametrize(
    ("dialect", "limit"),
    [("openai-chat", 2.8), ("anthropic-messages", 2.98), ("gemini-generate", 2.9)],
)
def test_an_event_takes_few_times_the_steps_of_the_least_translator(dialect: Any, limit: float) -> None:
    assert b"".join(translated(dialect, reads(dialect, FEW))).count(b'"content":"0000') == FEW
    assert an_event(translated, dialect) <= limit * an_event(least, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_event_late_in_a_long_stream_costs_what_an_early_one_does(dialect: Any) -> None:
    counts = [steps(lambda n=n: list(translated(dialect, reads(dialect, n)))) for n in (0, 100, 2000)]
    early, late = (counts[1] - counts[0]) / 100, (counts[2] - counts[1]) / 1900
    assert late <= 1.02 * early + 1


@pytest.mark.parametrize(
    ("dialect", "limit"),
    [("openai-chat", 4500), ("anthropic-messages", 5500), ("gemini-generate", 4200)],
)
def test_a_stream_of_one_piece_takes_few_steps(dialect: DialectName, limit: int) -> None:
    pieces = [b"".join(reads(dialect, 1))]
    # What is made once a process is no part of it.
    assert b'"content":"0000' in b"".join(translated(dialect, pieces))
    assert steps(lambda: list(translated(dialect, pieces))) <= limit
