"""Stopping a run from anywhere: what came is kept and marked, the vendor stops, and nothing is billed after."""

import json
import threading
import time

import pytest

from fakes.run_streams import events_of, lines_of, message_of, text_of
from fakes.stored_vendor import Script

USER = [{"role": "user", "content": "Hi"}]
BACKGROUND = {"motes": {"background": True}}
FORMS = {
    ("openai", "background"): BACKGROUND,
    ("gemini", "background"): BACKGROUND,
    ("openai", "plain"): {"motes": {"dialect": "openai-responses"}},
    ("gemini", "plain"): {"motes": {"dialect": "gemini-interactions"}},
}
MODELS = {"openai": "openai/m", "gemini": "gemini/gemini-3-flash-preview"}
ENDLESS = Script(words=tuple(f"word{n} " for n in range(4000)), pace=0.02)
PATIENCE = 2.0


def body(house, **members):
    return {"model": MODELS[house], "messages": USER, "stream": True} | members


class Reader(threading.Thread):
    """Reads a stream to its end, in a thread of its own."""

    def __init__(self, caller, path, request, *, leaves_after=None):
        super().__init__(daemon=True)
        self.caller, self.path, self.request, self.leaves_after = caller, path, request, leaves_after
        self.got, self.run_id, self.begun = b"", None, threading.Event()
        self.start()

    def run(self):
        with self.caller.stream("POST", self.path, json=self.request) as response:
            self.run_id = response.headers["x-motes-run-id"]
            for chunk in response.iter_raw():
                self.got += chunk
                if b"word2 " in self.got:
                    self.begun.set()
                if self.leaves_after and self.leaves_after in self.got:
                    return

    def wait(self):
        assert self.begun.wait(10)
        return self


@pytest.mark.parametrize("house", MODELS)
@pytest.mark.parametrize("form", ["background", "plain"])
def test_a_run_cancelled_from_another_process_stops_upstream_and_keeps_what_came(
    here, there, vendor, house, form
):
    vendor.script = ENDLESS
    reader = Reader(here, "/particles", body(house, **FORMS[house, form])).wait()
    time.sleep(1.0)  # A plain run has its record after a second.
    asked = time.monotonic()
    told = there.post(f"/runs/{reader.run_id}/cancel")
    assert told.status_code == 200, told.text
    assert told.json()["cancelled"]
    reader.join(10)
    assert time.monotonic() - asked < PATIENCE
    lines = lines_of(reader.got)
    assert (lines[-2]["err"]["vendorCode"], lines[-1]["terminationReason"]) == (
        "cancelled",
        "done-dispatch-aborted",
    )
    message = message_of(lines)
    assert message.outcome == "aborted"
    assert ENDLESS.text.startswith(message.text)
    assert message.text
    vendor.wait_for(lambda: vendor.only().state == "cancelled")
    if form == "background":
        kept = lines_of(there.get(f"/runs/{reader.run_id}/particles").content)
        assert kept == lines
        assert there.get(f"/runs/{reader.run_id}").json()["outcome"] == "cancelled"


def test_on_openais_wire_a_cancelled_run_ends_with_an_error_that_says_so(here, there, vendor):
    vendor.script = ENDLESS
    reader = Reader(here, "/chat/completions", body("openai", **BACKGROUND)).wait()
    here.post(f"/runs/{reader.run_id}/cancel")
    reader.join(10)
    *before, error, done = events_of(reader.got)
    assert json.loads(error.split(b"data: ")[1])["error"]["code"] == "cancelled"
    assert done.endswith(b"data: [DONE]\n\n")
    assert ENDLESS.text.startswith(text_of(before))


