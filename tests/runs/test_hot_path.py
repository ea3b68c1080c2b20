"""What runs cost those that want nothing of them: no question of the store before the last byte, but for a handle."""

import json

import pytest

from fakes.memory_runs import MemoryRuns
from fakes.run_stand import BACKGROUND, USER, Stand


class Ordered(MemoryRuns):
    """Remembers what was asked of it among what was sent."""

    def __init__(self, order):
        super().__init__()
        self.order = order

    def _note(self, name, id):
        super()._note(name, id)
        self.order.append(name)


class OrderedStand(Stand):
    """Remembers each piece that a client is sent."""

    def __init__(self, home):
        super().__init__(home)
        self.order = []
        self.store = Ordered(self.order)

    async def ask(self, method, path, key, body=None):
        return await super().ask(method, path, key, body, heard=self.order.append)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/particles"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_plain_run_asks_nothing_of_the_store_before_its_last_byte(tmp_path, path, stream):
    stand = await OrderedStand(tmp_path).open()
    body = {"model": "openai/m", "messages": USER, "stream": stream, "motes": {"dialect": "openai-responses"}}
    status, _, got = await stand.ask("POST", path, stand.owner, body)
    assert (status, bool(got)) == (200, True)
    await stand.gateway.runs.settled()
    pieces = [at for at, what in enumerate(stand.order) if isinstance(what, bytes)]
    asked = [at for at, what in enumerate(stand.order) if isinstance(what, str)]
    assert asked == [pieces[-1] + 1], "one record, after the last byte"
    (run,) = stand.store.runs.values()
    assert (run.state, run.outcome, run.due_at) == ("finished", "completed", None)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/particles"])
async def test_a_handle_is_stored_before_any_byte_tells_of_it(tmp_path, path):
    stand = await OrderedStand(tmp_path).open()
    # Without a journal: the vendor's own word makes this a run that lives on.
    body = BACKGROUND | {"motes": {"dialect": "openai-responses"}, "background": True}
    await stand.ask("POST", path, stand.owner, body)
    handle = stand.vendor.only().id.encode()
    first = next(at for at, what in enumerate(stand.order) if isinstance(what, bytes) and handle in what)
    assert "put" in stand.order[:first]
    if path == "/v1/particles":
        assert b"set-upstream-handle" in b"".join(what for what in stand.order if isinstance(what, bytes))


async def test_a_handle_that_cannot_be_stored_is_told_to_nobody(tmp_path):
    stand = await OrderedStand(tmp_path).open()

    async def put(run):
        from motes.errors import StoreError

        raise StoreError("the disk is full")

    stand.store.put = put
    body = BACKGROUND | {"motes": {"dialect": "openai-responses"}, "background": True}
    _, _, got = await stand.ask("POST", "/v1/particles", stand.owner, body)
    lines = [json.loads(line) for line in got.splitlines()]
    assert [line["code"] for line in lines if line.get("cg") == "warn"] == ["handle_not_stored"]
    assert b"set-upstream-handle" not in got
    assert lines[-1]["tokenStopReason"] == "ok"
