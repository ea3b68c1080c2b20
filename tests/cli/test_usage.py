"""`motes usage`: the table, comma-separated values, JSON; and what it says of what it was not asked well."""

import asyncio
import csv
import io
import json
import time
from dataclasses import replace

import pytest

from motes.cli import main
from motes.store.sqlite_usage import FILE_NAME, SqliteUsage
from motes.store.usage import UsageRow

ROW = UsageRow(
    run="r1",
    at=0,
    key="k1",
    vendor="openai",
    model="gpt-5",
    finish="stop",
    source="measured",
    tokens_in=1234,
    tokens_cached=200,
    tokens_out=20,
    cost=0.5,
    context="=1+1,\x1b[2J",
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MOTES_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MOTES_TABLE", raising=False)
    monkeypatch.delenv("MOTES_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def filled(home):
    now = time.time()
    rows = [
        replace(ROW, at=now - 60),
        replace(ROW, run="r2", at=now - 50, key="k2", source="estimated", cost=0.25, finish="cut"),
        replace(ROW, run="r3", at=now - 40, vendor="vllm", model="m", cost=None),
        replace(ROW, run="r4", at=now - 40 * 86_400),
    ]
    asyncio.run(SqliteUsage(home / FILE_NAME, 400).add(rows))


def run(capfd, *args):
    status = main(["usage", *args])
    said = capfd.readouterr()
    return status, said.out, said.err


def test_a_table_of_the_last_days_with_what_is_estimated_marked(filled, capfd):
    status, out, err = run(capfd)
    head, openai, vllm, total = [line.split() for line in out.splitlines()]
    assert status == 0
    assert head == ["model", "runs", "in", "cached", "out", "USD"]
    assert openai == ["openai/gpt-5", "2", "2,468", "400", "40", "0.7500*"]
    assert vllm == ["vllm/m", "1", "1,234", "200", "20", "0.0000"]
    assert total == ["total", "3", "3,702", "600", "60", "0.7500*"]
    assert "1 of 3 runs are estimated" in err
    assert "1 runs have no price" in err


def test_values_with_commas_have_every_column_and_one_line_a_group(filled, capfd):
    _, out, err = run(capfd, "--by", "key,finish", "--csv")
    (first,) = [row for row in csv.DictReader(io.StringIO(out)) if row["key"] == "k1"]
    assert (first["finish"], first["runs"], first["cost"], first["cost_measured"]) == (
        "stop",
        "2",
        "0.5",
        "0.5",
    )
    assert not err


def test_json_is_what_the_operators_api_tells(filled, capfd):
    _, out, _ = run(capfd, "--json", "--since", "90d", "--by", "vendor")
    told = json.loads(out)
    assert told["by"] == ["vendor"]
    assert [(row["vendor"], row["runs"]) for row in told["rows"]] == [("openai", 3), ("vllm", 1)]
    assert (told["total"]["cost"], told["currency"]) == (1.25, "USD")


def test_no_label_of_a_caller_reaches_the_terminal_as_it_is(filled, capfd):
    assert "\x1b" not in run(capfd, "--by", "context")[1]


def test_nothing_is_said_to_be_nothing(home, capfd):
    assert run(capfd) == (0, "", "motes: no run ended in that time\n")
    assert not home.exists()


@pytest.mark.parametrize(
    "args", [["--by", "colour"], ["--since", "soon"], ["--since", "1h", "--until", "2h"]]
)
def test_a_question_without_sense_is_told_how_to_be_asked(home, capfd, args):
    status, out, err = run(capfd, *args)
    assert (status, out) == (2, "")
    assert err.startswith("motes: error: --")
