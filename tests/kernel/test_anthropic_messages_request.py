"""A chat request as a Messages request: turns, system, parts, results, reasoning that goes back."""

import base64
import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.messages_request import blocks, body_of, notes_of, sent, user
from motes.dialects.anthropic_messages import DIALECT
from motes.errors import InvalidRequest

PNG = "data:image/png;base64,iVBORw0KGgo="


def call(call_id: str = "c1", arguments: str = "{}", name: str = "f") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(content: Any = None, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return message | ({"tool_calls": list(calls)} if calls else {})


def result(call_id: str = "c1", content: Any = "r", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]


def kinds(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


def test_the_smallest_request_says_nothing_the_api_does_not_know() -> None:
    assert body_of(user("hi")) == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 8192,
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    }
    made = sent({"messages": [user("hi")]})
    assert (made.headers, made.warnings) == ({}, ())


def test_path_and_version_are_those_of_the_api() -> None:
    assert DIALECT.path("claude-x") == "v1/messages"
    assert DIALECT.headers == {"anthropic-version": "2023-06-01"}


# System.


def test_system_and_developer_text_stands_apart_in_order_also_from_mid_conversation() -> None:
    messages = [
        {"role": "system", "content": "one"},
        {"role": "developer", "content": [{"type": "text", "text": "two"}]},
        user("hi"),
        {"role": "system", "content": "three"},
        user("there"),
    ]
    made = sent({"messages": messages})
    assert [block["text"] for block in made.json["system"]] == ["one", "two", "three"]
    assert roles(made.json) == ["user"]
    assert any("later system message" in note for note in made.warnings)


def test_an_image_in_a_system_message_and_what_follows_it_become_a_user_turn() -> None:
    parts = [
        {"type": "text", "text": "SYS"},
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "text", "text": "after"},
    ]
    body = body_of({"role": "system", "content": parts}, user("hi"))
    assert [block["text"] for block in body["system"]] == ["SYS"]
    assert kinds(body["messages"][0]) == ["image", "text", "text"]


# Turns.


def test_turns_of_one_role_are_merged() -> None:
    body = body_of(user("a"), user("b"), assistant("c"), assistant("d"), user("e"))
    assert roles(body) == ["user", "assistant", "user"]
    assert [len(message["content"]) for message in body["messages"]] == [2, 2, 1]


def test_blank_text_is_never_sent() -> None:
    made = sent(
        {"messages": [user(""), user([{"type": "text", "text": " "}, {"type": "text", "text": "x"}])]}
    )
    assert blocks(made.json) == [{"type": "text", "text": "x"}]
    assert "a blank user turn was left out" in made.warnings


def test_a_blank_turn_between_two_users_is_left_out_and_they_are_one() -> None:
    assert roles(body_of(user("a"), assistant(" \n"), user("b"))) == ["user"]


def test_the_first_turn_is_always_the_users() -> None:
    for messages in ([assistant("a"), user("b")], [{"role": "system", "content": "s"}], [user(" ")]):
        body = body_of(*messages)
        assert roles(body)[0] == "user"
        assert body["messages"][0]["content"][0]["text"].strip()


def test_a_begun_answer_ends_without_white_space_and_is_answered_where_it_may_not_be_begun() -> None:
    begun = [user("a"), assistant("It is: \n")]
    assert body_of(*begun)["messages"][-1]["content"] == [{"type": "text", "text": "It is:"}]
    newer = body_of(*begun, model="claude-opus-4-7")
    assert roles(newer) == ["user", "assistant", "user"]


def test_names_of_participants_and_audio_of_the_assistant_are_left_out_with_a_note() -> None:
    messages = [user("a", name="Ana"), assistant("b", audio={"id": "x"}), user("c")]
    assert len(notes_of(messages)) == 2


# Tools in the history.


def test_results_come_first_in_the_turn_behind_their_call_and_in_call_order() -> None:
    body = body_of(
        user("q"),
        assistant("t", call("c1"), call("c2")),
        user("interjection"),
        result("c2", "two"),
        result("c1", "one"),
        user("go on"),
    )
    assert roles(body) == ["user", "assistant", "user"]
    assert kinds(body["messages"][1]) == ["text", "tool_use", "tool_use"]
    assert kinds(body["messages"][2]) == ["tool_result", "tool_result", "text", "text"]
    assert [b.get("tool_use_id") for b in body["messages"][2]["content"][:2]] == ["c1", "c2"]


