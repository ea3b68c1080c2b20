"""A chat request in Google's words: what is said how, and that nothing is left out in silence."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from motes.dialects.base import NO_TRAITS, Traits, UpstreamBody
from motes.dialects.gemini_generate import DIALECT
from motes.dialects.gemini_generate.schema import parameters
from motes.errors import InvalidRequest
from motes.intake import parse_request
from motes.quirks import NO_QUIRKS

USER = {"role": "user", "content": "hi"}
MODEL = "gemini-3-flash-preview"


def build(model: str = MODEL, messages: Any = None, **more: Any) -> UpstreamBody:
    request = parse_request({"messages": messages or [USER], **more})
    return DIALECT.body(request, model, NO_QUIRKS, NO_TRAITS)


def body(model: str = MODEL, messages: Any = None, **more: Any) -> dict[str, Any]:
    return build(model, messages, **more).json


def config(model: str = MODEL, **more: Any) -> dict[str, Any]:
    return body(model, **more).get("generationConfig", {})


def warned(got: UpstreamBody, word: str) -> bool:
    return any(word in warning for warning in got.warnings)


def call(id: str, name: str = "f", arguments: str = "{}", signature: str | None = None) -> dict[str, Any]:
    google = {"extra_content": {"google": {"thought_signature": signature}}} if signature else {}
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **google}


def turn(*calls: Any, content: Any = None, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls) or None, **more}


def result(id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


# Where it goes.


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-demo", "v1beta/models/gemini-demo:streamGenerateContent?alt=sse"),
        ("models/gemini-demo", "v1beta/models/gemini-demo:streamGenerateContent?alt=sse"),
        ("tunedModels/mine", "v1beta/tunedModels/mine:streamGenerateContent?alt=sse"),
        ("a/../b?c#d", "v1beta/models/a%2F..%2Fb%3Fc%23d:streamGenerateContent?alt=sse"),
    ],
)
def test_a_models_name_cannot_leave_its_place_in_the_path(model: str, path: str) -> None:
    assert DIALECT.path(model) == path


# Turns.


def test_system_text_is_the_instruction_and_turns_of_one_role_are_one() -> None:
    got = body(
        messages=[
            {"role": "system", "content": "S"},
            {"role": "user", "content": "a"},
            {"role": "user", "content": [{"type": "text", "text": "b"}, {"type": "text", "text": ""}]},
            {"role": "assistant", "content": "c"},
            {"role": "developer", "content": "D"},
            {"role": "assistant", "content": "d", "refusal": "no"},
            {"role": "user", "content": "e"},
        ]
    )
    assert got["systemInstruction"] == {"parts": [{"text": "S"}, {"text": "D"}]}
    assert got["contents"] == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        {"role": "model", "parts": [{"text": "c"}, {"text": "d"}, {"text": "no"}]},
        {"role": "user", "parts": [{"text": "e"}]},
    ]


def test_a_conversation_begins_with_the_user() -> None:
    got = build(messages=[{"role": "assistant", "content": "hello"}, USER])
    assert [turn["role"] for turn in got.json["contents"]] == ["user", "model", "user"]
    assert warned(got, "begins with the user")


def test_an_instruction_alone_is_sent_as_the_user() -> None:
    got = build(messages=[{"role": "system", "content": "Write a poem."}])
    assert got.json["contents"] == [{"role": "user", "parts": [{"text": "Write a poem."}]}]
    assert "systemInstruction" not in got.json
    assert warned(got, "no user message")


def test_nothing_to_send_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        build(messages=[{"role": "user", "content": ""}])


@pytest.mark.parametrize("model", ["gemma-3-27b-it", "gemini-2.5-flash-preview-tts"])
def test_a_model_without_instruction_reads_it_from_the_user(model: str) -> None:
    got = build(model, [{"role": "system", "content": "S"}, USER])
    assert got.json["contents"][0]["parts"] == [{"text": "S"}, {"text": "hi"}]
    assert warned(got, "takes none")


def test_a_picture_in_the_instruction_opens_the_users_turn() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    got = build(messages=[{"role": "system", "content": [{"type": "text", "text": "S"}, picture]}, USER])
    assert got.json["systemInstruction"] == {"parts": [{"text": "S"}]}
    assert list(got.json["contents"][0]["parts"][0]) == ["inlineData"]


# Parts.


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("data:image/png;base64,AA AA", {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        ("DATA:image/webp;BASE64,AA%2BA", {"inlineData": {"mimeType": "image/webp", "data": "AA+A"}}),
        (
            "data:image/svg+xml,%3Csvg%2F%3E",
            {"inlineData": {"mimeType": "image/svg+xml", "data": base64.b64encode(b"<svg/>").decode()}},
        ),
        (
            "https://x.example/a.JPG?b=c",
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://x.example/a.JPG?b=c"}},
        ),
        ("gs://bucket/a", {"fileData": {"fileUri": "gs://bucket/a"}}),
        ("http://[broken/a.png", {"fileData": {"mimeType": "image/png", "fileUri": "http://[broken/a.png"}}),
    ],
)
def test_an_image_is_inline_bytes_or_an_address(url: str, part: dict[str, Any]) -> None:
    got = body(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": url}]}])
    assert got["contents"][0]["parts"] == [part]


@pytest.mark.parametrize("url", ["data:image/png;base64", "ftp://x.example/a.png", "AAAA", ""])
def test_an_image_that_is_neither_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest):
        body(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}])


def test_sound_and_documents_are_inline_bytes() -> None:
    got = body(
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
                    {"type": "file", "file": {"file_data": "data:text/csv;base64,BBBB", "filename": "t.csv"}},
                    {"type": "file", "file": {"file_data": "CCCC", "filename": "notes.txt"}},
                    {"type": "file", "file": {"file_data": "DDDD"}},
                    {"type": "file", "file": {"file_id": "files/abc"}},
                ],
            }
        ]
    )
    assert got["contents"][0]["parts"] == [
        {"inlineData": {"mimeType": "audio/mp3", "data": "AAAA"}},
        {"inlineData": {"mimeType": "text/csv", "data": "BBBB"}},
        {"inlineData": {"mimeType": "text/plain", "data": "CCCC"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "DDDD"}},
        {"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/abc"}},
    ]


def test_a_file_of_another_vendor_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        body(messages=[{"role": "user", "content": [{"type": "file", "file": {"file_id": "file-123"}}]}])


# Calls and results.


def test_results_follow_their_calls_in_call_order_with_name_and_id() -> None:
    got = body(
        messages=[
            USER,
            turn(call("c1", "f", '{"p":"Faro"}'), call("c2", "g"), content="both"),
            result("c2", "low"),
            result("c1", '{"high": true}'),
            {"role": "user", "content": "and?"},
        ]
    )
    assert [turn["role"] for turn in got["contents"]] == ["user", "model", "user"]
    model, user = got["contents"][1]["parts"], got["contents"][2]["parts"]
    assert model[0] == {"text": "both"}
    assert [part["functionCall"] for part in model[1:]] == [
        {"id": "c1", "name": "f", "args": {"p": "Faro"}},
        {"id": "c2", "name": "g", "args": {}},
    ]
    assert user == [
        {"functionResponse": {"id": "c1", "name": "f", "response": {"high": True}}},
        {"functionResponse": {"id": "c2", "name": "g", "response": {"output": "low"}}},
        {"text": "and?"},
    ]


def test_a_call_without_result_inside_gets_one_and_a_result_without_call_goes() -> None:
    got = build(messages=[USER, turn(call("c1")), {"role": "user", "content": "b"}, result("x", "lost")])
    response = got.json["contents"][2]["parts"][0]["functionResponse"]
    assert response == {"id": "c1", "name": "f", "response": {"output": "[result omitted]"}}
    assert len(got.warnings) == 2


@pytest.mark.parametrize(
    ("content", "more", "response"),
    [
        ("", {}, {"output": ""}),
        ("[1]", {}, {"output": "[1]"}),
        ('{"a": {"$ref": "x"}}', {}, {"output": '{"a": {"$ref": "x"}}'}),
        ('{"a": [{"b": 1}]}', {}, {"a": [{"b": 1}]}),
        ('{"a": 1}', {"is_error": True}, {"error": '{"a": 1}'}),
        ([{"type": "text", "text": "x"}, {"type": "text", "text": "y"}], {}, {"output": "xy"}),
    ],
)
def test_a_result_is_always_an_object(content: Any, more: dict[str, Any], response: dict[str, Any]) -> None:
    got = body(messages=[USER, turn(call("c1")), result("c1", content, **more)])
    assert got["contents"][2]["parts"][0]["functionResponse"]["response"] == response


def test_pictures_of_a_result_go_inside_where_the_generation_takes_them() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [USER, turn(call("c1")), result("c1", [{"type": "text", "text": "see"}, picture])]
    inside = body(messages=messages)["contents"][2]["parts"]
    beside = body("gemini-2.5-flash", messages)["contents"][2]["parts"]
    assert list(inside[0]["functionResponse"]["parts"][0]) == ["inlineData"]
    assert [list(part) for part in beside] == [["functionResponse"], ["inlineData"]]


def test_arguments_that_are_no_object_are_sent_as_text_with_a_warning() -> None:
    got = build(messages=[USER, turn(call("c1", arguments='{"a":')), result("c1", "x")])
    assert got.json["contents"][1]["parts"][0]["functionCall"]["args"] == {"output": '{"a":'}
    assert warned(got, "no JSON object")


@pytest.mark.parametrize("levels", [100, 900, 1100])
def test_what_is_nested_deeper_than_google_reads_is_sent_as_text(levels: int) -> None:
    deep = '{"a":' * levels + "1" + "}" * levels
    got = body(messages=[USER, turn(call("c1", arguments=deep)), result("c1", deep)])
    assert got["contents"][1]["parts"][0]["functionCall"]["args"] == {"output": deep}
    assert got["contents"][2]["parts"][0]["functionResponse"]["response"] == {"output": deep}


# Signatures.


def signatures(got: dict[str, Any]) -> list[str | None]:
    return [
        part.get("thoughtSignature")
        for turn in got["contents"]
        for part in turn["parts"]
        if turn["role"] == "model"
    ]


def test_a_signature_goes_back_on_its_call_and_no_other_call_gets_one() -> None:
    messages = [USER, turn(call("c1", signature="c2ln"), call("c2")), result("c1", "x"), result("c2", "y")]
    assert signatures(body(messages=messages)) == ["c2ln", None]


def detail(data: str, id: str | None = None, format: str = "google-gemini-v1") -> dict[str, Any]:
    return {"type": "reasoning.encrypted", "data": data, "format": format} | ({"id": id} if id else {})


def test_reasoning_details_sign_the_text_and_the_call_they_name() -> None:
    details = [detail("text"), detail("call", "c2"), detail("theirs", "c1", "anthropic-claude-v1")]
    messages = [
        USER,
        turn(call("c1"), call("c2"), content="hm", reasoning_details=details),
        result("c1", "x"),
    ]
    assert signatures(body(messages=messages)) == ["text", None, "call"]


def test_the_signature_of_an_empty_text_goes_back_on_one() -> None:
    messages = [USER, turn(call("c1", signature="c"), reasoning_details=[detail("t")]), result("c1", "x")]
    assert body(messages=messages)["contents"][1]["parts"][0] == {"text": "", "thoughtSignature": "t"}
    own = {"role": "assistant", "content": "a", "extra_content": {"google": {"thought_signature": "t"}}}
    assert signatures(body(messages=[USER, own, USER])) == ["t"]


def test_a_step_without_signature_gets_the_documented_stand_in_from_generation_3_on() -> None:
    messages = [USER, turn(call("c1"), call("c2")), result("c1", "x"), turn(call("c3")), result("c3", "x")]
    stand_in = "skip_thought_signature_validator"
    assert signatures(body("gemini-3.1-pro-preview", messages)) == [stand_in, None, stand_in]
    assert signatures(body("gemini-flash-latest", messages)) == [stand_in, None, stand_in]
    assert signatures(body("gemini-2.5-pro", messages)) == [None, None, None]
    assert signatures(body("gemini-demo", messages)) == [None, None, None]


def test_image_models_want_every_part_signed() -> None:
    messages = [USER, turn(content="here"), USER]
    assert signatures(body("gemini-3-pro-image-preview", messages)) == ["skip_thought_signature_validator"]


# Limits, sampling, form.


def test_limits_and_sampling_have_googles_names() -> None:
    got = config(
        max_completion_tokens=100,
        temperature=0,
        top_p=0.9,
        top_k=40,
        seed=7,
        presence_penalty=0.5,
        frequency_penalty=-0.5,
        stop="END",
    )
    assert got == {
        "maxOutputTokens": 100,
        "temperature": 0,
        "topP": 0.9,
        "topK": 40,
        "seed": 7,
        "presencePenalty": 0.5,
        "frequencyPenalty": -0.5,
        "stopSequences": ["END"],
    }


def test_a_bare_request_has_nothing_but_its_turns() -> None:
    assert body() == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert build().warnings == ()


def test_the_first_five_stop_sequences_are_kept() -> None:
    got = build(stop=["a", "b", "", "c", "d", "e", "f"])
    assert got.json["generationConfig"]["stopSequences"] == ["a", "b", "c", "d", "e"]
    assert warned(got, "stop:")


def test_a_seed_beyond_32_bits_is_cut() -> None:
    got = build(seed=2**40 + 5)
    assert got.json["generationConfig"]["seed"] == 5
    assert warned(got, "seed:")


def test_json_answers_and_their_schema() -> None:
    schema = {
        "$schema": "x",
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {}},
    }
    asked = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    assert config(response_format={"type": "json_object"}) == {"responseMimeType": "application/json"}
    assert config(response_format=asked) == {
        "responseMimeType": "application/json",
        "responseJsonSchema": {key: value for key, value in schema.items() if key != "$schema"},
    }
    assert config(response_format={"type": "text"}) == {}


def test_modalities_and_a_voice() -> None:
    assert config(modalities=["text", "image"]) == {"responseModalities": ["TEXT", "IMAGE"]}
    assert config(modalities=["text"]) == {}
    spoken = build(modalities=["audio", "smell"], audio={"voice": "Kore", "format": "mp3"})
    assert spoken.json["generationConfig"] == {
        "responseModalities": ["AUDIO"],
        "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}},
    }
    assert warned(spoken, "smell")
    assert warned(spoken, "audio.format")
    foreign = build(modalities=["audio"], audio={"voice": "alloy", "format": "wav"})
    assert "speechConfig" not in foreign.json["generationConfig"]
    assert warned(foreign, "alloy")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("logit_bias", {"1": 5}),
        ("user", "u"),
        ("metadata", {"a": "b"}),
        ("store", True),
        ("prediction", {"type": "content"}),
        ("prompt_cache_key", "k"),
        ("safety_identifier", "s"),
        ("verbosity", "low"),
        ("parallel_tool_calls", False),
        ("service_tier", "scale"),
    ],
)
def test_what_has_no_place_here_is_dropped_with_a_warning(name: str, value: Any) -> None:
    got = build(**{name: value})
    assert list(got.json) == ["contents"]
    assert warned(got, f"{name}:")


def test_speakers_names_image_detail_and_cache_marks_are_told_of() -> None:
    image = {"type": "image_url", "image_url": {"url": "gs://a/b", "detail": "high"}}
    text = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    got = build(messages=[{"role": "user", "name": "Ana", "content": [text, image]}])
    assert all(warned(got, word) for word in ("`name`", "image_url.detail", "cache_control"))


def test_a_row_may_refuse_add_and_pass_on() -> None:
    quirks = replace(
        NO_QUIRKS,
        drop=frozenset({"temperature"}),
        extra_body={"labels": {"a": "b"}},
        passthrough=frozenset({"cachedContent", "safetySettings"}),
    )
    request = parse_request(
        {
            "messages": [{"role": "system", "content": "S"}, USER],
            "temperature": 1,
            "cachedContent": "cachedContents/x",
            "other": 1,
        }
    )
    got = DIALECT.body(request, MODEL, quirks, NO_TRAITS)
    assert got.json == {
        "labels": {"a": "b"},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "cachedContent": "cachedContents/x",
    }
    assert warned(got, "temperature:")
    assert warned(got, "systemInstruction:")


def test_a_service_tier_that_google_has_is_kept() -> None:
    assert body(service_tier="flex")["serviceTier"] == "flex"


# Reasoning.

THINKING = [
    ("gemini-2.5-flash", "off", {"thinkingBudget": 0}, False),
    ("gemini-2.5-pro", "off", {"thinkingBudget": 128}, True),
    ("gemini-2.5-flash", "low", {"thinkingBudget": 1024, "includeThoughts": True}, False),
    ("gemini-2.5-flash", "medium", {"thinkingBudget": 8192, "includeThoughts": True}, False),
    ("gemini-2.5-flash", "high", {"thinkingBudget": 24576, "includeThoughts": True}, False),
    ("gemini-2.5-flash", "max", {"thinkingBudget": 24576, "includeThoughts": True}, True),
    ("gemini-2.5-pro", "max", {"thinkingBudget": 32768, "includeThoughts": True}, False),
    ("gemini-3-flash-preview", "off", {"thinkingLevel": "MINIMAL"}, True),
    ("gemini-3-flash-preview", "minimal", {"thinkingLevel": "MINIMAL", "includeThoughts": True}, False),
    ("gemini-3-flash-preview", "medium", {"thinkingLevel": "MEDIUM", "includeThoughts": True}, False),
    ("gemini-3-flash-preview", "xhigh", {"thinkingLevel": "HIGH", "includeThoughts": True}, True),
    ("gemini-3-pro-preview", "medium", {"thinkingLevel": "HIGH", "includeThoughts": True}, True),
    ("gemini-3.1-pro-preview", "off", {"thinkingLevel": "LOW"}, True),
    ("gemini-4-argon", "minimal", {"thinkingLevel": "LOW", "includeThoughts": True}, True),
    ("gemini-demo", "low", {"thinkingLevel": "LOW", "includeThoughts": True}, False),
    ("gemini-2.0-flash", "low", None, True),
    ("gemini-2.0-flash", "off", None, False),
    ("gemma-3-27b-it", "high", None, True),
]


@pytest.mark.parametrize(("model", "effort", "expected", "warns"), THINKING)
def test_effort_is_told_in_the_words_of_the_generation(
    model: str, effort: str, expected: dict[str, Any] | None, warns: bool
) -> None:
    got = build(model, reasoning_effort=effort)
    assert got.json.get("generationConfig", {}).get("thinkingConfig") == expected
    assert bool(got.warnings) is warns


@pytest.mark.parametrize(
    ("model", "asked", "expected"),
    [
        (
            "gemini-2.5-flash",
            {"reasoning": {"max_tokens": 3000}},
            {"thinkingBudget": 3000, "includeThoughts": True},
        ),
        (
            "gemini-2.5-pro",
            {"thinking": {"budget_tokens": 50}},
            {"thinkingBudget": 128, "includeThoughts": True},
        ),
        (
            "gemini-2.5-flash",
            {"thinking": {"type": "enabled"}},
            {"thinkingBudget": -1, "includeThoughts": True},
        ),
        (
            "gemini-3-flash",
            {"reasoning": {"max_tokens": 3000}},
            {"thinkingLevel": "MEDIUM", "includeThoughts": True},
        ),
        ("gemini-3-flash", {"reasoning": {"enabled": True}}, {"includeThoughts": True}),
        ("gemini-3-flash", {"reasoning": {"effort": "low", "exclude": True}}, {"thinkingLevel": "LOW"}),
        ("gemini-3-flash", {"thinking": {"type": "disabled"}}, {"thinkingLevel": "MINIMAL"}),
    ],
)
def test_budgets_and_switches_are_understood(
    model: str, asked: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert config(model, **asked)["thinkingConfig"] == expected


def test_what_is_known_of_a_model_goes_before_its_name() -> None:
    request = parse_request({"messages": [USER], "reasoning_effort": "low"})
    told = DIALECT.body(request, "gemini-3-flash", NO_QUIRKS, Traits(reasoning=False))
    assert "generationConfig" not in told.json
    told = DIALECT.body(request, "gemini-2.0-flash", NO_QUIRKS, Traits(reasoning=True))
    assert told.json["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 1024


# Tools.


def function(name: str = "f", parameters: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


def test_functions_are_one_list_and_each_is_there_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    got = build(
        tools=[function("f", schema, description="d"), function("g"), function("f")],
        functions=[{"name": "h"}],
    )
    (tool,) = got.json["tools"]
    assert tool["functionDeclarations"] == [
        {"name": "f", "description": "d", "parameters": schema},
        {"name": "g"},
        {"name": "h"},
    ]
    assert warned(got, "second function named f")


@pytest.mark.parametrize(
    ("choice", "calling"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (
            {"type": "function", "function": {"name": "f"}},
            {"mode": "ANY", "allowedFunctionNames": ["f"]},
        ),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "f"}}],
                },
            },
            {"mode": "ANY", "allowedFunctionNames": ["f"]},
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"name": "f"}, 3]}},
            {"mode": "VALIDATED", "allowedFunctionNames": ["f"]},
        ),
    ],
)
def test_the_choice_among_functions(choice: Any, calling: dict[str, Any]) -> None:
    assert body(tools=[function()], tool_choice=choice)["toolConfig"] == {"functionCallingConfig": calling}


@pytest.mark.parametrize("choice", ["maybe", {"type": "function"}, {"function": 3}])
def test_a_choice_that_names_nothing_leaves_it_to_the_model(choice: Any) -> None:
    got = build(tools=[function()], tool_choice=choice)
    assert "toolConfig" not in got.json
    assert warned(got, "tool_choice:")


def test_a_choice_without_functions_is_dropped() -> None:
    got = build(tool_choice="required")
    assert "toolConfig" not in got.json
    assert warned(got, "tool_choice:")


def test_a_free_text_tool_is_a_function_with_one_input_also_in_the_history() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    got = body(
        messages=[USER, turn(custom), result("c1", "1")],
        tools=[{"type": "custom", "custom": {"name": "sql", "description": "d"}}],
    )
    (declared,) = got["tools"][0]["functionDeclarations"]
    assert declared["parameters"]["required"] == ["input"]
    assert got["contents"][1]["parts"][0]["functionCall"]["args"] == {"input": "select 1"}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ({"type": "google_search"}, {"googleSearch": {}}),
        (
            {"type": "googleSearch", "googleSearch": {"timeRangeFilter": {}}},
            {"googleSearch": {"timeRangeFilter": {}}},
        ),
        ({"type": "url_context"}, {"urlContext": {}}),
        ({"type": "code_interpreter", "container": {"type": "auto"}}, {"codeExecution": {}}),
        ({"type": "web_search_preview", "search_context_size": "low"}, {"googleSearch": {}}),
        (
            {"type": "file_search", "fileSearchStoreNames": ["s"]},
            {"fileSearch": {"fileSearchStoreNames": ["s"]}},
        ),
    ],
)
def test_googles_own_tools_go_by_its_names(tool: dict[str, Any], expected: dict[str, Any]) -> None:
    assert body(tools=[tool])["tools"] == [expected]


def test_a_hosted_tool_of_nobody_is_dropped() -> None:
    got = build(tools=[{"type": "time_machine"}])
    assert "tools" not in got.json
    assert warned(got, "time_machine")


def test_asking_for_web_search_in_openais_form_is_a_search() -> None:
    got = build(web_search_options={"search_context_size": "low"})
    assert got.json["tools"] == [{"googleSearch": {}}]
    assert warned(got, "web_search_options:")


def test_hosted_tools_go_with_functions_only_where_the_generation_takes_both() -> None:
    tools = [function(), {"type": "google_search"}]
    new = body(MODEL, tools=tools, tool_choice="auto")
    assert len(new["tools"]) == 2
    assert new["toolConfig"] == {
        "functionCallingConfig": {"mode": "VALIDATED"},
        "includeServerSideToolInvocations": True,
    }
    old = build("gemini-2.5-flash", tools=tools)
    assert [list(tool) for tool in old.json["tools"]] == [["functionDeclarations"]]
    assert warned(old, "googleSearch")


# Schemas.


def cleaned(schema: Any) -> Any:
    return parameters(schema, "f", []).get("parameters")


def inner(schema: Any) -> Any:
    """The cleaned form of one property's schema."""
    return cleaned({"type": "object", "properties": {"x": schema}})["properties"]["x"]


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, {"properties": {}}, {"properties": 3}])
def test_a_function_without_parameters_has_none(schema: Any) -> None:
    assert parameters(schema, "f", []) == {}


