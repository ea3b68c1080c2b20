"""The pump: what counts as complete, what as cut, what as broken. A grammar of its own: one JSON object a line."""

import itertools
from datetime import UTC, datetime

import pytest

from motes import jsontext
from motes import particles as p
from motes.demux.base import WireEvent
from motes.demux.jsonl import JSONLinesDemuxer
from motes.demux.sse import sse_or_whole
from motes.errors import VendorError
from motes.pump import Pump
from motes.transmitter import Emitter, Retry, Transmitter
from motes.vendor_errors import read_failure

RESET = VendorError(message="connection reset", kind="stream_truncated", retryable=True)


class LineParser:
    """{"t": text} · {"stop": word} · {"over": true} · {"error": words}."""

    def parse(self, event: WireEvent, out: Emitter) -> None:
        value = jsontext.as_object(event.data)
        if value is None:
            raise ValueError("not an object")
        if "t" in value:
            out.text(value["t"])
        if "stop" in value:
            out.stop("ok", native=value["stop"])
        if "error" in value:
            out.issue(VendorError(message=value["error"], kind="overloaded", retryable=True))
        if "over" in value:
            out.done()

    def eof(self, out: Emitter) -> None:
        pass


def pump(sse: bool = False, limit: int = 10_000) -> Pump:
    numbers = itertools.count(1)
    demuxer = sse_or_whole(limit) if sse else JSONLinesDemuxer(limit)
    return Pump(demuxer, LineParser(), Transmitter(lambda: f"made_{next(numbers)}"))


def run(
    *reads: bytes, sse: bool = False, failure: VendorError | None = None, limit: int = 10_000
) -> tuple[list[p.Particle], object]:
    attempt = pump(sse, limit)
    out = [x for read in reads for x in attempt.feed(read)]
    return out + attempt.close(failure), attempt.verdict


def issue(particles: list[p.Particle]) -> VendorError:
    (found,) = [x.error for x in particles if isinstance(x, p.Issue)]
    assert found is not None
    return found


def test_a_terminal_event_completes() -> None:
    out, verdict = run(b'{"t":"a"}\n{"stop":"end"}\n{"over":true}\n{"t":"late"}\n')
    assert out == [p.Text("a")]
    assert verdict == p.End("done-dialect", "ok", native_stop="end")


def test_a_stop_reason_is_evidence_enough_when_the_socket_closes() -> None:
    _, verdict = run(b'{"t":"a"}\n{"stop":"end"}\n')
    assert verdict == p.End("done-dialect", "ok", native_stop="end")


def test_a_reset_after_the_evidence_is_a_success_with_a_warning() -> None:
    out, verdict = run(b'{"t":"a"}\n{"stop":"end"}\n', failure=RESET)
    assert isinstance(verdict, p.End)
    assert verdict.stop == "ok"
    assert [x.code for x in out if isinstance(x, p.Warn)] == ["reset_after_end"]


def test_a_close_without_evidence_is_a_truncation() -> None:
    out, verdict = run(b'{"t":"a"}\n')
    assert verdict == p.End("done-dispatch-closed")
    assert (issue(out).kind, issue(out).retryable) == ("stream_truncated", True)


def test_a_reset_without_evidence_is_a_failed_read() -> None:
    out, verdict = run(b'{"t":"a"}\n', failure=RESET)
    assert verdict == p.End("issue-dispatch-rpc")
    assert [x.phase for x in out if isinstance(x, p.Issue)] == ["dispatch-read"]


def test_a_half_event_left_over_is_a_truncation_and_no_grammar_error() -> None:
    out, _ = run(b'{"t":"a"}\n{"t":"b')
    assert issue(out).kind == "stream_truncated"


def test_a_whole_event_left_over_counts() -> None:
    _, verdict = run(b'{"t":"a"}\n{"stop":"end"}')
    assert isinstance(verdict, p.End)
    assert verdict.stop == "ok"


def test_one_bad_event_is_skipped_and_told_where_the_answer_completes_later() -> None:
    out, verdict = run(b'{"t":"a"}\nnonsense\n{"t":"b"}\n{"stop":"end"}\n')
    assert [x for x in out if isinstance(x, p.Text)] == [p.Text("a"), p.Text("b")]
    assert [x.code for x in out if isinstance(x, p.Warn)] == ["bad_event"]
    assert isinstance(verdict, p.End)
    assert verdict.stop == "ok"


def test_a_bad_event_without_later_evidence_is_a_broken_protocol() -> None:
    out, verdict = run(b'{"t":"a"}\nnonsense\n')
    assert issue(out).kind == "protocol"
    assert "nonsense" in issue(out).message
    assert isinstance(verdict, p.End)
    assert verdict.stop is None


