"""What of a text is news, beside the rule in one line: all that was said is kept, and compared."""

import random

import pytest

from motes.dialects.openai_chat.said import Said

WORDS = ["a", "ab", "ä", "漢", "\U0001f600", "\ud83d", "\ude00", " ", "wort "]


class Whole:
    """The rule, with all of the text at hand."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, text: str) -> str:
        self.text += text
        return text

    def reach(self, text: str) -> str:
        if text.startswith(self.text):
            return self.add(text[len(self.text) :])
        return "" if self.text.startswith(text) else self.add(text)

    def extend(self, text: str) -> str:
        return self.reach(text) if self.text and text.startswith(self.text) else self.add(text)

    def repeat(self, text: str) -> str:
        return self.reach(text) if text.startswith(self.text) else ""


def piece(dice: random.Random, most: int) -> str:
    return "".join(dice.choices(WORDS, k=dice.randrange(most)))


@pytest.mark.parametrize("seed", range(60))
def test_news_are_what_they_are_with_all_of_the_text_at_hand(seed: int) -> None:
    dice = random.Random(seed)
    said, whole, longest = Said(), Whole(), dice.choice([3, 40, 900])
    for _ in range(150):
        way = dice.choice(["add", "add", "add", "reach", "extend", "repeat"])
        text = piece(dice, longest)
        if way != "add":
            at = dice.randrange(len(whole.text) + 1)
            # All of it and more; an older state; nothing of the kind.
            text = dice.choice([whole.text + text, whole.text, whole.text[:at], text])
        assert getattr(said, way)(text) == getattr(whole, way)(text)
        assert bool(said) == bool(whole.text)


def test_a_long_text_that_ends_otherwise_is_no_repetition() -> None:
    said, text = Said(), "wort " * 4000
    for at in range(0, len(text), 5):
        said.add(text[at : at + 5])
    assert said.repeat(text) == ""
    assert said.repeat(text + "more") == "more"
    assert said.repeat(text[:-1] + "XY") == ""


def test_of_a_long_answer_next_to_nothing_is_kept() -> None:
    said = Said()
    for _ in range(100_000):
        said.add("words and ")
    assert sum(map(len, said._pieces)) + len(said._head) < 5000
    assert said.repeat("words and " * 100_000 + "end") == "end"
