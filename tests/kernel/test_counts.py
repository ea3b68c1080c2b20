"""A number that no answer can have used is unknown, whoever sends it."""

import pytest

from motes.dialects.anthropic_messages.events import count as anthropic
from motes.dialects.bedrock_converse.events import count as converse
from motes.dialects.bedrock_invoke.events import count as invoke
from motes.dialects.cohere_chat.events import count as cohere
from motes.dialects.gemini_generate.fields import count as gemini
from motes.dialects.gemini_interactions.fields import count as interactions
from motes.dialects.ollama_chat.events import count as ollama
from motes.dialects.openai_chat.fields import count as chat
from motes.dialects.openai_responses.fields import count as responses

BY_VALUE = [anthropic, converse, invoke, cohere, gemini, ollama]
BY_NAME = [interactions, chat, responses]


@pytest.mark.parametrize(
    "value",
    [2**53, 10**4299, -1, True, float("inf"), float("nan"), None, []],
    ids=lambda value: f"{value!r:.20}",
)
def test_no_count(value):
    assert [read(value) for read in BY_VALUE] == [None] * len(BY_VALUE)
    assert [read({"n": value}, "n") for read in BY_NAME] == [None] * len(BY_NAME)


@pytest.mark.parametrize("value", [0, 7, 2**53 - 1])
def test_a_count(value):
    assert [read(value) for read in BY_VALUE] == [value] * len(BY_VALUE)
    assert [read({"n": value}, "n") for read in BY_NAME] == [value] * len(BY_NAME)
