"""An Interactions request: what each kind of run is sent, and what it is told that it is not."""

from typing import Any

import pytest

from fakes.interactions import AGENT, MODEL, RESEARCH, TOOL, USER, build, sent, told
from motes.chat import ChatRequest
from motes.dialects.base import Traits
from motes.dialects.gemini_interactions import DIALECT
from motes.dispatch import generate
from motes.errors import InvalidRequest
from motes.vendors.catalogue import speaking
from motes.vendors.table import VENDORS

SYSTEM = {"role": "system", "content": "Be brief."}
CALLED = {
    "role": "assistant",
    "content": "Let me look.",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":"sea"}'}}
    ],
    "reasoning_details": [
        {"type": "reasoning.text", "text": "hm", "signature": "S1", "format": "google-interactions-v1"},
        {"type": "reasoning.text", "text": "", "signature": "S2", "format": "google-interactions-v1"},
        {"type": "reasoning.text", "text": "no", "signature": "S3", "format": "anthropic-claude-v1"},
    ],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "sand"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


# The whole.


def test_the_least_request_is_streamed_and_not_stored() -> None:
    assert sent() == {"model": MODEL, "input": [text("hi")], "store": False, "stream": True}
    assert told() == ""


def test_a_model_gets_what_the_protocol_has_a_word_for() -> None:
    body = sent(
        messages=[SYSTEM, USER],
        temperature=0.5,
        top_p=0.9,
        max_tokens=100,
        seed=7,
        stop=["END"],
        reasoning_effort="low",
        service_tier="flex",
    )
    assert body == {
        "model": MODEL,
        "input": [text("hi")],
        "system_instruction": "Be brief.",
        "generation_config": {
            "temperature": 0.5,
            "top_p": 0.9,
            "max_output_tokens": 100,
            "seed": 7,
            "stop_sequences": ["END"],
            "thinking_level": "low",
            "thinking_summaries": "auto",
        },
        "store": False,
        "service_tier": "flex",
        "stream": True,
    }


def test_deep_research_runs_in_background_is_stored_and_reads_system_text_from_its_user() -> None:
    asked = {"messages": [SYSTEM, USER], "temperature": 0.5, "max_tokens": 9, "tools": [TOOL], "store": False}
    assert sent(RESEARCH, **asked) == {
        "agent": RESEARCH,
        "input": [text("Be brief."), text("hi")],
        "store": True,
        "background": True,
        "stream": True,
        "agent_config": {"type": "deep-research", "thinking_summaries": "auto"},
    }
    notes = told(RESEARCH, **asked)
    for word in ("system messages", "generation_config", "functions were dropped", "store"):
        assert word in notes


def test_an_agent_with_a_machine_is_stored_and_never_in_background() -> None:
    assert sent(AGENT, messages=[SYSTEM, USER], background=True) == {
        "agent": AGENT,
        "input": [text("hi")],
        "system_instruction": "Be brief.",
        "store": True,
        "environment": "remote",
        "stream": True,
    }
    assert "background" in told(AGENT, background=True)
    assert sent(AGENT, environment="env_14")["environment"] == "env_14"


def test_a_model_of_videos_is_asked_for_an_address() -> None:
    body = sent("gemini-omni-preview", messages=[SYSTEM, USER])
    assert body["response_format"] == [{"type": "video", "delivery": "uri"}]
    assert (body["store"], "system_instruction" in body) == (True, False)
    assert "system messages" in told("gemini-omni-preview", messages=[SYSTEM, USER])


def test_a_run_in_background_is_stored() -> None:
    body = sent(background=True, store=False)
    assert (body["background"], body["store"]) == (True, True)
    assert "store" in told(background=True, store=False)
    assert sent(store=True)["store"] is True


def test_a_collection_before_the_name_is_left_out() -> None:
    assert sent(f"models/{MODEL}")["model"] == MODEL
    assert sent("agents/my-own")["agent"] == "my-own"


# Turns.


def test_a_conversation_is_told_in_steps_with_its_signed_thoughts() -> None:
    assert sent(messages=[USER, CALLED, RESULT], tools=[TOOL])["input"] == [
        {"type": "user_input", "content": [text("hi")]},
        {"type": "thought", "signature": "S1", "summary": [text("hm")]},
        {"type": "thought", "signature": "S2"},
        {"type": "model_output", "content": [text("Let me look.")]},
        {"type": "function_call", "id": "c1", "name": "look", "arguments": {"at": "sea"}},
        {"type": "function_result", "call_id": "c1", "name": "look", "result": "sand"},
    ]


