"""A run that was asked for as one that can be joined again: its record, journal, and the way back to it."""

import time

import pytest

from fakes.run_streams import events_of, lines_of, message_of, position_after, text_of
from fakes.stored_vendor import Script

USER = [{"role": "user", "content": "Hi"}]
OPENAI = {"model": "openai/m", "messages": USER, "stream": True}
GEMINI = {"model": "gemini/gemini-3-flash-preview", "messages": USER, "stream": True}
LONG = Script(words=tuple(f"word{n} " for n in range(60)), pace=0.02)
BACKGROUND = {"motes": {"background": True}}
HOUSES = [pytest.param(OPENAI | BACKGROUND, id="openai"), pytest.param(GEMINI | BACKGROUND, id="gemini")]


def taken(caller, path, body, until):
    """What came until there was enough of it; then the client leaves."""
    got = b""
    with caller.stream("POST", path, json=body) as response:
        assert response.status_code == 200, response.read()
        run = response.headers["x-motes-run-id"]
        for chunk in response.iter_raw():
            got += chunk
            if until(got):
                break
    return run, got


def whole(caller, path):
    response = caller.get(path, timeout=30)
    assert response.status_code == 200, response.text
    return response.content


@pytest.mark.parametrize("body", HOUSES)
def test_a_reader_that_was_cut_off_goes_on_in_another_process(here, there, vendor, body):
    vendor.script = LONG
    run, head = taken(here, "/chat/completions", body, lambda got: b"word9 " in got)
    before = events_of(head)
    rest = events_of(whole(there, f"/chat/completions/{run}?starting_after={position_after(before)}"))
    assert text_of(before + rest) == LONG.text
    again = events_of(whole(there, f"/chat/completions/{run}"))
    assert again == before + rest
    assert again[-1].endswith(b"data: [DONE]\n\n")


def test_a_place_that_a_run_never_came_to_is_refused_and_not_followed_by_nothing(here, there, vendor):
    vendor.script = LONG
    run, _ = taken(here, "/particles", OPENAI | BACKGROUND, lambda got: b"word9 " in got)
    paths = [f"/runs/{run}/particles?after=9999", f"/chat/completions/{run}?starting_after=9999"]
    live = [here.get(path) for path in paths]
    last = len(lines_of(whole(there, f"/runs/{run}/particles")))
    for _ in range(100):
        if there.get(f"/runs/{run}").json()["state"] == "finished":
            break
        time.sleep(0.05)
    over = [there.get(path) for path in paths]
    assert [answer.status_code for answer in live + over] == [400] * 4
    assert f"ends at {last}" in over[0].json()["error"]["message"]
    # Who has all of it is told nothing more.
    assert whole(there, f"/runs/{run}/particles?after={last}") == b""


@pytest.mark.parametrize("body", HOUSES)
def test_the_vendors_copy_goes_once_the_answer_is_whole(here, vendor, body):
    run, _ = taken(here, "/particles", body, lambda got: False)
    vendor.wait_for(lambda: vendor.only().deleted)
    for _ in range(100):
        told = here.get(f"/runs/{run}").json()
        if told["state"] == "finished" and "handle_type" not in told:
            break
        time.sleep(0.05)
    assert (told["state"], told["outcome"]) == ("finished", "completed")
    assert "handle_type" not in told
    assert message_of(lines_of(whole(here, f"/runs/{run}/particles"))).text == Script().text
