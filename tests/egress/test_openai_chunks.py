"""The law of the OpenAI stream, over the encoder's bytes."""

import json
from dataclasses import replace
from typing import get_args

import pytest

from fakes.particle_runs import ANSWER, CLOSED, END, REPLY, TOOLS, chunks_of, deltas_of, events_of, stream_of
from motes import particles as p
from motes.egress.completion import completion
from motes.egress.finish import FinishReason, finish_reason
from motes.egress.openai_chat import _HANDLERS, COMMENT, DONE, UNSAID, ChunkEncoder
from motes.errors import VendorError, truncated
from motes.reassembly import Reassembler

FAILED = (
    p.Text("half"),
    p.ToolCall("call_1", "f"),
    p.Issue("dispatch-read", "cut", truncated(4)),
    p.End("done-dispatch-closed"),
)


def finish_chunks(events):
    return [e for e in events if e != "[DONE]" and e.get("choices") and e["choices"][0]["finish_reason"]]


# Frame


def test_every_event_is_one_data_line_and_the_last_is_done():
    raw = stream_of(ANSWER)
    blocks = raw.split(b"\n\n")
    assert blocks.pop() == b""
    assert blocks[-1] == b"data: [DONE]"
    for block in blocks[:-1]:
        assert block.startswith(b"data: {")
        assert b"\n" not in block
        assert isinstance(json.loads(block[6:]), dict)


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "\u2028\u0085", "\ud83d", '"\\', "\x00"])
def test_no_text_can_break_the_frame(text):
    raw = stream_of((p.Text(text), END))
    assert all(line.startswith(b"data: ") for line in raw.splitlines() if line)
    assert len(raw.decode("utf-8").split("\n\n")) == 5
    assert deltas_of(raw)[1]["content"] == text.replace("\ud83d", "\ufffd")


def test_every_chunk_has_the_five_members_and_they_do_not_change():
    for reply in (REPLY, replace(REPLY, include_usage=True)):
        for chunk in chunks_of(stream_of(ANSWER, reply)):
            assert chunk["object"] == "chat.completion.chunk"
            assert (chunk["id"], chunk["created"], chunk["model"]) == (reply.id, reply.created, reply.model)
            assert isinstance(chunk["choices"], list)
            for choice in chunk["choices"]:
                assert choice["index"] == 0
                assert isinstance(choice["delta"], dict)
                assert choice["logprobs"] is None
                assert "finish_reason" in choice


def test_a_keepalive_is_a_comment_with_a_single_newline():
    assert ChunkEncoder(REPLY).keepalive() == COMMENT == b": keepalive\n"


def test_a_keepalive_can_be_an_empty_delta_where_comments_break_a_client():
    encoder = ChunkEncoder(replace(REPLY, keepalive="empty-delta"))
    assert deltas_of(encoder.keepalive()) == [{"role": "assistant", "content": ""}]
    assert deltas_of(encoder.keepalive()) == [{}]


def test_nothing_is_on_the_stream_that_a_client_trips_over():
    raw = stream_of(ANSWER)
    for word in (b"retry:", b"event:", b"\nid:", b"system_fingerprint", b'function_call"', b'"error"'):
        assert word not in raw


# Delta


def test_the_role_is_said_once_and_first():
    first, *rest = deltas_of(stream_of(ANSWER))
    assert first == {"role": "assistant", "content": ""}
    assert not any("role" in delta for delta in rest)


def test_the_role_is_said_when_the_response_is_committed_and_not_again():
    encoder = ChunkEncoder(REPLY)
    assert deltas_of(encoder.open()) == [{"role": "assistant", "content": ""}]
    assert encoder.open() == b""
    assert deltas_of(encoder.encode(p.Text("a"))) == [{"content": "a"}]


def test_an_answer_without_a_word_still_has_its_role_and_its_finish():
    assert deltas_of(stream_of((END,))) == [{"role": "assistant", "content": ""}, {}]


@pytest.mark.parametrize(
    "particle",
    [p.Text(""), p.Reasoning(""), p.Refusal(""), p.ToolCallArguments(""), p.Heartbeat(), p.Note("on")],
)
def test_what_says_nothing_sends_nothing(particle):
    assert ChunkEncoder(REPLY).encode(particle) == b""


