"""The streamed and the whole answer of one recording say the same, field by field, over every recording."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.joined_chunks import joined
from fakes.recordings import message, ours, particles, quirks_of
from motes import particles as p
from motes.dialects.registry import resolve
from motes.egress.completion import completion
from motes.egress.openai_chat import ChunkEncoder
from motes.egress.reply import Reply, signature_format
from motes.settings import ReasoningField
from reference.shared import CORPUS_DIALECTS, corpus, needs_shared

FIELDS: tuple[ReasoningField, ...] = ("reasoning_content", "reasoning", "both", "none", "think-tags")


def reply_of(dialect: str, field: ReasoningField) -> Reply:
    return Reply(
        id="chatcmpl-1",
        created=1,
        model="asked",
        vendor="vendor",
        upstream_model="model",
        signature_format=signature_format(dialect),
        include_usage=True,
        reasoning_field=field,
    )


def streamed(run: list[p.Particle], reply: Reply) -> dict[str, Any]:
    encoder = ChunkEncoder(reply)
    return joined(encoder.open() + b"".join(map(encoder.encode, run)))


def whole(run: list[p.Particle], reply: Reply) -> dict[str, Any] | None:
    """None where the run is a failure and has no answer."""
    made = message(run)
    return None if not made.is_whole else json.loads(json.dumps(completion(made, reply)))


def differences(run: list[p.Particle], reply: Reply) -> list[str]:
    one, other = streamed(run, reply), whole(run, reply)
    if other is None or "error" in one:
        return [] if other is None and "error" in one else ["only one of them is an error"]
    choice = other["choices"][0]
    names = ("id", "model", "created", "usage", "motes")
    pairs = [(name, one.get(name), other.get(name)) for name in names]
    pairs.append(("finish_reason", one["finish_reason"], choice["finish_reason"]))
    said, told = one["message"], choice["message"]
    pairs += [(name, _plain(name, said.get(name)), _plain(name, told.get(name))) for name in {*said, *told}]
    return [f"{name}: {a!r} {b!r}" for name, a, b in pairs if a != b]


def _plain(name: str, value: Any) -> Any:
    """A stream cannot say null, and a whole answer has members that a stream has no need of."""
    if name == "tool_calls":
        # A stream has Google's signature of a call among the reasoning details alone.
        return [{k: v for k, v in call.items() if k != "extra_content"} for call in value or []]
    if name == "audio" and value:
        return {k: v for k, v in value.items() if k not in ("expires_at", "transcript") or v not in (1, "")}
    return value or None


def recorded(path: Path) -> tuple[str, list[p.Particle]]:
    meta = json.loads((path / "meta.json").read_text())
    dialect = CORPUS_DIALECTS[path.parent.name]
    body = (path / "response.bin").read_bytes()
    return dialect, particles(resolve(dialect), [body], quirks_of(meta))  # type: ignore[arg-type]


@pytest.mark.parametrize("field", FIELDS)
def test_our_recordings_say_the_same_both_ways(field: ReasoningField) -> None:
    wrong = {}
    for recording in (one for one in ours() if not one.failed):
        run = particles(recording.dialect, [recording.body], recording.quirks)
        wrong[recording.name] = differences(run, reply_of(recording.dialect.name, field))
    assert len(wrong) > 100
    assert {name: found for name, found in wrong.items() if found} == {}


@needs_shared
@pytest.mark.parametrize("field", FIELDS)
def test_every_recording_says_the_same_both_ways(field: ReasoningField) -> None:
    wrong = {}
    for path in corpus():
        dialect, run = recorded(path)
        found = differences(run, reply_of(dialect, field))
        if found:
            wrong[f"{path.parent.name}/{path.name}"] = found
    assert wrong == {}
