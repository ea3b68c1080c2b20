"""The line to a vendor breaks and the run is still there: the same process goes back to it, and the reader sees one
seamless answer; where the vendor's stream cannot be had again, its state is laid beside what was told.
"""

import asyncio
import json
from dataclasses import replace

import pytest

from fakes.run_stand import USER, Stand
from fakes.run_streams import events_of, lines_of, message_of, text_of
from fakes.stored_vendor import Script
from fakes.virtual_time import in_virtual_time
from motes.codec import from_wire
from motes.errors import StoreError
from motes.runs.pages import pages_of

MODELS = {"openai": "openai/m", "gemini": "gemini/gemini-3-flash-preview"}
SCRIPT = Script(
    words=tuple(f"word{n} " for n in range(20)), arguments=('{"at": ', '"sea"}'), pace=2.0, usage=(5, 9)
)


def body(house, **motes):
    return {"model": MODELS[house], "messages": USER, "stream": True, "motes": {"background": True} | motes}


async def told(home, house, script=SCRIPT, path="/v1/particles", **faults):
    stand = await Stand(home).open()
    stand.vendor.script = script
    for name, value in faults.items():
        setattr(stand.vendor, name, value)
    status, head, got = await stand.ask("POST", path, stand.owner, body(house))
    assert status == 200, got
    return stand, head[b"x-motes-run-id"].decode(), got


def whole(lines, script=SCRIPT):
    message = message_of(lines)
    assert (message.outcome, message.text) == ("completed", script.text)
    assert [json.loads(call.arguments) for call in message.tool_calls] == [{"at": "sea"}]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    return message


@pytest.mark.parametrize("house", MODELS)
@pytest.mark.parametrize("after", [3, 4, 8, 15, 24])
@in_virtual_time
async def test_a_line_that_breaks_is_mended_by_the_vendors_replay(tmp_path, house, after):
    stand, _, got = await told(tmp_path, house, cuts=[after])
    whole(lines_of(got))
    assert b"aix-retry-reset" not in got
    assert [request.method for request in stand.vendor.received][:2] == ["POST", "GET"]
    assert len(stand.vendor.runs) == 1


@in_virtual_time
async def test_a_line_that_breaks_again_and_again_is_mended_as_long_as_more_comes(tmp_path):
    _, _, got = await told(tmp_path, "openai", cuts=[4, 8, 12, 16, 20, 24])
    whole(lines_of(got))


@in_virtual_time
async def test_where_the_stream_cannot_be_had_again_the_state_is_asked_for_until_the_run_is_over(tmp_path):
    stand, _, got = await told(tmp_path, "openai", cuts=[9], breaks_replay=True)
    lines = lines_of(got)
    whole(lines)
    assert not [line for line in lines if line.get("cg") == "aix-retry-reset"]
    asked = [request.path.partition("?")[2] for request in stand.vendor.received if request.method == "GET"]
    assert [query.startswith("stream=true") for query in asked[:3]] == [True, True, False]


@in_virtual_time
async def test_a_state_that_does_not_go_on_from_what_was_told_replaces_it(tmp_path):
    stand = await Stand(tmp_path).open()
    stand.vendor.script, stand.vendor.cuts, stand.vendor.breaks_replay = SCRIPT, [9], True
    reading = asyncio.create_task(stand.ask("POST", "/v1/particles", stand.owner, body("openai")))
    await asyncio.sleep(25)
    stand.vendor.only().script = Script(words=("Another ", "answer."))
    _, _, got = await reading
    lines = lines_of(got)
    assert [line["rClearStrategy"] for line in lines if line.get("cg") == "aix-retry-reset"] == ["all"]
    message = message_of(lines)
    assert (message.outcome, message.text) == ("completed", "Another answer.")


