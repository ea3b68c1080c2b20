"""What chat-completions upstreams count, in every spelling."""

from typing import Any

import pytest

from fakes.chat_streams import DONE, FINISHED, chunk, codes, read, run, spoken
from motes import particles as p
from motes.quirks import NO_QUIRKS, Quirks


def metrics(usage: Any, quirks: Quirks = NO_QUIRKS, **members: Any) -> p.Metrics | None:
    return read(chunk({"content": "a"}, "stop", usage=usage, **members), DONE, quirks=quirks).metrics


def test_input_is_split_into_new_cached_and_written() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 10},
        "completion_tokens_details": {"reasoning_tokens": 5},
        "cost": 0.0123,
    }
    assert metrics(usage) == p.Metrics(
        tokens_in=60,
        tokens_cache_read=30,
        tokens_cache_write=10,
        tokens_out=20,
        tokens_out_reasoning=5,
        tokens_total=120,
        cost_cents=1.23,
    )


@pytest.mark.parametrize(
    "spelling",
    [
        {"prompt_tokens_details": {"cached_tokens": 3}},
        {"prompt_token_details": {"cached_tokens": 3}},
        {"prompt_cache_hit_tokens": 3, "prompt_cache_miss_tokens": 7},
        {"cached_tokens": 3},
        {"cache_read_input_tokens": 3},
        {"num_cached_tokens": 3},
    ],
)
def test_every_spelling_of_cached_tokens(spelling: dict[str, Any]) -> None:
    found = metrics({"prompt_tokens": 10, "completion_tokens": 1, **spelling})
    assert found == p.Metrics(tokens_in=7, tokens_cache_read=3, tokens_out=1)


@pytest.mark.parametrize(
    "spelling",
    [
        {"prompt_tokens_details": {"cache_write_tokens": 4}},
        {"prompt_tokens_details": {"cache_creation_input_tokens": 4}},
        {"prompt_tokens_details": {"created_cache_tokens": 4}},
        {"cache_creation_input_tokens": 4},
    ],
)
def test_every_spelling_of_written_tokens(spelling: dict[str, Any]) -> None:
    found = metrics({"prompt_tokens": 10, "completion_tokens": 1, **spelling})
    assert found == p.Metrics(tokens_in=6, tokens_cache_write=4, tokens_out=1)


def test_counts_in_the_words_of_the_newer_protocol() -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    assert metrics(usage) == p.Metrics(tokens_in=8, tokens_cache_read=2, tokens_out=5, tokens_out_reasoning=3)


def test_a_server_wide_cache_count_above_the_prompt_is_no_part_of_it() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "num_cached_tokens": 64}
    assert metrics(usage) == p.Metrics(tokens_in=10, tokens_out=1)


def test_a_vendors_impossible_split_keeps_its_sums_and_is_told() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 12}}
    m = read(chunk({"content": "a"}, "stop", usage=usage), DONE)
    assert m.metrics == p.Metrics(tokens_in=-2, tokens_cache_read=12, tokens_out=1)
    assert codes(m) == ["odd_usage"]


def test_a_total_that_needs_it_adds_reasoning_to_the_output() -> None:
    usage = {
        "prompt_tokens": 331,
        "completion_tokens": 11,
        "total_tokens": 613,
        "completion_tokens_details": {"reasoning_tokens": 271},
    }
    found = metrics(usage)
    assert found is not None
    assert (found.tokens_out, found.tokens_total) == (282, 613)