def test_the_third_bad_event_ends_the_run() -> None:
    attempt = pump()
    attempt.feed(b"x\ny\n")
    assert attempt.verdict is None
    out = attempt.feed(b'z\n{"stop":"end"}\n')
    assert issue(out).kind == "protocol"
    assert attempt.verdict == p.End("issue-dispatch-rpc")


def test_an_event_above_the_limit_is_a_broken_protocol() -> None:
    out, _ = run(b'{"t":"' + b"x" * 500 + b'"}\n', limit=100)
    assert issue(out).kind == "protocol"
    assert "100 bytes" in issue(out).message


@pytest.mark.parametrize("body", [b"upstream connect error", b"OK"])
def test_a_body_that_is_no_stream_is_told_with_an_excerpt(body: bytes) -> None:
    out, _ = run(body, sse=True)
    assert issue(out).kind == "protocol"
    assert body.decode() in issue(out).message


PAGE = b"<!DOCTYPE html>\n<html>\n<head>" + b"<meta>\n" * 100 + b"<title>Bad\n gateway</title></head>\n<body>"


@pytest.mark.parametrize(("sse", "size"), [(True, 7), (True, 100_000), (False, 100_000)])
def test_a_page_for_people_is_told_as_under_a_failed_status(sse: bool, size: int) -> None:
    page = PAGE + b"\n" * 3000
    out, _ = run(*(page[at : at + size] for at in range(0, len(page), size)), sse=sse)
    assert issue(out).kind == "protocol"
    assert issue(out).message == "the upstream answered with an HTML page: Bad gateway"
    assert issue(out).message == read_failure(502, {}, page, datetime.now(UTC)).message


def test_a_close_is_told_plainly() -> None:
    assert issue(run()[0]).message == "the upstream closed the stream before anything came"
    told = issue(run(b'{"t":"a"}\n')[0]).message
    assert told == "the upstream closed the stream after 10 bytes, before its answer was complete"


@pytest.mark.parametrize(
    "body", [b"", b"\n\n", b"da", b": waiting\n\n", b"event: x\n", b'{"t":', b"[", b"\xef\xbb"]
)
def test_a_body_cut_before_its_first_event_is_a_truncation(body: bytes) -> None:
    out, _ = run(body, sse=True)
    assert issue(out).kind == "stream_truncated"


def test_an_error_before_anything_visible_asks_for_a_retry_and_after_it_ends() -> None:
    attempt = pump()
    attempt.feed(b'{"error":"busy"}\n')
    assert isinstance(attempt.verdict, Retry)
    out, verdict = run(b'{"t":"a"}\n{"error":"busy"}\n')
    assert verdict == p.End("issue-dialect")
    assert issue(out).kind == "overloaded"


@pytest.mark.parametrize(
    "wire",
    [
        b'data: {"t":"a"}\ndata: {"t":"b"}\ndata: {"stop":"end"}\n\n',
        b'data: {"t":"a"}data: {"t":"b"}data: {"stop":"end"}\n\n',
        b'data: {"t":"a"}{"t":"b"} {"stop":"end"}\n\n',
        b'event: x\ndata: {"t":"a"}\nevent: y\ndata: {"t":"b"}\ndata: {"stop":"end"}\n\n',
        b'data: {"t":"a"}\n\ndata: {"t":"b"}\ndata: {"stop":"end"}',
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_events_glued_together_are_taken_apart(wire: bytes, size: int) -> None:
    out, verdict = run(*[wire[i : i + size] for i in range(0, len(wire), size)], sse=True)
    assert out == [p.Text("a"), p.Text("b")]
    assert verdict == p.End("done-dialect", "ok", native_stop="end")


@pytest.mark.parametrize(
    "wire", [b'data: {"t":"a"}{"t":\n\n', b'data: {"t":"a"} and so on\n\n', b"data: nonsense\n\n"]
)
def test_what_is_not_glued_whole_is_not_taken_apart(wire: bytes) -> None:
    out, _ = run(wire, sse=True)
    assert not [x for x in out if isinstance(x, p.Text)]


def test_a_piece_the_parser_refuses_is_skipped_like_any_bad_event() -> None:
    out, verdict = run(b'data: {"t":"a"}7{"t":"b"}\n\ndata: {"stop":"end"}\n\n', sse=True)
    assert isinstance(verdict, p.End)
    assert verdict.stop == "ok"
    assert [x.code for x in out if isinstance(x, p.Warn)] == ["bad_event"]
