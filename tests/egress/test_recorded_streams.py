"""The law of the OpenAI stream over every recording of every dialect, and its very bytes over one of each.

The bytes lie in `golden/`. Where they change on purpose, delete the files there and run this once: what is
missing is written, and the test fails that time.
"""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from fakes.recordings import WIRE, Recording, load, ours, particles
from motes import particles as p
from motes.dialects.base import DialectName
from motes.egress.finish import FinishReason
from motes.egress.openai_chat import DONE, ChunkEncoder
from motes.egress.particles import EventEncoder, LineEncoder
from motes.egress.reply import Reply, signature_format
from motes.settings import ReasoningField

GOLDEN = Path(__file__).parent / "golden"
FIELDS: tuple[ReasoningField, ...] = get_args(ReasoningField)
RECORDINGS = [one for one in ours() if not one.failed]
MEMBERS = {"id", "object", "created", "model", "choices"}
CHOSEN: dict[DialectName, str] = {
    "openai-chat": "openai-parallel-tools",
    "openai-responses": "openai-reasoning-tools",
    "anthropic-messages": "anthropic-parallel-tools",
    "gemini-generate": "gemini-search-grounding",
    "gemini-interactions": "gemini-function-calls",
    "bedrock-converse": "bedrock-parallel-tools",
    "bedrock-invoke": "claude-parallel-tools",
    "cohere-chat": "cohere-tool-with-plan",
    "ollama-chat": "ollama-parallel-tools",
}


def run_of(recording: Recording) -> list[p.Particle]:
    return particles(recording.dialect, [recording.body], recording.quirks)


def reply_of(recording: Recording, field: ReasoningField = "reasoning_content", *, counts: bool) -> Reply:
    return Reply(
        id="chatcmpl-1",
        created=1_790_000_000,
        model="asked",
        vendor="vendor",
        upstream_model="model",
        signature_format=signature_format(recording.dialect.name),
        include_usage=counts,
        reasoning_field=field,
    )


def streamed(run: list[p.Particle], reply: Reply) -> bytes:
    encoder = ChunkEncoder(reply)
    return encoder.open() + b"".join(map(encoder.encode, run))


def events_in(raw: bytes) -> list[dict[str, Any]]:
    """The events before the last one. Nothing but a line of JSON is one, and `[DONE]` is the last."""
    assert raw.endswith(b"\n\n" + DONE)
    blocks = raw.removesuffix(DONE).split(b"\n\n")
    assert blocks.pop() == b""
    assert all(
        block.startswith(b'data: {"') and b"\n" not in block and b"\r" not in block for block in blocks
    )
    return [json.loads(block[6:].decode("utf-8")) for block in blocks]


def lawful(events: list[dict[str, Any]], *, counts: bool) -> None:
    """Assert everything that holds for any stream."""
    *chunks, last = events
    is_failed = "error" in last
    if is_failed:
        assert {"message", "type", "param", "code"} <= set(last["error"])
        assert isinstance(last["error"]["message"], str)
        assert last["error"]["message"]
    else:
        chunks.append(last)
    assert all(set(chunk) >= MEMBERS and "error" not in chunk for chunk in chunks)
    assert {(c["id"], c["object"], c["created"], c["model"]) for c in chunks} == {
        ("chatcmpl-1", "chat.completion.chunk", 1_790_000_000, "asked")
    }
    told = [chunk for chunk in chunks if not chunk["choices"]]
    assert told in ([], chunks[-1:])
    assert counts or not any("usage" in chunk for chunk in chunks)
    for chunk in told:
        assert {"prompt_tokens", "completion_tokens", "total_tokens"} <= set(chunk["usage"])
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    assert len(choices) == len(chunks) - len(told)
    assert all(choice["index"] == 0 and "finish_reason" in choice for choice in choices)
    words = [choice["finish_reason"] for choice in choices if choice["finish_reason"] is not None]
    assert set(words) <= set(get_args(FinishReason))
    assert len(words) == (0 if is_failed else 1)
    deltas = [choice["delta"] for choice in choices]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert not any("role" in delta for delta in deltas[1:])
    if not is_failed:
        assert choices[-1]["finish_reason"] == words[0]
        assert deltas.pop() == {}
    assert all(delta and not any(value in (None, []) for value in delta.values()) for delta in deltas)
    assert not any("" in (d.get("content"), d.get("reasoning_content")) for d in deltas[1:])
    lawful_calls([piece for delta in deltas for piece in delta.get("tool_calls", ())], words)