@pytest.mark.parametrize(
    ("field", "members"),
    [
        ("reasoning_content", {"reasoning_content"}),
        ("reasoning", {"reasoning"}),
        ("both", {"reasoning_content", "reasoning"}),
    ],
)
def test_reasoning_has_a_member_of_its_own(field, members):
    raw = stream_of((p.Reasoning("hm"), p.Text("yes"), END), replace(REPLY, reasoning_field=field))
    assert deltas_of(raw)[1:3] == [dict.fromkeys(members, "hm"), {"content": "yes"}]


def test_reasoning_can_be_left_out_with_its_signatures():
    run = (p.Reasoning("hm"), p.ReasoningSignature("s"), p.ReasoningRedacted("x"), p.Text("yes"), END)
    assert deltas_of(stream_of(run, replace(REPLY, reasoning_field="none")))[1:] == [{"content": "yes"}, {}]


def test_reasoning_can_stand_between_tags_where_it_was_thought():
    run = (p.Reasoning("a"), p.Reasoning("b"), p.Text("1"), p.Reasoning("c"), p.ToolCall("i", "f"), END)
    deltas = deltas_of(stream_of(run, replace(REPLY, reasoning_field="think-tags")))
    assert "".join(d.get("content") or "" for d in deltas) == "<think>ab</think>1<think>c</think>"


def test_think_tags_are_closed_also_after_a_signature():
    run = (p.Reasoning("a"), p.ReasoningSignature("s"), p.VendorState("gemini", {"thoughtSignature": "g"}))
    deltas = deltas_of(stream_of((*run, p.Text("1"), END), replace(REPLY, reasoning_field="think-tags")))
    assert "".join(d.get("content") or "" for d in deltas) == "<think>a</think>1"


def test_a_signature_travels_with_the_whole_text_of_its_block():
    run = (
        p.Reasoning("a"),
        p.Reasoning("b"),
        p.ReasoningSignature("old"),
        p.ReasoningSignature("new"),
        p.ReasoningRedacted("secret"),
        p.Reasoning("c"),
        p.ReasoningSignature("s2"),
        p.Text("x"),
        END,
    )
    entries = [e for d in deltas_of(stream_of(run)) for e in d.get("reasoning_details", ())]
    format = {"format": "anthropic-claude-v1"}
    assert entries == [
        {"index": 0, "type": "reasoning.text", "text": "ab", "signature": "new", **format},
        {"index": 1, "type": "reasoning.encrypted", "data": "secret", **format},
        {"index": 2, "type": "reasoning.text", "text": "c", "signature": "s2", **format},
    ]


def test_a_thought_signature_names_the_call_it_belongs_to():
    state = p.VendorState("gemini", {"thoughtSignature": "g"})
    run = (p.ToolCall("call_a", "f", "{}"), state, p.Text("x"), state, END)
    entries = [e for d in deltas_of(stream_of(run)) for e in d.get("reasoning_details", ())]
    assert [(e["index"], e["data"], e.get("id")) for e in entries] == [(0, "g", "call_a"), (1, "g", None)]
    assert {e["format"] for e in entries} == {"google-gemini-v1"}
    pieces = [call for d in deltas_of(stream_of(run)) for call in d.get("tool_calls", ())]
    google = {"google": {"thought_signature": "g"}}
    assert pieces[-1] == {"index": 0, "function": {"arguments": ""}, "extra_content": google}


@pytest.mark.parametrize(("waits", "attempts"), [((), 1), ((0, 500), 3), ((0, -1), 2)])
def test_it_is_told_how_often_the_vendor_was_asked(waits, attempts):
    resets = [p.RetryReset("srv-dispatch", "none", "HTTP 503", 1, 3, wait) for wait in waits]
    run = (*resets, p.Text("x"), END)
    assert chunks_of(stream_of(run))[-1]["motes"]["attempts"] == attempts
    reassembler = Reassembler()
    for particle in run:
        reassembler.feed(particle)
    assert completion(reassembler.finalize(), REPLY)["motes"]["attempts"] == attempts


@pytest.mark.parametrize("state", [{}, {"thoughtSignature": 3}, {"thoughtSignature": ""}, {"container": {}}])
def test_other_vendor_state_stays_off_the_stream(state):
    assert ChunkEncoder(REPLY).encode(p.VendorState("gemini", state)) == b""
    assert ChunkEncoder(REPLY).encode(p.VendorState("anthropic", state)) == b""