def cancelled_at_once(here, there, vendor, count):
    """Seconds from asking until the vendor had stopped, for each of so many live runs."""
    vendor.script = Script(words=ENDLESS.words, pace=0.25)
    houses = [*MODELS]
    readers = [Reader(here, "/particles", body(houses[n % 2], **BACKGROUND)) for n in range(count)]
    for reader in readers:
        reader.wait()
    by_id = {run.id: run for run in vendor.runs.values()}
    waits = []
    for reader in readers:
        handle = next(line["handle"]["runId"] for line in lines_of(reader.got) if "handle" in line)
        asked = time.monotonic()
        assert there.post(f"/runs/{reader.run_id}/cancel").status_code == 200
        waits.append((by_id[handle], asked))
    for reader in readers:
        reader.join(20)
    vendor.wait_for(lambda: all(run.cancelled_at for run, _ in waits))
    events = {run.id: len(run.events) for run, _ in waits}
    time.sleep(0.5)
    assert {run.id: len(run.events) for run, _ in waits} == events, "something was made after the end"
    return sorted(run.cancelled_at - asked for run, asked in waits)


def test_live_runs_are_stopped_within_two_seconds_from_another_process(here, there, vendor):
    waits = cancelled_at_once(here, there, vendor, 5)
    assert waits[-1] < PATIENCE


@pytest.mark.soak
def test_a_hundred_live_runs_are_stopped_within_two_seconds_each(here, there, vendor, capsys):
    waits = cancelled_at_once(here, there, vendor, 100)
    with capsys.disabled():
        print(f"\n100 cancelled: p50 {waits[50]:.2f} s, p95 {waits[95]:.2f} s, worst {waits[-1]:.2f} s")  # noqa: T201
    assert waits[-1] < PATIENCE


@pytest.mark.parametrize("house", MODELS)
def test_a_run_that_is_deleted_is_gone_at_the_vendor_and_here(here, there, vendor, house):
    vendor.script = ENDLESS
    reader = Reader(here, "/particles", body(house, **BACKGROUND)).wait()
    told = there.delete(f"/runs/{reader.run_id}")
    assert (told.status_code, told.json()["deleted"]) == (200, True), told.text
    assert vendor.only().deleted
    assert vendor.only().cancelled_at is not None
    for path in ("", "/particles"):
        assert there.get(f"/runs/{reader.run_id}{path}").status_code == 404
    assert there.get(f"/chat/completions/{reader.run_id}").status_code == 404
    reader.join(10)


def leaving(here, house, policy):
    members = {"motes": {"background": True} | policy}
    reader = Reader(here, "/particles", body(house, **members), leaves_after=b"word2 ")
    reader.join(10)
    return reader


def test_a_run_whose_reader_leaves_goes_on_unless_it_is_to_be_cancelled(here, vendor):
    vendor.script = Script(words=ENDLESS.words[:60], pace=0.02)
    left = leaving(here, "openai", {})
    told = lines_of(here.get(f"/runs/{left.run_id}/particles").content)
    assert message_of(told).text == vendor.script.text


def test_a_run_that_is_cancelled_when_its_reader_leaves_stops_upstream(here, vendor):
    vendor.script = ENDLESS
    leaving(here, "openai", {"on_disconnect": "cancel"})
    vendor.wait_for(lambda: vendor.only().state == "cancelled", 3)


def test_a_run_that_may_go_on_for_a_second_stops_then(here, vendor):
    vendor.script = ENDLESS
    leaving(here, "openai", {"on_disconnect": "detach:1"})
    left = time.monotonic()
    vendor.wait_for(lambda: vendor.only().state == "cancelled", 4)
    assert time.monotonic() - left > 0.8


def test_a_word_for_leaving_that_is_none_is_refused_with_its_place(here, vendor):
    request = body("openai", motes={"on_disconnect": "wait"})
    error = here.post("/chat/completions", json=request).json()["error"]
    assert error["param"] == "motes.on_disconnect"


def test_a_vendor_without_runs_in_background_says_what_to_do_instead(here, vendor):
    request = {"model": "anthropic/claude-x", "messages": USER, "motes": {"background": True}}
    response = here.post("/chat/completions", json=request)
    assert response.status_code == 400
    assert "motes.resumable" in response.json()["error"]["message"]
