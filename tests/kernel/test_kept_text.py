"""The text of an answer is kept small, and never differs from what was added."""

import sys
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.wires import DIALECTS, Script
from motes.dialects.registry import resolve
from motes.kept_text import KeptText
from motes.pump import Pump
from motes.quirks import NO_QUIRKS
from motes.transmitter import Transmitter

# Halves of characters, too: vendors cut them in two.
PIECES = st.lists(st.text(st.characters(), max_size=5), max_size=30)


@settings(deadline=None)
@given(PIECES, st.sampled_from([1, 40, 600]), st.booleans())
def test_the_whole_is_what_was_added(pieces, times, is_asked_often):
    kept, added = KeptText(), []
    for _ in range(times):
        for piece in pieces:
            kept.add(piece)
            added.append(piece)
        if is_asked_often:
            assert kept.whole() == "".join(added)
    assert kept.whole() == "".join(added)
    kept.add("!")
    assert kept.whole() == "".join(added) + "!"


def test_halves_of_a_character_come_back_as_halves():
    kept = KeptText("a")
    for _ in range(2000):
        kept.add("\ud83d")
        kept.add("\ude00")
    assert kept.whole() == "a" + "\ud83d\ude00" * 2000


def test_nothing_is_nothing():
    assert not KeptText()
    assert KeptText().whole() == ""
    assert KeptText("a")


def test_of_many_small_pieces_little_more_than_their_letters_is_held():
    kept = KeptText()
    for number in range(300):
        kept.add(f"{number:032}")
    held = [*kept._pieces, *kept._packed]
    # As strings of their own, they took 24 KB.
    assert sum(map(sys.getsizeof, held)) < 300 * 32 + 32 * 100


@pytest.mark.skipif(sys.gettrace() is not None, reason="memory is measured")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_of_an_hour_holds_little_more_than_one_of_a_minute(dialect):
    answer = DIALECTS[dialect](Script(n=20_000, size=32), b"")
    house = resolve(dialect)
    pump = Pump(house.demuxer(1 << 26), house.parser(NO_QUIRKS), Transmitter(lambda: "call"))
    reads = [*answer.head, *answer.middle]
    for read in reads[:500]:
        pump.feed(read)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for read in reads[500:]:
            pump.feed(read)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # As strings of their own, the pieces took 1.8 MB.
    assert after - before < 300_000


def test_what_is_longer_than_anybody_asks_for_is_let_go():
    kept, added = KeptText(most=64 * 1024), 0
    while not kept.is_lost:
        added += len(kept.add("words and "))
    assert 64 * 1024 <= added < 66 * 1024
    for _ in range(10_000):
        kept.add("words and ")
    assert (kept.whole(), bool(kept)) == ("", True)
    assert sum(map(len, kept._pieces)) < 1000
    assert not kept._packed
