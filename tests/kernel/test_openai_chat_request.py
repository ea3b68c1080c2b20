"""An OpenAI chat request becomes what a vendor of this dialect takes, and every loss is told."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.chat_requests import COMPATIBLE, TOOL, USER, build, sent, told
from motes.dialects.openai_chat import DIALECT
from motes.quirks import Quirks
from motes.vendors.table import VENDORS

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def form(**members: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA, **members}}


def test_the_smallest_request_is_a_stream_with_usage() -> None:
    out = build()
    assert out.json == {
        "model": "m",
        "messages": [USER],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert out.warnings == ()
    assert DIALECT.path("m") == "chat/completions"


def test_several_answers_and_log_probabilities_are_never_asked_for() -> None:
    assert not {"n", "logprobs", "top_logprobs"} & sent(n=1, logprobs=False).keys()


def test_options_of_the_stream_survive_and_usage_is_asked_whatever_the_caller_says() -> None:
    options = {"include_usage": False, "include_obfuscation": False}
    assert sent(stream=False, stream_options=options)["stream_options"] == {
        "include_obfuscation": False,
        "include_usage": True,
    }


def test_a_vendor_that_refuses_stream_options_gets_none() -> None:
    out = build("mistral", stream_options={"include_usage": True, "x": 1})
    assert "stream_options" not in out.json
    assert "stream_options" in told(out)
    assert build("mistral", stream_options={"include_usage": True}).warnings == ()
    assert "stream_options" not in sent(Quirks(usage_mode="given"))


# Limits and sampling.


@pytest.mark.parametrize(
    ("vendor", "field"),
    [
        ("openai", "max_completion_tokens"),
        ("groq", "max_completion_tokens"),
        ("xai", "max_completion_tokens"),
        ("deepseek", "max_tokens"),
        ("mistral", "max_tokens"),
        ("togetherai", "max_tokens"),
        ("fireworks", "max_tokens"),
        ("openrouter", "max_tokens"),
        ("ollama", "max_tokens"),
        (COMPATIBLE, "max_tokens"),
    ],
)
@pytest.mark.parametrize("asked", ["max_tokens", "max_completion_tokens"])
def test_the_limit_goes_under_the_vendors_name_for_it(vendor: str, field: str, asked: str) -> None:
    out = sent(vendor, **{asked: 500})
    assert {k: v for k, v in out.items() if k.startswith("max_")} == {field: 500}


def test_two_limits_that_differ_are_told() -> None:
    out = build(max_tokens=5, max_completion_tokens=6)
    assert out.json["max_tokens"] == 6
    assert "max_tokens" in told(out)


def test_a_model_that_reasons_gets_its_own_limit_and_no_sampling() -> None:
    asked = {
        "max_tokens": 500,
        "temperature": 0.2,
        "top_p": 0.9,
        "presence_penalty": 1,
        "frequency_penalty": 1,
        "logit_bias": {"1": 1},
        "stop": "x",
    }
    for model, reasons in (("o3-mini", None), ("gpt-5", None), ("gpt-6-sol", None), ("anything", True)):
        out = build("openai", model, reasons, **asked)
        assert out.json["max_completion_tokens"] == 500
        assert not set(asked) & set(out.json)
        assert len(out.warnings) == 6
    assert build("openai", "gpt-4.1", **asked).warnings == ()
    out = build(COMPATIBLE, "o-like", True, **asked)
    assert (out.json["max_completion_tokens"], "temperature" in out.json) == (500, False)


@pytest.mark.parametrize(
    ("model", "effort"), [("gpt-5.1", None), ("gpt-6-sol", "none"), ("gpt-5-chat", None)]
)
def test_a_model_that_does_not_reason_in_this_answer_may_be_sampled(model: str, effort: str | None) -> None:
    out = sent("openai", model, temperature=0.5, reasoning_effort=effort)
    assert out["temperature"] == 0.5


def test_deepseek_is_sampled_only_while_thinking_is_off() -> None:
    assert "temperature" not in sent("deepseek", "deepseek-v4-pro", temperature=0.5)
    off = sent("deepseek", "deepseek-v4-pro", temperature=0.5, reasoning_effort="off")
    assert off["temperature"] == 0.5
    assert off["thinking"] == {"type": "disabled"}


def test_stop_sequences_are_clamped_with_a_word() -> None:
    stops = [f"s{n}" for n in range(6)]
    out = build("openai", "gpt-4.1", stop=stops)
    assert out.json["stop"] == stops[:4]
    assert "stop" in told(out)
    assert sent(stop=stops)["stop"] == stops
    assert sent(stop="x")["stop"] == "x"
    assert "stop" not in sent(stop=[])
    assert sent(stop=["", "a"])["stop"] == ["a"]


def test_members_are_renamed_and_dropped_by_row() -> None:
    out = build("mistral", seed=7, user="u", metadata={"a": "b"}, logit_bias={"1": 1})
    assert (out.json["random_seed"], out.json["metadata"]) == (7, {"a": "b"})
    assert not {"seed", "user", "logit_bias"} & out.json.keys()
    assert {"user", "logit_bias"} <= {w.split(":")[0] for w in out.warnings}


@pytest.mark.parametrize(
    "vendor", sorted(v for v in VENDORS if VENDORS[v].surfaces[0].dialect == "openai-chat")
)
def test_every_member_of_the_protocol_is_sent_or_told(vendor: str) -> None:
    members = {
        "temperature": 0.5,
        "top_p": 0.5,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.5,
        "logit_bias": {"1": 1},
        "seed": 1,
        "stop": ["a"],
        "verbosity": "low",
        "modalities": ["text"],
        "prediction": {"type": "content", "content": "x"},
        "user": "u",
        "metadata": {"a": "b"},
        "service_tier": "flex",
        "store": True,
        "prompt_cache_key": "k",
        "safety_identifier": "s",
        "web_search_options": {},
        "top_k": 5,
        "made_up": 1,
    }
    if VENDORS[vendor].quirks.takes_tools:
        members |= {"tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": False}
    out = build(vendor, **members)
    names = {VENDORS[vendor].quirks.rename.get(n, n): n for n in members}
    missing = {n for wire, n in names.items() if wire not in out.json}
    # Where no tool can be forced, `auto` is what leaving it out means.
    missing -= {"tool_choice"} if VENDORS[vendor].quirks.tool_choice == "auto-only" else set()
    assert missing == {w.split(":")[0] for w in out.warnings} & members.keys()
    assert "made_up" not in out.json


def test_unknown_members_go_only_where_the_row_knows_them() -> None:
    extension = {"provider": {"order": ["a"]}, "guided": 1}
    out = build("openrouter", **extension)
    assert out.json["provider"] == {"order": ["a"]}
    assert "guided" in told(out)
    assert sent(Quirks(passthrough=frozenset({"*"})), **extension)["guided"] == 1


def test_the_rows_own_members_do_not_overrule_the_caller() -> None:
    quirks = Quirks(extra_body={"user": "row", "safe": True})
    out = sent(quirks, user="caller")
    assert (out["user"], out["safe"]) == ("caller", True)


def test_sound_is_asked_for_in_the_one_form_that_is_streamed() -> None:
    out = build(
        "openai", "gpt-audio", modalities=["text", "audio"], audio={"voice": "alloy", "format": "mp3"}
    )
    assert out.json["audio"] == {"voice": "alloy", "format": "pcm16"}
    assert "audio.format" in told(out)


# Form of the answer.


def test_a_schema_for_the_answer_goes_as_it_is_and_closed_if_strict() -> None:
    assert sent(response_format=form())["response_format"] == form()
    strict = sent("openai", "gpt-4.1", response_format=form(strict=True))["response_format"]["json_schema"]
    assert strict["strict"] is True
    assert strict["schema"]["additionalProperties"] is False
    assert strict["schema"]["required"] == ["n"]


def test_plain_text_is_no_form_and_any_json_is_one() -> None:
    assert "response_format" not in sent(response_format={"type": "text"})
    assert sent(response_format={"type": "json_object"})["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize("system", [[], [{"role": "system", "content": "Be brief."}]])
def test_a_vendor_that_knows_no_schema_is_told_it_in_words(system: list[Any]) -> None:
    out = build("deepseek", messages=[*system, USER], response_format=form())
    assert out.json["response_format"] == {"type": "json_object"}
    head = out.json["messages"][0]
    assert head["role"] == "system"
    assert json.dumps(SCHEMA, separators=(",", ":")) in head["content"]
    assert not system or head["content"].startswith("Be brief.\n\n")
    assert "response_format" in told(out)


# Anything a caller may send.


@given(
    st.sampled_from(sorted(VENDORS)),
    st.fixed_dictionaries(
        {},
        optional={
            "temperature": st.floats(0, 2),
            "stop": st.lists(st.text(max_size=3), max_size=20),
            "reasoning_effort": st.sampled_from(["none", "minimal", "low", "medium", "high", "xhigh", "max"]),
            "tools": st.lists(
                st.sampled_from([TOOL, {"type": "custom", "custom": {"name": "c"}}]), max_size=3
            ),
            "tool_choice": st.sampled_from(["auto", "none", "required"]),
            "response_format": st.sampled_from([form(), form(strict=True), {"type": "json_object"}]),
            "metadata": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
        },
    ),
    st.sampled_from(["gpt-5", "deepseek-v4", "magistral-x", "grok-4", "plain"]),
)
def test_any_request_becomes_one_json_body(vendor: str, members: dict[str, Any], model: str) -> None:
    if not VENDORS[vendor].quirks.takes_tools:
        members = {name: value for name, value in members.items() if name != "tools"}
    out = build(vendor, model, **members)
    json.dumps(out.json, ensure_ascii=False).encode()
    assert out.json["stream"] is True
    assert out.json["model"] == model
    assert ("tool_choice" in out.json) <= ("tools" in out.json)
