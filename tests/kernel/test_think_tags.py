"""Think tags: wherever they are cut, the same reasoning and the same text; no character is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motes.thinktags import ThinkTags


def split(deltas: list[str]) -> tuple[str, str]:
    tags = ThinkTags()
    pieces = [piece for delta in deltas for piece in tags.feed(delta)]
    pieces += list(tags.close())
    return "".join(t for k, t in pieces if k == "reasoning"), "".join(t for k, t in pieces if k == "text")


CASES = [
    ("<think>ab</think>cd", "ab", "cd"),
    ("\n <think>ab</think>\n\ncd", "ab", "\n\ncd"),
    ("<think></think>cd", "", "cd"),
    ("<think>a</th b</think>c", "a</th b", "c"),
    ("<think>never closed </thi", "never closed </thi", ""),
    ("<thinking>ab</thinking>cd", "ab", "cd"),
    ("<thinking>ab</think>c</thinking>d", "ab</think>c", "d"),
    ("plain <think>no</think>", "", "plain <think>no</think>"),
    ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
    ("<thin", "", "<thin"),
    ("<thistle> grows", "", "<thistle> grows"),
    ("   ", "", "   "),
    ("", "", ""),
]


@pytest.mark.parametrize(("text", "reasoning", "answer"), CASES)
def test_a_head_block_is_reasoning_wherever_it_is_cut(text: str, reasoning: str, answer: str) -> None:
    assert split([text]) == (reasoning, answer)
    assert split(list(text)) == (reasoning, answer)
    for i in range(len(text) + 1):
        assert split([text[:i], "", text[i:]]) == (reasoning, answer)


def test_an_empty_first_delta_decides_nothing() -> None:
    assert split(["", "\n", "<think>a</think>b"]) == ("a", "b")


def test_no_more_is_held_back_than_a_tag_could_need() -> None:
    tags = ThinkTags()
    assert list(tags.feed("Hello")) == [("text", "Hello")]
    inside = ThinkTags()
    assert list(inside.feed("<think>abc</thi")) == [("reasoning", "abc")]


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<thi", "nk>", "</", "x", " ", "\n", "<"]), max_size=12)
)
def test_any_cut_gives_the_same_and_loses_only_the_tags(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert split(pieces) == split([text]) == split(list(text))
    reasoning, answer = split([text])
    if not reasoning and "<think>" not in text:
        assert answer == text


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", " ", "", "<", "\n" * 300]), max_size=6))
def test_what_passes_goes_on_as_it_would_be_fed(pieces: list[str]) -> None:
    asked, fed = ThinkTags(), ThinkTags()
    for piece in pieces:
        told = [("text", piece)] if asked.passes(piece) and piece else list(asked.feed(piece))
        assert told == list(fed.feed(piece))
        assert asked.is_over == fed.is_over