def test_unknown_keywords_go_at_every_depth_and_names_of_properties_stay() -> None:
    warnings: list[str] = []
    schema = {
        "$schema": "s",
        "additionalProperties": False,
        "patternProperties": {"^x": {}},
        "properties": {
            "const": {"type": "string", "const": "a", "$comment": "c"},
            "default": {"type": "array", "uniqueItems": True, "items": {"type": "integer", "examples": [1]}},
            "required": {"type": "object", "properties": {"$ref": {"type": "boolean", "default": True}}},
        },
        "required": ["const", "const", "gone", 3],
        "propertyOrdering": ["required", "const"],
    }
    before = json.dumps(schema)
    assert parameters(schema, "f", warnings)["parameters"] == {
        "type": "object",
        "properties": {
            "const": {"type": "string", "enum": ["a"]},
            "default": {"type": "array", "items": {"type": "integer"}},
            "required": {"type": "object", "properties": {"$ref": {"type": "boolean"}}},
        },
        "required": ["const"],
        "propertyOrdering": ["required", "const"],
    }
    assert json.dumps(schema) == before
    (warning,) = warnings
    assert all(word in warning for word in ("patternProperties", "uniqueItems", "examples", "default"))
    assert "$schema" not in warning


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": "STRING"}, {"type": "string"}),
        (
            {"type": ["string", "integer", "null"], "description": "d"},
            {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "d", "nullable": True},
        ),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "t"}, {"type": "string", "title": "t", "nullable": True}),
        ({"oneOf": [{"type": "string"}, {"type": "number"}]}, {"anyOf": [{"type": "string"}, {"type": "number"}]}),
        (
            {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": True}, "required": ["b"]}]},
            {
                "type": "object",
                "properties": {"b": {"type": "string"}, "a": {"type": "string"}},
                "required": ["a", "b"],
            },
        ),
        ({"enum": ["a", "", None, "a"]}, {"type": "string", "nullable": True, "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer", "description": "One of: 1, 2"}),
        ({"const": True, "description": "d"}, {"type": "boolean", "description": "d One of: true"}),
        ({"const": None}, {"type": "string", "nullable": True}),
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9}, {"type": "integer", "minimum": 1, "maximum": 8}),
        ({"type": "number", "exclusiveMinimum": 0}, {"type": "number", "minimum": 0}),
        ({"type": "string", "format": "email", "minLength": 1, "maxLength": "x"}, {"type": "string", "minLength": 1}),
        ({"type": "string", "format": "date-time", "pattern": "x"}, {"type": "string", "format": "date-time", "pattern": "x"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
        ),
        ({"items": {"type": "boolean"}}, {"type": "array", "items": {"type": "boolean"}}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}),
        ({"type": "string", "anyOf": [{"pattern": "a"}, {"pattern": "b"}]}, {"type": "string"}),
        ({"properties": {"a": True}, "anyOf": [{"required": ["a"]}]}, {"type": "object", "properties": {"a": {"type": "string"}}}),
        ({"minimum": 3}, {"type": "number", "minimum": 3}),
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"type": "anything", "description": 3, "enum": "x", "items": 3}, {"type": "array", "items": {"type": "string"}}),
    ],
)  # fmt: skip
def test_what_can_be_said_otherwise_is(schema: Any, expected: dict[str, Any]) -> None:
    assert inner(schema) == expected


