"""Interactions: what ends a run, what its steps say, and what is left of a run that is not over."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.interactions import (
    ID,
    MODEL,
    RESEARCH,
    codes,
    completed,
    created,
    end,
    event,
    interaction,
    of,
    piece,
    read,
    run,
    said,
    sse,
    start,
    status,
    stop,
    whole,
)
from fakes.recordings import RESET, load, message, particles
from motes import particles as p
from motes.dialects.gemini_interactions import DIALECT
from motes.egress.message_json import message_json
from motes.pump import Pump
from motes.transmitter import Continue, Transmitter

WIRE = Path(__file__).parents[1] / "wire" / "gemini-interactions"
ANSWERS = [path for path in sorted(WIRE.glob("*/expected.json")) if not load(path.parent).failed]
USAGE = {"total_input_tokens": 10, "total_output_tokens": 4, "total_tokens": 14}


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.parent.name)
def test_a_recording_adds_up_to_the_message_it_is_known_for(path: Path) -> None:
    recording = load(path.parent)
    out = particles(DIALECT, [recording.body], recording.quirks)
    got = message_json(message(out), visible=any(p.is_visible(x) for x in out))
    assert got == json.loads(path.read_text())


# Ends.


def test_completed_is_the_evidence_and_nothing_is_read_after_it() -> None:
    out = run(created(), *said(0, "Hi"), completed(), *said(1, " more"), event("error", error={"code": "x"}))
    assert of(p.Text, out) == [p.Text("Hi")]
    assert end(out) == p.End("done-dialect", "ok", None, "completed")


@pytest.mark.parametrize(
    ("word", "stop_reason"), [("incomplete", "out-of-tokens"), ("budget_exceeded", "out-of-tokens")]
)
def test_a_run_that_was_stopped_is_cut_short_and_says_so(word: str, stop_reason: str) -> None:
    last = end(run(created(), *said(0, "Hal"), completed(word)))
    assert (last.reason, last.stop, last.native_stop) == ("done-dialect", stop_reason, word)
    assert last.detail


@pytest.mark.parametrize("word", ["failed", "cancelled", "in_progress", "queued", "requires_action"])
def test_a_run_without_an_answer_is_no_success(word: str) -> None:
    out = run(created(), *said(0, "Hal"), completed(word))
    assert (end(out).reason, end(out).stop) == ("issue-dialect", "cg-issue")
    assert len(of(p.Issue, out)) == 1


def test_the_end_mark_alone_is_no_evidence() -> None:
    out = run(created(), *said(0, "Hi"), event("done"))
    assert end(out).stop is None
    assert read(created(), *said(0, "Hi"), event("done")).error.kind == "stream_truncated"  # type: ignore[union-attr]


def test_a_final_status_is_evidence_once_every_step_is_over() -> None:
    assert end(run(created(), *said(0, "Hi"), status("completed"))).stop == "ok"
    assert end(run(created(), *said(0, "Hi"), status("completed"), event("done"))).stop == "ok"
    assert end(run(created(), *said(0, "Hi")[:-1], status("completed"))).stop is None
    assert end(run(created(), status("completed"))).stop is None


def test_a_final_status_stands_although_the_line_was_reset() -> None:
    out = particles(DIALECT, [sse(created(), *said(0, "Hi"), status("completed"))], failure=RESET)
    assert end(out).stop == "ok"


def test_a_status_that_is_final_waits_for_what_comes_with_the_last_event() -> None:
    m = read(created(), *said(0, "Hi"), status("completed"), completed(usage=USAGE))
    assert m.metrics == p.Metrics(tokens_in=10, tokens_out=4, tokens_total=14)


def test_a_status_nobody_knows_is_told_and_the_run_is_what_its_event_says() -> None:
    out = run(created(), *said(0, "Hi"), completed("serene"))
    assert (end(out).stop, codes(out)) == ("ok", ["unknown_status"])


def test_a_run_that_stopped_half_way_goes_on_with_its_token() -> None:
    transmitter = Transmitter(lambda: "id")
    pump = Pump(DIALECT.demuxer(10_000), DIALECT.parser(None), transmitter)  # type: ignore[arg-type]
    pump.feed(sse(created(), *said(0, "Hal"), completed("requires_continuation", continuation_token="T1")))
    assert pump.verdict == Continue({"continuation_token": "T1"}, "requires_continuation")
    out = run(created(), *said(0, "Hal"), completed("requires_continuation"))
    assert end(out).stop == "out-of-tokens"


# Errors.


def test_an_empty_error_is_none_and_a_full_one_ends_the_run() -> None:
    assert end(run(created(), event("error", error={}), *said(0, "Hi"), completed())).stop == "ok"
    m = read(created(), *said(0, "H"), event("error", error={"code": "https://x/overloaded", "message": "m"}))
    assert m.error is not None
    assert (m.error.kind, m.error.code, m.error.retryable) == ("overloaded", "overloaded", True)
    assert m.text == "H"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}},
        [{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}],
    ],
)
def test_a_plain_error_object_is_read_wherever_it_stands(body: Any) -> None:
    assert message(whole(body)).error.kind == "overloaded"  # type: ignore[union-attr]
    line = b"data: " + json.dumps(body).encode() + b"\n\n"
    assert message(particles(DIALECT, [line])).error.kind == "overloaded"  # type: ignore[union-attr]


def test_a_failed_run_that_is_kept_at_the_vendor_is_not_started_again() -> None:
    fault = {"errors": [{"code": "unavailable", "message": "busy"}]}
    kept = message(run(created(RESEARCH), completed("failed", RESEARCH, **fault)))
    assert kept.error is not None
    assert (kept.error.kind, kept.error.retryable) == ("overloaded", False)
    other = message(run(created(), completed("failed", **fault)))
    assert other.error is not None
    assert other.error.retryable


def test_a_failed_run_tells_what_its_step_says() -> None:
    out = run(
        created(), start(0, "model_output", error={"code": 3, "message": "no such file"}), completed("failed")
    )
    assert message(out).error.message == "no such file"  # type: ignore[union-attr]


# What is said.


def test_each_thought_is_a_block_with_its_own_signature() -> None:
    def thought(index: int, words: str, signature: str) -> list[dict[str, Any]]:
        return [
            start(index, "thought"),
            piece(index, "thought_signature", signature=signature),
            piece(index, "thought_summary", content={"type": "text", "text": words}),
            stop(index),
        ]

    m = read(created(), *thought(0, "one", "S1"), *thought(1, "two", "S2"), *said(2, "Hi"), completed())
    blocks = [(f.text, f.signature) for f in m.fragments if hasattr(f, "signature")]
    assert blocks == [("one", "S1"), ("two", "S2")]


def test_a_thought_without_words_keeps_its_signature() -> None:
    m = read(created(), start(0, "thought", signature="S"), stop(0), *said(1, "Hi"), completed())
    assert [(f.text, f.signature) for f in m.fragments if hasattr(f, "signature")] == [("", "S")]


def test_places_of_sources_count_bytes_of_their_own_block() -> None:
    notes = [
        {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 5}
    ]
    out = run(
        created(),
        *said(0, "Näh. "),
        start(1, "model_output"),
        piece(1, "text_annotation_delta", annotations=notes),
        piece(1, "text", text="Möwe"),
        stop(1),
        completed(),
    )
    assert of(p.Citation, out) == [p.Citation("A", "https://a.example", 1, 5, 9)]


def test_a_place_outside_of_its_block_is_none() -> None:
    note = {"type": "url_citation", "url": "https://a.example", "start_index": 2, "end_index": 900}
    out = run(
        created(), start(0, "model_output"), piece(0, "text", text="Hi", annotations=[note]), completed()
    )
    assert of(p.Citation, out) == [p.Citation("https://a.example", "https://a.example", 1)]


def test_what_tells_of_sound_is_no_source_and_an_unknown_note_is_counted() -> None:
    notes = [{"type": "word_info", "text": "hi"}, {"type": "omen"}]
    out = run(
        created(), start(0, "model_output"), piece(0, "text", text="Hi", annotations=notes), completed()
    )
    assert (of(p.Citation, out), codes(out)) == ([], ["unknown_annotation"])


def test_pieces_of_sound_are_one_clip_and_whole_files_stay_apart() -> None:
    raw = {"mime_type": "audio/l16", "sample_rate": 8000, "data": "AAAA"}
    (clip,) = of(
        p.Audio,
        run(
            created(),
            start(0, "model_output"),
            piece(0, "audio", **raw),
            piece(0, "audio", **raw),
            completed(),
        ),
    )
    assert (clip.mime, clip.duration_ms) == ("audio/wav", 0)
    file = {"mime_type": "audio/wav", "data": "UklGRg=="}
    out = run(
        created(), start(0, "model_output"), piece(0, "audio", **file), piece(0, "audio", **file), completed()
    )
    assert len(of(p.Audio, out)) == 2


def test_a_video_at_google_is_known_by_its_name_there() -> None:
    uri = "https://generativelanguage.googleapis.com/v1beta/files/ab1:download?alt=media"
    out = run(
        created(), start(0, "model_output"), piece(0, "video", uri=uri, mime_type="video/mp4"), completed()
    )
    assert of(p.HostedResource, out) == [
        p.HostedResource("vnd.gem.file", resource="files/ab1", mime="video/mp4", is_video=True)
    ]


def test_usage_counts_tool_use_as_input_and_thoughts_as_output() -> None:
    counts = {
        "total_input_tokens": 20,
        "total_cached_tokens": 8,
        "total_tool_use_tokens": 5,
        "total_output_tokens": 7,
        "total_thought_tokens": 9,
        "total_tokens": 41,
    }
    assert read(created(), *said(0, "Hi"), completed(usage=counts)).metrics == p.Metrics(
        tokens_in=17,
        tokens_cache_read=8,
        tokens_out=16,
        tokens_out_reasoning=9,
        tokens_total=41,
    )


def test_a_run_that_ends_without_usage_keeps_what_was_told_on_the_way() -> None:
    m = read(created(), *said(0, "Hi"), status("in_progress", usage=USAGE), completed())
    assert m.metrics is not None
    assert (m.metrics.tokens_in, m.metrics.source) == (10, "partial")
    assert read(created(), *said(0, "Hi"), completed()).metrics is None


# The whole.


def test_a_whole_body_is_read_as_the_stream_it_could_have_been() -> None:
    steps = [
        {"type": "user_input", "content": [{"type": "text", "text": "hi"}]},
        {"type": "model_output", "content": [{"type": "text", "text": "Hi"}]},
    ]
    assert whole(interaction(steps=steps)) == run(created(), *said(0, "Hi"), completed())


def test_the_steps_of_the_last_event_are_told_only_where_the_stream_told_none() -> None:
    steps = [{"type": "model_output", "content": [{"type": "text", "text": "Hi"}]}]
    assert read(created(), completed(steps=steps)).text == "Hi"
    assert read(created(), *said(0, "Hi"), completed(steps=steps)).text == "Hi"


def test_a_snapshot_of_a_run_that_is_not_over_is_pending_and_keeps_its_handle() -> None:
    m = message(whole(interaction("in_progress", RESEARCH, created="2026-11-20T07:15:00Z")))
    assert m.error is not None
    assert (m.error.code, m.error.retryable) == ("pending", False)
    assert m.error.details == {"status": "in_progress", "steps": 0, "created": "2026-11-20T07:15:00Z"}
    assert m.handle == p.UpstreamHandle("vnd.gem.interactions", ID, 1795158900000, 1795245300000)


def test_a_run_has_a_handle_only_where_it_lives_on() -> None:
    def handles(*events: dict[str, Any], by: str = MODEL) -> int:
        return len(of(p.HandleSet, run(*events, *said(0, "Hi"), completed(by=by))))

    assert handles(created()) == 0
    assert handles(created(RESEARCH)) == 1
    assert handles({**created(), "event_id": "e1"}) == 1
    assert handles({**created(), "event_id": "e1"}, {**status("in_progress"), "event_id": "e2"}) == 1
    assert handles({**created("gemini-omni-preview"), "event_id": "e1"}, by="gemini-omni-preview") == 0
