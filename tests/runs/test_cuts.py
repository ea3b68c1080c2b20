"""A reader is cut off anywhere and goes on in another process: nothing is lost, nothing is told twice, and what he
has in the end is the stream he would have had, byte for byte. One twentieth of it in every run of the tests.
"""

import json
import random
import re
import statistics
import time
from dataclasses import dataclass

import httpx
import pytest

from fakes.gateway_process import Processes
from fakes.recordings import WIRE, load
from fakes.run_streams import events_of, id_of, position_after
from fakes.serving import client, vendor_row
from fakes.upstream import Sleep, Upstream, Yield

DIALECTS = sorted(path.name for path in WIRE.iterdir() if path.is_dir())
CUTS = 1000
SHARE = 20
USER = [{"role": "user", "content": "Hi"}]
QUICK = "heartbeat_s = 1.0\ncommit_after_s = 0.2\njournal_page_s = 0.02\n"
OWN = re.compile(rb'chatcmpl-[0-9a-f]+|"created":\d+|"created_at":\d+|call_[0-9a-f]{24}|"(dt\w+)":\d+')


@dataclass
class Stand:
    """Two processes with one store, and their upstream."""

    upstream: Upstream
    one: httpx.Client
    other: httpx.Client


@pytest.fixture(scope="module")
def stand(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with Upstream() as upstream, Processes() as processes:
        rows = [vendor_row(upstream.base_url, name, name) for name in DIALECTS]
        (home / "motes.toml").write_text(QUICK + "".join(rows))
        one, other = (processes.start(home).url for _ in range(2))
        with client(one) as first, client(other) as second:
            yield Stand(upstream, first, second)


def played(upstream, recording, rng):
    """The recording, now and then in pieces with a little time between them, so that a run is still at work."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {recording.meta['content_type']}\r\nconnection: close\r\n\r\n"
    upstream.forget()
    cuts = sorted(rng.sample(range(1, len(recording.body)), min(3, len(recording.body) - 1)))
    pieces = [recording.body[a:b] for a, b in zip([0, *cuts], [*cuts, len(recording.body)], strict=True)]
    pause = Sleep(0.01) if rng.random() < 0.3 else Yield()
    upstream.play(head.encode(), *(step for piece in pieces for step in (piece, pause)))


def recordings_of(dialect):
    """Those whose answer can be streamed, by what a chat stream of them is, without what is each run's own."""
    return [
        recording
        for path in sorted((WIRE / dialect).glob("*/meta.json"))
        if not (recording := load(path.parent)).failed and len(recording.body) < 64 * 1024
    ]


def anonymous(data):
    return OWN.sub(b"own", data)


def cut_stream(caller, path, body, size):
    """The first `size` bytes; then the client is gone. The run's id, and whether it is a stream at all."""
    got = b""
    with caller.stream("POST", path, json=body) as response:
        if response.status_code != 200:
            return None, b""
        for chunk in response.iter_raw():
            got += chunk
            if len(got) >= size:
                break
        return response.headers["x-motes-run-id"], got[:size]


def resumed(caller, path):
    """What comes, and after how many seconds it began."""
    got, first, started = b"", None, time.monotonic()
    with caller.stream("GET", path) as response:
        assert response.status_code == 200, response.read()
        for chunk in response.iter_raw():
            if first is None and chunk.strip():
                first = time.monotonic() - started
            got += chunk
    return got, first


def lines(data):
    whole = data[: data.rfind(b"\n") + 1].splitlines()
    return [line for line in whole if b"seq" in line]


def chat(stand, body, size, reference):
    run, head = cut_stream(stand.one, "/chat/completions", body, size)
    if run is None:
        return None
    before = events_of(head)
    at = position_after(before)
    path = f"/chat/completions/{run}" + (f"?starting_after={at}" if at else "")
    got, seconds = resumed(stand.other, path)
    after = events_of(got)
    assert anonymous(b"".join(before + after)) == reference
    ids = [id_of(event) for event in before + after]
    assert len(set(ids)) == len(ids)
    return seconds if after else None


def particles(stand, body, size, reference):
    run, head = cut_stream(stand.one, "/particles", body, size)
    if run is None:
        return None
    before = lines(head)
    got, seconds = resumed(stand.other, f"/runs/{run}/particles?after={len(before)}")
    after = lines(got)
    assert [json.loads(line)["seq"] for line in before + after] == list(range(1, len(before + after) + 1))
    assert anonymous(b"".join(before + after)) == reference
    return seconds if after else None


def cut_everywhere(stand, dialect, times, seed):
    rng = random.Random(f"{dialect} {seed}")
    known, waits, done = {}, [], 0
    choice = recordings_of(dialect)
    body = {"model": f"{dialect}/m", "messages": USER, "stream": True, "motes": {"resumable": True}}
    while done < times:
        recording, way = rng.choice(choice), rng.choice([chat, particles])
        played(stand.upstream, recording, rng)
        if (key := (recording.name, way)) not in known:
            path = "/chat/completions" if way is chat else "/particles"
            _, whole = cut_stream(stand.one, path, body, 1 << 30)
            known[key] = anonymous(b"".join((events_of if way is chat else lines)(whole)))
            played(stand.upstream, recording, rng)
        if not known[key]:
            choice.remove(recording)  # It fails before anything of it could be streamed.
            continue
        done += 1
        seconds = way(stand, body, rng.randrange(len(known[key])), known[key])
        if seconds is not None:
            waits.append(seconds)
    return waits


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_cut_reader_has_in_the_end_what_he_would_have_had(stand, dialect):
    waits = cut_everywhere(stand, dialect, CUTS // SHARE, "a twentieth")
    assert statistics.median(waits) < 0.5


@pytest.mark.soak
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_thousand_cuts_of_every_dialect(stand, dialect, capsys):
    waits = cut_everywhere(stand, dialect, CUTS, "whole")
    p50, p95 = (statistics.quantiles(waits, n=100)[at] * 1000 for at in (49, 94))
    with capsys.disabled():
        print(f"\n{dialect}: {CUTS} cuts, first byte after {p50:.1f} ms (p50), {p95:.1f} ms (p95)")  # noqa: T201
