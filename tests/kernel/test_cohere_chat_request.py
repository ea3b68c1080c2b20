"""An OpenAI chat request becomes what Cohere's Chat API takes, and every loss is told."""

from typing import Any

import pytest

from fakes.houses import USER, House, result, told, turn
from motes.dialects.cohere_chat import DIALECT
from motes.errors import InvalidRequest
from motes.model_rules import of_model
from motes.quirks import Quirks
from motes.vendors.table import VENDORS

HOUSE = House(DIALECT)
build, sent, messages = HOUSE.build, HOUSE.sent, HOUSE.messages
ROW = VENDORS["cohere"].quirks
NEEDY = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
PNG = "data:image/png;base64,iVBORw0KGgo="


def tool(name: str = "f", parameters: Any = NEEDY, **members: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters, **members}}


def parts(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def image(url: str, **members: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **members}}


def file(data: str | None, name: str | None = None) -> dict[str, Any]:
    return {"type": "file", "file": {"file_data": data, "filename": name}}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_the_smallest_request_is_a_stream() -> None:
    out = build()
    assert out.json == {"model": "m", "messages": [USER], "stream": True}
    assert out.warnings == ()
    assert DIALECT.path("m") == "v2/chat"


def test_parameters_go_under_cohere_names_for_them() -> None:
    members = {"temperature": 0.5, "seed": 7, "frequency_penalty": 0.2, "presence_penalty": 0.1}
    out = build(max_tokens=9, top_p=0.9, top_k=40, stop=["a", ""], **members)
    expected = {"max_tokens": 9, "p": 0.9, "k": 40, "stop_sequences": ["a"], **members}
    assert {k: v for k, v in out.json.items() if k not in ("model", "messages", "stream")} == expected
    assert told(out) == "stop: an empty sequence was dropped"


@pytest.mark.parametrize(
    ("asked", "name", "value"),
    [
        ({"top_p": 1.0}, "p", 0.99),
        ({"top_p": 0.0}, "p", 0.01),
        ({"top_k": 900}, "k", 500),
        ({"frequency_penalty": -1}, "frequency_penalty", 0),
        ({"presence_penalty": 1.5}, "presence_penalty", 1),
        ({"seed": -3}, "seed", 0),
    ],
)
def test_numbers_beyond_the_ranges_are_brought_back_with_a_word(asked: Any, name: str, value: float) -> None:
    out = build(**asked)
    assert out.json[name] == value
    assert f"{name}: sent as {value:g}" in told(out)


def test_no_more_than_five_stops_are_sent() -> None:
    out = build(stop=list("abcdefg"))
    assert out.json["stop_sequences"] == list("abcde")
    assert "only the first 5" in told(out)


def test_what_there_is_no_word_for_is_told_and_coheres_own_words_are_taken() -> None:
    out = build(user="u", logit_bias={"1": 1}, parallel_tool_calls=True, weird=1, service_tier="flex")
    assert out.json == {"model": "m", "messages": [USER], "stream": True}
    assert [w.partition(":")[0] for w in out.warnings] == ["logit_bias", "user", "service_tier", "weird"]
    own = {
        "citation_options": {"mode": "FAST"},
        "priority": 2,
        "safety_mode": "STRICT",
        "k": 3,
        "raw_prompting": True,
    }
    taken = build(**own)
    assert taken.json == {"model": "m", "messages": [USER], "stream": True, **own}
    assert taken.warnings == ()


# Tools.


def test_tools_and_the_choice_among_them() -> None:
    free, must = sent(tools=[tool()]), sent(tools=[tool()], tool_choice="required")
    assert free["tools"] == [tool()]
    assert "tool_choice" not in free
    assert must["tool_choice"] == "REQUIRED"
    assert sent(tools=[tool()], tool_choice="none")["tool_choice"] == "NONE"
    named = build(tools=[tool("f"), tool("g")], tool_choice={"type": "function", "function": {"name": "g"}})
    assert (named.json["tools"], named.json["tool_choice"]) == ([tool("g")], "REQUIRED")
    assert "only the tools it names" in told(named)


def test_a_model_that_cannot_be_forced_is_not() -> None:
    old = of_model(ROW, "command-r-plus-08-2024")
    must = build("command-r-plus-08-2024", old, tools=[tool()], tool_choice="required")
    assert "tool_choice" not in must.json
    assert "cannot be forced" in told(must)
    none = build("command-r", old, tools=[tool()], tool_choice="none")
    assert "tools" not in none.json
    assert "left out" in told(none)
    newer = of_model(ROW, "command-r7b-12-2024")
    assert (
        sent("command-r7b-12-2024", newer, tools=[tool()], tool_choice="required")["tool_choice"]
        == "REQUIRED"
    )