def test_research_is_told_the_text_of_earlier_turns_alone() -> None:
    steps = sent(RESEARCH, messages=[USER, CALLED, RESULT, USER])["input"]
    assert [step["type"] for step in steps] == ["user_input", "model_output", "user_input"]
    assert "an agent is only told" in told(RESEARCH, messages=[USER, CALLED, RESULT, USER])


def test_a_result_may_hold_an_image_and_may_be_a_failure() -> None:
    result = {**RESULT, "content": [{"type": "text", "text": "see"}, IMAGE], "is_error": True}
    step = sent(messages=[USER, CALLED, result])["input"][-1]
    image = {"type": "image", "data": "AAAA", "mime_type": "image/png", "resolution": "low"}
    assert (step["result"], step["is_error"]) == ([text("see"), image], True)


def test_arguments_that_are_no_object_are_sent_as_text_with_a_note() -> None:
    broken = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "[1"}}
    messages = [USER, {"role": "assistant", "tool_calls": [broken]}, RESULT]
    assert sent(messages=messages)["input"][1]["arguments"] == {"output": "[1"}
    assert "no JSON object" in told(messages=messages)


@pytest.mark.parametrize(
    ("part", "wire"),
    [
        (IMAGE, {"type": "image", "data": "AAAA", "mime_type": "image/png", "resolution": "low"}),
        (
            {"type": "image_url", "image_url": {"url": "https://x.example/a.jpg?s=1"}},
            {"type": "image", "uri": "https://x.example/a.jpg?s=1", "mime_type": "image/jpeg"},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "audio", "data": "AAAA", "mime_type": "audio/wav"},
        ),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA"}},
            {"type": "document", "data": "AAAA", "mime_type": "application/pdf"},
        ),
        (
            {"type": "file", "file": {"file_id": "files/ab1", "filename": "a.mp4"}},
            {
                "type": "video",
                "uri": "https://generativelanguage.googleapis.com/v1beta/files/ab1",
                "mime_type": "video/mp4",
            },
        ),
    ],
)
def test_a_part_is_content_of_its_type(part: dict[str, Any], wire: dict[str, Any]) -> None:
    assert sent(messages=[{"role": "user", "content": [part]}])["input"] == [wire]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": ""}],
        [USER, {"role": "assistant", "content": "Once"}],
        [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f-1"}}]}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "ftp://x"}}]}],
    ],
)
def test_what_cannot_be_sent_is_refused(messages: list[dict[str, Any]]) -> None:
    with pytest.raises(InvalidRequest):
        build(messages=messages)


def test_system_text_alone_is_the_users_turn() -> None:
    assert sent(messages=[SYSTEM])["input"] == [text("Be brief.")]


# Tools.


def test_functions_and_googles_own_tools_stand_side_by_side() -> None:
    tools = [TOOL, {"type": "google_search"}, {"type": "file_search", "file_search_store_names": ["s"]}]
    assert sent(tools=[*tools, {"type": "code_interpreter", "container": {}}], web_search_options={})[
        "tools"
    ] == [
        {"type": "function", "name": "look", "parameters": TOOL["function"]["parameters"]},  # type: ignore[index]
        {"type": "google_search"},
        {"type": "file_search", "file_search_store_names": ["s"]},
        {"type": "code_execution"},
    ]
    assert sent(web_search_options={})["tools"] == [{"type": "google_search"}]
    assert "not known" in told(tools=[{"type": "bash_20250124"}])


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "any"),
        (
            {"type": "function", "function": {"name": "look"}},
            {"allowed_tools": {"mode": "any", "tools": ["look"]}},
        ),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "auto",
                    "tools": [{"type": "function", "function": {"name": "look"}}],
                },
            },
            {"allowed_tools": {"mode": "validated", "tools": ["look"]}},
        ),
    ],
)
def test_a_choice_is_said_in_the_vendors_words(choice: Any, wire: Any) -> None:
    assert sent(tools=[TOOL], tool_choice=choice)["generation_config"] == {"tool_choice": wire}


def test_a_choice_without_functions_is_dropped_and_one_that_means_nothing_is_refused() -> None:
    assert "generation_config" not in sent(tool_choice="required")
    assert "tool_choice" in told(tool_choice="required")
    for choice in ("perhaps", {"type": "function"}):
        with pytest.raises(InvalidRequest):
            build(tools=[TOOL], tool_choice=choice)


