"""Responses streams: what begins one, what ends one, what its messages and its reasoning say."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.recordings import load, message, particles
from fakes.responses_streams import (
    CREATED,
    OPENAI,
    added,
    body,
    codes,
    completed,
    done,
    end,
    event,
    failed,
    incomplete,
    msg,
    read,
    response,
    rs,
    run,
    spoken,
    sse,
    step,
    text,
    thought,
)
from motes import particles as p
from motes.dialects.openai_responses import DIALECT
from motes.egress.message_json import message_json
from motes.quirks import Quirks

WIRE = Path(__file__).parents[1] / "wire" / "openai-responses"
HI = (added(msg()), text("Hi"))
LIMITED = {"code": "rate_limit_exceeded", "message": "slow down"}


ANSWERS = [path for path in sorted(WIRE.glob("*/expected.json")) if not load(path.parent).failed]


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.parent.name)
def test_a_recording_adds_up_to_the_message_it_is_known_for(path: Path) -> None:
    recording = load(path.parent)
    out = particles(DIALECT, [recording.body], recording.quirks)
    got = message_json(message(out), visible=any(p.is_visible(x) for x in out))
    assert got == json.loads(path.read_text())


# Ends.


def test_completed_is_the_evidence_and_nothing_is_read_after_it() -> None:
    out = run(CREATED, *HI, completed(), text(" more"), {"type": "error", "message": "late"})
    assert [x for x in out if isinstance(x, p.Text)] == [p.Text("Hi")]
    assert out[-1] == p.End("done-dialect", "ok", None, "completed")


def test_without_a_terminal_event_there_is_no_success_not_even_after_done() -> None:
    for tail in ([], ["[DONE]"], [done(msg("Hi"))]):
        m = read(CREATED, *HI, *tail)
        assert (m.text, end(m).stop, m.error and m.error.kind) == ("Hi", None, "stream_truncated")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", "out-of-tokens"),
        ("max_messages", "out-of-tokens"),
        ("content_filter", "filter-content"),
        ("steered", "ok"),
    ],
)
def test_an_incomplete_answer_says_why(reason: str, stop: Any) -> None:
    m = read(CREATED, *HI, incomplete(reason))
    assert (end(m), codes(m)) == (p.End("done-dialect", stop, None, reason), [])


@pytest.mark.parametrize("reason", ["a new one", None, 3])
def test_an_unknown_reason_for_an_incomplete_answer_is_a_limit_with_a_word(reason: Any) -> None:
    m = read(CREATED, *HI, incomplete(reason))
    assert (end(m).stop, codes(m)) == ("out-of-tokens", ["unknown_incomplete_reason"])


def test_an_error_after_text_is_told_if_the_stream_ends_there() -> None:
    m = read(CREATED, *HI, {"type": "error", "error": LIMITED})
    assert (m.text, end(m).reason, m.error and m.error.kind) == ("Hi", "issue-dialect", "rate_limit")


def test_an_error_after_text_yields_to_the_whole_message_of_a_failed_run() -> None:
    m = read(CREATED, *HI, {"type": "error", "error": LIMITED}, failed(msg("Hi"), error=LIMITED))
    assert (m.text, end(m).stop, m.error, codes(m)) == ("Hi", "ok", None, ["failed_after_answer"])


def test_a_failed_run_whose_message_is_not_whole_is_a_failure() -> None:
    m = read(CREATED, *HI, failed(msg("Hi", status="incomplete"), error=LIMITED))
    assert (end(m).reason, m.error and m.error.code) == ("issue-dialect", "rate_limit_exceeded")


def test_an_error_before_text_is_told_once_and_its_echo_is_not() -> None:
    error = {"code": "invalid_prompt", "message": "no"}
    out = run(CREATED, {"type": "error", **error}, failed(error=error))
    assert [x.text for x in out if isinstance(x, p.Issue)] == ["no"]
    assert out[-1] == p.End("issue-dialect", "cg-issue", None, "error")


def test_an_error_after_text_changes_nothing_about_an_answer_that_completes() -> None:
    m = read(CREATED, *HI, {"type": "error", "message": "odd"}, completed())
    assert (end(m).stop, codes(m)) == ("ok", ["error_advisory"])


def test_a_failed_run_tells_what_was_deferred_where_it_does_not_say_why_itself() -> None:
    m = read(CREATED, *HI, {"type": "error", "message": "the disk is full"}, failed())
    assert m.error is not None
    assert m.error.message == "the disk is full"


def test_a_failed_run_without_any_reason_is_an_issue_all_the_same() -> None:
    for m in (read(CREATED, failed()), body(response("failed"))):
        assert (end(m).stop, m.outcome, m.error and m.error.kind) == ("cg-issue", "failed", "server_error")


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"code": "server_error", "message": "x"}, "server_error", True),
        ({"code": "rate_limit_exceeded", "message": "x"}, "rate_limit", True),
        ({"code": "invalid_prompt", "message": "x"}, "content_blocked", False),
        ({"code": "bio_policy", "message": "x"}, "content_blocked", False),
        ({"code": "misalignment_policy_violation", "message": "x"}, "content_blocked", False),
        ({"code": "image_content_policy_violation", "message": "x"}, "content_blocked", False),
        ({"code": "data_residency_mismatch", "message": "x"}, "invalid_request", False),
        ({"code": "image_too_large", "message": "x"}, "invalid_request", False),
        ({"code": "invalid_base64_image", "message": "x"}, "invalid_request", False),
        ({"code": "vector_store_timeout", "message": "x"}, "timeout", True),
        ({"code": "insufficient_quota", "message": "x"}, "quota", False),
        ("plain words", "server_error", True),
    ],
)
def test_every_code_of_a_failure_has_its_kind(error: Any, kind: str, retryable: bool) -> None:
    for m in (read(CREATED, failed(error=error)), body(response("failed", error=error))):
        assert m.error is not None
        assert (m.error.kind, m.error.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    "broken",
    [
        {"error": LIMITED},
        {"type": "error", "error": LIMITED},
        {"type": "error", **LIMITED},
        {"type": "response.failed", "error": LIMITED},
        {"type": "rate_limit_error", "message": "slow down", "code": "rate_limit_exceeded"},
    ],
)
def test_an_error_is_read_nested_or_flat(broken: Any) -> None:
    m = read(CREATED, broken)
    assert m.error is not None
    assert (m.error.message, m.error.kind) == ("slow down", "rate_limit")


def test_a_bare_error_body_is_an_error() -> None:
    for broken in ({"detail": "no such path"}, {"message": "no"}, {"error": "no"}):
        assert body(broken).outcome == "failed"


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_run_that_is_not_over_is_no_answer_and_keeps_its_handle(status: str) -> None:
    m = body(response(status, background=True, store=True, output=[msg("so far", status="in_progress")]))
    assert (end(m).stop, end(m).native_stop, m.outcome) == ("cg-issue", status, "failed")
    assert m.error is not None
    assert (m.error.code, m.error.retryable) == ("pending", False)
    assert m.handle is not None
    assert message_json(m, visible=False)["finish_reason"] is None


def test_a_cancelled_run_is_no_answer() -> None:
    m = body(response("cancelled"))
    assert (m.outcome, m.error and m.error.code) == ("failed", "cancelled")


def test_a_whole_body_without_a_status_is_an_answer_with_a_word() -> None:
    m = body({"object": "response", "output": [msg("Hi")]})
    assert (m.text, end(m).stop, codes(m)) == ("Hi", "ok", ["unknown_status"])


# Names.


def test_model_id_and_handle_come_from_the_first_event_that_has_them() -> None:
    stored = response(background=True, store=True, created_at=1_790_000_000.5)
    out = run(event("created", response=stored), event("in_progress", response=stored), completed())
    assert out[0] == p.ModelName("m")
    assert out[1] == p.ResponseId("resp_1")
    month = 30 * 24 * 3600 * 1000
    handle = p.UpstreamHandle("vnd.oai.responses", "resp_1", 1_790_000_000_500, 1_790_000_000_500 + month)
    assert [x for x in out if isinstance(x, p.HandleSet)] == [p.HandleSet(handle)]


def test_a_run_in_background_that_is_not_stored_lives_for_ten_minutes() -> None:
    begun = event("created", response=response(background=True, store=False, created_at=1000))
    handle = p.UpstreamHandle("vnd.oai.responses", "resp_1", 1_000_000, 1_600_000)
    assert [x for x in run(begun, completed()) if isinstance(x, p.HandleSet)] == [p.HandleSet(handle)]


@pytest.mark.parametrize("members", [{}, {"store": True}, {"background": False, "store": True}])
def test_a_run_that_ends_with_its_connection_has_no_handle(members: Any) -> None:
    assert read(event("created", response=response(**members)), completed()).handle is None


def test_counts_split_input_and_include_reasoning() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 10},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 150,
    }
    counts = read(CREATED, completed(usage=usage)).metrics
    assert counts == p.Metrics(
        tokens_in=50,
        tokens_cache_read=40,
        tokens_cache_write=10,
        tokens_out=50,
        tokens_out_reasoning=20,
        tokens_total=150,
    )


@pytest.mark.parametrize(
    ("cost", "cents"),
    [({"cost": 0.0123}, 1.23), ({"cost": {"total_cost": 0.5}}, 50.0), ({"cost_in_usd_ticks": 10**9}, 10.0)],
)
def test_a_reported_cost_is_told_in_cents(cost: Any, cents: float) -> None:
    metrics = read(CREATED, completed(usage={"input_tokens": 1, "output_tokens": 1, **cost})).metrics
    assert metrics is not None
    assert metrics.cost_cents == cents


# Signs of life, and what is not known.


@pytest.mark.parametrize(
    "idle", [{"type": "keepalive", "sequence_number": 4}, {"type": "ping"}, event("content_part.added")]
)
def test_signs_of_life_say_nothing(idle: Any) -> None:
    m = read(CREATED, idle, *HI, idle, completed())
    assert (m.text, codes(m)) == ("Hi", [])


def test_unknown_events_and_items_are_counted_and_nothing_else() -> None:
    odd = {"id": "x_1", "type": "crystal_ball_call"}
    m = read(
        CREATED, event("crystal_ball_call.gazing"), added(odd), done(odd), *HI, completed(odd, msg("Hi"))
    )
    assert (m.text, end(m).stop, codes(m)) == ("Hi", "ok", ["unknown_event", "unknown_item"])


def test_an_event_is_known_by_its_name_where_it_has_no_type() -> None:
    events = [
        ("response.created", {"response": response()}),
        ("response.completed", response("completed", output=[msg("Hi")])),
    ]
    raw = b"".join(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in events)
    m = message(particles(DIALECT, [raw], OPENAI))
    assert (m.text, end(m).stop) == ("Hi", "ok")


# Messages.


def test_a_text_that_only_a_whole_form_holds_is_told_once() -> None:
    wholes = [
        step("output_text.done", "msg_1", content_index=0, text="Hi there"),
        step("content_part.done", "msg_1", content_index=0, part={"type": "output_text", "text": "Hi there"}),
        done(msg("Hi there")),
        completed(msg("Hi there")),
    ]
    for first in range(len(wholes)):
        for head in ((), HI):
            events = [CREATED, *head, *wholes[first:]]
            assert read(*events).text == "Hi there"


def test_a_whole_text_that_says_something_else_does_not_undo_the_pieces() -> None:
    m = read(CREATED, *HI, completed(msg("Bye")))
    assert (m.text, codes(m)) == ("Hi", ["text_differs"])


def test_a_final_list_under_other_ids_is_not_told_again() -> None:
    final = completed(rs("hm", id="rs_9"), msg("Hi", id="msg_9"))
    m = read(CREATED, added(rs(), 0), thought("hm"), added(msg(), 1), text("Hi", at=1), final)
    assert (m.text, m.reasoning, codes(m)) == ("Hi", "hm", [])


def test_pieces_without_announcement_id_or_index_are_still_one_answer() -> None:
    bare = [{"type": "response.output_text.delta", "delta": d} for d in ("H", "i")]
    m = read(*bare, completed())
    assert (m.text, codes(m)) == ("Hi", ["implicit_item"])


def test_a_refusal_is_told_as_one() -> None:
    parts = [{"type": "refusal", "refusal": "No."}]
    pieces = [step("refusal.delta", "msg_1", content_index=0, delta=d) for d in ("N", "o.")]
    for m in (
        read(CREATED, added(msg()), *pieces, completed(msg(content=parts))),
        read(CREATED, completed(msg(content=parts))),
        body(response("completed", output=[msg(content=parts)])),
    ):
        assert (m.refusal, m.text, end(m).stop) == ("No.", "", "filter-refusal")


def test_think_tags_of_local_servers_count_as_reasoning() -> None:
    m = read(CREATED, added(msg()), text("<thi"), text("nk>hm</think>Hi"), completed(), quirks=Quirks())
    assert (m.reasoning, m.text) == ("hm", "Hi")


def test_a_phase_comes_before_its_text_and_only_once() -> None:
    item = msg("Hi", phase="final_answer")
    out = spoken(run(CREATED, added(msg(phase="final_answer")), text("Hi"), done(item), completed(item)))
    assert out == [p.VendorState("openai", {"messagePhase": "final_answer"}), p.Text("Hi")]
    assert spoken(run(sse_body(response("completed", output=[item])))) == out


def sse_body(value: Any) -> str:
    return json.dumps(value)


# Reasoning.


def test_each_part_of_a_summary_is_a_block_and_the_encrypted_content_hangs_on_the_last() -> None:
    whole = rs("think", "more", encrypted_content="EC")
    out = spoken(
        run(
            CREATED,
            added(rs(encrypted_content="E")),
            thought("think"),
            thought("more", part=1),
            done(whole),
            completed(whole),
        )
    )
    assert out == [
        p.Reasoning("think"),
        p.Reasoning("more", restart=True),
        p.VendorState("openai", {"reasoningItem": {"id": "rs_1", "encryptedContent": "EC"}}),
    ]


def test_encrypted_content_without_a_summary_gets_a_block_of_its_own() -> None:
    first, second = (rs(id=f"rs_{n}", encrypted_content=f"E{n}") for n in (1, 2))
    m = read(
        CREATED, added(first, 0), done(first, 0), added(second, 1), done(second, 1), completed(first, second)
    )
    assert [f.state["openai"]["reasoningItem"]["encryptedContent"] for f in m.fragments] == ["E1", "E2"]


def test_reasoning_without_encrypted_content_leaves_nothing_to_keep() -> None:
    assert read(CREATED, added(rs()), thought("hm"), done(rs("hm")), completed()).fragments[0].state == {}


def test_raw_reasoning_is_reasoning_also_where_it_closes_after_the_answer() -> None:
    piece = {"type": "response.reasoning_text.delta", "item_id": "rs_1", "content_index": 0, "delta": "hm"}
    late = rs(content=[{"type": "reasoning_text", "text": "hm"}])
    m = read(
        CREATED,
        added(rs(), 0),
        piece,
        added(msg(), 1),
        text("Hi", at=1),
        done(msg("Hi"), 1),
        done(late, 0),
        completed(late, msg("Hi")),
    )
    assert (m.reasoning, m.text, codes(m)) == ("hm", "Hi", [])


def test_reasoning_keeps_the_name_of_the_host_that_can_read_it() -> None:
    whole = rs(encrypted_content="EC")
    out = run(CREATED, done(whole), completed(), quirks=Quirks(reasoning_origin="azure-openai"))
    assert [x.vendor for x in out if isinstance(x, p.VendorState)] == ["azure-openai"]


def test_nothing_of_the_wire_but_json_objects_is_read() -> None:
    raw = sse(CREATED, *HI) + b"data: 7\n\n" + sse(completed())
    m = message(particles(DIALECT, [raw], OPENAI))
    assert (m.text, end(m).stop, codes(m)) == ("Hi", "ok", ["bad_event"])
