"""The process that serves a run is killed at any moment: the answer is completed by another one, from the store
and the vendor, and no client ever heard of a run at a vendor that the store had not.
"""

import asyncio
import contextlib
import json
import random
import threading
import time

import httpx
import pytest

from fakes.gateway_process import Processes
from fakes.run_streams import events_of, lines_of, message_of, position_after, text_of
from fakes.serving import AUTH, client
from fakes.stored_vendor import Script, StoredVendor
from motes.store.sqlite import SqliteRuns

KILLS = 200
SHARE = 20
LEASE = 0.4
USER = [{"role": "user", "content": "Hi"}]
MODELS = {"openai": "openai/m", "gemini": "gemini/gemini-3-flash-preview"}
SCRIPT = Script(
    words=tuple(f"word{n} " for n in range(12)), thoughts=("Let me ", "think "), pace=0.015, usage=(5, 9)
)
SETTINGS = f"lease_s = {LEASE}\nheartbeat_s = 1.0\ncommit_after_s = 0.05\njournal_page_s = 0.05\n"


@pytest.fixture(scope="module")
def stand(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with StoredVendor(script=SCRIPT) as vendor, Processes() as processes:
        (home / "motes.toml").write_text(vendor.toml(SETTINGS))
        with client(processes.start(home).url) as survivor:
            yield home, vendor, processes, survivor


def stored(home):
    """Every run that the store knows."""
    return {
        run.id: run for run in asyncio.run(SqliteRuns(home / "motes.sqlite").list(owner=None, limit=10_000))
    }


def read_until_killed(gateway, path, body, seconds):
    """What a client got before the process was killed; the run's id, where it heard of one."""
    got, run = b"", None
    timer = threading.Timer(seconds, gateway.kill)
    with httpx.Client(base_url=gateway.url, headers=AUTH, timeout=20) as caller:
        assert caller.get(gateway.url.removesuffix("/v1") + "/healthz").status_code == 200
        timer.start()
        with (
            contextlib.suppress(httpx.TransportError),
            caller.stream("POST", path, json=body) as response,
        ):
            run = response.headers.get("x-motes-run-id")
            for chunk in response.iter_raw():
                got += chunk
    timer.join()
    return run, got


def told_handles(lines):
    return [line["handle"]["runId"] for line in lines if line.get("cg") == "set-upstream-handle"]


def killed_once(stand, house, surface, moment):
    home, vendor, processes, survivor = stand
    known, made = set(stored(home)), set(vendor.runs)
    body = {"model": MODELS[house], "messages": USER, "stream": True, "motes": {"background": True}}
    run, got = read_until_killed(processes.start(home), surface, body, moment)
    runs = {id: found for id, found in stored(home).items() if id not in known}
    ours = [found for found in runs.values() if found.handle is not None]
    if surface == "/particles":
        before = [line for line in lines_of(got) if "seq" in line]
        assert set(told_handles(before)) <= {found.handle.run_id for found in ours} | gone(vendor, made)
        if run in runs:
            after = lines_of(survivor.get(f"/runs/{run}/particles?after={len(before)}").content)
            both = before + after
            assert [line["seq"] for line in both] == list(range(1, len(both) + 1))
            message = message_of(both)
            text, outcome = message.text, message.outcome
    else:
        before = events_of(got)
        if run in runs:
            at = position_after(before)
            query = f"?starting_after={at}" if at else ""
            after = events_of(survivor.get(f"/chat/completions/{run}{query}").content)
            text = text_of(before + after)
            outcome = "completed" if b'"finish_reason":"stop"' in b"".join(before + after) else "failed"
    if run not in runs:
        assert not got.strip(), "a client was told of a run that is not stored"
        return "unknown"
    if runs[run].handle is None and runs[run].state != "finished":
        assert outcome != "completed", "half an answer was taken for a whole one"
        return "before-handle"
    assert (text, outcome) == (SCRIPT.text, "completed"), (runs[run], before[-2:], after)
    return "completed"


def gone(vendor, made):
    """Runs of this trial whose copy was deleted since their answer was whole."""
    return {id for id, run in vendor.runs.items() if id not in made and run.deleted}


def killed_often(stand, times, seed):
    rng = random.Random(seed)
    outcomes = []
    for _ in range(times):
        house, surface = rng.choice([*MODELS]), rng.choice(["/particles", "/chat/completions"])
        outcomes.append(killed_once(stand, house, surface, rng.uniform(0.0, 0.45)))
    return {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}


def test_a_run_whose_process_was_killed_is_completed_by_another(stand):
    outcomes = killed_often(stand, KILLS // SHARE, "a twentieth")
    assert outcomes["completed"] >= 3


@pytest.mark.soak
def test_two_hundred_kills(stand, capsys):
    started = time.monotonic()
    outcomes = killed_often(stand, KILLS, "whole")
    with capsys.disabled():
        print(f"\n{KILLS} kills in {time.monotonic() - started:.0f} s: {json.dumps(outcomes)}")  # noqa: T201
