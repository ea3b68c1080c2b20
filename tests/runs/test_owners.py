"""A run is its owner's: to anybody else it is not there, on every route, and costs the store the same questions."""

import json
import random

import pytest

from fakes.run_stand import Stand

GUESSES = 10_000
SHARE = 20
ROUTES = [
    ("GET", "/v1/runs/{id}"),
    ("DELETE", "/v1/runs/{id}"),
    ("POST", "/v1/runs/{id}/cancel"),
    ("GET", "/v1/runs/{id}/particles"),
    ("GET", "/v1/runs/{id}/particles?mode=snapshot"),
    ("GET", "/v1/chat/completions/{id}"),
    ("GET", "/v1/chat/completions/chatcmpl-{id}"),
]


async def guessed(home, times):
    stand = await Stand(home).open()
    foreign = [await stand.run() for _ in range(5)]
    rng = random.Random("guesses")
    answers = set()
    for n in range(times):
        made = f"{rng.randrange(1 << 96):024x}"
        odd = rng.choice([made, made[:7], made.upper(), "0", "..", "x" * 500, f"{made}%00"])
        id = rng.choice([made, odd, rng.choice(foreign)])
        method, route = ROUTES[n % len(ROUTES)]
        status, _, got = await stand.ask(method, route.format(id=id), stand.stranger)
        answers.add((status, json.loads(got)["error"]["code"]))
    assert answers <= {(404, "run_not_found"), (404, "unknown_url")}
    for id in foreign:
        assert (await stand.ask("GET", f"/v1/runs/{id}", stand.owner))[0] == 200
    assert await listed(stand, stand.stranger) == set()
    assert await listed(stand, stand.owner) == set(foreign)


async def listed(stand, key):
    _, _, got = await stand.ask("GET", "/v1/runs", key)
    return {run["id"] for run in json.loads(got)["data"]}


async def test_guessed_and_foreign_ids_are_not_there_on_any_route(tmp_path):
    await guessed(tmp_path, GUESSES // SHARE)


@pytest.mark.soak
async def test_ten_thousand_guessed_and_foreign_ids_are_not_there(tmp_path):
    await guessed(tmp_path, GUESSES)


@pytest.mark.parametrize(("method", "route"), ROUTES)
async def test_a_foreign_id_costs_the_store_what_a_missing_one_does(tmp_path, method, route):
    stand = await Stand(tmp_path).open()
    foreign, missing = await stand.run(), "f" * 24
    await stand.gateway.runs.settled()
    asked = {}
    for id in (foreign, missing):
        stand.store.log.clear()
        status, _, got = await stand.ask(method, route.format(id=id), stand.stranger)
        asked[id] = [name for name, _ in stand.store.log]
        assert status == 404
        assert got.replace(id.encode(), b"id")
    assert asked[foreign] == asked[missing] != []
