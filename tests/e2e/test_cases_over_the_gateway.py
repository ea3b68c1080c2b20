"""Inputs made from public bug reports, through the whole gateway, read by the official `openai` package."""

import itertools
import json
from typing import Any

import pytest

from fakes.package_reading import Reading, events_of, read_stream
from fakes.serving import serving, vendor_row
from fakes.upstream import Reset, Sleep, Upstream, Yield, event
from motes.executor.policy import Backoff, Policy
from reference.shared import CASE_DIALECTS, cases, checker, needs_shared

pytestmark = needs_shared
ROWS = ("openai", "anthropic", "gemini", "openrouter", "groq", "mistral", "deepseek", "bedrock", "ollama")
ROW_OF = {"bedrock-converse": "bedrock"}
# Rows that are asked in another protocol than their first one.
SPOKEN = {"ollama": "ollama-chat"}
SCALE = 1 / 25
NOTHING_MORE = b"".join(
    (
        event({"type": "message_start", "message": {"id": "msg_2", "role": "assistant", "usage": {}}}),
        event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
        event({"type": "message_stop"}),
    )
)
AGAIN = Policy(http=Backoff(2, 0.0), connection=Backoff(2, 0.0))


def row_of(name: str, upstream: Upstream) -> str:
    dialect = f'dialect = "{SPOKEN[name]}"\n' if name in SPOKEN else ""
    return f'[vendors.{name}]\nbase_url = "{upstream.base_url}"\nkey = "sk-x"\n{dialect}'


def toml(upstream: Upstream, **settings: Any) -> str:
    """Every vendor of the cases at the scripted upstream, and one that sends snapshots for deltas."""
    head = "".join(f"{name} = {value}\n" for name, value in settings.items())
    rows = [row_of(name, upstream) for name in ROWS]
    rows += [vendor_row(upstream.base_url, "plain"), vendor_row(upstream.base_url, "cumulative")]
    return head + "".join(rows) + '[vendors.cumulative.quirks]\ndelta_mode = "cumulative"\n'


def model_of(case: dict[str, Any]) -> str:
    if "vendor_profile" in case:
        return "cumulative/m"
    name = ROW_OF.get(case["dialect"], case["dialect"])
    return f"{name if name in ROWS else 'plain'}/m"


def head_of(case: dict[str, Any]) -> bytes:
    kept = {name: v for name, v in case["http"]["headers"].items() if name.lower() != "transfer-encoding"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in kept.items())
    return f"HTTP/1.1 {case['http']['status']} Status\r\n{lines}connection: close\r\n\r\n".encode()


def ending(word: str) -> list[Any]:
    # A reset on the heels of the data may overtake it in the kernel; a report means that it came after.
    return [Sleep(0.05), Reset()] if word == "reset" else []


def script_of(case: dict[str, Any], cuts: Any) -> list[Any]:
    body, offsets = case["_bytes"], [0, *cuts, len(case["_bytes"])]
    pieces = [body[a:b] for a, b in itertools.pairwise(offsets) if b > a]
    return [
        head_of(case),
        *(step for piece in pieces for step in (piece, Yield())),
        *ending(case.get("eof", "")),
    ]


def check(case: dict[str, Any], reading: Reading) -> None:
    """The checker's own word, and what every egress must keep whatever was fed."""
    assert checker().compare_response(case, reading.result()) == []
    if reading.error and "http_status" in reading.error:
        return
    assert len(reading.ids) <= 1
    assert reading.roles == 1
    assert len(reading.finish_reasons) == (0 if reading.error else 1)
    events = events_of(reading.raw)
    assert events.count("[DONE]") == 1
    assert events[-1] == "[DONE]"


@pytest.fixture(scope="module")
def upstream() -> Any:
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: Any, upstream: Upstream) -> Any:
    with serving(tmp_path_factory.mktemp("home"), toml(upstream)) as url:
        yield url


@pytest.mark.parametrize("reads", ["given", "bytes"])
@pytest.mark.parametrize("case", cases("upstream-response"), ids=lambda c: c["id"])
def test_an_upstream_answer_reaches_a_strict_client_as_it_was_meant(
    case: dict[str, Any], reads: str, base_url: str, upstream: Upstream
) -> None:
    assert case["dialect"] in CASE_DIALECTS
    size = len(case["_bytes"])
    if reads == "bytes" and size > 20_000:
        pytest.skip("too many reads for a socket: the replay tests cut it anywhere")
    upstream.forget()
    upstream.play(*script_of(case, case.get("chunks") or [] if reads == "given" else range(1, size)))
    if case["expected"].get("native_finish_reason") == "pause_turn":
        # The gateway goes on where the vendor paused, so the end of the answer is the continuation's.
        upstream.play(head_of(case), NOTHING_MORE)
        case = case | {"expected": case["expected"] | {"native_finish_reason": None, "usage": None}}
    check(case, read_stream(base_url, model_of(case)))


@pytest.mark.parametrize("case", cases("transport"), ids=lambda c: c["id"])
def test_what_happens_in_time_is_kept_from_the_client_or_told_in_order(
    case: dict[str, Any], tmp_path: Any, upstream: Upstream
) -> None:
    upstream.forget()
    body, asserted = case["_bytes"], case["assertions"]
    for attempt in case.get("attempts", ()):
        part = body[attempt["from"] : attempt["to"]]
        upstream.play(head_of(case), part, *ending(attempt["end"]))
    if "timeline" in case:
        upstream.play(head_of(case), *timed(case))
    heartbeat = 10 * SCALE
    with serving(tmp_path, toml(upstream, heartbeat_s=heartbeat, commit_after_s=8 * SCALE), AGAIN) as url:
        reading = read_stream(url, model_of(case))
    check(case, reading)
    assert reading.roles == asserted.get("egress_role_chunks", 1)
    if "client_max_silence_ms" in asserted:
        times = [at for at, _ in reading.pieces]
        silence = max(late - early for early, late in itertools.pairwise(times))
        assert silence * 1000 < asserted["client_max_silence_ms"] * SCALE
        assert "\n: keepalive\ndata: " in reading.raw
        assert all(json.dumps(event) for event in events_of(reading.raw))


def timed(case: dict[str, Any]) -> list[Any]:
    steps: list[Any] = []
    at, sent = 0, 0
    for point in case["timeline"]:
        steps += [Sleep((point["t_ms"] - at) / 1000 * SCALE), case["_bytes"][sent : point["upto"]]]
        at, sent = point["t_ms"], point["upto"]
    return [*steps, case["_bytes"][sent:]]