def test_references_are_written_out() -> None:
    got = cleaned(
        {
            "$ref": "#/definitions/root",
            "definitions": {
                "root": {
                    "type": "object",
                    "properties": {"a": {"$ref": "#/definitions/a~1b"}, "b": {"$ref": "http://x"}},
                },
                "a/b": {"type": "integer", "description": "one"},
            },
        }
    )
    assert got == {
        "type": "object",
        "properties": {"a": {"type": "integer", "description": "one"}, "b": {"type": "string"}},
    }


def test_the_same_reference_twice_is_no_circle() -> None:
    one = {"$ref": "#/$defs/P"}
    schema = {
        "properties": {"a": one, "b": {"type": "array", "items": one}},
        "$defs": {"P": {"type": "number"}},
    }
    assert cleaned(schema)["properties"] == {
        "a": {"type": "number"},
        "b": {"type": "array", "items": {"type": "number"}},
    }


@pytest.mark.parametrize(
    "schema",
    [
        {
            "properties": {"n": {"$ref": "#/$defs/N"}},
            "$defs": {"N": {"properties": {"next": {"$ref": "#/$defs/N"}}}},
        },
        {"properties": {"n": {"$ref": "#"}}},
        {"properties": {"n": {"allOf": [{"$ref": "#/properties/n"}]}}},
    ],
)
def test_a_schema_that_contains_itself_goes_as_json_schema(schema: dict[str, Any]) -> None:
    warnings: list[str] = []
    got = parameters({"$schema": "s", **schema}, "f", warnings)
    assert got == {"parametersJsonSchema": {"type": "object", **schema}}
    assert len(warnings) == 1