def test_a_tool_call_is_named_once_and_then_only_argued():
    calls = [d["tool_calls"] for d in deltas_of(stream_of(TOOLS)) if "tool_calls" in d]
    assert calls == [
        [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}],
        [{"index": 0, "function": {"arguments": '{"x":'}}],
        [{"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": ""}}],
        [{"index": 1, "function": {"arguments": "{}"}}],
        [{"index": 0, "function": {"arguments": "1}"}}],
    ]


def test_tool_indexes_are_dense_even_if_an_id_comes_twice():
    run = (p.ToolCall("a", "f", "{}"), p.ToolCall("a", "f", "{}"), p.ToolCall("c", "f", "{}"), END)
    firsts = [d["tool_calls"][0] for d in deltas_of(stream_of(run)) if "id" in d.get("tool_calls", [{}])[0]]
    assert [call["index"] for call in firsts] == [0, 1, 2]
    assert len({call["id"] for call in firsts}) == 3


def test_arguments_without_their_call_are_not_sent():
    assert ChunkEncoder(REPLY).encode(p.ToolCallArguments("{}", "who")) == b""


def test_no_delta_is_empty_or_null_but_the_finishing_one():
    *deltas, last = deltas_of(stream_of(ANSWER))
    assert all(deltas)
    assert last == {}
    assert not any(value is None for delta in deltas for value in delta.values())


def test_images_are_sent_once_each_and_previews_not_at_all():
    run = (p.Image("image/png", "aaa", partial=True), p.Image("image/png", "bbb"), p.Image("image/gif", "c"))
    images = [i for d in deltas_of(stream_of((*run, END))) for i in d.get("images", ())]
    assert [(i["index"], i["image_url"]["url"]) for i in images] == [
        (0, "data:image/png;base64,bbb"),
        (1, "data:image/gif;base64,c"),
    ]


def test_one_audio_clip_has_a_place_and_a_second_is_told_of():
    raw = stream_of((p.Audio("audio/wav", "QQ==", label="said"), p.Audio("audio/wav", "Qg=="), END))
    clips = [d["audio"] for d in deltas_of(raw) if "audio" in d]
    assert clips == [
        {"id": f"audio_{REPLY.id}", "data": "QQ==", "mime_type": "audio/wav", "transcript": "said"}
    ]
    assert chunks_of(raw)[-1]["motes"]["warnings"][0]["code"] == "audio_dropped"


def test_all_annotations_come_in_one_chunk_before_the_finish():
    run = (
        p.Text("x"),
        p.Citation("A", "http://a", start=1, end=2),
        p.Citation("B", "http://b"),
        p.Citation("B", "http://b"),
        p.Citation("Paper", "", document="paper.pdf", location={"page": 3}),
        p.Text("y"),
        END,
    )
    raw = stream_of(run)
    deltas = deltas_of(raw)
    assert [i for i, d in enumerate(deltas) if "annotations" in d] == [len(deltas) - 2]
    assert [a["url_citation"] for a in deltas[-2]["annotations"]] == [
        {"start_index": 1, "end_index": 2, "title": "A", "url": "http://a"},
        {"start_index": 0, "end_index": 0, "title": "B", "url": "http://b"},
    ]
    assert chunks_of(raw)[-1]["motes"]["documents"] == [
        {"title": "Paper", "document": "paper.pdf", "location": {"page": 3}}
    ]


# Finish


def test_every_stop_reason_has_a_word_of_the_closed_set():
    words = {finish_reason(p.End("done-dialect", stop), False) for stop in get_args(p.StopReason)}
    assert words == set(get_args(FinishReason))


@pytest.mark.parametrize(
    ("stop", "refused", "word"),
    [
        ("ok", False, "stop"),
        ("ok-tool_invocations", False, "tool_calls"),
        ("out-of-tokens", False, "length"),
        ("filter-content", True, "content_filter"),
        ("filter-recitation", False, "content_filter"),
        ("filter-refusal", False, "content_filter"),
        ("filter-refusal", True, "stop"),
    ],
)
def test_why_it_stopped_is_said_in_openais_words(stop, refused, word):
    assert finish_reason(p.End("done-dialect", stop), refused) == word


