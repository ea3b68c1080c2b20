"""Chat-completions streams: what ends one, what any of its frames may look like. Bytes in, values out."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.chat_streams import DONE, FINISHED, call, chunk, codes, read, run, sse, stop
from fakes.recordings import load, message, particles
from motes import particles as p
from motes.codec import to_wire
from motes.dialects.openai_chat import DIALECT
from motes.egress.message_json import message_json
from motes.quirks import Quirks

WIRE = Path(__file__).parents[1] / "wire" / "openai-chat"


@pytest.mark.parametrize("path", sorted(WIRE.glob("*/expected.json")), ids=lambda path: path.parent.name)
def test_a_recording_adds_up_to_the_message_it_is_known_for(path: Path) -> None:
    recording = load(path.parent)
    out = particles(DIALECT, [recording.body], recording.quirks)
    got = message_json(message(out), visible=any(p.is_visible(x) for x in out))
    assert got == json.loads(path.read_text())


# Ends.


def test_a_finish_reason_and_done_end_well() -> None:
    out = run(chunk({"content": "hi"}), FINISHED, DONE)
    assert out[-1] == p.End("done-dialect", "ok", None, "stop")


def test_a_finish_reason_is_evidence_without_done() -> None:
    out = run(chunk({"content": "hi"}, "length"))
    assert out[-1] == p.End("done-dialect", "out-of-tokens", None, "length")


def test_done_is_evidence_without_a_finish_reason_and_is_told_as_odd() -> None:
    m = read(chunk({"content": "hi"}), DONE)
    assert (stop(m), codes(m)) == ("ok", ["no_finish_reason"])


def test_done_without_a_finish_reason_after_calls_is_a_call_for_tools() -> None:
    assert stop(read(chunk(call(0, "f", "{}", id="a")), DONE)) == "ok-tool_invocations"


def test_neither_is_no_success() -> None:
    m = read(chunk({"content": "hi"}))
    assert (m.text, stop(m), m.error and m.error.kind) == ("hi", None, "stream_truncated")


def test_reading_goes_on_after_the_finish_reason() -> None:
    late = chunk({"content": " late"})
    m = read(
        chunk({"content": "a"}),
        FINISHED,
        late,
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
        DONE,
    )
    assert m.text == "a late"
    assert m.metrics == p.Metrics(tokens_in=1, tokens_out=2)


def test_nothing_is_read_after_done() -> None:
    assert read(chunk({"content": "a"}), FINISHED, DONE, chunk({"content": "b"}), DONE).text == "a"


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "ok"),
        ("STOP", "ok"),
        ("eos", "ok"),
        ("COMPLETE", "ok"),
        ("end_turn", "ok"),
        ("normal", "ok"),
        ("tool_calls", "ok-tool_invocations"),
        ("tool_call", "ok-tool_invocations"),
        ("function_call", "ok-tool_invocations"),
        ("tool_use", "ok-tool_invocations"),
        ("length", "out-of-tokens"),
        ("max_tokens", "out-of-tokens"),
        ("model_length", "out-of-tokens"),
        ("model_context_window_exceeded", "out-of-tokens"),
        ("content_filter", "filter-content"),
        ("sensitive", "filter-content"),
        ("SAFETY", "filter-content"),
        ("guardrail_intervened", "filter-content"),
        ("RECITATION", "filter-recitation"),
        ("refusal", "filter-refusal"),
    ],
)
def test_every_vendors_word_for_the_end_is_known(word: str, reason: str) -> None:
    m = read(chunk({"content": "a"}, word), DONE)
    assert m.end == p.End("done-dialect", reason, None, word)  # type: ignore[arg-type]
    assert codes(m) == []


@pytest.mark.parametrize("nothing", ["", None, "null"])
def test_an_empty_finish_reason_is_none(nothing: Any) -> None:
    m = read(chunk({"content": "a"}, nothing), chunk({"content": "b"}, "length"))
    assert (m.text, stop(m)) == ("ab", "out-of-tokens")


def test_an_unknown_finish_reason_is_an_ordinary_stop_with_a_word() -> None:
    m = read(chunk({"content": "a"}, "tired"), DONE)
    assert m.end == p.End("done-dialect", "ok", None, "tired")
    assert codes(m) == ["unknown_finish_reason"]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("error", "server_error"),
        ("network_error", "server_error"),
        ("abort", "server_error"),
        ("insufficient_system_resource", "overloaded"),
        ("MALFORMED_FUNCTION_CALL", "malformed_tool_call"),
    ],
)
def test_a_finish_reason_that_is_a_failure_is_an_issue(word: str, kind: str) -> None:
    m = read(chunk({"content": "a"}), chunk(finish=word), DONE)
    assert m.error is not None
    assert (m.error.kind, m.error.code, stop(m)) == (kind, word, None)


def test_a_later_plain_stop_does_not_hide_the_token_limit() -> None:
    assert stop(read(chunk({"content": "a"}, "length"), FINISHED, DONE)) == "out-of-tokens"


def test_a_moderated_choice_is_filtered_whatever_its_word() -> None:
    choice = {"index": 0, "delta": {}, "finish_reason": "stop", "moderation_hit_type": "violence"}
    assert stop(read(chunk({"content": "a"}), chunk() | {"choices": [choice]}, DONE)) == "filter-content"


# Shapes of chunks.


@pytest.mark.parametrize("role", ["", None, "assistant", 7])
def test_no_role_matters(role: Any) -> None:
    assert read(chunk({"role": role, "content": "hi"}), FINISHED, DONE).text == "hi"


@pytest.mark.parametrize("missing", ["id", "object", "model"])
def test_no_member_of_the_envelope_is_needed(missing: str) -> None:
    event = chunk({"content": "hi"})
    del event[missing]
    assert read(event, FINISHED, DONE).text == "hi"


@pytest.mark.parametrize("choices", [[], None, {}, "x", [None], [{}], [{"index": 0}], [{"delta": None}]])
def test_a_chunk_without_a_choice_says_nothing(choices: Any) -> None:
    m = read({"choices": choices}, chunk({"content": "hi"}), {"id": "r1", "model": "m"}, FINISHED, DONE)
    assert (m.text, m.error) == ("hi", None)


def test_only_the_first_choice_counts() -> None:
    second = {"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}
    both = chunk({"content": "yes"})
    both["choices"].insert(0, second)
    m = read(both, chunk() | {"choices": [second]}, FINISHED, DONE)
    assert (m.text, stop(m)) == ("yes", "ok")


def test_a_choice_without_index_is_the_first() -> None:
    assert read({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}, DONE).text == "a"


@pytest.mark.parametrize(
    "noise",
    [
        {"type": "keepalive"},
        {"type": "ping", "message": "waiting", "code": 0},
        {"obfuscation": "abc"},
        {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": [{}]},
        {"choices": [], "prompt_progress": {"total": 9}},
        {"message": "", "error": None},
        {"error": {}, "choices": []},
        {"type": "info", "message": "queued"},
        {"base_resp": {"status_code": 0, "status_msg": ""}, "choices": []},
    ],
)
def test_frames_that_only_keep_the_line_open_are_passed_over(noise: dict[str, Any]) -> None:
    m = read(noise, chunk({"content": "hi"}), noise, FINISHED, noise, DONE)
    assert (m.text, m.error, m.model, m.response_id) == ("hi", None, "m", "r1")


def test_named_pings_are_passed_over_even_if_they_are_no_json() -> None:
    wire = b"event: ping\ndata: pong\n\n" * 5 + sse(chunk({"content": "a"}, "stop"))
    assert message(particles(DIALECT, [wire])).text == "a"


def test_empty_data_between_chunks_is_passed_over() -> None:
    wire = sse(chunk({"content": "a"})) + b"data:\n\ndata: \n\n" + sse(FINISHED, DONE)
    assert message(particles(DIALECT, [wire])).text == "a"


@pytest.mark.parametrize("junk", ["nonsense", "7", '"text"', "null", "[]", "[1]"])
def test_an_event_that_is_no_object_is_skipped_and_told(junk: str) -> None:
    m = read(junk, chunk({"content": "a"}), FINISHED, DONE)
    assert (m.text, codes(m)) == ("a", ["bad_event"])


def test_the_model_the_id_and_the_provider_are_told_once() -> None:
    out = run(
        chunk({"content": "a"}, provider="P"), chunk({"content": "b"}, provider="P", model="m2"), FINISHED
    )
    assert out[:3] == [p.ModelName("m"), p.ResponseId("r1"), p.ProviderInfra("P")]
    assert [type(x) for x in out].count(p.ModelName) == 1


# Anything.

JUNK = [
    None,
    0,
    -1,
    1.5,
    "",
    "x",
    True,
    [],
    {},
    [None],
    [[]],
    [{}],
    {"a": 1},
    "9" * 30,
    10**30,
    [7, "a"],
    {"text": 5},
]


def damaged(value: Any, dice: random.Random) -> Any:
    """A copy with one inner value replaced or dropped."""
    out = copy.deepcopy(value)
    spot = out
    while True:
        keys = list(spot) if isinstance(spot, dict) else list(range(len(spot)))
        if not keys:
            return out
        key = dice.choice(keys)
        if isinstance(spot[key], dict | list) and spot[key] and dice.random() < 0.7:
            spot = spot[key]
        elif isinstance(spot, dict) and dice.random() < 0.2:
            del spot[key]
            return out
        else:
            spot[key] = dice.choice(JUNK)
            return out


def everything() -> list[dict[str, Any]]:
    """Events with every member we know."""
    detail = {"type": "reasoning.text", "text": "t", "signature": "s", "data": "d", "index": 0}
    delta = {
        "content": [
            {"type": "thinking", "thinking": [{"text": "a"}]},
            {"type": "reference", "reference_ids": [1]},
        ],
        "refusal": "r",
        "reasoning_details": [detail],
        "thinking_blocks": [{"thinking": "t"}],
        "tool_calls": [
            {
                "index": 0,
                "id": "a",
                "function": {"name": "f", "arguments": "{}"},
                "extra_content": {"google": {}},
            },
            {"id": "b", "custom": {"name": "g", "input": {"a": 1}}},
        ],
        "function_call": {"name": "f", "arguments": "{}"},
        "executed_tools": [{"index": 0, "type": "search", "arguments": {"q": 1}, "output": "o"}],
        "audio": {"id": "a", "data": "QUJD", "transcript": "t", "expires_at": 1},
        "images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}],
        "annotations": [
            {"type": "url_citation", "url_citation": {"url": "u", "start_index": 1}},
            {"type": "file_citation", "file_citation": {"file_id": "f"}},
        ],
        "extra_content": {"google": {"thought_signature": "s"}},
    }
    usage = {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "total_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 1},
        "cost": {"total_cost": 1},
        "completion_time": 0.1,
    }
    extra = {
        "x_groq": {"usage": usage, "error": None},
        "search_results": [{"url": "u", "date": "2026-01-01"}],
    }
    cost = {"x-opencode-type": "inference-cost", "normalizedUsage": {"inputTokens": 1}, "cost": "1"}
    return [
        chunk(delta, usage=usage, citations=["u", {"url": "v"}], provider="P", **extra),
        {"choices": [{"index": 0, "message": delta, "finish_reason": "stop", "usage": usage, "error": None}]},
        chunk({"content": "x"}, base_resp={"status_code": 0}, error=None),
        cost,
        {"object": "x", "detail": None, "errors": [], "Response": {"Error": {}}},
        chunk(finish="stop"),
    ]


@settings(max_examples=600, deadline=None)
@given(st.integers(0, 2**32))
def test_any_value_in_any_place_never_raises_and_ends_once(seed: int) -> None:
    dice = random.Random(seed)
    events = everything()
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(events))
        events[at] = damaged(events[at], dice)
    quirks = Quirks(delta_mode=dice.choice(["increment", "cumulative"]), think_tags=dice.random() < 0.5)
    out = particles(DIALECT, [sse(*events, DONE)], quirks)
    assert [isinstance(x, p.End) for x in out].count(True) == 1
    for particle in out:
        json.dumps(to_wire(particle))


def test_a_deep_value_is_skipped_and_not_a_crash() -> None:
    deep = "[" * 990 + "]" * 990
    function = f'{{"name":"f","arguments":{{"a":{deep}}}}}'
    event = f'{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"function":{function}}}]}}}}]}}'
    m = read(event, chunk({"content": "a"}), FINISHED, DONE)
    assert m.text == "a"
