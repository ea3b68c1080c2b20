"""A caller's messages as Converse takes them: roles in turn, results behind their calls, nothing blank."""

import base64
from typing import Any

import pytest

from fakes.converse import CLAUDE, NOVA, USER, build, call, result, sent, told, turns
from motes.dialects.bedrock_converse.signatures import FORMAT
from motes.errors import InvalidRequest

PNG = "data:image/png;base64,aWFtYXBpY3R1cmU="
LLAMA, MISTRAL, WRITER = (
    "us.meta.llama3-3-70b-instruct-v1:0",
    "mistral.mistral-large-3-675b-instruct",
    "us.writer.palmyra-x5-v1:0",
)
HIDDEN = {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "format": FORMAT}


def image(url: str, **more: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}, **more}


def file(data: str | None = None, name: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "file", "file": {"file_data": data, "filename": name, **more}}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def content(*parts: dict[str, Any], model: str = CLAUDE) -> list[dict[str, Any]]:
    (turn,) = turns(user(*parts), model=model)
    out: list[dict[str, Any]] = turn["content"]
    return out


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def test_system_and_developer_text_stand_apart() -> None:
    json = sent(messages=[{"role": "system", "content": "A"}, {"role": "developer", "content": "B"}, USER])
    assert json["system"] == [{"text": "A"}, {"text": "B"}]
    assert json["messages"] == [{"role": "user", "content": [{"text": "hi"}]}]


def test_turns_of_one_role_are_one_turn() -> None:
    assert turns(USER, {"role": "user", "content": "there"}) == [
        {"role": "user", "content": [{"text": "hi"}, {"text": "there"}]}
    ]


def test_blank_text_is_never_sent() -> None:
    out = turns(user(text(""), text(" \n"), text("x")), {"role": "assistant", "content": ""}, USER)
    assert out == [{"role": "user", "content": [{"text": "x"}, {"text": "hi"}]}]
    assert turns({"role": "user", "content": " "}) == [{"role": "user", "content": [{"text": "[no text]"}]}]


def test_a_conversation_that_begins_with_the_assistant_gets_a_user_where_the_model_wants_one() -> None:
    first = {"role": "assistant", "content": "Ahoy."}
    assert [turn["role"] for turn in turns(first, USER, model=NOVA)] == ["user", "assistant", "user"]
    assert [turn["role"] for turn in turns(first, USER)] == ["assistant", "user"]


def test_a_begun_answer_loses_its_last_white_space() -> None:
    out = turns(USER, {"role": "assistant", "content": "The "}, model=NOVA)
    assert out[-1] == {"role": "assistant", "content": [{"text": "The"}]}


def test_calls_and_results_are_paired_and_the_missing_one_is_stubbed() -> None:
    history = [
        {"role": "user", "content": "a"},
        {
            "role": "assistant",
            "content": "t",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": ""}},
            ],
        },
        result("c1", "one"),
        {"role": "user", "content": "b"},
    ]
    assert turns(*history)[1:] == [
        {
            "role": "assistant",
            "content": [
                {"text": "t"},
                {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"x": 1}}},
                {"toolUse": {"toolUseId": "c2", "name": "g", "input": {}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "c1", "content": [{"text": "one"}]}},
                {"toolResult": {"toolUseId": "c2", "content": [{"text": "[result omitted]"}]}},
                {"text": "b"},
            ],
        },
    ]


