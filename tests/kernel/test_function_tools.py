"""Tools in OpenAI's words become plain functions and one of three choices; data URLs become type and base64."""

import json
from typing import Any

import pytest

from motes.chat import FunctionDefinition
from motes.dialects.base import DialectName, Traits
from motes.dialects.data_urls import is_data_url, parted, text_of
from motes.dialects.function_tools import AskedTools, asked_tools, parameters_of
from motes.dialects.registry import resolve
from motes.errors import InvalidRequest
from motes.intake import parse_request
from motes.quirks import NO_QUIRKS

F, G = ({"type": "function", "function": {"name": name}} for name in "fg")


def ask(**members: Any) -> tuple[AskedTools, list[str]]:
    notes: list[str] = []
    request = parse_request({"messages": [{"role": "user", "content": "hi"}], **members})
    return asked_tools(request, notes), notes


def names(asked: AskedTools) -> list[str]:
    return [function.name for function in asked.functions]


@pytest.mark.parametrize(
    ("choice", "kept", "meant"),
    [
        (None, ["f", "g"], "auto"),
        ("auto", ["f", "g"], "auto"),
        ("none", ["f", "g"], "none"),
        ("required", ["f", "g"], "required"),
        ("any", ["f", "g"], "required"),
        ({"type": "required"}, ["f", "g"], "required"),
        ({"type": "function", "function": {"name": "g"}}, ["g"], "required"),
        ({"type": "function", "name": "f"}, ["f"], "required"),
        ({"type": "custom", "custom": {"name": "f"}}, ["f"], "required"),
        ({"type": "function", "function": {"name": "gone"}}, ["f", "g"], "required"),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [G, 3]}},
            ["g"],
            "required",
        ),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"name": "f"}]}, ["f"], "auto"),
        ({"type": "allowed_tools", "allowed_tools": {"tools": "x"}}, ["f", "g"], "auto"),
    ],
)
def test_every_form_of_a_choice_is_a_mode_and_the_tools_it_leaves(choice: Any, kept: Any, meant: str) -> None:
    asked, notes = ask(tools=[F, G], tool_choice=choice)
    assert (names(asked), asked.choice) == (kept, meant)
    assert bool(notes) == (len(kept) == 1)


@pytest.mark.parametrize("choice", ["sometimes", {"type": "weird"}, {}, {"type": ["auto"]}])
def test_a_choice_that_cannot_be_meant_is_refused(choice: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        ask(tools=[F], tool_choice=choice)
    assert refused.value.param == "tool_choice"


def test_deprecated_functions_and_free_form_tools_are_functions() -> None:
    free = {"type": "custom", "custom": {"name": "h", "description": "d"}}
    asked, notes = ask(
        tools=[free, {"type": "web_search"}], functions=[{"name": "f"}], function_call={"name": "h"}
    )
    assert names(asked) == ["h"]
    assert parameters_of(asked.functions[0])["required"] == ["input"]
    assert len(notes) == 3
    assert names(ask(tools=[{"type": "custom", "custom": {}}])[0]) == ["custom"]


def test_a_forced_choice_without_tools_is_told() -> None:
    assert ask(tool_choice="required") == (AskedTools(), ["tool_choice: dropped, there are no tools"])
    assert ask(tool_choice="auto") == (AskedTools(), [])


def test_arguments_are_an_object_in_any_case() -> None:
    def schema(parameters: Any) -> Any:
        return parameters_of(FunctionDefinition(name="f", parameters=parameters))

    assert schema(None) == schema({}) == {"type": "object", "properties": {}}
    assert schema({"properties": {"a": {}}}) == {"type": "object", "properties": {"a": {}}}
    assert schema({"$ref": "#/$defs/a"}) == {"$ref": "#/$defs/a"}


@pytest.mark.parametrize(
    ("url", "mime", "data"),
    [
        ("data:image/png;base64,AAAA", "image/png", "AAAA"),
        ("DATA:Image/PNG;charset=x;BASE64,AA\nAA", "image/png", "AAAA"),
        ("data:image/png;base64,AA%3D%3D", "image/png", "AA=="),
        ("data:,a%20b", "text/plain", "YSBi"),
        ("data:text/csv,a", "text/csv", "YQ=="),
    ],
)
def test_a_data_url_is_a_type_and_base64(url: str, mime: str, data: str) -> None:
    assert is_data_url(url)
    assert parted(url, "p") == (mime, data)


def test_a_data_url_without_data_and_text_that_is_no_base64_are_refused() -> None:
    assert not is_data_url("https://x.example/data:")
    for broken in ("data:image/png;base64", "data:image/png;base64,"):
        with pytest.raises(InvalidRequest, match="nothing after its comma"):
            parted(broken, "p")
    assert text_of("w6k=", "p") == "é"
    with pytest.raises(InvalidRequest, match="not valid base64"):
        text_of("!", "p")


@pytest.mark.parametrize("name", ["anthropic-messages", "bedrock-converse", "gemini-generate", "ollama-chat"])
def test_every_house_reads_a_data_url_however_it_is_written(name: DialectName) -> None:
    url = "DATA:image/PNG; Base64,aG%56 z\nbG8="
    part = {"type": "image_url", "image_url": {"url": url}}
    request = parse_request({"messages": [{"role": "user", "content": [part]}]})
    sent = json.dumps(resolve(name).body(request, "m", NO_QUIRKS, Traits()).json)
    assert "aGVzbG8=" in sent
    assert "PNG" not in sent