@in_virtual_time
async def test_on_openais_wire_such_a_replacement_is_an_error_and_the_run_can_be_had_whole(tmp_path):
    stand = await Stand(tmp_path).open()
    stand.vendor.script, stand.vendor.cuts, stand.vendor.breaks_replay = SCRIPT, [9], True
    reading = asyncio.create_task(stand.ask("POST", "/v1/chat/completions", stand.owner, body("openai")))
    await asyncio.sleep(25)
    stand.vendor.only().script = Script(words=("Another ", "answer."))
    _, head, got = await reading
    *_, error, done = events_of(got)
    assert json.loads(error.split(b"data: ")[1])["error"]["motes"]["code"] == "stream_reset"
    assert done.endswith(b"data: [DONE]\n\n")
    run = head[b"x-motes-run-id"].decode()
    _, _, got = await stand.ask("GET", f"/v1/chat/completions/{run}", stand.owner)
    assert text_of(events_of(got)) == "Another answer."


@in_virtual_time
async def test_a_run_that_its_vendor_has_lost_ends_as_a_failure(tmp_path):
    stand, run, got = await told(tmp_path, "openai", cuts=[9], lifetime_s=5.0)
    lines = lines_of(got)
    assert lines[-1]["cg"] == "end"
    assert message_of(lines).outcome == "failed"
    assert lines[-2]["err"]["httpStatus"] == 404
    await stand.gateway.runs.settled()
    assert stand.store.runs[run].outcome == "failed"


@in_virtual_time
async def test_a_failed_request_that_may_have_made_a_run_is_not_sent_again(tmp_path):
    stand = await Stand(tmp_path).open()
    stand.vendor.refuses = [500, 200]
    status, _, got = await stand.ask("POST", "/v1/particles", stand.owner, body("openai"))
    assert status == 502, got
    assert len(stand.vendor.received) == 1


@in_virtual_time
async def test_a_request_that_was_turned_away_before_anything_began_is_sent_again(tmp_path):
    stand = await Stand(tmp_path).open()
    stand.vendor.refuses = [429, 503]
    status, _, got = await stand.ask("POST", "/v1/particles", stand.owner, body("openai"))
    assert (status, message_of(lines_of(got)).outcome) == (200, "completed")
    assert len(stand.vendor.runs) == 1


@pytest.mark.parametrize("after", [0, 1, "all"])
@in_virtual_time
async def test_a_run_whose_process_was_gone_just_before_it_could_say_that_it_was_over_is_over(
    tmp_path, after
):
    stand, run, got = await told(tmp_path, "openai")
    after = len(lines_of(got)) if after == "all" else after
    await stand.gateway.runs.settled()
    known = stand.store.runs[run]
    stand.store.runs[run] = replace(known, state="running", outcome=None, worker="gone", lease_until=0.0)
    _, _, rest = await stand.ask("GET", f"/v1/runs/{run}/particles?after={after}", stand.owner)
    assert lines_of(rest) == lines_of(got)[after:]
    await stand.gateway.runs.settled()
    assert (stand.store.runs[run].state, stand.store.runs[run].outcome) == ("finished", "completed")


@in_virtual_time
async def test_a_gateway_that_is_shut_down_leaves_a_run_to_the_next_one_at_once(tmp_path):
    stand = await Stand(tmp_path).open()
    stand.vendor.script = SCRIPT
    reading = asyncio.create_task(stand.ask("POST", "/v1/particles", stand.owner, body("openai")))
    await asyncio.sleep(25)
    await stand.gateway.runs.close()
    _, head, got = await reading
    lines = lines_of(got)
    assert lines[-2]["err"]["vendorCode"] == "shutdown"
    before = [line for line in lines if "seq" in line]
    run = head[b"x-motes-run-id"].decode()
    assert stand.store.runs[run].worker is None
    next_one = await stand.again()
    _, _, rest = await next_one.ask("GET", lines[-2]["err"]["details"]["resume"], stand.owner)
    whole(before + lines_of(rest))


