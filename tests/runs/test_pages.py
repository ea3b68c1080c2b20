"""Pages of a journal: what is written is read, in order and whole; a gap or a broken page is never passed over."""

import zlib
from dataclasses import replace

import pytest

from fakes.recordings import ours, particles
from motes import particles as p
from motes.errors import StoreError
from motes.runs.pages import Reading, pages_of
from motes.store.runs import MAX_PAGE_BYTES, Page

GOOD = [recording for recording in ours() if not recording.failed]
SAID = [p.Text(f"piece {n} ") for n in range(50)] + [p.End("done-dialect", "ok")]


def pages(size=100, first=1):
    return list(pages_of(first, SAID, size))


@pytest.mark.parametrize("recording", GOOD[::7], ids=lambda recording: recording.name)
def test_every_particle_of_a_recording_comes_back_as_it_was(recording):
    said = particles(recording.dialect, [recording.body], recording.quirks)
    reading = Reading(0)
    assert reading.taken(list(pages_of(1, said, 500))) == said
    assert reading.is_over


@pytest.mark.parametrize(
    "texts",
    [
        [""],
        ["", ""],
        ["a\x1e", "b"],
        ["\x1e"],
        ["a", "\\u001e", "b"],
        ['"},{"t":"', '"'],
        ["\\", "u001e"],
        ["é\n", "😀"],
    ],
)
@pytest.mark.parametrize("size", [1, 10_000])
def test_text_comes_back_whatever_it_says(texts, size):
    said = [p.Reasoning("\x1e"), *map(p.Text, texts), p.Reasoning("c"), *map(p.Text, texts)]
    assert Reading(0).taken(list(pages_of(1, said, size))) == said


def test_half_a_character_is_mended_where_it_stands():
    said = [p.Text("a\ud83d"), p.Text("\ude00b")]
    assert Reading(0).taken(list(pages_of(1, said, 10_000))) == [p.Text("a\ufffd"), p.Text("\ufffdb")]


@pytest.mark.parametrize("after", [0, 1, 7, 49, 50, 51])
def test_a_reader_gets_what_comes_after_his_number_and_no_more(after):
    reading = Reading(after)
    assert reading.taken(pages()) == SAID[after:]
    assert reading.at == max(after, 51)


def test_a_page_that_comes_twice_is_read_once():
    some = pages()
    reading = Reading(0)
    assert reading.taken([some[0], some[0], *some[1:]]) == SAID


def test_a_page_that_is_missing_is_never_passed_over():
    some = pages()
    with pytest.raises(StoreError, match="has no particles"):
        Reading(0).taken([some[0], *some[2:]])


@pytest.mark.parametrize(
    "body",
    [b"", b"no page", "text", None, zlib.compress(b"{"), zlib.compress(b"[]\n[]"), zlib.compress(b"{}")],
)
def test_a_page_that_cannot_be_read_is_no_page(body):
    with pytest.raises(StoreError):
        Reading(0).taken([replace(pages()[0], body=body)])


def test_a_piece_that_no_page_can_hold_is_told_by_a_warning_in_its_place():
    import random

    noise = random.Random(1).randbytes(2 * MAX_PAGE_BYTES).hex()
    said = [p.Text("a"), p.Image("image/png", noise), p.Text("b")]
    read = Reading(0).taken(list(pages_of(1, said, 1 << 20)))
    assert [type(one) for one in read] == [p.Text, p.Warn, p.Text]
    assert read[1].code == "journal_too_large"


def test_no_page_is_larger_than_a_store_takes():
    said = [p.Text("x" * 1_000_000) for _ in range(10)]
    assert all(len(page.body) <= MAX_PAGE_BYTES for page in pages_of(1, said, 1 << 30))
    assert all(isinstance(page, Page) for page in pages())