def test_a_call_without_result_gets_a_placeholder_and_a_result_without_call_is_dropped() -> None:
    made = sent({"messages": [user("q"), assistant(None, call("c1")), user("x"), result("c9")]})
    answer = made.json["messages"][2]["content"]
    assert answer[0]["tool_use_id"] == "c1"
    assert answer[0]["content"] == [{"type": "text", "text": "[result omitted]"}]
    assert "c9" not in json.dumps(made.json)
    assert len(made.warnings) == 2


def test_a_failed_result_is_marked_and_an_empty_one_has_no_content() -> None:
    body = body_of(
        user("q"),
        assistant(None, call("c1"), call("c2")),
        result("c1", "no", is_error=True),
        result("c2", ""),
    )
    assert body["messages"][2]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [{"type": "text", "text": "no"}],
            "is_error": True,
        },
        {"type": "tool_result", "tool_use_id": "c2"},
    ]


def test_a_result_may_hold_an_image() -> None:
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": PNG}}]
    body = body_of(user("q"), assistant(None, call()), result(content=parts))
    assert kinds(body["messages"][2]["content"][0]) == ["text", "image"]


@pytest.mark.parametrize("arguments", ["", "  ", "{}"])
def test_empty_arguments_are_an_empty_object(arguments: str) -> None:
    made = sent({"messages": [user("q"), assistant(None, call(arguments=arguments)), result()]})
    assert made.json["messages"][1]["content"][0]["input"] == {}
    assert made.warnings == ()


@pytest.mark.parametrize("arguments", ['{"a": "unfin', "[1]", "3", "nonsense", "null"])
def test_arguments_that_are_no_object_are_sent_empty_with_a_note(arguments: str) -> None:
    made = sent({"messages": [user("q"), assistant(None, call(arguments=arguments)), result()]})
    assert made.json["messages"][1]["content"][0]["input"] == {}
    assert any("no JSON object" in note for note in made.warnings)


def test_ids_are_of_the_allowed_characters_unique_and_the_same_in_call_and_result() -> None:
    body = body_of(
        user("q"),
        assistant(None, call("functions.f:0"), call("functions_f_0")),
        result("functions.f:0", "one"),
        result("functions_f_0", "two"),
        assistant(None, call("functions.f:0")),
        result("functions.f:0", "three"),
    )
    made = [b["id"] for b in blocks(body) if b["type"] == "tool_use"]
    answered = [
        (b["tool_use_id"], b["content"][0]["text"]) for b in blocks(body) if b["type"] == "tool_result"
    ]
    assert made == ["functions_f_0", "functions_f_0_2", "functions_f_0_2_2"]
    assert answered == list(zip(made, ["one", "two", "three"], strict=True))


def test_the_deprecated_function_call_is_a_call_with_its_result() -> None:
    legacy = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    body = body_of(user("q"), legacy, {"role": "function", "name": "f", "content": "r"})
    use, answer = body["messages"][1]["content"][0], body["messages"][2]["content"][0]
    assert (use["type"], use["id"]) == ("tool_use", answer["tool_use_id"])


def test_a_custom_call_takes_its_text_as_one_argument() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    assert body_of(user("q"), assistant(None, custom), result())["messages"][1]["content"][0]["input"] == {
        "input": "ls -l"
    }


# Images and documents.


@pytest.mark.parametrize(
    ("url", "source"),
    [
        (PNG, {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}),
        ("data:image/jpg;base64,AAAA", {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}),
        ("https://a.example/x.png", {"type": "url", "url": "https://a.example/x.png"}),
    ],
)
def test_an_image_is_sent_by_data_or_by_address(url: str, source: Any) -> None:
    assert blocks(body_of(user([{"type": "image_url", "image_url": {"url": url}}]))) == [
        {"type": "image", "source": source}
    ]


def file(**fields: Any) -> dict[str, Any]:
    return user([{"type": "file", "file": fields}])


