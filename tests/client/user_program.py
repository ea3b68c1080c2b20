"""A user's program that names everything there is, with the types that he may rely on. NOT meant to be executed:
a test has it checked by mypy, strictly.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_type

from motes import particles as p
from motes.chat import ChatRequest
from motes.client import (
    AsyncClient,
    Client,
    Fragment,
    GatewayError,
    Message,
    Model,
    Patience,
    ReasoningFragment,
    Request,
    RunFailed,
    Scatter,
    Stream,
    SyncStream,
    TextFragment,
    ToolCallFragment,
)
from motes.errors import VendorError
from motes.fragments import OperationTree, Source

ASKED: list[Request] = [
    "What is a mote?",
    [{"role": "user", "content": "What is a mote?"}],
    {"model": "a/b", "messages": [{"role": "user", "content": "x"}], "temperature": 0.5},
    ChatRequest.model_validate({"messages": [{"role": "user", "content": "x"}]}),
]


async def runs(client: AsyncClient) -> None:
    message = await client.generate(ASKED[0], model="a/b", resumable=True, restart="unseen")
    assert_type(message, Message)
    stream = client.stream(ASKED[1], model="a/b", resumable=True, restart="always")
    assert_type(stream, Stream)
    async with stream as entered:
        assert_type(entered, Stream)
        async for particle in entered:
            assert_type(particle, p.Particle)
            if isinstance(particle, p.Text):
                assert_type(particle.text, str)
        assert_type(await entered.result(), Message)
        assert_type(await entered.abort(), Message)
        assert_type(entered.run_id, str | None)
        assert_type(entered.is_over, bool)
        entered.check()
    async for text in client.stream(ASKED[2]).text:
        assert_type(text, str)
    async for fragment in client.stream(ASKED[3]).fragments:
        assert_type(fragment, Fragment)
        if isinstance(fragment, TextFragment | ReasoningFragment):
            assert_type(fragment.text, str)
        elif isinstance(fragment, ToolCallFragment):
            assert_type(fragment.complete, bool)
    assert_type(client.resume("id", after=3), Stream)
    await client.cancel("id")
    assert_type(await client.delete("id"), bool)
    assert_type(await client.models(), list[Model])


async def several(client: AsyncClient) -> None:
    scatter = client.scatter("x", ["a/b", "c/d"], resumable=False, restart="never")
    assert_type(scatter, Scatter)
    async with scatter:
        async for index, particle in scatter:
            assert_type(index, int)
            assert_type(particle, p.Particle)
    assert_type(scatter.messages, list[Message])
    assert_type(await scatter.result(), list[Message])


def facts(message: Message) -> None:
    assert_type(message.outcome, Literal["completed", "aborted", "failed"] | None)
    assert_type(message.text, str)
    assert_type(message.reasoning, str)
    assert_type(message.tool_calls, list[ToolCallFragment])
    assert_type(message.sources, list[Source])
    assert_type(message.operations, list[OperationTree])
    assert_type(message.error, VendorError | None)
    assert_type(message.cost, p.Cost | None)
    assert_type(message.metrics, p.Metrics | None)
    assert_type(message.handle, p.UpstreamHandle | None)
    assert_type(message.vendor_state, dict[str, Mapping[str, Any]])


async def everything() -> None:
    patience = Patience(idle_s=60, attempts=5, base=1, cap=20, jitter=0.5)
    async with AsyncClient("http://x", "k", model="a/b", aliases={"q": "a/b"}, patience=patience) as client:
        await runs(client)
        await several(client)
    async with AsyncClient(direct=True) as client:
        facts(await client.generate("x"))
    try:
        await client.models()
    except GatewayError as error:
        assert_type(error.error, VendorError)
    except RunFailed as failed:
        assert_type(failed.answer, Message)
        assert_type(failed.error, VendorError | None)


def blocking(messages: Sequence[Mapping[str, Any]]) -> None:
    with Client("http://x", "k", model="a/b") as client:
        assert_type(client.generate(messages), Message)
        with client.stream(messages, resumable=True) as stream:
            assert_type(stream, SyncStream)
            for particle in stream:
                assert_type(particle, p.Particle)
            assert_type(stream.message, Message)
            assert_type(stream.result(), Message)
        for text in client.stream("x").text:
            assert_type(text, str)
        for fragment in client.stream("x").fragments:
            assert_type(fragment, Fragment)
        assert_type(client.models(), list[Model])
        assert_type(client.delete("id"), bool)
        client.cancel("id")
        assert_type(client.resume("id"), SyncStream)