def lawful_calls(pieces: list[dict[str, Any]], words: list[str]) -> None:
    """Dense indexes in the order of appearance; id, type and name once; arguments that add up to JSON."""
    ids, arguments = list[str](), list[str]()
    for piece in pieces:
        if piece["index"] == len(ids):
            function = piece["function"]
            assert set(piece) == {"index", "id", "type", "function"}
            assert (piece["type"], set(function), function["arguments"]) == (
                "function",
                {"name", "arguments"},
                "",
            )
            assert function["name"]
            ids.append(piece["id"])
            arguments.append("")
        else:
            assert 0 <= piece["index"] < len(ids)
            assert set(piece) - {"extra_content"} == {"index", "function"}
            assert set(piece["function"]) == {"arguments"}
            arguments[piece["index"]] += piece["function"]["arguments"]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    if ids:
        assert words != ["stop"]
    if words == ["tool_calls"]:
        assert ids
        assert all(isinstance(json.loads(text), dict) for text in arguments)


@pytest.mark.parametrize("counts", [True, False], ids=["usage asked for", "usage not asked for"])
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda one: one.name)
def test_every_recording_becomes_a_lawful_stream(recording: Recording, counts: bool) -> None:
    run = run_of(recording)
    for field in FIELDS:
        lawful(events_in(streamed(run, reply_of(recording, field, counts=counts))), counts=counts)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda one: one.name)
def test_reasoning_is_in_the_content_only_where_that_was_asked_for(recording: Recording) -> None:
    run = run_of(recording)

    def content(field: ReasoningField) -> str:
        events = events_in(streamed(run, reply_of(recording, field, counts=False)))
        deltas = [choice["delta"] for event in events for choice in event.get("choices", ())]
        return "".join(delta.get("content", "") for delta in deltas)

    said = "".join(particle.text for particle in run if isinstance(particle, p.Text))
    assert {content(field) for field in FIELDS if field != "think-tags"} == {said}
    thought = any(isinstance(particle, p.Reasoning) and particle.text for particle in run)
    assert ("<think>" in content("think-tags")) is (thought or "<think>" in said)


def test_the_token_limit_is_told_of_every_dialect() -> None:
    """A recording of each ended for it, and says so on this wire and on that of the particles."""
    seen = set()
    for recording in RECORDINGS:
        expected = json.loads((recording.path / "expected.json").read_text())
        if expected["finish_reason"] != "length":
            continue
        run = run_of(recording)
        events = events_in(streamed(run, reply_of(recording, counts=False)))
        assert [c["finish_reason"] for e in events for c in e["choices"]][-1] == "length"
        assert json.loads(LineEncoder().encode(run[-1]))["tokenStopReason"] == "out-of-tokens"
        seen.add(recording.dialect.name)
    assert seen == set(get_args(DialectName))


def snapshots(recording: Recording) -> dict[str, bytes]:
    """What each egress writes of it."""
    run = run_of(recording)
    wires = {"particles.ndjson": LineEncoder(), "particles.sse": EventEncoder()}
    return {
        "chunks.sse": streamed(run, reply_of(recording, counts=True)),
        **{name: b"".join(map(wire.encode, run)) for name, wire in wires.items()},
    }


@pytest.mark.parametrize("dialect", get_args(DialectName))
def test_the_very_bytes_are_those_that_were_looked_at(dialect: DialectName) -> None:
    expected, missing = {}, []
    told = snapshots(load(WIRE / dialect / CHOSEN[dialect]))
    for name, written in told.items():
        path = GOLDEN / f"{dialect}.{name}"
        if not path.exists():
            path.write_bytes(written)
            missing.append(path.name)
        expected[name] = path.read_bytes()
    assert missing == [], "written now: look at them and keep them if they are right"
    assert told == expected