def test_strictness_holds_for_all_tools_or_none() -> None:
    assert sent(tools=[tool(strict=True)])["strict_tools"] is True
    mixed = build(tools=[tool("f", strict=True), tool("g")])
    assert mixed.json["strict_tools"] is True
    assert "all tools" in told(mixed)
    bare = build(tools=[tool("f", strict=True), tool("g", {"type": "object", "properties": {}})])
    assert "strict_tools" not in bare.json
    assert "required parameter" in told(bare)
    assert "strict" not in sent(tools=[tool(strict=True)])["tools"][0]["function"]


def test_one_call_at_a_time_cannot_be_asked_for() -> None:
    assert "parallel_tool_calls" in told(build(tools=[tool()], parallel_tool_calls=False))


# Reasoning.


@pytest.mark.parametrize(
    ("asked", "thinking", "word"),
    [
        ({"reasoning_effort": "high"}, {"type": "enabled"}, "'on'"),
        ({"reasoning_effort": "low"}, {"type": "enabled", "token_budget": 4096}, "'4096 tokens'"),
        ({"reasoning_effort": "none"}, {"type": "disabled"}, ""),
        ({"reasoning": {"enabled": True}}, {"type": "enabled"}, ""),
        ({"reasoning": {"max_tokens": 700}}, {"type": "enabled", "token_budget": 700}, ""),
        (
            {"thinking": {"type": "enabled", "token_budget": 800}},
            {"type": "enabled", "token_budget": 800},
            "",
        ),
        ({"thinking": {"type": "disabled"}}, {"type": "disabled"}, ""),
        (
            {"reasoning": {"max_tokens": 5000}, "max_tokens": 4000},
            {"type": "enabled", "token_budget": 3000},
            "room",
        ),
        (
            {"reasoning": {"max_tokens": 5000}, "max_tokens": 100},
            {"type": "enabled", "token_budget": 50},
            "room",
        ),
        ({"reasoning": {"max_tokens": 40}, "max_tokens": 100}, {"type": "enabled", "token_budget": 40}, ""),
        ({}, None, ""),
    ],
)
def test_effort_is_a_switch_and_a_budget(asked: Any, thinking: Any, word: str) -> None:
    out = build("command-a-reasoning-08-2025", ROW, **asked)
    assert out.json.get("thinking") == thinking
    assert (word in told(out)) if word else out.warnings == ()


def test_a_model_that_does_not_reason_is_not_asked_to() -> None:
    out = build("command-a-03-2025", ROW, reasoning_effort="high")
    assert "thinking" not in out.json
    assert "does not reason" in told(out)
    off = build("command-a-03-2025", ROW, reasoning_effort="none")
    assert ("thinking" in off.json, off.warnings) == (False, ())
    assert sent("command-new", ROW, True, reasoning={"enabled": True})["thinking"] == {"type": "enabled"}


# The form of the answer, documents, safety.


def test_json_is_a_response_format_and_beside_tools_or_documents_an_instruction() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "r", "schema": NEEDY}}
    assert sent(response_format=form)["response_format"] == {"type": "json_object", "json_schema": NEEDY}
    assert sent(response_format={"type": "json_object"})["response_format"] == {"type": "json_object"}
    system = {"role": "system", "content": "Be brief."}
    for grounded in ({"tools": [tool()]}, {"documents": ["d"]}):
        out = build(messages=[system, USER], response_format=form, **grounded)
        assert "response_format" not in out.json
        assert out.json["messages"][0]["content"].startswith("Be brief.\n\nAnswer with one JSON value")
        assert "became an instruction" in told(out)
    plain = build(response_format={"type": "json_object"}, documents=["d"]).json["messages"]
    assert plain[0] == {"role": "system", "content": "Answer with one valid JSON value and nothing else."}


def test_a_safety_mode_is_dropped_beside_tools_or_documents() -> None:
    out = build(safety_mode="STRICT", tools=[tool()])
    assert "safety_mode" not in out.json
    assert "safety_mode: dropped" in told(out)


def test_text_files_are_documents_behind_the_callers_own() -> None:
    asked = parts(words("Who?"), file("data:text/plain;base64,YSxi", "a.txt"), file("data:text/csv,x"))
    out = sent(messages=[asked], documents=[{"id": "mine", "data": {"text": "t"}}])
    assert out["messages"] == [{"role": "user", "content": "Who?"}]
    assert out["documents"] == [
        {"id": "mine", "data": {"text": "t"}},
        {"id": "file:0", "data": {"title": "a.txt", "text": "a,b"}},
        {"id": "file:1", "data": {"text": "x"}},
    ]