@pytest.mark.parametrize("reason", get_args(p.EndReason))
def test_an_end_without_a_stop_reason_is_no_finish(reason):
    assert finish_reason(p.End(reason), False) is None


def test_a_success_has_exactly_one_finish_chunk_of_its_own():
    events = events_of(stream_of(ANSWER))
    (finish,) = finish_chunks(events)
    assert finish["choices"][0]["delta"] == {}
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert events[-2:] == [finish, "[DONE]"]
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in events[:-2])


def test_a_stop_after_tool_calls_says_tool_calls():
    (finish,) = finish_chunks(events_of(stream_of((p.ToolCall("a", "f", "{}"), END))))
    assert finish["choices"][0]["finish_reason"] == "tool_calls"


def test_the_token_limit_stays_the_token_limit_also_with_a_call_cut_by_it():
    run = (p.ToolCall("a", "f", '{"x'), p.End("done-dialect", "out-of-tokens"))
    (finish,) = finish_chunks(events_of(stream_of(run)))
    assert finish["choices"][0]["finish_reason"] == "length"


def test_a_refusal_that_was_read_is_a_stop():
    raw = stream_of((p.Refusal("no"), p.End("done-dialect", "filter-refusal")))
    assert deltas_of(raw)[1] == {"refusal": "no"}
    assert finish_chunks(events_of(raw))[0]["choices"][0]["finish_reason"] == "stop"


def test_what_openai_has_no_words_for_is_told_in_the_motes_member():
    run = (
        p.ModelName("m-2026"),
        p.ResponseId("resp_1"),
        p.ProviderInfra("there"),
        p.Warn("clamped", "temperature"),
        p.Metrics(tokens_in=1, tokens_out=2, cost_cents=0.5),
        p.Text("x"),
        p.End("done-dialect", "ok", None, "end_turn"),
    )
    assert chunks_of(stream_of(run))[-1]["motes"] == {
        "vendor": "anthropic",
        "model": "m-2026",
        "attempts": 1,
        "provider": "there",
        "response_id": "resp_1",
        "native_finish_reason": "end_turn",
        "usage_source": "measured",
        "cost": {"amount": 0.005, "currency": "USD", "margin": 1.0},
        "warnings": [{"code": "temperature", "text": "clamped"}],
    }


def test_a_vendors_annotations_of_files_stay_out_of_the_message():
    files = [{"type": "file", "file": {"hash": "h"}}]
    raw = stream_of((p.Text("x"), p.VendorState("openrouter", {"annotations": files}), END))
    assert not any("annotations" in delta for delta in deltas_of(raw))
    assert chunks_of(raw)[-1]["motes"]["files"] == files


