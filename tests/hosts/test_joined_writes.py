"""What begins an answer goes out at once with all that is written in the same turn, and nothing is lost."""

import asyncio

from motes.hosts.joined_writes import JoinedWrites


class Recorder(asyncio.Transport):
    """Remembers each call of the kernel that a transport would make."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def write(self, data):
        self.calls.append(bytes(data))

    def writelines(self, parts):
        self.calls.append(b"".join(parts))

    def close(self):
        self.calls.append(None)

    def is_closing(self):
        return None in self.calls


async def test_what_is_written_in_the_turn_of_the_head_is_one_call_and_what_follows_is_not_held():
    recorder = Recorder()
    joined = JoinedWrites(recorder)
    joined.join()
    for piece in (b"head", b"first", b"second"):
        joined.write(piece)
    assert recorder.calls == []
    await asyncio.sleep(0)
    assert recorder.calls == [b"headfirstsecond"]
    joined.write(b"third")
    assert recorder.calls == [b"headfirstsecond", b"third"]


async def test_whoever_writes_often_is_held_and_let_go_with_all_others():
    recorder = Recorder()
    joined = JoinedWrites(recorder)
    outlet = joined.outlet
    outlet.write(b"before")
    joined.join()
    joined.write(b"head")
    outlet.write(b"piece")
    assert recorder.calls == [b"before"]
    await asyncio.sleep(0)
    outlet.write(b"another")
    assert recorder.calls == [b"before", b"headpiece", b"another"]


async def test_without_a_head_nothing_is_held():
    recorder = Recorder()
    JoinedWrites(recorder).write(b"431")
    assert recorder.calls == [b"431"]


async def test_what_was_written_is_sent_before_the_connection_is_closed():
    recorder = Recorder()
    joined = JoinedWrites(recorder)
    joined.join()
    joined.write(b"head")
    joined.close()
    assert recorder.calls == [b"head", None]
    await asyncio.sleep(0)
    assert recorder.calls == [b"head", None]


async def test_for_a_client_that_has_left_nothing_waits_for_a_transport_that_is_gone_by_then():
    recorder = Recorder()
    joined = JoinedWrites(recorder)
    joined.join()
    recorder.close()
    joined.write(b"head")
    assert recorder.calls == [None, b"head"]
    await asyncio.sleep(0)
    assert recorder.calls == [None, b"head"]


async def test_what_is_not_about_writing_is_the_transports_own():
    recorder = Recorder()
    recorder.is_closing = lambda: True
    assert JoinedWrites(recorder).is_closing()
