"""Inputs made from public bug reports: upstream answers and client requests, with their own checker."""

import json
from pathlib import Path
from typing import Any

import pytest

from motes.cli import main
from reference.shared import CASE_DIALECTS, cases, checker, needs_shared

pytestmark = needs_shared
RESPONSES = cases("upstream-response")
REQUESTS = cases("client-request")
EXPLAINED = {
    "openai": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "mistral": "mistral",
    "openai-compatible": "openai-compatible",
}


def recording(case: dict[str, Any], folder: Path) -> Path:
    """A case as a recording of ours."""
    quirks = {"delta_mode": case["vendor_profile"]["delta_mode"]} if "vendor_profile" in case else {}
    meta = {
        "dialect": CASE_DIALECTS[case["dialect"]],
        "vendor": case["dialect"],
        "model": "demo",
        "status": case["http"]["status"],
        "headers": case["http"]["headers"],
        "content_type": case["http"]["headers"].get("content-type"),
        "streaming": True,
        "chunks": case.get("chunks") or [],
        "eof": case.get("eof", "clean"),
        "quirks": quirks,
    }
    folder.mkdir()
    (folder / "meta.json").write_text(json.dumps(meta))
    (folder / "response.bin").write_bytes(case["_bytes"])
    return folder


@pytest.mark.parametrize("reads", ["given", "whole", "bytes"])
@pytest.mark.parametrize("case", RESPONSES, ids=lambda c: c["id"])
def test_an_upstream_answer_comes_out_as_it_was_meant(
    case: dict[str, Any], reads: str, tmp_path: Path, capfdbinary: Any
) -> None:
    options = {"given": [], "whole": ["--chunk", "100000000"], "bytes": ["--chunk", "1"]}[reads]
    path = recording(case, tmp_path / case["id"])
    assert main(["replay", "--as", "message", *options, str(path)]) == 0
    (row,) = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    got = {k: v for k, v in row.items() if k not in ("images", "audio")}
    assert checker().compare_response(case, got) == []


@pytest.mark.parametrize("case", REQUESTS, ids=lambda c: c["id"])
def test_a_client_request_becomes_what_its_vendor_takes(
    case: dict[str, Any], tmp_path: Path, capfdbinary: Any, monkeypatch: Any
) -> None:
    target = case["expected"]["upstream"]["target"]
    file = tmp_path / "request.json"
    file.write_text(json.dumps(case["_request"]))
    model = f"{EXPLAINED[case['dialect']]}/{target['model'].split()[0]}"
    traits = [option for trait in target.get("traits", []) for option in ("--trait", trait)]
    with file.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        status = main(["explain", "--model", model, *traits])
    explained = json.loads(capfdbinary.readouterr().out)
    if status == 2:
        assert explained["error"]["message"]
        assert case["expected"]["upstream"].get("or_reject_with_status") == 400
        return
    assert explained["url"].endswith(target["path"])
    assert checker().check_request(case, explained["body"]) == []