def test_the_counts_of_a_paused_answer_and_its_continuation_are_added():
    run = (
        p.Metrics(tokens_in=5, tokens_out=2),
        p.Note("on"),
        p.Metrics(tokens_in=7, tokens_out=1),
        p.Metrics(tokens_in=7, tokens_out=3),
        END,
    )
    usage = chunks_of(stream_of(run, replace(REPLY, include_usage=True)))[-1]["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (12, 5)


# Usage


def test_usage_is_sent_only_if_asked_for_and_then_once_before_done():
    asked = events_of(stream_of(ANSWER, replace(REPLY, include_usage=True)))
    usage = asked[-2]
    assert usage["choices"] == []
    assert usage["usage"] == {
        "prompt_tokens": 15,
        "completion_tokens": 7,
        "total_tokens": 22,
        "prompt_tokens_details": {"cached_tokens": 5},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert all(chunk["usage"] is None for chunk in asked[:-2])
    assert b'usage"' not in stream_of(ANSWER)


def test_details_that_are_unknown_are_left_out_and_a_known_zero_is_not():
    unknown = (p.Metrics(tokens_in=1, tokens_out=1), END)
    known = (p.Metrics(tokens_in=1, tokens_out=1, tokens_cache_read=0), END)
    reply = replace(REPLY, include_usage=True)
    assert set(chunks_of(stream_of(unknown, reply))[-1]["usage"]) == {
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
    }
    assert chunks_of(stream_of(known, reply))[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}


@pytest.mark.parametrize("source", ["measured", "partial", "estimated"])
def test_all_three_counters_are_there_with_the_word_where_they_come_from(source):
    run = (p.Text("x"), p.Metrics(tokens_in=25, tokens_out=3, source=source), END)
    chunks = chunks_of(stream_of(run, replace(REPLY, include_usage=True)))
    assert chunks[-1]["usage"] == {"prompt_tokens": 25, "completion_tokens": 3, "total_tokens": 28}
    assert chunks[-2]["motes"]["usage_source"] == source


def test_no_usage_is_told_rather_than_half_of_it():
    chunks = chunks_of(stream_of((p.Metrics(tokens_out=3), END), replace(REPLY, include_usage=True)))
    assert "usage_source" not in chunks[-1]["motes"]
    assert not chunks[-1]["usage"]


def test_audio_and_images_are_told_where_they_are_counted():
    counts = p.Metrics(
        tokens_in=9,
        tokens_out=5,
        tokens_in_audio=4,
        tokens_in_image=2,
        tokens_out_audio=0,
        tokens_out_image=3,
    )
    usage = chunks_of(stream_of((counts, END), replace(REPLY, include_usage=True)))[-1]["usage"]
    assert usage["prompt_tokens_details"] == {"audio_tokens": 4, "image_tokens": 2}
    assert usage["completion_tokens_details"] == {"audio_tokens": 0, "image_tokens": 3}


def test_the_cost_is_in_the_finish_chunk_with_its_margin():
    priced = p.Metrics(tokens_in=1, tokens_out=2, cost_cents=0.5, cost=p.Cost(0.0065, 1.3))
    (finish,) = chunks_of(stream_of((priced, END)))[-1:]
    assert finish["motes"]["cost"] == {"amount": 0.0065, "currency": "USD", "margin": 1.3}


def test_every_attempt_that_was_made_is_counted():
    resets = [
        p.RetryReset("srv-dispatch", "none", "busy", n, 3, wait) for n, wait in ((1, 10), (2, 20), (3, -1))
    ]
    assert chunks_of(stream_of((*resets, p.Text("x"), END)))[-1]["motes"]["attempts"] == 3


# Failures


def test_a_failure_is_one_error_event_and_done_and_no_finish():
    events = events_of(stream_of(FAILED, replace(REPLY, include_usage=True)))
    assert events[-1] == "[DONE]"
    assert [e for e in events[:-1] if "error" in e] == [events[-2]]
    assert finish_chunks(events[:-2]) == []
    error = events[-2]["error"]
    assert set(error) == {"message", "type", "param", "code", "motes"}
    assert (error["code"], error["param"]) == ("stream_truncated", None)
    assert error["motes"] == {"kind": "stream_truncated", "phase": "dispatch-read", "retryable": True}


def test_an_end_without_evidence_and_without_a_word_is_a_failure_too():
    events = events_of(stream_of((p.Text("half"), CLOSED)))
    assert events[-2]["error"]["code"] == "stream_truncated"


def test_the_error_tells_a_program_what_to_do():
    error = VendorError(
        message="slow down",
        kind="rate_limit",
        http_status=429,
        code="tpm",
        type="tokens",
        retryable=True,
        retry_after=2.5,
        request_id="req_9",
    )
    run = (p.Issue("dialect-issue", "slow down", error), p.End("issue-dialect"))
    told = events_of(stream_of(run))[0]["error"]
    assert (told["message"], told["type"], told["code"]) == (
        "slow down",
        "rate_limit_error",
        "rate_limit_exceeded",
    )
    assert told["motes"] == {
        "kind": "rate_limit",
        "phase": "dialect-issue",
        "retryable": True,
        "retry_after_s": 2.5,
        "upstream_status": 429,
        "code": "tpm",
        "upstream_type": "tokens",
        "upstream_request_id": "req_9",
    }


def test_nothing_is_sent_after_done():
    encoder = ChunkEncoder(REPLY)
    assert encoder.encode(END).endswith(DONE)
    assert encoder.encode(p.Text("more")) == b""
    assert encoder.encode(END) == b""
    assert encoder.keepalive() == b""
    assert encoder.open() == b""


def test_every_particle_has_a_place_on_this_wire_or_is_known_to_have_none():
    assert set(_HANDLERS) | set(UNSAID) == set(get_args(p.Particle))
    assert not set(_HANDLERS) & set(UNSAID)
