"""What a caller and the store are told of one run's usage, over real sockets, whichever way it ends."""

import asyncio
import json
import time
from contextlib import contextmanager

import pytest

from fakes.serving import ASK, STREAM, client, serving, vendor_row
from fakes.upstream import SSE_HEAD, Reset, Sleep, UntilGone, answer, chat_chunk
from motes.store.sqlite_usage import FILE_NAME, SqliteUsage

CHAT, PARTICLES = "/chat/completions", "/particles"
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
SAID = [SSE_HEAD, chat_chunk({"content": "Hello"}), chat_chunk({}, finish_reason="stop")]
COUNTED = [*SAID, b'data: {"choices": [], "usage": %s}\n\n' % json.dumps(USAGE).encode(), b"data: [DONE]\n\n"]
SILENT = [*SAID, b"data: [DONE]\n\n"]
PRICES = 'margin = 1.3\n[prices."fake/m"]\ninput = 1\noutput = 10\n'
COST = {"amount": (1000 * 1 + 100 * 10) * 1.3 / 1e6, "currency": "USD", "margin": 1.3}


@pytest.fixture
def gateway(tmp_path, upstream):
    """A gateway with prices, its home beside it."""

    @contextmanager
    def running(toml=PRICES):
        with serving(tmp_path, toml + vendor_row(upstream.base_url)) as url, client(url) as caller:
            yield caller

    return running


def rows_of(home, count=1):
    """The rows in the store, once there are so many."""
    store, until = SqliteUsage(home / FILE_NAME, 400), time.monotonic() + 10

    async def read():
        return [row async for rows in store.between(0, time.time() + 60) for row in rows]

    while time.monotonic() < until:
        rows = asyncio.run(read())
        if len(rows) >= count:
            return rows
        time.sleep(0.02)
    raise AssertionError("the rows never came")


def events(response):
    return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]


def test_stream_whole_answer_and_particles_tell_the_same_and_so_does_the_row(gateway, upstream, tmp_path):
    with gateway() as caller:
        upstream.play(*COUNTED)
        finish = [one for one in events(caller.post(CHAT, json=STREAM)) if "motes" in one][-1]["motes"]
        whole = caller.post(CHAT, json=ASK).json()
        metrics = [
            json.loads(line)["metrics"]
            for line in caller.post(PARTICLES, json=ASK).text.splitlines()
            if "set-metrics" in line
        ][-1]
    assert finish["cost"] == whole["motes"]["cost"] == pytest.approx(COST)
    assert finish["usage_source"] == whole["motes"]["usage_source"] == "measured"
    assert (finish["attempts"], whole["usage"]) == (1, USAGE)
    assert (metrics["TIn"], metrics["TOut"], metrics["cost"]) == (1000, 100, pytest.approx(COST))
    rows = rows_of(tmp_path, 3)
    assert {(row.key, row.vendor, row.model, row.finish) for row in rows} == {
        ("environment", "fake", "m", "stop")
    }
    assert whole["id"].removeprefix("chatcmpl-") in {row.run for row in rows}
    for row in rows:
        assert (row.tokens_in, row.tokens_out, row.source) == (1000, 100, "measured")
        assert (row.cost, row.margin) == (pytest.approx(COST["amount"]), 1.3)


def test_a_silent_vendor_is_estimated_alike_everywhere(gateway, upstream, tmp_path):
    with gateway() as caller:
        upstream.play(*SILENT)
        whole = caller.post(CHAT, json=ASK).json()
    (row,) = rows_of(tmp_path)
    assert whole["motes"]["usage_source"] == row.source == "estimated"
    told = whole["usage"]
    assert (told["prompt_tokens"], told["completion_tokens"]) == (row.tokens_in, row.tokens_out) == (2, 2)
    assert whole["motes"]["cost"]["amount"] == row.cost


def test_cut_refused_and_left_runs_have_rows_too(gateway, upstream, tmp_path):
    with gateway() as caller:
        upstream.play(SSE_HEAD, chat_chunk({"content": "x" * 400}), Sleep(0.05), Reset())
        caller.post(CHAT, json=STREAM)
        upstream.forget()
        upstream.play(answer(401, {"error": {"message": "no"}}))
        caller.post(CHAT, json=ASK)
        upstream.forget()
        upstream.play(SSE_HEAD, chat_chunk({"content": "y" * 80}), UntilGone())
        with caller.stream("POST", CHAT, json=STREAM | {"motes": {"context": "left"}}) as response:
            next(response.iter_raw())
        cut, refused, left = rows_of(tmp_path, 3)
    assert (cut.finish, cut.source, cut.tokens_out) == ("cut", "estimated", 100)
    assert (refused.finish, refused.source, refused.tokens_in, refused.cost) == (
        "failed",
        "estimated",
        None,
        None,
    )
    assert (left.finish, left.source, left.tokens_out, left.context) == ("cancelled", "estimated", 20, "left")
    assert cut.cost == pytest.approx((2 + 100 * 10) * 1.3 / 1e6)
    assert left.cost == pytest.approx((2 + 20 * 10) * 1.3 / 1e6)


def test_a_store_that_cannot_be_written_harms_no_run(gateway, upstream, tmp_path, caplog):
    (tmp_path / FILE_NAME).mkdir()
    with gateway() as caller:
        upstream.play(*COUNTED)
        for _ in range(3):
            assert caller.post(CHAT, json=ASK).status_code == 200
        until = time.monotonic() + 30
        while "usage_not_recorded" not in caplog.text and time.monotonic() < until:
            time.sleep(0.01)
        (tmp_path / FILE_NAME).rmdir()
        caller.get("/models")
        assert len(rows_of(tmp_path, 3)) == 3
    assert "usage_not_recorded" in caplog.text


def test_the_list_prices_a_run_by_its_vendors_row_and_a_run_before_it_was_loaded_too(
    gateway, upstream, tmp_path
):
    ask = ASK | {"model": "openai/gpt-5", "motes": {"dialect": "openai-chat"}}
    until, runs, told = time.monotonic() + 30, 0, {}
    with gateway(f'[vendors.openai]\nbase_url = "{upstream.base_url}"\nkey = "k"\n') as caller:
        upstream.play(*COUNTED)
        while "cost" not in told and time.monotonic() < until:
            told, runs = caller.post(CHAT, json=ask).json()["motes"], runs + 1
    assert told["cost"]["amount"] == pytest.approx(1000 * 1.25e-6 + 100 * 10e-6)
    assert [row.cost for row in rows_of(tmp_path, runs)] == [told["cost"]["amount"]] * runs