def test_a_schema_that_explodes_or_goes_too_deep_goes_as_json_schema() -> None:
    wide = {"$defs": {"d0": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/d14"}}}
    for n in range(1, 15):
        step = {"$ref": f"#/$defs/d{n - 1}"}
        wide["$defs"][f"d{n}"] = {"properties": {"a": step, "b": step}}
    assert list(parameters(wide, "f", [])) == ["parametersJsonSchema"]
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"properties": {"a": deep}}
    assert list(parameters(deep, "f", [])) == ["parametersJsonSchema"]


def test_alternatives_at_the_root_become_one_object() -> None:
    got = cleaned(
        {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "number"}}}]}
    )
    assert got == {"type": "object", "properties": {"b": {"type": "number"}, "a": {"type": "string"}}}


@pytest.mark.parametrize("junk", [None, 0, "x", [], {}, [None], [{}], {"a": 1}, True])
@pytest.mark.parametrize(
    "keyword",
    [
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "items",
        "anyOf",
        "allOf",
        "$ref",
        "format",
        "minimum",
        "nullable",
    ],
)
def test_a_schema_of_any_shape_is_cleaned(keyword: str, junk: Any) -> None:
    for schema in (
        {keyword: junk},
        {"properties": {"x": {keyword: junk}}},
        {"anyOf": [{keyword: junk}, junk]},
    ):
        json.dumps(parameters(schema, "f", []))
