"""What hangs on the vendor and on no protocol: images, tools, JSON Schemas, families of models."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motes import dispatch
from motes.errors import InvalidRequest
from motes.intake import parse_request
from motes.json_schema import fitted
from motes.model_rules import fits, of_model
from motes.normaliser import IMAGE_LEFT_OUT, prepared
from motes.quirks import ModelRule, Quirks
from motes.vendors.catalogue import speaking
from motes.vendors.table import VENDORS

DATA = "data:image/png;base64,AA=="
ADDRESS = "https://host/a.png"


def request(*parts: dict[str, Any], **members: Any) -> Any:
    return parse_request({"messages": [{"role": "user", "content": list(parts) or "hi"}], **members})


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


# Images.


@pytest.mark.parametrize("vendor", ["lmstudio", "moonshot", "ollama", "sambanova"])
def test_an_address_of_an_image_is_refused_where_only_data_is_taken(vendor: str) -> None:
    row = VENDORS[vendor]
    with pytest.raises(InvalidRequest, match=r"messages\.0\.content\.1.*data URL") as caught:
        dispatch.generate(request({"type": "text", "text": "x"}, image(ADDRESS)), row, "m", secret="s")
    assert caught.value.code == "image_address_unsupported"
    assert dispatch.generate(request(image(DATA)), row, "m", secret="s").warnings == ()


def test_a_file_of_the_vendors_own_is_no_address() -> None:
    out, _ = prepared(request(image("ms://file-1")), VENDORS["moonshot"].quirks)
    assert out.messages[0].content[0].image_url.url == "ms://file-1"


@pytest.mark.parametrize(
    "part", [image(DATA), image(ADDRESS), {"type": "file", "file": {"file_data": DATA, "filename": "a.png"}}]
)
def test_an_image_is_left_out_with_a_word_to_both_sides_where_none_is_taken(part: Any) -> None:
    out, warnings = prepared(request(part), VENDORS["deepseek"].quirks)
    assert out.messages[0].content[0].text == IMAGE_LEFT_OUT
    assert len(warnings) == 1


def test_the_rule_holds_in_every_protocol_of_the_vendor() -> None:
    row = speaking(VENDORS["moonshot"], "anthropic-messages")
    with pytest.raises(InvalidRequest, match="data URL"):
        dispatch.generate(request(image(ADDRESS)), row, "kimi-k3", secret="s")


def test_what_needs_no_change_is_the_same_request() -> None:
    asked = request(image(ADDRESS))
    assert prepared(asked, Quirks())[0] is asked


# Tools.


def test_tools_are_refused_where_there_are_none() -> None:
    tool = {"type": "function", "function": {"name": "f"}}
    with pytest.raises(InvalidRequest, match="no tools"):
        prepared(request(tools=[tool]), VENDORS["perplexity"].quirks)
    prepared(request(tools=[]), VENDORS["perplexity"].quirks)


def test_earlier_calls_are_told_in_words_where_there_are_no_tools() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    legacy = {"name": "g", "arguments": "{}"}
    asked = parse_request(
        {
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "so", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": "7"},
                {"role": "assistant", "content": None, "function_call": legacy},
                {"role": "function", "name": "g", "content": "8"},
            ]
        }
    )
    out, warnings = prepared(asked, VENDORS["perplexity"].quirks)
    assert [(m.role, m.content) for m in out.messages] == [
        ("user", "hi"),
        ("assistant", 'so\n[called f: {"x":1}]'),
        ("user", "[result of f: 7]"),
        ("assistant", "[called g: {}]"),
        ("user", "[result of g: 8]"),
    ]
    assert len(warnings) == 1
    assert not dispatch.generate(out, VENDORS["perplexity"], "sonar", secret="s").warnings


# Schemas.

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "const": {"type": "string"},
        "anyOf": {"$ref": "#/$defs/Node"},
        "one": {"const": 1},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "either": {
            "oneOf": [
                {"type": "object", "properties": {"a": {"type": "string"}, "k": {}}, "required": ["a", "k"]},
                {"type": "object", "properties": {"b": {"type": "string"}, "k": {}}, "required": ["b", "k"]},
            ]
        },
        "list": {"type": "array", "prefixItems": [{"type": "integer"}]},
        "both": {"allOf": [{"properties": {"x": {"type": "string"}}}, {"required": ["x"]}]},
    },
    "required": ["const", "anyOf", "one", "maybe"],
    "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
}


def test_a_plain_schema_means_as_much_as_can_be_said() -> None:
    out, lost = fitted(SCHEMA, "plain")
    members = out["properties"]
    assert members["const"] == {"type": "string"}
    assert members["one"] == {"type": "integer", "enum": [1]}
    assert members["maybe"] == {"type": "string"}
    assert out["required"] == ["const", "anyOf", "one"]
    assert set(members["either"]["properties"]) == {"a", "b", "k"}
    assert members["either"]["required"] == ["k"]
    assert members["list"] == {"type": "array", "items": {"type": "integer"}}
    assert members["both"]["properties"] == {"x": {"type": "string"}}
    assert lost == ["$ref"]
    assert fitted({}, "plain")[0] == {"type": "object", "properties": {}}


def test_alternatives_that_cannot_be_said_are_told_in_words() -> None:
    out, lost = fitted({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}, "plain")
    assert out["properties"]["a"] == {"type": "string", "description": "Or: integer."}
    assert lost == ["anyOf"]


def test_references_are_replaced_by_what_they_name() -> None:
    leaf = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    schema = {"properties": {"a": {"$ref": "#/$defs/L"}, "b": {"$ref": "#/$defs/L"}}, "$defs": {"L": leaf}}
    assert fitted(schema, "no-refs") == ({"properties": {"a": leaf, "b": leaf}}, [])


def test_only_a_reference_into_itself_stays_one() -> None:
    out, lost = fitted(SCHEMA, "no-refs")
    assert out["properties"]["anyOf"]["properties"]["next"] == {"$ref": "#/$defs/Node"}
    assert out["$defs"] == SCHEMA["$defs"]
    assert lost == ["$ref"]


@pytest.mark.parametrize("kind", ["properties", "anyOf"])
def test_a_schema_that_grows_without_end_is_refused(kind: str) -> None:
    defs: dict[str, Any] = {}
    for n in range(30):
        further = {"$ref": f"#/$defs/d{n + 1}"}
        defs[f"d{n}"] = {kind: dict.fromkeys("abcd", further) if kind == "properties" else [further] * 4}
    for form in ("plain", "no-refs"):
        with pytest.raises(InvalidRequest, match="deeper"):
            fitted({"$ref": "#/$defs/d0", "$defs": defs}, form)


STRUCTURE = {"type", "properties", "required", "items", "additionalProperties"}
SAID = {"description", "enum", "format", "pattern"}
REFUSED = {"anyOf", "oneOf", "allOf", "const", "$ref", "$defs", "prefixItems", "not", "if", "definitions"}
NAMES = sorted(STRUCTURE | SAID | REFUSED)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "object", "#", "#/$defs/a", ""]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, "a", "b"]), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from([*NAMES, "a"]), JUNK, max_size=5))
def test_whatever_stands_where_a_schema_should_be_is_read(schema: dict[str, Any]) -> None:
    before = json.dumps(schema)
    for form in ("any", "no-refs", "plain"):
        out, _ = fitted(schema, form)
        json.dumps(out)
    assert json.dumps(schema) == before
    assert _keywords(fitted(schema, "plain")[0]) <= STRUCTURE | SAID


def _keywords(node: Any) -> set[str]:
    """Every keyword that stands in a place of a schema."""
    if not isinstance(node, dict):
        return set()
    inner = [node.get("items"), node.get("additionalProperties")]
    members = node.get("properties", {})
    found = set(node)
    for value in [*inner, *members.values()]:
        found |= _keywords(value)
    return found


def test_schemas_are_fitted_in_tools_functions_and_the_form_of_the_answer() -> None:
    function = {"name": "f", "parameters": SCHEMA}
    out, warnings = prepared(
        request(
            tools=[{"type": "function", "function": function}, {"type": "web_search"}],
            functions=[function],
            response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
        ),
        VENDORS["codebuddy"].quirks,
    )
    for schema in (
        out.tools[0].function.parameters,
        out.functions[0].parameters,
        out.response_format.json_schema.schema_,
    ):
        assert "$schema" not in schema
        assert schema["properties"]["const"] == {"type": "string"}
    assert {w.split(":")[0] for w in warnings} == {
        "tools.f.parameters",
        "response_format.json_schema.schema",
    }


# Families.


@pytest.mark.parametrize(
    ("model", "head", "does"),
    [
        ("gpt-5.1", "gpt-5", True),
        ("gpt-50", "gpt-5", False),
        ("ft:gpt-5:org", "gpt-5", True),
        ("openai/gpt-oss-120b", "gpt-oss", True),
        ("zai-org/GLM-5.3", "glm-5.3", True),
        ("google/gemma-4", "google", True),
        ("google/gemma-4", "gemini", False),
        ("", "gpt", False),
    ],
)
def test_a_family_is_told_by_the_head_of_a_name(model: str, head: str, does: bool) -> None:
    assert fits(model, head) is does


def test_the_longest_head_counts_and_its_drops_add_to_the_vendors() -> None:
    rules = (
        ModelRule(prefix="m", drop=frozenset({"a"})),
        ModelRule(prefix="m-2", drop=frozenset({"b"}), tool_choice="no-forced"),
    )
    base = Quirks(drop=frozenset({"c"}), model_rules=rules)
    assert of_model(base, "m-2-x").drop == {"b", "c"}
    assert of_model(base, "m-2-x").tool_choice == "no-forced"
    assert of_model(base, "m-1").drop == {"a", "c"}
    assert of_model(base, "n") is base
    assert of_model(of_model(base, "m-2"), "m-2") == of_model(base, "m-2")