# Form, limits, thinking.


def test_an_answer_in_json_follows_its_schema() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "$schema": "x"}}}
    assert sent(response_format=form)["response_format"] == [
        {"type": "text", "mime_type": "application/json", "schema": {"type": "object"}}
    ]
    assert sent(response_format={"type": "json_object"})["response_format"] == [
        {"type": "text", "mime_type": "application/json"}
    ]


def test_sound_and_images_are_asked_for_by_form_and_voice() -> None:
    body = sent(modalities=["text", "audio"], audio={"voice": "Kore", "format": "wav"})
    assert body["response_format"] == [{"type": "text"}, {"type": "audio"}]
    assert body["generation_config"] == {"speech_config": [{"voice": "Kore"}]}


@pytest.mark.parametrize(
    ("model", "effort", "level"),
    [
        (MODEL, "off", "minimal"),
        (MODEL, "max", "high"),
        ("gemini-3-pro-preview", "medium", "high"),
        ("gemini-3-pro-preview", "minimal", "low"),
        ("gemini-3.8-flash", "medium", "medium"),
    ],
)
def test_an_effort_is_the_nearest_level_the_model_has(model: str, effort: str, level: str) -> None:
    assert sent(model, reasoning_effort=effort)["generation_config"]["thinking_level"] == level
    assert ("cannot be set" in told(model, reasoning_effort=effort)) == (effort != level)


def test_thoughts_are_summed_up_only_for_who_wants_to_see_them() -> None:
    assert "generation_config" not in sent()
    hidden = sent(reasoning={"effort": "high", "exclude": True})["generation_config"]
    assert hidden == {"thinking_level": "high"}
    assert "generation_config" not in sent(traits=Traits(reasoning=False), reasoning_effort="high")
    assert sent(reasoning={"max_tokens": 500})["generation_config"]["thinking_level"] == "low"


def test_nothing_is_dropped_or_clamped_without_a_note() -> None:
    notes = told(
        top_k=3,
        presence_penalty=1,
        user="u",
        parallel_tool_calls=False,
        service_tier="scale",
        seed=2**40,
        stop=list("abcdef"),
        modalities=["smell"],
        colour="red",
    )
    for word in (
        "top_k",
        "presence_penalty",
        "user",
        "parallel_tool_calls",
        "service_tier",
        "seed",
        "stop",
        "smell",
        "colour",
    ):
        assert f"{word}" in notes, word


# The row.


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("gemini-2.5-flash", "gemini-generate"),
        (RESEARCH, "gemini-interactions"),
        (AGENT, "gemini-interactions"),
        ("gemini-omni-preview", "gemini-interactions"),
    ],
)
def test_agents_are_reached_by_their_names_and_models_as_before(model: str, dialect: str) -> None:
    assert speaking(VENDORS["gemini"], None, model).surfaces[0].dialect == dialect


def test_a_request_goes_to_the_one_address_of_all_runs_in_a_known_revision() -> None:
    vendor = speaking(VENDORS["gemini"], "gemini-interactions")
    dispatch = generate(ChatRequest.model_validate({"messages": [USER]}), vendor, MODEL, secret="k")
    assert dispatch.request.url == "https://generativelanguage.googleapis.com/v1beta/interactions"
    assert dispatch.request.headers["api-revision"] == "2026-05-20"
    assert dispatch.request.headers["x-goog-api-key"] == "k"
    assert dispatch.timeouts.idle == 600


def test_a_stored_run_is_reached_by_its_id() -> None:
    runs = DIALECT.stored_runs
    assert runs is not None
    assert runs.replay is not None
    assert runs.cancel is not None
    assert runs.delete is not None
    assert runs.snapshot("v1_a/b") == "v1beta/interactions/v1_a%2Fb"
    assert runs.replay("v1_a", None) == "v1beta/interactions/v1_a?stream=true"
    assert runs.replay("v1_a", "e 1") == "v1beta/interactions/v1_a?stream=true&last_event_id=e%201"
    assert runs.cancel("v1_a") == "v1beta/interactions/v1_a/cancel"
    assert runs.delete("v1_a") == "v1beta/interactions/v1_a"
    assert (runs.handle_type, runs.lifetime_s) == ("vnd.gem.interactions", 86_400)