@in_virtual_time
async def test_a_store_that_fails_ends_no_run_and_loses_no_page(tmp_path):
    stand = await Stand(tmp_path).open()
    stand.vendor.script = SCRIPT
    append, failures = stand.store.append, iter([True, False, True, True])

    async def failing(*args, **kwargs):
        if next(failures, False):
            raise StoreError("the disk is busy")
        return await append(*args, **kwargs)

    stand.store.append = failing
    _, head, got = await stand.ask("POST", "/v1/particles", stand.owner, body("openai"))
    whole(lines_of(got))
    await stand.gateway.runs.settled()
    _, _, again = await stand.ask(
        "GET", f"/v1/runs/{head[b'x-motes-run-id'].decode()}/particles", stand.owner
    )
    assert lines_of(again) == lines_of(got)


@in_virtual_time
async def test_several_readers_in_two_processes_hear_the_same(tmp_path):
    stand = await Stand(tmp_path).open()
    stand.vendor.script = SCRIPT
    other = await stand.again()
    first = asyncio.create_task(stand.ask("POST", "/v1/particles", stand.owner, body("openai")))
    await asyncio.sleep(9)
    (run,) = stand.store.runs
    path = f"/v1/runs/{run}/particles"
    readers = [one.ask("GET", path, stand.owner) for one in (stand, stand, other, other)]
    answers = await asyncio.gather(first, *readers)
    said = [lines_of(got) for _, _, got in answers]
    whole(said[0])
    assert all(lines == said[0] for lines in said)


async def test_a_run_tells_what_it_used(tmp_path):
    stand, run, _ = await told(tmp_path, "openai", script=Script())
    await stand.gateway.runs.settled()
    _, _, got = await stand.ask("GET", f"/v1/runs/{run}", stand.owner)
    usage = json.loads(got)["usage"]
    assert (usage["prompt"], usage["completion"]) == Script().usage


def torn(stand, run, got, **changes):
    """The store keeps no more of the run than its first four particles."""
    page = next(pages_of(1, [from_wire(line) for line in lines_of(got)[:4]], 10**6))
    stand.store.kept[run] = [page]
    stand.store.runs[run] = replace(stand.store.runs[run], last_seq=4, **changes)


@in_virtual_time
async def test_who_stands_where_a_journal_that_is_not_whole_ends_is_told_so(tmp_path):
    stand, run, got = await told(tmp_path, "openai")
    await stand.gateway.runs.settled()
    path = f"/v1/runs/{run}/particles?after="
    assert (await stand.ask("GET", f"{path}{len(lines_of(got))}", stand.owner))[2] == b""
    torn(stand, run, got)
    _, _, rest = await stand.ask("GET", f"{path}4", stand.owner)
    issue, end = lines_of(rest)
    assert ("run_abandoned" in str(issue), end["cg"]) == (True, "end")


@in_virtual_time
async def test_who_had_more_than_the_journal_of_a_killed_process_is_told_that_the_run_is_cut(tmp_path):
    stand, run, got = await told(tmp_path, "openai")
    await stand.gateway.runs.settled()
    torn(stand, run, got, state="running", outcome=None, worker="gone", lease_until=0.0, handle=None)
    # The journal goes on with an issue and an end, where he has two pieces of the answer, or more.
    for after in (6, 6, 5, 7, 20):
        _, _, rest = await stand.ask("GET", f"/v1/runs/{run}/particles?after={after}", stand.owner)
        *_, issue, end = lines_of(rest)
        assert ("run_abandoned" in str(issue), end["cg"]) == (True, "end")
        await stand.gateway.runs.settled()


@pytest.mark.parametrize("after", [4, 5, 6, 7, 20])
@in_virtual_time
async def test_who_had_more_chunks_than_the_journal_of_a_killed_process_is_told_so(tmp_path, after):
    stand, run, got = await told(tmp_path, "openai")
    await stand.gateway.runs.settled()
    torn(stand, run, got, state="running", outcome=None, worker="gone", lease_until=0.0, handle=None)
    path = f"/v1/chat/completions/{run}?starting_after={after}"
    # The first of them has the run taken up, and the second finds it over.
    for _ in range(2):
        status, _, rest = await stand.ask("GET", path, stand.owner)
        issue, done = events_of(rest)
        assert (status, b"run_abandoned" in issue, b"[DONE]" in done) == (200, True, True)
        await stand.gateway.runs.settled()
