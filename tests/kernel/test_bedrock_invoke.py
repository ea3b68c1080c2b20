"""InvokeModel: another protocol in an envelope. It is opened, read by its own house, and sent for Claude only."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from fakes.eventstream import event, exception
from fakes.recordings import WIRE, message, particles
from motes import particles as p
from motes.dialects.base import NO_TRAITS, UpstreamBody
from motes.dialects.registry import resolve
from motes.errors import InvalidRequest
from motes.intake import parse_request
from motes.quirks import NO_QUIRKS

RECORDINGS = sorted((WIRE / "bedrock-invoke").glob("*/expected.json"))
CLAUDE, VERSIONED = "global.anthropic.claude-opus-5-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
USER = {"role": "user", "content": "hi"}
DIALECT = resolve("bedrock-invoke")


def chunk(value: Any) -> bytes:
    inner = value if isinstance(value, bytes) else json.dumps(value).encode()
    return event("chunk", {"bytes": base64.b64encode(inner).decode(), "p": "abc"})


def said(*reads: bytes) -> list[p.Particle]:
    return particles(DIALECT, reads)


def build(model: str = CLAUDE, **members: Any) -> UpstreamBody:
    return DIALECT.body(parse_request({"messages": [USER], **members}), model, NO_QUIRKS, NO_TRAITS)


def issue_of(run: list[p.Particle]) -> Any:
    (issue,) = [x for x in run if isinstance(x, p.Issue)]
    return issue.error


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.parent.name)
def test_a_recording_gives_the_message_beside_it(
    path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    from motes.cli import main

    assert main(["replay", str(path.parent)]) == 0
    row = json.loads(capfdbinary.readouterr().out)
    assert row.pop("recording") == str(path.parent)
    assert row == json.loads(path.read_text())


def test_what_is_in_the_envelope_is_read_as_without_it() -> None:
    events = [
        {"type": "message_start", "message": {"id": "m", "model": "claude-x", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Høi 😀"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    plain = b"".join(f"data: {json.dumps(value)}\n\n".encode() for value in events)
    assert said(*[chunk(value) for value in events]) == particles(resolve("anthropic-messages"), [plain])


def test_the_services_own_latency_is_told_and_its_counts_only_where_the_model_gives_none() -> None:
    metrics = {
        "amazon-bedrock-invocationMetrics": {
            "inputTokenCount": 25,
            "outputTokenCount": 4,
            "invocationLatency": 266,
        }
    }
    counted = message(said(chunk({"completion": "x", "stop_reason": "stop_sequence", **metrics}))).metrics
    assert counted is not None
    assert (counted.tokens_in, counted.tokens_out, counted.inner_ms) == (25, 4, 266)
    own = message(
        said(
            chunk(
                {
                    "generation": "x",
                    "prompt_token_count": 1,
                    "generation_token_count": 2,
                    "stop_reason": "stop",
                    **metrics,
                }
            )
        )
    ).metrics
    assert own is not None
    assert (own.tokens_in, own.tokens_out, own.inner_ms) == (1, 2, 266)


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("FINISH", "ok"),
        ("COMPLETE", "ok"),
        ("stop", "ok"),
        ("LENGTH", "out-of-tokens"),
        ("max_tokens", "out-of-tokens"),
        ("CONTENT_FILTERED", "filter-content"),
        ("new", "ok"),
    ],
)
def test_every_word_for_the_end_of_a_completion_has_its_meaning(word: str, stop: str) -> None:
    assert said(chunk({"outputText": "x", "completionReason": word}))[-1] == p.End(
        "done-dialect", stop, None, word
    )


@pytest.mark.parametrize(
    "body",
    [
        {
            "results": [{"outputText": "x", "completionReason": "FINISH", "tokenCount": 1}],
            "inputTextTokenCount": 2,
        },
        {"generation": "x", "stop_reason": "stop", "prompt_token_count": 2, "generation_token_count": 1},
        {"generations": [{"text": "x", "finish_reason": "COMPLETE"}]},
        {"outputs": [{"text": "x", "stop_reason": "stop"}]},
        {"completion": "x", "stop_reason": "stop_sequence"},
        {"choices": [{"text": "x", "stop_reason": "stop"}]},
        {
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
            ]
        },
        {"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}}, "stopReason": "end_turn"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "x"}],
            "stop_reason": "end_turn",
        },
    ],
)
def test_a_whole_body_of_any_family_is_read(body: dict[str, Any]) -> None:
    answer = message(said(json.dumps(body).encode()))
    assert (answer.text, answer.end and answer.end.stop) == ("x", "ok")


def test_a_completion_that_is_cut_is_no_answer() -> None:
    assert (
        issue_of(said(chunk({"outputText": "The ferry ", "completionReason": None}))).kind
        == "stream_truncated"
    )


@pytest.mark.parametrize(
    "first",
    [
        b"",
        chunk({"type": "message_start", "message": {}}),
        chunk({"outputText": "x"}),
        chunk({"messageStart": {}}),
    ],
)
def test_an_exception_is_told_by_its_type_whoever_is_speaking(first: bytes) -> None:
    error = issue_of(said(first, exception("throttlingException", {"message": "Too many requests"})))
    assert (error.kind, error.type, error.message) == (
        "rate_limit",
        "throttlingException",
        "Too many requests",
    )


def test_an_exception_without_an_error_inside_is_no_surprise() -> None:
    assert issue_of(said(exception("modelTimeoutException", {}))).kind == "timeout"


@pytest.mark.parametrize("held", [{"bytes": "no base64!"}, {"bytes": 7}, {}, [], "x"])
def test_an_envelope_that_holds_nothing_is_skipped_and_counted(held: Any) -> None:
    good = {"outputText": "x", "completionReason": "FINISH"}
    run = said(event("chunk", held), chunk(good))
    assert [x.code for x in run if isinstance(x, p.Warn)] == ["bad_event"]
    assert [x.text for x in run if isinstance(x, p.Text)] == ["x"]


def test_unknown_events_are_counted() -> None:
    run = said(
        event("weather", {}),
        chunk({"mood": "calm"}),
        chunk({"outputText": "x", "completionReason": "FINISH"}),
    )
    assert [x.code for x in run if isinstance(x, p.Warn)] == ["unknown_event"]
    assert run[-1].stop == "ok"


def test_a_request_is_the_messages_body_with_a_version_and_without_what_the_url_says() -> None:
    out = build(
        VERSIONED,
        max_tokens=100,
        temperature=0.5,
        stream=True,
        messages=[{"role": "system", "content": "SYS"}, USER],
    )
    assert out.json == {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "SYS"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "temperature": 0.5,
    }
    assert (
        DIALECT.path("us.anthropic.claude-x-v1:0")
        == "model/us.anthropic.claude-x-v1%3A0/invoke-with-response-stream"
    )


def test_betas_are_in_the_body_and_only_those_that_are_known_here() -> None:
    edits = {"edits": [{"type": "compact_20260904"}]}
    out = build(context_management=edits, mcp_servers=[{"url": "https://x.example"}], speed="fast")
    assert out.json["anthropic_beta"] == ["context-management-2025-06-27", "compact-2026-09-04"]
    assert "anthropic-beta" not in out.headers
    assert "mcp_servers" not in out.json
    assert "mcp_servers was left out" in "\n".join(out.warnings)


def test_tools_that_anthropic_runs_are_left_out() -> None:
    own = {"type": "function", "function": {"name": "f"}}
    out = build(tools=[own, {"type": "web_search_20250305", "name": "web_search"}])
    assert [tool["name"] for tool in out.json["tools"]] == ["f"]
    assert "tools that Anthropic" in "\n".join(out.warnings)
    alone = build(web_search_options={}, tool_choice="auto")
    assert "tools" not in alone.json
    assert "tool_choice" not in alone.json


def test_the_service_tier_is_a_header() -> None:
    out = build(service_tier="priority")
    assert out.headers == {"x-amzn-bedrock-service-tier": "priority"}
    assert "service_tier" not in out.json


def test_automatic_caching_goes_to_the_newer_hosts_only() -> None:
    assert "cache_control" in build(cache_control={"type": "ephemeral"}).json
    assert "cache_control" not in build(VERSIONED, cache_control={"type": "ephemeral"}).json


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "file", "file": {"file_id": "file_1"}},
    ],
)
def test_media_by_address_are_refused(part: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        build(messages=[{"role": "user", "content": [part]}])


@pytest.mark.parametrize(
    "model",
    [
        "us.amazon.nova-pro-v1:0",
        "openai.gpt-oss-20b-1:0",
        "arn:aws:bedrock:us-east-1::foundation-model/meta.llama3",
    ],
)
def test_no_other_model_is_asked_this_way(model: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        build(model)
    assert refused.value.param == "motes.dialect"


def test_a_profile_of_the_operators_own_is_believed_to_be_claude() -> None:
    assert build("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3").json[
        "messages"
    ]
