"""What a row's quirks do to a chat request: roles, order, choices, limits, forms."""

from typing import Any

import pytest

from fakes.chat_requests import TOOL, USER, build, messages, result, sent, told, turn
from motes.quirks import Quirks
from motes.vendors.chat_quirks import COHERE

SYSTEM = {"role": "system", "content": "Be brief."}
OTHER = {"type": "function", "function": {"name": "g"}}
NAMED = {"type": "function", "function": {"name": "f"}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
FORM = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
ANY_JSON = {"type": "json_object"}


def roles(*raw: dict[str, Any], vendor: str | Quirks) -> list[str]:
    return [message["role"] for message in messages(*raw, vendor=vendor)]


# Roles and order.


@pytest.mark.parametrize("vendor", ["alibaba", "minimax", "modular", "nvidianim", "perplexity", "vllm"])
def test_system_text_is_one_message_at_the_head_where_a_template_wants_it(vendor: str) -> None:
    out = messages(SYSTEM, USER, {"role": "developer", "content": "And kind."}, vendor=vendor)
    assert out[0] == {"role": "system", "content": "Be brief.\n\nAnd kind."}
    assert [m["role"] for m in out] == ["system", "user"]


@pytest.mark.parametrize(
    ("vendor", "role"),
    [("cerebras", "developer"), ("llamacpp", "developer"), ("sglang", "developer"), ("zai", "system")],
)
def test_the_role_developer_goes_where_it_is_known(vendor: str, role: str) -> None:
    assert roles({"role": "developer", "content": "x"}, USER, vendor=vendor) == [role, "user"]


def test_a_file_of_qwen_long_stays_a_system_message_of_its_own() -> None:
    file = {"role": "system", "content": "fileid://file-1"}
    out = messages(SYSTEM, file, {"role": "system", "content": "x"}, USER, vendor="alibaba")
    assert [m["content"] for m in out[:2]] == ["Be brief.\n\nx", "fileid://file-1"]


def test_a_system_message_is_there_where_one_must_be() -> None:
    assert messages(USER, vendor="codebuddy")[0] == {"role": "system", "content": ""}
    assert roles(SYSTEM, USER, vendor="codebuddy") == ["system", "user"]


def test_messages_that_say_nothing_are_left_out_but_no_call_and_no_result() -> None:
    blank = {"role": "assistant", "content": " \n"}
    parts = {"role": "user", "content": [{"type": "text", "text": ""}]}
    out = messages(USER, blank, parts, turn("a"), result("a", ""), vendor="moonshot")
    assert [m["role"] for m in out] == ["user", "assistant", "tool"]
    assert len(messages(USER, blank, USER)) == 3


@pytest.mark.parametrize(
    ("raw", "out"),
    [
        ([SYSTEM], ["user"]),
        ([SYSTEM, {"role": "assistant", "content": "x"}, USER], ["system", "user", "assistant", "user"]),
        ([USER, USER, {"role": "assistant", "content": "x"}], ["user", "assistant"]),
    ],
)
def test_perplexity_hears_the_user_first_and_in_turn(raw: list[Any], out: list[str]) -> None:
    assert roles(*raw, vendor="perplexity") == out


def test_an_earlier_answer_is_one_text_where_it_must_be() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    out = messages(USER, {"role": "assistant", "content": parts}, USER, vendor="codebuddy")
    assert out[2]["content"] == "a\nb"


def test_a_document_goes_by_its_address_where_there_is_no_other_way() -> None:
    file = {"type": "file", "file": {"file_data": "https://host/a.pdf"}}
    for vendor in ("perplexity", "zai"):
        out = messages({"role": "user", "content": [file]}, vendor=vendor)
        assert out[-1]["content"] == [{"type": "file_url", "file_url": {"url": "https://host/a.pdf"}}]


# Reasoning of earlier turns.


@pytest.mark.parametrize(
    ("vendor", "model", "kept"),
    [
        ("moonshot", "kimi-k2.6", {"reasoning_content": "hm"}),
        ("codebuddy", "deepseek-v4", {"reasoning_content": "hm"}),
        ("cerebras", "zai-glm-4.7", {"content": "<think>hm</think>so"}),
        ("minimax", "MiniMax-M3", {"content": "<think>hm</think>so"}),
        ("cerebras", "gpt-oss-120b", {"content": "so"}),
        ("tencent-hunyuan", "hunyuan-t1", {"content": "so"}),
    ],
)
def test_earlier_reasoning_goes_back_as_the_vendor_wants_it(vendor: str, model: str, kept: Any) -> None:
    earlier = turn("a", content="so", reasoning_content="hm")
    out = sent(vendor, model, messages=[USER, earlier, result("a"), USER])["messages"]
    answer = next(message for message in out if message["role"] == "assistant")
    assert {name: answer.get(name) for name in kept} == kept
    assert ("reasoning_content" in answer) == ("reasoning_content" in kept)


# Ids.


def test_an_id_too_long_is_replaced_the_same_way_every_time_and_in_both_places() -> None:
    long = "call_" + "x" * 60
    once, again = (messages(USER, turn(long, "b"), result(long), result("b"), vendor="openai") for _ in "12")
    assert once == again
    ids = [call["id"] for call in once[1]["tool_calls"]]
    assert ids == [once[2]["tool_call_id"], "b"]
    assert len(ids[0]) <= 40
    assert messages(USER, turn(long), result(long))[2]["tool_call_id"] == long


# Choices.


@pytest.mark.parametrize(
    ("vendor", "model", "asked", "choice", "reasons"),
    [
        ("deepseek", "deepseek-v4-pro", "required", "required", False),
        ("alibaba", "qwen3.8-max", NAMED, NAMED, False),
        ("alibaba", "qwen3.8-max", "required", NAMED, False),
        ("alibaba", "qwq-plus", NAMED, "auto", True),
        ("moonshot", "kimi-k2.6", "required", "auto", True),
        ("moonshot", "kimi-k3", NAMED, "required", True),
        ("stepfun", "step-5-preview", NAMED, "auto", True),
        ("deepinfra", "a/b", "required", "auto", True),
        (COHERE, "command-a", "required", "auto", True),
        ("zai", "glm-5.3", "required", None, True),
        ("minimax", "MiniMax-M3", NAMED, NAMED, True),
        ("codebuddy", "glm-5.2", NAMED, "required", True),
        ("cerebras", "gpt-oss-120b", NAMED, NAMED, True),
    ],
)
def test_a_forced_tool_is_forced_as_far_as_the_vendor_goes(
    vendor: Any, model: str, asked: Any, choice: Any, reasons: bool
) -> None:
    out = build(vendor, model, tools=[TOOL], tool_choice=asked, reasoning_effort="high")
    assert out.json.get("tool_choice") == choice
    off = out.json.get("enable_thinking") is False or out.json.get("thinking") == {"type": "disabled"}
    assert off == (not reasons)
    assert choice == asked or vendor == "alibaba" or "tool_choice" in told(out)


def test_kimi_may_be_forced_while_it_does_not_think() -> None:
    asked = {"tools": [TOOL], "tool_choice": "required", "reasoning_effort": "off"}
    assert sent("moonshot", "kimi-k2.6", **asked)["tool_choice"] == "required"


def test_a_named_tool_is_the_only_one_where_names_cannot_be_said() -> None:
    out = sent("codebuddy", tools=[OTHER, TOOL], tool_choice=NAMED)
    assert [tool["function"]["name"] for tool in out["tools"]] == ["f"]
    assert out["tool_choice"] == "required"


def test_no_reference_is_left_in_a_schema_where_none_is_read() -> None:
    leaf = {"type": "string"}
    parameters = {"type": "object", "properties": {"a": {"$ref": "#/$defs/L"}}, "$defs": {"L": leaf}}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    for vendor, model in (("zai", "glm-5.3"), ("azure", "grok-4-1-fast-non-reasoning"), ("azure", "grok-4")):
        out = sent(vendor, model, tools=[tool])["tools"][0]["function"]["parameters"]
        assert out == {"type": "object", "properties": {"a": leaf}}
    assert sent("azure", "gpt-6-sol", tools=[tool])["tools"][0]["function"]["parameters"] == parameters


def test_several_tools_cannot_be_forced_where_only_a_named_one_can() -> None:
    out = build("alibaba", "qwen-plus", tools=[OTHER, TOOL], tool_choice="required")
    assert out.json["tool_choice"] == "auto"
    assert "tool_choice" in told(out)
    assert "enable_thinking" not in out.json


def test_arguments_are_streamed_where_that_must_be_asked_for() -> None:
    assert sent("zai", tools=[TOOL])["tool_stream"] is True
    assert "tool_stream" not in sent("zai")


def test_a_cache_mark_on_a_tool_goes_where_marks_are_known() -> None:
    mark = {"type": "ephemeral"}
    marked = TOOL | {"cache_control": mark}
    assert sent("alibaba", tools=[marked])["tools"][0]["cache_control"] == mark
    out = build("groq", tools=[marked])
    assert "cache_control" not in out.json["tools"][0]
    assert "cache_control" in told(out)


# Limits and forms.


@pytest.mark.parametrize(
    ("vendor", "field"),
    [
        ("cerebras", "max_completion_tokens"),
        ("minimax", "max_completion_tokens"),
        ("moonshot", "max_completion_tokens"),
        ("sglang", "max_completion_tokens"),
        ("vllm", "max_completion_tokens"),
        ("volcengine", "max_completion_tokens"),
        ("alibaba", "max_tokens"),
        (COHERE, "max_tokens"),
        ("nvidianim", "max_tokens"),
        ("zai", "max_tokens"),
    ],
)
def test_the_limit_has_the_vendors_name(vendor: Any, field: str) -> None:
    out = sent(vendor, max_tokens=9)
    assert {name: out.get(name) for name in ("max_tokens", "max_completion_tokens")} == {
        "max_tokens": None,
        "max_completion_tokens": None,
        field: 9,
    }


def test_mistral_on_azure_has_its_own_name_for_the_limit() -> None:
    assert sent("azure", "Mistral-Large-3", max_tokens=9)["max_tokens"] == 9


@pytest.mark.parametrize("vendor", ["novita", "siliconflow"])
def test_a_limit_is_sent_where_one_is_wanted(vendor: str) -> None:
    out = build(vendor)
    assert out.json["max_tokens"] > 1000
    assert "max_tokens" in told(out)
    assert sent(vendor, max_tokens=9)["max_tokens"] == 9


@pytest.mark.parametrize(
    ("vendor", "given", "wire"),
    [("zai", 0, 0.01), ("zai", 1.5, 0.99), ("zai", 0.5, 0.5), ("minimax", 2, 1.0), ("minimax", 0, 0.01)],
)
def test_numbers_are_kept_in_the_vendors_range(vendor: str, given: float, wire: float) -> None:
    out = build(vendor, temperature=given)
    assert out.json["temperature"] == wire
    assert ("temperature" in told(out)) == (given != wire)


@pytest.mark.parametrize(
    ("vendor", "model", "form", "wire"),
    [
        ("perplexity", "sonar", FORM, FORM),
        ("perplexity", "sonar", ANY_JSON, None),
        ("zai", "glm-5.3", FORM, ANY_JSON),
        ("moonshot", "kimi-k2.6", FORM, ANY_JSON),
        ("moonshot", "kimi-k3", FORM, FORM),
        ("minimax", "MiniMax-M3", FORM, None),
        ("minimax", "MiniMax-M3", ANY_JSON, None),
        ("alibaba", "qwen-plus", FORM, FORM),
        ("alibaba", "qwen3.8-max", FORM, None),
    ],
)
def test_the_form_of_the_answer_is_asked_for_or_told_in_words(
    vendor: str, model: str, form: Any, wire: Any
) -> None:
    out = build(vendor, model, response_format=form)
    assert out.json.get("response_format") == wire
    told_in_words = any("Answer with one JSON object" in m["content"] for m in out.json["messages"])
    assert told_in_words == (wire != form)
    assert told_in_words == ("response_format" in told(out))


@pytest.mark.parametrize(
    ("vendor", "most"), [("zai", 1), ("siliconflow", 4), ("volcengine", 4), ("moonshot", 5), (COHERE, 5)]
)
def test_no_more_stops_than_the_vendor_takes(vendor: Any, most: int) -> None:
    assert len(sent(vendor, stop=["a", "b", "c", "d", "e", "f"])["stop"]) == most


def test_the_user_has_the_vendors_name() -> None:
    out = sent("zai", user="u")
    assert (out["user_id"], "user" in out) == ("u", False)


def test_the_sampling_of_a_kimi_is_its_own() -> None:
    assert "temperature" not in sent("moonshot", "kimi-k2.6", temperature=0.5)
    assert sent("moonshot", "moonshot-v1-8k", temperature=0.5)["temperature"] == 0.5
