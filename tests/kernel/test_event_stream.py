"""AWS's event stream: frames cut anywhere are the same events, and what is broken is never believed."""

import json
import struct
from itertools import pairwise
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.eventstream import event, exception, frame, header, raw_frame
from motes.demux.base import WireEvent
from motes.demux.eventstream import EventStreamDemuxer, event_stream_or_whole

BODY = event("messageStart", {"role": "assistant"}) + event("delta", {"text": "Ølet 😀"}) + event("x", b"")
EVENTS = [
    WireEvent('{"role": "assistant"}', "messageStart"),
    WireEvent(json.dumps({"text": "Ølet 😀"}), "delta"),
    WireEvent("", "x"),
]


def read(*reads: bytes, limit: int | None = None) -> tuple[list[WireEvent], str | None]:
    demuxer = EventStreamDemuxer() if limit is None else EventStreamDemuxer(limit)
    out = [item for data in reads for item in demuxer.feed(data)]
    return out + list(demuxer.close()), demuxer.error


def bytewise(data: bytes) -> list[bytes]:
    return [bytes([b]) for b in data]


def test_frames_come_out_as_events_in_order() -> None:
    assert read(BODY) == (EVENTS, None)


def test_frames_cut_at_every_byte_are_the_same_events() -> None:
    assert read(*bytewise(BODY)) == (EVENTS, None)
    for at in range(len(BODY) + 1):
        assert read(BODY[:at], BODY[at:]) == (EVENTS, None), at


@given(st.lists(st.integers(0, len(BODY)), max_size=9))
def test_any_cuts_are_the_same_events(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(BODY)]
    assert read(*[BODY[i:j] for i, j in pairwise(places)]) == (EVENTS, None)


def test_an_event_is_given_with_its_last_byte_and_not_later() -> None:
    demuxer = EventStreamDemuxer()
    first = event("a", {})
    assert list(demuxer.feed(first[:-1])) == []
    assert list(demuxer.feed(first[-1:])) == [WireEvent("{}", "a")]


def test_a_frame_that_is_not_whole_says_nothing_and_is_no_error() -> None:
    for at in range(1, len(event("a", {}))):
        assert read(BODY + event("a", {})[:at]) == (EVENTS, None), at


@pytest.mark.parametrize("at", range(len(event("delta", {"text": "hi"}))))
def test_no_changed_byte_of_a_frame_is_believed(at: int) -> None:
    good = event("delta", {"text": "hi"})
    bad = bytearray(good)
    bad[at] ^= 0x20
    events, error = read(BODY + bytes(bad) + good)
    assert events == EVENTS
    # A changed length may only make the frame seem longer than what is here, but its checksum is wrong first.
    assert error is not None
    assert "frame 4" in error


@pytest.mark.parametrize(
    "broken",
    [
        bytes(16),
        raw_frame(b"", b"", total=0),
        raw_frame(b"", b"", total=5),
        raw_frame(b"", b"", total=15),
        struct.pack("!IIII", 0xFFFFFFFF, 0, 0, 0),
        raw_frame(header(":event-type", "a"), b"{}", total=20),
        raw_frame(b"", b"", total=0x7FFFFFFF),
    ],
)
def test_lengths_that_cannot_be_end_the_stream_at_once(broken: bytes) -> None:
    for reads in ([BODY + broken + BODY], bytewise(BODY + broken + BODY)):
        events, error = read(*reads)
        assert events == EVENTS
        assert error is not None


def test_a_header_block_longer_than_its_frame_is_an_error() -> None:
    prelude = struct.pack("!II", 32, 20)
    prelude += struct.pack("!I", crc32(prelude))
    assert read(prelude + bytes(20))[1] is not None


def test_headers_that_make_no_sense_are_an_error_and_never_raise() -> None:
    for headers in (
        b"\x05abc",
        b"\x01a\x0f",
        b"\x01a\x07\x00\xff",
        b"\x02\xff\xfe\x00",
        b"\x01a\x07\x00\x01\xff",
    ):
        events, error = read(raw_frame(headers, b"{}"))
        assert error is not None or events


def test_a_header_of_another_type_is_passed_over() -> None:
    body = frame({}, event_type="a", flag=True, number=7, blob=b"\x00\xff", off=False)
    assert read(body) == ([WireEvent("{}", "a")], None)
    assert read(frame({}, event_type=7)) == ([WireEvent("{}", None)], None)


def test_an_exception_is_an_error_with_its_type() -> None:
    ((told,), error) = read(exception("throttlingException", {"message": "Too many requests"}))
    assert error is None
    assert told.name == "error"
    assert json.loads(told.data) == {"error": {"message": "Too many requests", "type": "throttlingException"}}


def test_an_exception_without_json_tells_its_text() -> None:
    ((told,), _) = read(exception("modelStreamErrorException", b"it broke"))
    assert json.loads(told.data)["error"] == {"message": "it broke", "type": "modelStreamErrorException"}
    ((told,), _) = read(frame(b"", message_type="exception"))
    assert json.loads(told.data)["error"] == {"message": "", "type": "unknown"}


def test_an_error_frame_tells_what_its_headers_say() -> None:
    body = frame(b"", message_type="error", error_code="InternalError", error_message="it broke")
    ((told,), _) = read(body)
    assert json.loads(told.data)["error"] == {"message": "it broke", "type": "InternalError"}


def test_a_payload_nested_beyond_reason_never_raises() -> None:
    deep = b'{"message":"m","x":' + b"[" * 900 + b"]" * 900 + b"}"
    ((told,), _) = read(exception("validationException", deep))
    assert json.loads(told.data)["error"]["message"] == "m"


def test_a_frame_above_the_limit_is_refused_by_its_declared_length() -> None:
    events, error = read(BODY + event("a", b"x" * 400)[:20], limit=300)
    assert events == EVENTS
    assert error is not None
    assert "300" in error


def test_text_in_place_of_a_stream_is_told_as_such() -> None:
    _, error = read(b"<html><body>Bad gateway</body></html>")
    assert error is not None
    assert "no AWS event stream" in error
    assert "<html>" in error


def test_a_json_body_is_one_event_and_blanks_before_it_are_dropped() -> None:
    demuxer = event_stream_or_whole()
    assert [*demuxer.feed(b" \n"), *demuxer.feed(b' {"a"'), *demuxer.feed(b":1}"), *demuxer.close()] == [
        WireEvent('{"a":1}')
    ]
    demuxer = event_stream_or_whole()
    assert [*demuxer.feed(b"\n"), *demuxer.feed(BODY), *demuxer.close()] == EVENTS
    assert demuxer.error is None
    assert list(event_stream_or_whole().close()) == []


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=60), max_size=6))
def test_arbitrary_bytes_never_raise(reads: list[bytes]) -> None:
    for demuxer in (EventStreamDemuxer(), event_stream_or_whole()):
        for data in reads:
            list(demuxer.feed(data))
        list(demuxer.close())


def test_without_botocore_the_reader_says_how_to_mend_that(monkeypatch: Any) -> None:
    import builtins

    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("botocore"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    events, error = read(BODY)
    assert events == []
    assert error is not None
    assert "motes[aws]" in error
