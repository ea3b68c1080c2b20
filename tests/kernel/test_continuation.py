"""A paused answer's patch over the body that led to it."""

from copy import deepcopy

from motes.continuation import continued

USER = {"role": "user", "content": [{"type": "text", "text": "q"}]}


def assistant(text: str) -> dict:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def test_an_assistant_turn_is_appended_after_the_user() -> None:
    body = {"model": "m", "messages": [USER]}
    assert continued(body, {"messages+": [assistant("a")]}) == {
        "model": "m",
        "messages": [USER, assistant("a")],
    }


def test_a_second_pause_is_merged_into_the_turn_of_the_first() -> None:
    once = continued({"messages": [USER]}, {"messages+": [assistant("a")]})
    twice = continued(once, {"messages+": [assistant("b")]})
    assert twice["messages"] == [
        USER,
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
    ]


def test_plain_text_content_becomes_a_part_when_turns_are_merged() -> None:
    body = {"messages": [{"role": "assistant", "content": "a"}]}
    merged = continued(body, {"messages+": [assistant("b")]})["messages"]
    assert [part["text"] for part in merged[0]["content"]] == ["a", "b"]


def test_turns_of_another_dialect_are_merged_by_their_parts() -> None:
    body = {"contents": [{"role": "model", "parts": [{"text": "a"}]}]}
    patch = {"contents+": [{"role": "model", "parts": [{"text": "b"}]}]}
    assert continued(body, patch) == {
        "contents": [{"role": "model", "parts": [{"text": "a"}, {"text": "b"}]}]
    }


def test_a_container_keeps_the_skills_it_was_asked_with() -> None:
    skills = [{"type": "anthropic", "skill_id": "pptx", "version": "latest"}]
    body = {"container": {"skills": skills}, "messages": [USER]}
    assert continued(body, {"container": "c_1"})["container"] == {"skills": skills, "id": "c_1"}


def test_a_container_that_was_not_asked_for_is_named_by_its_id() -> None:
    assert continued({"messages": [USER]}, {"container": "c_1"})["container"] == "c_1"
    assert continued({"container": "c_0"}, {"container": "c_1"})["container"] == "c_1"


def test_an_empty_patch_and_a_body_without_the_list_change_nothing_else() -> None:
    assert continued({"a": 1}, {}) == {"a": 1}
    assert continued({"a": 1}, {"messages+": [USER]}) == {"a": 1, "messages": [USER]}
    assert continued({"messages": [USER]}, {"messages+": []}) == {"messages": [USER]}


def test_the_body_that_was_sent_is_left_as_it_was() -> None:
    body = {"container": {"skills": []}, "messages": [USER, assistant("a")]}
    before = deepcopy(body)
    continued(body, {"messages+": [assistant("b")], "container": "c"})
    assert body == before
