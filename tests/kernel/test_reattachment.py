"""What is sent to reach a stored run again, for every row whose runs live on at the vendor."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from motes import reattachment
from motes.dialects.registry import resolve
from motes.errors import PrepareError
from motes.particles import UpstreamHandle
from motes.settings import load_settings
from motes.vendors.catalogue import build_catalogue, speaking
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import Vendor

AZURE = {"AZURE_BASE_URL": "https://unit.openai.azure.com"}
ROWS = build_catalogue(VENDORS, ALIASES, load_settings(AZURE, Path("/nonexistent"))).vendors
KEEPING = [
    (id, surface.dialect)
    for id, row in ROWS.items()
    for surface in row.surfaces
    if surface.stored_runs and resolve(surface.dialect).stored_runs
]
SECRETS = {"sigv4": "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
NASTY = "resp_a/../b?c#d e"
QUOTED = "resp_a%2F..%2Fb%3Fc%23d%20e"


def handle_of(row: Vendor, id: str = "resp_1") -> UpstreamHandle:
    runs = reattachment.stored_runs(row)
    assert runs is not None
    return UpstreamHandle(runs.handle_type, id)


def row_of(id: str, dialect: str) -> tuple[Vendor, str]:
    row = speaking(ROWS[id], dialect)
    return row, SECRETS.get(row.auth.kind, "sk-secret")


def test_these_vendors_keep_runs() -> None:
    assert KEEPING == [
        ("openai", "openai-responses"),
        ("gemini", "gemini-interactions"),
        ("azure", "openai-responses"),
        ("bedrock-mantle", "openai-responses"),
        ("bedrock-mantle-openai", "openai-responses"),
    ]


BASES = {
    "openai": "https://api.openai.com/v1/responses",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/interactions",
    "azure": "https://unit.openai.azure.com/openai/v1/responses",
    "bedrock-mantle": "https://bedrock-mantle.us-east-1.api.aws/v1/responses",
    "bedrock-mantle-openai": "https://bedrock-mantle.us-east-1.api.aws/openai/v1/responses",
}


@pytest.mark.parametrize(("id", "dialect"), KEEPING)
@pytest.mark.parametrize(("run_id", "quoted"), [("resp_1", "resp_1"), (NASTY, QUOTED)])
def test_each_of_the_four_goes_to_the_vendors_own_address(
    id: str, dialect: str, run_id: str, quoted: str
) -> None:
    row, secret = row_of(id, dialect)
    handle, base = handle_of(row, run_id), BASES[id]
    again = reattachment.replay(row, "m", handle, secret=secret)
    now = reattachment.snapshot(row, "m", handle, secret=secret)
    stop = reattachment.cancel(row, handle, secret)
    gone = reattachment.delete(row, handle, secret)
    assert again is not None
    assert stop is not None
    assert gone is not None
    sent = [(one.request.method, one.request.url, one.request.body) for one in (again, now, stop, gone)]
    assert sent == [
        ("GET", f"{base}/{quoted}?stream=true", b""),
        ("GET", f"{base}/{quoted}", b""),
        ("POST", f"{base}/{quoted}/cancel", b"{}"),
        ("DELETE", f"{base}/{quoted}", b""),
    ]
    assert [one.request.headers["accept"] for one in (again, now, stop, gone)] == [
        "text/event-stream",
        *["application/json"] * 3,
    ]
    assert stop.request.headers["content-type"] == "application/json"


@pytest.mark.parametrize(("id", "dialect"), KEEPING)
def test_each_of_the_four_carries_the_key_and_the_dialects_own_headers(id: str, dialect: str) -> None:
    row, secret = row_of(id, dialect)
    handle = handle_of(row)
    for one in (
        reattachment.replay(row, "m", handle, secret=secret),
        reattachment.snapshot(row, "m", handle, secret=secret),
        reattachment.cancel(row, handle, secret),
        reattachment.delete(row, handle, secret),
    ):
        assert one is not None
        wire = one.sign(one.request, datetime(2026, 11, 30, tzinfo=UTC))
        assert resolve(row.surfaces[0].dialect).headers.items() <= wire.headers.items()
        assert secret not in repr(one)
        shown = " ".join(wire.headers.values())
        assert "Signature=" in shown if row.auth.kind == "sigv4" else secret in shown


def test_a_cursor_is_the_vendors_own() -> None:
    for id, dialect, asked in (
        ("openai", "openai-responses", "starting_after=41"),
        ("gemini", "gemini-interactions", "last_event_id=41"),
    ):
        row, secret = row_of(id, dialect)
        again = reattachment.replay(row, "m", handle_of(row), secret=secret, cursor="41")
        assert again is not None
        assert again.request.url.endswith(f"?stream=true&{asked}")


def test_a_handle_of_another_kind_reaches_nothing() -> None:
    row, secret = row_of("openai", "openai-responses")
    wrong = UpstreamHandle("vnd.gem.interactions", "x")
    for ask in (reattachment.cancel, reattachment.delete):
        with pytest.raises(PrepareError, match="keeps no run"):
            ask(row, wrong, secret)
    with pytest.raises(PrepareError, match="keeps no run"):
        reattachment.replay(row, "m", wrong, secret=secret)
    with pytest.raises(PrepareError, match="keeps no run"):
        reattachment.snapshot(row, "m", wrong, secret=secret)


def test_where_no_runs_live_on_nothing_is_reached() -> None:
    for row in (speaking(ROWS["openrouter"], "openai-responses"), ROWS["groq"]):
        assert reattachment.stored_runs(row) is None
        with pytest.raises(PrepareError, match=row.id):
            reattachment.delete(row, UpstreamHandle("vnd.oai.responses", "x"), "sk")


@pytest.mark.parametrize("id", ["", ".", ".."])
def test_a_name_that_is_a_path_reaches_nothing(id: str) -> None:
    row, secret = row_of("openai", "openai-responses")
    with pytest.raises(PrepareError, match="a path"):
        reattachment.delete(row, handle_of(row, id), secret)
