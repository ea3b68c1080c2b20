"""The body of the Responses API at the endpoint for chat completions: what it means there."""

import pytest

from fakes.serving import client, serving
from fakes.upstream import HELLO
from motes.api.hybrid import as_chat
from motes.intake import parse_request

CHAT = "/chat/completions"
USER = {"role": "user", "content": "Hi"}


def call(id, name="now"):
    return {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name, "arguments": "{}"}


def result(id, output="12:00"):
    return {"type": "function_call_output", "call_id": id, "output": output}


def messages(*items):
    return as_chat({"input": list(items)})["messages"]


def test_a_request_with_messages_is_left_alone():
    body = {"messages": [USER], "input": "x"}
    assert as_chat(body) is body
    assert as_chat([1]) == [1]


def test_calls_of_one_go_are_one_turn_and_their_results_follow():
    out = messages(USER, call("a"), call("b"), result("a"), result("b"), call("c"))
    assert [message["role"] for message in out] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [one["id"] for one in out[1]["tool_calls"]] == ["a", "b"]
    assert [one["id"] for one in out[4]["tool_calls"]] == ["c"]
    assert [message["tool_call_id"] for message in out[2:4]] == ["a", "b"]
    parse_request({"messages": out})


def test_what_was_said_and_then_called_is_one_turn():
    said = {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
    }
    (turn,) = messages(said, call("a"))
    assert turn["content"] == [{"type": "text", "text": "I look."}]
    assert turn["tool_calls"][0]["function"] == {"name": "now", "arguments": "{}"}
    assert turn.keys() == {"role", "content", "tool_calls"}


def test_encrypted_thoughts_stand_before_what_they_led_to_and_a_bare_summary_is_left_out():
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "EC"}
    bare = {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "hm"}]}
    _, turn, _ = messages(USER, thought, bare, call("a"), result("a"))
    assert turn["reasoning_details"] == [
        {"type": "reasoning.encrypted", "data": "EC", "id": "rs_1", "format": "openai-responses-v1"}
    ]
    assert len(messages(USER, bare)) == 1


def test_parts_and_free_form_calls_have_their_places():
    parts = [
        {"type": "input_text", "text": "Look"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="},
    ]
    free = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"}
    out = messages(
        {"role": "user", "content": parts},
        free,
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"},
    )
    assert [part["type"] for part in out[0]["content"]] == ["text", "image_url", "file"]
    assert out[0]["content"][2]["file"] == {
        "file_data": "data:application/pdf;base64,AA==",
        "filename": "a.pdf",
    }
    assert out[1]["tool_calls"] == [
        {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    ]
    assert out[2] == {"role": "tool", "tool_call_id": "c", "content": "1"}
    parse_request({"messages": out})


def test_form_verbosity_limit_effort_and_choice_are_asked_for_as_in_a_chat():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    body = as_chat(
        {
            "input": "Hi",
            "text": {
                "verbosity": "low",
                "format": {"type": "json_schema", "name": "x", "strict": True, "schema": schema},
            },
            "reasoning": {"effort": "low"},
            "max_output_tokens": 9,
            "tools": [
                {"type": "function", "name": "now", "parameters": {"type": "object"}},
                {"type": "custom", "name": "sql"},
                {"type": "web_search"},
            ],
            "tool_choice": {"type": "function", "name": "now"},
        }
    )
    request = parse_request(body)
    assert body["messages"] == [USER]
    assert request.response_format.json_schema.schema_ == schema
    assert (request.verbosity, request.output_limit, request.effort) == ("low", 9, "low")
    assert [tool.type for tool in request.tools] == ["function", "custom", "web_search"]
    assert request.tools[1].custom == {"name": "sql"}
    plain = parse_request(as_chat({"input": "Hi", "text": {"format": {"type": "text"}}}))
    assert plain.response_format.type == "text"


@pytest.mark.parametrize(
    ("given", "place"), [(3, "messages"), ([7], "messages.0"), ([{"type": "x"}], "messages.0.role")]
)
def test_an_input_that_cannot_be_meant_is_refused_with_its_place(tmp_path, given, place):
    toml = '[vendors.fake]\ndialect = "openai-chat"\nbase_url = "http://127.0.0.1:9"\nkey = "k"\n'
    with serving(tmp_path, toml) as url, client(url) as caller:
        response = caller.post(CHAT, json={"model": "fake/m", "input": given})
    assert response.status_code == 400
    assert response.json()["error"]["param"].startswith(place)


def test_it_reaches_the_vendor_as_a_chat(gateway, upstream):
    upstream.play(*HELLO)
    body = {"model": "fake/m", "input": [USER, call("a"), call("b"), result("a"), result("b")]}
    assert gateway.post(CHAT, json=body).json()["choices"][0]["message"]["content"] == "Hello there"
    sent = upstream.received[0].json["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