@pytest.mark.parametrize(("total", "out"), [(None, 15), (15, 15), (20, 15), (10, 10)])
def test_a_row_says_whether_reasoning_is_apart_where_the_total_does_not(total: Any, out: int) -> None:
    usage = {
        "prompt_tokens": 0,
        "completion_tokens": 10,
        "total_tokens": total,
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    found = metrics(usage, Quirks(reasoning_in_completion=False))
    assert found is not None
    assert found.tokens_out == out


def test_running_totals_are_not_added_up() -> None:
    def total(n: int) -> dict[str, Any]:
        return {"prompt_tokens": 5, "completion_tokens": n, "total_tokens": 5 + n}

    m = read(*(chunk({"content": "x"}, usage=total(n)) for n in (1, 2, 3)), FINISHED, DONE)
    assert m.metrics == p.Metrics(tokens_in=5, tokens_out=3, tokens_total=8)


def test_usage_that_grows_member_by_member_is_partial_until_it_is_whole() -> None:
    first = {"prompt_tokens": 5, "completion_tokens": None, "total_tokens": None}
    out = run(chunk({"content": "x"}, usage=first), FINISHED, DONE)
    assert p.Metrics(tokens_in=5, source="partial") in out
    last = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    m = read(chunk({"content": "x"}, usage=first), chunk(finish="stop", usage=last), DONE)
    assert m.metrics == p.Metrics(tokens_in=5, tokens_out=2, tokens_total=7)


@pytest.mark.parametrize("choices", [[], None])
def test_usage_in_a_chunk_without_choices(choices: Any) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    m = read(chunk({"content": "a"}), FINISHED, {"choices": choices, "usage": usage}, DONE)
    assert m.metrics == p.Metrics(tokens_in=5, tokens_out=2, tokens_total=7)


def test_usage_inside_the_choice() -> None:
    choice = {
        "index": 0,
        "delta": {},
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }
    assert read(chunk({"content": "a"}), {"choices": [choice]}, DONE).metrics == p.Metrics(
        tokens_in=5, tokens_out=2
    )


def test_usage_under_the_vendors_own_key_with_its_speed() -> None:
    groq = {"usage": {"prompt_tokens": 5, "completion_tokens": 7, "completion_time": 0.5}}
    out = spoken(run(chunk({"reasoning": "r"}), chunk({"content": "t"}), chunk(finish="stop", x_groq=groq)))
    assert out == [p.Reasoning("r"), p.Text("t")]
    found = read(chunk({"content": "t"}), chunk(finish="stop", x_groq=groq)).metrics
    assert found == p.Metrics(tokens_in=5, tokens_out=7, inner_ms=500, tokens_per_second=14.0)


@pytest.mark.parametrize(
    ("told", "cents"),
    [
        ({"cost": 0.0123}, 1.23),
        ({"cost": "0.01"}, 1.0),
        ({"cost": 0}, 0.0),
        ({"cost": {"total_cost": 0.005, "request_cost": 0.004}}, 0.5),
        ({"cost_in_usd_ticks": 1_500_000}, 0.015),
        ({"estimated_cost": 0.002}, 0.2),
    ],
)
def test_cost_in_every_vendors_unit_is_cents(told: dict[str, Any], cents: float) -> None:
    found = metrics({"prompt_tokens": 1, "completion_tokens": 1, **told})
    assert found is not None
    assert found.cost_cents == cents


def test_a_closing_cost_event() -> None:
    event = {
        "choices": [],
        "x-opencode-type": "inference-cost",
        "cost": "0.01",
        "normalizedUsage": {
            "inputTokens": 1,
            "outputTokens": 2,
            "reasoningTokens": 1,
            "cacheReadTokens": 3,
            "cacheWrite5mTokens": 1,
            "cacheWrite1hTokens": 3,
        },
    }
    assert read(chunk({"content": "a"}, "stop"), event, DONE).metrics == p.Metrics(
        tokens_in=1,
        tokens_cache_read=3,
        tokens_cache_write=4,
        tokens_cache_write_1h=3,
        tokens_out=2,
        tokens_out_reasoning=1,
        cost_cents=1.0,
    )


@pytest.mark.parametrize(
    "odd",
    [{"prompt_tokens": -1}, {"prompt_tokens": True}, {"prompt_tokens": 1e400}, {"prompt_tokens": []}, 7],
)
def test_counts_that_are_none_are_unknown_and_not_zero(odd: Any) -> None:
    assert metrics(odd) is None