# Messages.


def test_images_go_by_address_or_inline() -> None:
    shown = image("https://x.example/a.png", detail="low")
    out = messages(parts(words("What?"), shown, image(PNG, detail="odd"), file(PNG)))
    assert out[0]["content"] == [words("What?"), shown, image(PNG), image(PNG)]


@pytest.mark.parametrize(
    ("part", "word"),
    [
        (file(None), "data URL"),
        (file("data:application/pdf;base64,JVBERi0="), "application/pdf"),
        ({"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}}, "no sound"),
    ],
)
def test_what_cohere_cannot_be_told_is_refused_with_the_reason(part: Any, word: str) -> None:
    with pytest.raises(InvalidRequest, match=word):
        build(messages=[parts(part)])


def test_what_is_said_beside_calls_is_their_plan() -> None:
    asked = turn("a", content="Let me see.", reasoning_content="hm")
    out = messages(USER, asked, result("a"), USER)
    assert out[1] == {
        "role": "assistant",
        "tool_plan": "hm\n\nLet me see.",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    assert "tool_plan" not in messages(USER, turn("a"), result("a"))[1]


@pytest.mark.parametrize(
    ("content", "sent_as"),
    [
        ("plain", "plain"),
        ('{"knots":12}', [{"type": "document", "document": {"data": {"knots": 12}}}]),
        ("[1,2]", "[1,2]"),
        ("", "[no text]"),
        ([words("a"), words('{"b":1}')], [words("a"), {"type": "document", "document": {"data": {"b": 1}}}]),
    ],
)
def test_a_result_with_fields_is_a_document(content: Any, sent_as: Any) -> None:
    out = messages(USER, turn("a"), result("a", content), USER)
    assert out[2] == {"role": "tool", "tool_call_id": "a", "content": sent_as}


def test_a_failed_result_says_so_and_loses_no_words() -> None:
    out = build(messages=[USER, turn("a"), result("a", [words("no wind"), image(PNG)], is_error=True), USER])
    assert out.json["messages"][2]["content"] == "[ERROR] no wind"
    assert "images in results" in told(out)


@pytest.mark.parametrize(
    ("arguments", "sent_as", "warned"),
    [('{"x": 1}', '{"x": 1}', False), ("", "{}", False), ("[1]", "{}", True), ("{half", "{}", True)],
)
def test_arguments_are_the_text_of_an_object(arguments: str, sent_as: str, warned: bool) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    out = build(messages=[USER, {"role": "assistant", "tool_calls": [call]}, result("a"), USER])
    assert out.json["messages"][1]["tool_calls"][0]["function"]["arguments"] == sent_as
    assert bool(out.warnings) == warned


def test_a_free_form_call_goes_as_its_function() -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "h", "input": "free"}}
    out = messages(USER, {"role": "assistant", "tool_calls": [call]}, result("a"), USER)
    assert out[1]["tool_calls"][0]["function"] == {"name": "h", "arguments": '{"input":"free"}'}


def test_an_inner_call_without_a_result_is_answered() -> None:
    out = messages(USER, turn("c1", "c2"), result("c1"), USER)
    assert [m["role"] for m in out] == ["user", "assistant", "tool", "tool", "user"]
    assert out[3] == {"role": "tool", "tool_call_id": "c2", "content": "[result omitted]"}


def test_blank_turns_are_dropped_and_a_conversation_is_never_empty() -> None:
    out = build(
        messages=[{"role": "developer", "content": "a"}, USER, {"role": "assistant", "content": " "}, USER]
    )
    assert [m["role"] for m in out.json["messages"]] == ["system", "user", "user"]
    assert "a blank assistant turn" in told(out)
    assert messages({"role": "user", "content": ""}) == [{"role": "user", "content": "[no text]"}]


def test_reasoning_of_an_answer_without_calls_is_dropped_with_a_word() -> None:
    out = build(messages=[USER, {"role": "assistant", "content": "a", "reasoning_content": "hm"}, USER])
    assert out.json["messages"][1] == {"role": "assistant", "content": "a"}
    assert "reasoning of earlier answers" in told(out)


def test_a_row_may_refuse_and_add_members() -> None:
    quirks = Quirks(drop=frozenset({"seed"}), extra_body={"priority": 3})
    out = build(quirks=quirks, seed=7)
    assert out.json == {"model": "m", "messages": [USER], "stream": True, "priority": 3}
    assert "seed: dropped" in told(out)
