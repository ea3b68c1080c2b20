"""Every vendor's word for the end, from its wire to ours: a closed set, with the vendor's own word beside it."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any, get_args

import pytest

from fakes.eventstream import event as frame
from fakes.particle_runs import chunks_of, stream_of
from fakes.recordings import particles
from motes import particles as p
from motes.api.logline import logline
from motes.dialects.base import DialectName
from motes.dialects.registry import resolve
from motes.egress.finish import FinishReason
from motes.hosts.json_log import UNKNOWN_FINISH, JSONFormatter

NEW = "a_word_of_tomorrow"


def sse(*data: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in data)


def chat(word: str) -> bytes:
    return sse({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": word}]})


def responses(word: str) -> bytes:
    said = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "x"}]}
    whole = {"id": "r", "object": "response", "output": [said]}
    if word in ("completed", "requires_action"):
        return sse({"type": "response.completed", "response": {**whole, "status": word}})
    why = {"status": "incomplete", "incomplete_details": {"reason": word}}
    return sse({"type": "response.incomplete", "response": {**whole, **why}})


def messages(word: str) -> bytes:
    text = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}}
    return sse(
        {"type": "message_start", "message": {"usage": {}}},
        text,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": word}, "usage": {}},
        {"type": "message_stop"},
    )


def generate(word: str) -> bytes:
    return sse({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": word}]})


def interactions(word: str) -> bytes:
    return sse({"event_type": "interaction.completed", "interaction": {"id": "i", "status": word}})


def converse(word: str) -> bytes:
    said = frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "x"}})
    stop = frame("messageStop", {"stopReason": word})
    return frame("messageStart", {"role": "assistant"}) + said + stop


def invoke(word: str) -> bytes:
    body = {"inputTextTokenCount": 1, "results": [{"outputText": "x", "completionReason": word}]}
    return json.dumps(body).encode()


def cohere(word: str) -> bytes:
    said = {"type": "content-start", "index": 0, "delta": {"message": {"content": {"text": "x"}}}}
    return sse(said, {"type": "message-end", "delta": {"finish_reason": word}})


def ollama(word: str) -> bytes:
    return json.dumps({"message": {"content": "x"}, "done": True, "done_reason": word}).encode() + b"\n"


WIRES: dict[DialectName, Callable[[str], bytes]] = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic-messages": messages,
    "gemini-generate": generate,
    "gemini-interactions": interactions,
    "bedrock-converse": converse,
    "bedrock-invoke": invoke,
    "cohere-chat": cohere,
    "ollama-chat": ollama,
}

# From the vendors' references, and nothing of it from the parsers.
WORDS: dict[DialectName, dict[FinishReason, str]] = {
    "openai-chat": {
        "stop": "stop eos end_turn STOP COMPLETE",
        "length": "length model_length max_tokens",
        "content_filter": "content_filter sensitive SAFETY RECITATION refusal",
    },
    "openai-responses": {
        "stop": "completed",
        "length": "max_output_tokens",
        "content_filter": "content_filter",
    },
    "anthropic-messages": {
        "stop": "end_turn stop_sequence",
        "length": "max_tokens model_context_window_exceeded",
        "content_filter": "refusal",
    },
    "gemini-generate": {
        "stop": "STOP",
        "length": "MAX_TOKENS CONTINUATION",
        "content_filter": "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY MODEL_ARMOR "
        "IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION IMAGE_OTHER ESCALATION PUP_LIMITED_DISABLED",
    },
    "gemini-interactions": {"stop": "completed", "length": "incomplete budget_exceeded"},
    "bedrock-converse": {
        "stop": "end_turn stop_sequence",
        "length": "max_tokens model_context_window_exceeded",
        "content_filter": "guardrail_intervened content_filtered",
    },
    "bedrock-invoke": {
        "stop": "FINISH STOP_CRITERIA_MET",
        "length": "LENGTH",
        "content_filter": "CONTENT_FILTERED",
    },
    "cohere-chat": {
        "stop": "COMPLETE STOP_SEQUENCE",
        "length": "MAX_TOKENS ERROR_LIMIT",
        "content_filter": "ERROR_TOXIC",
    },
    "ollama-chat": {"stop": "stop load unload", "length": "length"},
}
# An answer that is cut for a reason nobody knows was cut all the same.
UNKNOWN: dict[DialectName, FinishReason] = {"openai-responses": "length"}


def rows() -> Iterator[tuple[DialectName, str, FinishReason]]:
    for dialect, groups in WORDS.items():
        for finish, words in groups.items():
            yield from ((dialect, word, finish) for word in words.split())


def told(dialect: DialectName, word: str) -> tuple[list[p.Particle], dict[str, Any]]:
    """The particles of an answer that ends in a word, and the finish chunk they become."""
    run = particles(resolve(dialect), [WIRES[dialect](word)])
    return run, chunks_of(stream_of(run))[-1]


def warnings_of(run: list[p.Particle]) -> set[str | None]:
    return {particle.code for particle in run if isinstance(particle, p.Warn)}


def test_every_dialect_has_its_words() -> None:
    assert set(WORDS) == set(WIRES) == set(get_args(DialectName))


@pytest.mark.parametrize(("dialect", "word", "finish"), list(rows()))
def test_every_vendors_word_is_one_of_the_closed_set_and_is_kept(
    dialect: DialectName, word: str, finish: FinishReason
) -> None:
    run, chunk = told(dialect, word)
    assert chunk["choices"][0]["finish_reason"] == finish
    assert chunk["motes"]["native_finish_reason"] == word
    assert not warnings_of(run) & UNKNOWN_FINISH


@pytest.mark.parametrize("dialect", get_args(DialectName))
def test_an_unknown_word_is_no_word_of_ours_but_kept_raw_and_counted(dialect: DialectName) -> None:
    run, chunk = told(dialect, NEW)
    assert chunk["choices"][0]["finish_reason"] == UNKNOWN.get(dialect, "stop")
    assert chunk["motes"]["native_finish_reason"] == NEW
    (code,) = warnings_of(run) & UNKNOWN_FINISH
    line = json.loads(JSONFormatter("f").format(record_of(code)))
    assert line["UnknownFinishReasons"] == 1
    assert line["model"] == "vendor/model"


def record_of(code: str | None) -> logging.LogRecord:
    """What the log is told of a warning, as the observer of every host tells it."""
    said = logline("tolerated", model="vendor/model", code=code)
    return logging.LogRecord("motes.run", logging.INFO, __file__, 1, said, None, None)