def test_documents_are_sent_by_data_text_address_or_id() -> None:
    text = base64.b64encode("olá".encode()).decode()
    assert blocks(body_of(file(file_data="data:application/pdf;base64,JVBERg==", filename="a.pdf"))) == [
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
            "title": "a.pdf",
        }
    ]
    assert blocks(body_of(file(file_data="JVBERg==", filename="A.PDF")))[0]["source"]["type"] == "base64"
    assert blocks(body_of(file(file_data=f"data:text/plain;base64,{text}")))[0]["source"] == {
        "type": "text",
        "media_type": "text/plain",
        "data": "olá",
    }
    assert blocks(body_of(file(file_data="data:text/plain,ol%C3%A1")))[0]["source"]["data"] == "olá"
    assert blocks(body_of(file(file_data=PNG)))[0]["type"] == "image"
    made = sent({"messages": [file(file_id="file_1")]})
    assert blocks(made.json)[0]["source"] == {"type": "file", "file_id": "file_1"}
    assert made.headers == {"anthropic-beta": "files-api-2025-04-14"}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "image_url", "image_url": {"url": "ftp://a.example/x"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
        {"type": "file", "file": {}},
        {"type": "file", "file": {"file_data": "data:application/zip;base64,AAAA"}},
        {"type": "file", "file": {"file_data": "data:text/plain;base64,A"}},
    ],
)
def test_what_the_api_cannot_take_is_refused_and_named(part: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        body_of(user([part]))
    assert refused.value.param == "messages"


def test_images_of_the_assistant_are_moved_to_the_user_behind_the_results() -> None:
    shown = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": PNG}}]
    body = body_of(user("q"), assistant(shown, call()), result(), user("x"))
    assert kinds(body["messages"][1]) == ["text", "tool_use"]
    assert kinds(body["messages"][2]) == ["tool_result", "image", "text"]


# Cache marks.


MARK = {"type": "ephemeral"}


def test_cache_marks_are_kept_on_parts_tools_messages_and_system() -> None:
    tool = {"type": "function", "function": {"name": "f"}, "cache_control": MARK}
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "s", "cache_control": MARK}]},
        user("a", cache_control={"type": "ephemeral", "ttl": "1h"}),
    ]
    body = sent({"messages": messages, "tools": [tool]}).json
    assert body["tools"][0]["cache_control"] == body["system"][0]["cache_control"] == MARK
    assert body["messages"][0]["content"][-1]["cache_control"]["ttl"] == "1h"


def test_of_six_cache_marks_the_last_four_are_kept() -> None:
    parts = [{"type": "text", "text": str(n), "cache_control": MARK} for n in range(6)]
    made = sent({"messages": [user(parts)]})
    assert [b["text"] for b in blocks(made.json) if "cache_control" in b] == ["2", "3", "4", "5"]
    assert len(made.warnings) == 1


def test_a_mark_on_a_part_of_a_result_is_the_results() -> None:
    parts = [{"type": "text", "text": "r", "cache_control": MARK}]
    body = body_of(user("q"), assistant(None, call()), result(content=parts))
    answer = body["messages"][2]["content"][0]
    assert answer["cache_control"] == MARK
    assert "cache_control" not in answer["content"][0]


# Any history at all.


TEXTS = st.sampled_from(["", " ", "a", "b\n"])
IDS = st.sampled_from(["c1", "c2", "c.1", ""])
HISTORY = st.lists(
    st.one_of(
        st.builds(user, TEXTS),
        st.builds(lambda text: {"role": "system", "content": text}, TEXTS),
        st.builds(assistant, TEXTS),
        st.builds(lambda text, ids: assistant(text, *map(call, ids)), TEXTS, st.lists(IDS, max_size=3)),
        st.builds(result, IDS, TEXTS),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=300, deadline=None)
@given(HISTORY)
def test_any_history_becomes_turns_the_vendor_takes(history: list[dict[str, Any]]) -> None:
    messages = body_of(*history)["messages"]
    assert [m["role"] for m in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
    assert all(m["content"] for m in messages)
    assert all(b["text"].strip() for m in messages for b in m["content"] if b["type"] == "text")
    uses = [b["id"] for m in messages for b in m["content"] if b["type"] == "tool_use"]
    assert len(set(uses)) == len(uses)
    for turn, answer in itertools.zip_longest(messages, messages[1:]):
        called = [b["id"] for b in turn["content"] if b["type"] == "tool_use"]
        found = (
            [b["tool_use_id"] for b in answer["content"] if b["type"] == "tool_result"] if answer else called
        )
        assert called == found or turn["role"] == "user"
        if answer and found:
            assert kinds(answer)[: len(found)] == ["tool_result"] * len(found)
