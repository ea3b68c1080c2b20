"""Real recorded vendor answers, against expectations computed without motes: whole, byte by byte, cut."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.recordings import RESET, in_reads, message, offsets, particles, quirks_of
from motes import particles as p
from motes.cli import main
from motes.dialects.registry import resolve
from reference.shared import (
    CORPUS_DIALECTS,
    FINISH,
    FINISH_ERRORS,
    corpus,
    needs_shared,
    parsed,
    untagged,
    usage_of,
)

pytestmark = needs_shared
CASES = corpus()
IDS = [f"{c.parent.name}/{c.name}" for c in CASES]
# A status 200 whose body is one line of plain text and no answer: expected there as an empty success. Taking it
# for one would hand the client an empty answer that nobody gave.
DISPUTED = {"malformed-proxy-gpt-4o-json-ddcab8": "protocol"}
# Streams that give a finish reason, then more text and another one: their own evidence of completion is no
# evidence, so a cut between the two cannot be told from the end.
SAYS_STOP_TWICE = {"google-vertex-unknown-stream-safety-citations-bcb5db"}
STREAMS = [c for c in CASES if json.loads((c / "meta.json").read_text())["streaming"]]


def replayed(paths: list[Path], capfdbinary: Any, *options: str) -> list[dict[str, Any]]:
    assert main(["replay", "--as", "message", *options, *map(str, paths)]) == 0
    return [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]


def differences(case: Path, row: dict[str, Any]) -> list[str]:
    meta, expected = (json.loads((case / name).read_text()) for name in ("meta.json", "expected.json"))
    if case.name in DISPUTED:
        return [] if (row["error"] or {}).get("kind") == DISPUTED[case.name] else ["not as we read it"]
    failed = expected["error"] is not None or expected["finish"] in FINISH_ERRORS
    found = [] if failed == (row["error"] is not None) else [f"error: {expected['error']} {row['error']}"]
    reasoning, text = _texts(expected, row)
    found += [f"text: {text[:60]!r} {row['text'][:60]!r}"] if text != row["text"] else []
    found += (
        [f"reasoning: {reasoning[:60]!r} {row['reasoning'][:60]!r}"] if reasoning != row["reasoning"] else []
    )
    found += [] if failed else _calls(expected, row) + _ending(expected, row)
    usage = usage_of(CORPUS_DIALECTS[case.parent.name], expected["usage"], meta["vendor"])
    if usage is not None:
        found += [
            f"usage.{k}: {v} {row['usage']}" for k, v in usage.items() if (row["usage"] or {}).get(k) != v
        ]
    if (expected["refusal"] or "") != row["refusal"]:
        found.append("refusal")
    return found


def _texts(expected: dict[str, Any], row: dict[str, Any]) -> tuple[str, str]:
    """Expected reasoning and text; a think block at the head of the text counts as reasoning for us."""
    reasoning, text = expected["reasoning"] or "", expected["text"] or ""
    inside, after = untagged(text)
    return (reasoning, text) if row["text"] == text else (reasoning + inside, after)


def _calls(expected: dict[str, Any], row: dict[str, Any]) -> list[str]:
    wanted = [(c["name"], parsed(c["arguments"] or "{}"), c["id"]) for c in expected["tool_calls"]]
    got = [(c["name"], parsed(c["arguments"] or "{}"), c["id"]) for c in row["tool_calls"]]
    same = len(wanted) == len(got) and all(
        w[:2] == g[:2] and (not w[2] or w[2] == g[2]) for w, g in zip(wanted, got, strict=True)
    )
    return [] if same else [f"tool_calls: {wanted} {got}"]


def _ending(expected: dict[str, Any], row: dict[str, Any]) -> list[str]:
    # A Responses run says `incomplete`, and why it is apart.
    word = expected["extra"].get("incomplete_reason") or expected["finish"]
    finish = FINISH.get(word or "stop", "stop")
    if expected["extra"].get("block_reason"):
        finish = "content_filter"
    if finish == "stop" and expected["tool_calls"]:
        finish = "tool_calls"
    return [] if finish == row["finish_reason"] else [f"finish: {expected['finish']} {row['finish_reason']}"]


def test_every_recording_agrees_with_its_expectation(capfdbinary: Any) -> None:
    rows = replayed(CASES, capfdbinary)
    assert [row["recording"] for row in rows] == [str(c) for c in CASES]
    wrong = {i: d for i, case, row in zip(IDS, CASES, rows, strict=True) if (d := differences(case, row))}
    assert wrong == {}


@pytest.mark.parametrize("size", ["1", "7"])
def test_small_reads_change_nothing(capfdbinary: Any, size: str) -> None:
    assert replayed(STREAMS, capfdbinary, "--chunk", size) == replayed(STREAMS, capfdbinary)


def small_streams() -> list[Path]:
    """The twelve smallest streams of each dialect."""
    out: list[Path] = []
    for dialect in CORPUS_DIALECTS:
        ours = [
            c
            for c in STREAMS
            if c.parent.name == dialect and json.loads((c / "meta.json").read_text())["status"] == 200
        ]
        out += sorted(ours, key=lambda c: (c / "response.bin").stat().st_size)[:12]
    return out


@pytest.mark.parametrize(
    "case",
    [c for c in small_streams() if c.name not in SAYS_STOP_TWICE],
    ids=lambda c: f"{c.parent.name}/{c.name}",
)
def test_a_cut_anywhere_is_the_whole_answer_or_one_error(case: Path) -> None:
    meta = json.loads((case / "meta.json").read_text())
    dialect, quirks = resolve(CORPUS_DIALECTS[case.parent.name]), quirks_of(meta)  # type: ignore[arg-type]
    body = (case / "response.bin").read_bytes()
    expected = facts(particles(dialect, [body], quirks))
    for at in offsets(body, case.name):
        run = particles(dialect, in_reads(body[:at], 1000), quirks, RESET if at % 2 else None)
        ends = [x for x in run if isinstance(x, p.End)]
        assert len(ends) == 1, at
        if ends[0].stop is not None:
            assert facts(run) == expected, at


def facts(run: list[p.Particle]) -> tuple[Any, ...]:
    m = message(run)
    return m.text, m.reasoning, m.refusal, [(c.name, c.arguments) for c in m.tool_calls], m.end and m.end.stop
