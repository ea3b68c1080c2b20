"""Framing: bytes cut anywhere give the same events; bounds are kept; nothing raises."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motes.demux.base import Demuxer, WireEvent
from motes.demux.jsonl import JSONLinesDemuxer, json_lines_or_whole
from motes.demux.sse import SSEDemuxer, sse_or_whole
from motes.demux.whole import WholeDemuxer

ALL: list[Callable[..., Demuxer]] = [
    SSEDemuxer,
    JSONLinesDemuxer,
    json_lines_or_whole,
    WholeDemuxer,
    sse_or_whole,
]


def events(demuxer: Demuxer, reads: Iterable[bytes]) -> list[WireEvent]:
    out = [event for read in reads for event in demuxer.feed(read)]
    return out + list(demuxer.close())


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


def sse(data: bytes, size: int | None = None) -> list[WireEvent]:
    return events(SSEDemuxer(), cut(data, size) if size else [data])


@pytest.mark.parametrize("size", [None, 1, 2, 3, 7])
@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (b"data: a\n\n", [WireEvent("a")]),
        (b"data:a\n\n", [WireEvent("a")]),
        (b"data:  a\n\n", [WireEvent(" a")]),
        (b"data: a\r\n\r\n", [WireEvent("a")]),
        (b"data: a\r\r", [WireEvent("a")]),
        (b"data: a\r\n\rdata: b\n\r\n", [WireEvent("a"), WireEvent("b")]),
        (b"data: a\ndata: b\n\n", [WireEvent("a\nb")]),
        (b"data: a\r\ndata: b\r\n\r\n", [WireEvent("a\nb")]),
        (b"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", [WireEvent("a", "x"), WireEvent("b")]),
        (b"event: x\n\ndata: b\n\n", [WireEvent("b")]),
        (b"event: x\nevent: y\ndata: b\n\n", [WireEvent("b", "y")]),
        (b"id: 7\ndata: a\n\ndata: b\n\n", [WireEvent("a", None, "7"), WireEvent("b", None, "7")]),
        (b"id: a\0b\ndata: a\n\n", [WireEvent("a")]),
        (b": hello\ndata: a\n: more\n\n", [WireEvent("a")]),
        (b"\xef\xbb\xbfdata: \xef\xbb\xbfa\n\n", [WireEvent("\ufeffa")]),
        (b"retry: 10\nfoo: bar\nfoo\ndata: a\n\n", [WireEvent("a")]),
        (b"data\n\ndata:\n\ndata:  \n\ndata: a\n\n", [WireEvent("a")]),
        (b"data: a", [WireEvent("a")]),
        (b"data: a\n", [WireEvent("a")]),
        (b"data: a\r", [WireEvent("a")]),
        (
            "data: l\u2028r\u0085n\u2029\x0b\x0c\x1c\n\n".encode(),
            [WireEvent("l\u2028r\u0085n\u2029\x0b\x0c\x1c")],
        ),
        ("data: 海é😀\n\n".encode(), [WireEvent("海é😀")]),
        (b"data: \xff\xfea\n\n", [WireEvent("\ufffd\ufffda")]),
        ("data: 海".encode()[:-1], [WireEvent("\ufffd")]),
        (b"", []),
        (b"\n\r\n\r", []),
        (b"<html>nothing here</html>", []),
    ],
)
def test_sse_reads_every_form_however_it_is_cut(
    wire: bytes, expected: list[WireEvent], size: int | None
) -> None:
    assert sse(wire, size) == expected


@pytest.mark.parametrize("size", [None, 1, 2, 5])
def test_json_lines_split_at_line_feeds_only(size: int | None) -> None:
    wire = '{"a":"\u2028\u0085"}\r\n\n {"b":1}\n{"c":2}'.encode()
    expected = [WireEvent('{"a":"\u2028\u0085"}'), WireEvent('{"b":1}'), WireEvent('{"c":2}')]
    assert events(JSONLinesDemuxer(), cut(wire, size) if size else [wire]) == expected


def test_json_lines_are_given_as_soon_as_they_are_whole() -> None:
    demuxer = JSONLinesDemuxer()
    assert list(demuxer.feed(b'{"a":1}\n{"b"')) == [WireEvent('{"a":1}')]


def test_a_whole_body_is_one_event_and_blank_lines_before_it_are_dropped() -> None:
    assert events(WholeDemuxer(), [b"\n\n", b'{"a"', b":1}\n"]) == [WireEvent('{"a":1}')]
    assert events(WholeDemuxer(), [b"\n \n"]) == []


@pytest.mark.parametrize("size", [1, 2, 100])
def test_the_first_byte_tells_a_body_from_a_stream(size: int) -> None:
    assert events(sse_or_whole(), cut(b'\n\n{"a":\n\n1}', size)) == [WireEvent('{"a":\n\n1}')]
    assert events(sse_or_whole(), cut(b"[1]", size)) == [WireEvent("[1]")]
    assert events(sse_or_whole(), cut(b"\xef\xbb\xbf: x\n\ndata: a\n\n", size)) == [WireEvent("a")]
    assert events(sse_or_whole(), cut(b"\r\n\r\ndata: a\n\n", size)) == [WireEvent("a")]


@pytest.mark.parametrize("size", [None, 1, 2, 100])
@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (b'\n{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']),
        (b'{"a":1}', ['{"a":1}']),
        (b'{\r\n  "a": 1\n}\n', ['{\r\n  "a": 1\n}']),
        (b'\xef\xbb\xbf{ \t\n"a": 1}', ['{ \t\n"a": 1}']),
        (b'[\n{"a":1}\n]', ['[\n{"a":1}\n]']),
        (b'[{"a":1}]\n', ['[{"a":1}]']),
        (b'{ "a":1}\n{\n{"b":2}\n', ['{ "a":1}', "{", '{"b":2}']),
        (b"no JSON\nat all", ["no JSON", "at all"]),
        (b"{", []),
        (b" \n", []),
    ],
)
def test_the_first_line_tells_lines_of_json_from_one_value_over_several(
    wire: bytes, expected: list[str], size: int | None
) -> None:
    found = events(json_lines_or_whole(), cut(wire, size) if size else [wire])
    assert [event.data for event in found] == expected


def test_brackets_and_white_space_are_not_held_without_end() -> None:
    demuxer = json_lines_or_whole(100)
    assert events(demuxer, [b"{", *[b" " * 10] * 200]) == []
    assert demuxer.error is not None


def test_a_stream_is_not_held_back_by_the_choice() -> None:
    lines = json_lines_or_whole()
    assert list(lines.feed(b'{"a":1}\n{"b"')) == [WireEvent('{"a":1}')]
    demuxer = sse_or_whole()
    assert list(demuxer.feed(b"data: a\n\nda")) == [WireEvent("a")]


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("size", [1, 10, 1000])
def test_an_event_above_the_limit_is_told_and_nothing_comes_after_it(
    make: Callable[..., Demuxer], size: int
) -> None:
    opening = b"{" if make in (WholeDemuxer, JSONLinesDemuxer, json_lines_or_whole) else b"data: "
    demuxer = make(100)
    out = events(demuxer, cut(opening + b"x" * 300 + b"\n\ndata: later\n\n", size))
    assert out == []
    assert demuxer.error is not None
    assert "100 bytes" in demuxer.error


def test_the_limit_counts_an_event_not_the_stream_and_not_a_line_twice() -> None:
    demuxer = SSEDemuxer(100)
    wire = b"data: " + b"x" * 60 + b"\n\n"
    assert len(events(demuxer, cut(wire * 20, 7))) == 20
    assert demuxer.error is None


def test_many_data_lines_count_together() -> None:
    demuxer = SSEDemuxer(100)
    assert events(demuxer, [b"data: 0123456789\n" * 20 + b"\n"]) == []
    assert demuxer.error is not None


@given(st.data())
def test_any_chunking_of_any_bytes_gives_the_same_events(data: Any) -> None:
    pieces = st.sampled_from([b"data: ", b"data:", b"\n", b"\r", b"\r\n", b"event: e", b"id: 1", b":", b"x", "é海".encode(), b"\xff", b"{", b"\xef\xbb\xbf"])  # fmt: skip
    wire = b"".join(data.draw(st.lists(pieces, max_size=30)))
    make = data.draw(st.sampled_from(ALL))
    at = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=8)))
    reads = [wire[i:j] for i, j in zip([0, *at], [*at, len(wire)], strict=True)]
    assert events(make(), reads) == events(make(), [wire])