def test_arguments_that_are_no_object_are_sent_as_none_with_a_word() -> None:
    out = build(messages=[USER, call("a", arguments='{"x":'), result("a")])
    assert out.json["messages"][1]["content"] == [{"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}]
    assert "no JSON object" in told(out)


def test_ids_are_of_the_allowed_characters_and_length_and_never_twice() -> None:
    long = "x" * 90
    out = turns(USER, call("a b/ü", long), result("a b/ü"), result(long), call("a b/ü"), result("a b/ü"))
    uses = [block["toolUse"]["toolUseId"] for turn in out for block in turn["content"] if "toolUse" in block]
    results = [b["toolResult"]["toolUseId"] for turn in out for b in turn["content"] if "toolResult" in b]
    assert uses == results
    assert len(set(uses)) == 3
    assert all(len(made) <= 64 and made.isascii() and " " not in made and "/" not in made for made in uses)


def test_a_failed_result_is_marked() -> None:
    history = (USER, call("a"), result("a", "no", is_error=True))
    assert turns(*history)[-1]["content"][0]["toolResult"]["status"] == "error"
    told_in_words = turns(*history, model=WRITER)[-1]["content"][0]["toolResult"]
    assert told_in_words == {"toolUseId": "a", "content": [{"text": "[ERROR]"}, {"text": "no"}]}


def test_a_result_may_hold_an_image_and_is_never_empty() -> None:
    out = turns(USER, call("a", "b"), result("a", [image(PNG)]), result("b", ""))
    first, second = out[-1]["content"]
    assert first["toolResult"]["content"] == [
        {"image": {"format": "png", "source": {"bytes": "aWFtYXBpY3R1cmU="}}}
    ]
    assert second["toolResult"]["content"] == [{"text": "[no text]"}]


@pytest.mark.parametrize("model", [LLAMA, MISTRAL, WRITER])
def test_results_stand_alone_where_the_model_takes_nothing_beside_them(model: str) -> None:
    out = turns(USER, call("a"), result("a"), {"role": "user", "content": "and?"}, model=model)
    assert [turn["role"] for turn in out] == ["user", "assistant", "user", "assistant", "user"]
    assert list(out[2]["content"][0]) == ["toolResult"]
    assert out[4]["content"] == [{"text": "and?"}]


def test_a_document_does_not_share_a_turn_with_results_of_claude() -> None:
    pdf = file("data:application/pdf;base64,JVBERg==", "a.pdf")
    out = turns(USER, call("a"), result("a"), user(text("read"), pdf))
    assert [turn["role"] for turn in out] == ["user", "assistant", "user", "assistant", "user"]


def test_images_go_inline_or_by_their_place_in_s3() -> None:
    assert content(text("x"), image(PNG))[1] == {
        "image": {"format": "png", "source": {"bytes": "aWFtYXBpY3R1cmU="}}
    }
    assert content(image("data:image/jpg;base64,eA=="))[0]["image"]["format"] == "jpeg"
    assert content(image("s3://bucket/a.webp"))[0] == {
        "image": {"format": "webp", "source": {"s3Location": {"uri": "s3://bucket/a.webp"}}}
    }


@pytest.mark.parametrize(
    "part",
    [
        image("https://example.com/a.png"),
        image("data:image/tiff;base64,eA=="),
        image("data:image/png;base64,"),
        file("https://example.com/a.pdf"),
        file("data:application/zip;base64,eA==", "a.zip"),
        file(None, "a.pdf"),
        {"type": "file", "file": {"file_id": "file-123", "filename": "a.pdf"}},
    ],
)
def test_what_converse_cannot_take_is_refused_before_anything_is_sent(part: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        sent(messages=[user(part)])
    assert refused.value.param == "messages"


def test_documents_have_plain_and_different_names_and_a_text_beside_them() -> None:
    out = build(
        messages=[
            user(file("data:application/pdf;base64,JVBERg==", "a_b: c.pdf"), file("JVBERg==", "a b c.pdf"))
        ]
    )
    (turn,) = out.json["messages"]
    assert turn["content"][0] == {"text": "See the attached document."}
    assert [block["document"]["name"] for block in turn["content"][1:]] == ["a b c", "a b c 2"]
    assert turn["content"][1]["document"]["source"] == {"bytes": "JVBERg=="}


@pytest.mark.parametrize(
    ("given", "name", "format"),
    [
        ("data:text/plain;base64,eA==", "a.txt", "txt"),
        ("data:text/markdown;base64,eA==", None, "md"),
        (
            "data:application/vnd.openxmlformats-officedocument.wordprocessingml.document;base64,eA==",
            None,
            "docx",
        ),
        ("eA==", "table.CSV", "csv"),
        ("s3://bucket/report.pdf", None, "pdf"),
        ("data:text/html,%3Cp%3E", None, "html"),
    ],
)
def test_a_document_is_of_the_format_that_its_type_or_name_says(
    given: str, name: str | None, format: str
) -> None:
    assert content(text("x"), file(given, name))[1]["document"]["format"] == format


def test_a_file_in_s3_may_be_given_as_its_id() -> None:
    part = {"type": "file", "file": {"file_id": "s3://bucket/report.pdf"}}
    assert content(text("x"), part)[1]["document"]["source"] == {
        "s3Location": {"uri": "s3://bucket/report.pdf"}
    }


def test_a_file_that_is_an_image_or_a_video_is_one() -> None:
    assert "image" in content(file("data:image/png;base64,eA==", "a.png"))[0]
    assert (
        content(file("data:video/3gpp;base64,eA==", "a.3gp"), text("x"))[0]["video"]["format"] == "three_gp"
    )


def test_a_document_may_be_cited() -> None:
    part = file("data:text/plain;base64,eA==", "a.txt") | {"citations": {"enabled": True}}
    assert content(text("x"), part)[1]["document"]["citations"] == {"enabled": True}


def test_a_clip_goes_inline() -> None:
    clip = {"type": "input_audio", "input_audio": {"data": "Y2xpcA==", "format": "WAV"}}
    assert content(clip)[0] == {"audio": {"format": "wav", "source": {"bytes": "Y2xpcA=="}}}


def test_images_in_system_text_are_the_users_to_show() -> None:
    json = sent(messages=[{"role": "system", "content": [text("A"), image(PNG)]}, USER])
    assert json["system"] == [{"text": "A"}]
    assert list(json["messages"][0]["content"][0]) == ["image"]


def test_models_without_a_system_member_get_its_text_from_the_user() -> None:
    out = build("amazon.titan-text-express-v1", messages=[{"role": "system", "content": "Be brief."}, USER])
    assert "system" not in out.json
    assert out.json["messages"] == [{"role": "user", "content": [{"text": "Be brief."}, {"text": "hi"}]}]


def test_signed_reasoning_goes_back_in_front_and_unsigned_stays_here() -> None:
    turn = {
        "role": "assistant",
        "content": "So.",
        "reasoning_details": [HIDDEN, HIDDEN | {"signature": None}],
    }
    out = build(messages=[USER, turn, USER])
    assert out.json["messages"][1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        {"text": "So."},
    ]
    assert "without a signature" in told(out)


def test_encrypted_reasoning_goes_back_byte_for_byte() -> None:
    detail = {"type": "reasoning.encrypted", "data": "b3BhcXVl", "format": FORMAT}
    out = turns(USER, {"role": "assistant", "content": "So.", "reasoning_details": [detail]}, USER)
    assert out[1]["content"][0] == {"reasoningContent": {"redactedContent": "b3BhcXVl"}}


def test_what_claude_signed_elsewhere_goes_to_claude_only() -> None:
    details = [
        HIDDEN | {"format": "anthropic-claude-v1"},
        {"type": "reasoning.encrypted", "data": "opaque", "format": "anthropic-claude-v1"},
        HIDDEN | {"format": "google-gemini-v1"},
    ]
    history = (USER, {"role": "assistant", "content": "So.", "reasoning_details": details}, USER)
    to_claude = turns(*history)[1]["content"]
    assert [list(block) for block in to_claude] == [["reasoningContent"], ["reasoningContent"], ["text"]]
    assert base64.b64decode(to_claude[1]["reasoningContent"]["redactedContent"]) == b"opaque"
    assert turns(*history, model="us.amazon.nova-2-lite-v1:0")[1]["content"] == [{"text": "So."}]


def test_a_turn_of_nothing_but_reasoning_is_blank() -> None:
    out = turns(USER, {"role": "assistant", "content": None, "reasoning_details": [HIDDEN]}, USER)
    assert out == [{"role": "user", "content": [{"text": "hi"}, {"text": "hi"}]}]


def test_cache_marks_become_points_behind_what_they_mark() -> None:
    mark = {"type": "ephemeral"}
    json = sent(
        messages=[
            {"role": "system", "content": [text("A", cache_control={"type": "ephemeral", "ttl": "1h"})]},
            user(text("x", cache_control=mark), text("y")),
        ],
        tools=[{"type": "function", "function": {"name": "f"}, "cache_control": mark}],
    )
    point = {"cachePoint": {"type": "default"}}
    assert json["system"] == [{"text": "A"}, {"cachePoint": {"type": "default", "ttl": "1h"}}]
    assert json["messages"][0]["content"] == [{"text": "x"}, point, {"text": "y"}]
    assert json["toolConfig"]["tools"][1] == point


def test_there_are_four_cache_points_at_most_and_the_last_ones_stay() -> None:
    marked = [text(str(i), cache_control={"type": "ephemeral"}) for i in range(6)]
    out = build(messages=[user(*marked)])
    (turn,) = out.json["messages"]
    assert [next(iter(block)) for block in turn["content"]] == ["text"] * 3 + ["cachePoint", "text"] * 3 + [
        "cachePoint"
    ]
    assert "only the last 4 of 6" in told(out)


def test_models_without_a_cache_get_no_points() -> None:
    out = build(LLAMA, messages=[user(text("x", cache_control={"type": "ephemeral"}))])
    assert out.json["messages"][0]["content"] == [{"text": "x"}]
    assert "no prompt cache" in told(out)


def test_a_result_keeps_the_mark_behind_it() -> None:
    out = turns(USER, call("a"), result("a", [text("r", cache_control={"type": "ephemeral"})]), USER)
    assert [next(iter(block)) for block in out[-1]["content"]] == ["toolResult", "cachePoint", "text"]
