"""The client of a gateway, over a socket: messages, text, fragments, models, several at once."""

import asyncio
from collections.abc import Mapping

import pytest

from client.conftest import KEY
from motes import particles as p
from motes.chat import ChatRequest
from motes.client import AsyncClient, Client, Request, RunFailed, TextFragment
from motes.errors import InvalidRequest, Unauthenticated

ASK = "What is a mote?"


async def test_text_is_one_line(gateway: str) -> None:
    async with AsyncClient(gateway, KEY, model="demo/hello") as client:
        assert "".join([text async for text in client.stream(ASK).text]).startswith("You asked:")


async def test_the_message_is_what_its_particles_add_up_to(gateway: str) -> None:
    async with AsyncClient(gateway, KEY) as client, client.stream(ASK, model="demo/hello") as stream:
        assert stream.message.outcome is None
        particles = [particle async for particle in stream]
        assert [type(one) for one in particles if isinstance(one, p.End)] == [p.End]
        assert isinstance(particles[-1], p.End)
        assert stream.message.text == "".join(one.text for one in particles if isinstance(one, p.Text))
        assert stream.message.outcome == "completed"


async def test_fragments_come_whole_and_in_order(gateway: str) -> None:
    async with AsyncClient(gateway, KEY, model="demo-anthropic/hello") as client:
        stream = client.stream(ASK)
        fragments = [fragment async for fragment in stream.fragments]
        assert fragments == stream.message.fragments
        assert sum(isinstance(fragment, TextFragment) for fragment in fragments) >= 1


async def test_a_base_url_is_taken_with_and_without_its_version(gateway: str) -> None:
    async with AsyncClient(gateway.removesuffix("/v1") + "/", KEY) as client:
        assert "demo/hello" in [model.id for model in await client.models()]


async def test_names_of_my_own_stand_for_models(gateway: str) -> None:
    async with AsyncClient(gateway, KEY, aliases={"quick": "demo/hello"}) as client:
        assert (
            await client.generate({"model": "quick", "messages": [{"role": "user", "content": "x"}]})
        ).text


@pytest.mark.parametrize(("model", "kind"), [("demo/cut", "stream_truncated"), ("demo/error", "overloaded")])
async def test_a_failure_keeps_what_came_and_says_why(gateway: str, model: str, kind: str) -> None:
    async with AsyncClient(gateway, KEY, model=model) as client:
        message = await client.generate(ASK)
        assert message.outcome == "failed"
        assert message.text
        assert message.error is not None
        assert message.error.kind == kind
        with pytest.raises(RunFailed) as failed:
            async for _ in client.stream(ASK).text:
                pass
        assert failed.value.answer.text == message.text
        assert failed.value.error is not None


async def test_a_wrong_key_is_told_and_never_tried_again(gateway: str) -> None:
    async with AsyncClient(gateway, "wrong", model="demo/hello") as client:
        message = await client.generate(ASK)
        assert message.error is not None
        assert (message.outcome, message.error.kind) == ("failed", "authentication")
        assert message.error.http_status == 401
        with pytest.raises(Unauthenticated):
            await client.models()


async def test_several_models_answer_at_once_and_one_that_fails_disturbs_nobody(gateway: str) -> None:
    models = ["demo/hello", "demo/cut", "nobody/nothing", "demo-gemini/hello"]
    async with AsyncClient(gateway, KEY) as client:
        scatter = client.scatter(ASK, models)
        ends = [index async for index, particle in scatter if isinstance(particle, p.End)]
        assert sorted(ends) == [0, 1, 2, 3]
        outcomes = [message.outcome for message in scatter.messages]
        assert outcomes == ["completed", "failed", "failed", "completed"]


def test_the_same_without_a_loop_of_ones_own(gateway: str) -> None:
    with Client(gateway, KEY, model="demo/hello") as client:
        assert client.generate(ASK).outcome == "completed"
        assert "".join(client.stream(ASK).text).startswith("You asked:")
        with client.stream(ASK) as stream:
            assert isinstance(list(stream)[-1], p.End)
            assert stream.message.outcome == "completed"


async def test_the_vendors_are_asked_directly_where_there_is_no_gateway(
    vendor: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", vendor["demo"])
    monkeypatch.setenv("OPENAI_API_KEY", "sk-demo")
    async with AsyncClient(direct=True, model="openai/hello") as client:
        message = await client.generate(ASK)
        assert message.outcome == "completed"
        assert message.text.startswith("You asked:")


async def test_a_reader_that_leaves_marks_the_message(gateway: str) -> None:
    async with AsyncClient(gateway, KEY, model="demo/hello") as client:
        async with client.stream(ASK) as stream:
            async for particle in stream:
                if isinstance(particle, p.Text):
                    break
            await asyncio.sleep(0)
        assert stream.message.outcome in ("aborted", "completed")
        assert stream.message.text


async def test_a_request_is_a_text_messages_a_mapping_or_one_that_was_checked(gateway: str) -> None:
    said = [{"role": "user", "content": ASK}]
    requests: list[Request] = [ASK, said, {"messages": said}, ChatRequest.model_validate({"messages": said})]
    async with AsyncClient(gateway, KEY, model="demo/hello") as client:
        texts = {(await client.generate(request)).text for request in requests}
        assert len(texts) == 1
        with pytest.raises(InvalidRequest):
            client.stream(5)  # type: ignore[arg-type]
