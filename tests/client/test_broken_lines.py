"""Lines that break at any moment: the message is right, or says that it is not, and nothing is told twice."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest

from fakes.particle_gateway import ENDINGS, Ending, Line, ParticleGateway, Run
from motes import particles as p
from motes.client import AsyncClient, Message, Patience, Restart, RunFailed, Stream

OK = p.End("done-dialect", "ok")
# A loop that is held up for a moment (a collection over the whole test run is enough) is no silence.
QUICK = Patience(idle_s=1.0, attempts=3, base=0.0, cap=0.0)
FAULTS = 1000
SMALL = FAULTS // 20


def answer(words: int) -> list[p.Particle]:
    """An answer of numbered words, so that a word that is told twice or left out shows."""
    said: list[p.Particle] = [p.ModelName("m"), p.Metrics(tokens_in=5)]
    for number in range(words):
        said.append(p.Text(f"w{number} "))
        if number % 9 == 4:
            said.append(p.Operation(f"op{number}", "Searching", "search-web", "done"))
    return [*said, p.ToolCall("c", "f", "{}"), p.Metrics(tokens_in=5, tokens_out=words), OK]


def text_of(particles: list[p.Particle]) -> str:
    return "".join(one.text for one in particles if isinstance(one, p.Text))


async def slowly(stream: Stream, texts: list[str]) -> None:
    async for text in stream.text:
        texts.append(text)
        await asyncio.sleep(0.01)


async def came_so_far(stream: Stream, text: str) -> None:
    async with asyncio.timeout(10):
        while stream.message.text != text:  # noqa: ASYNC110 (nobody else looks at the message)
            await asyncio.sleep(0.001)


@pytest.fixture
async def gateway() -> AsyncIterator[ParticleGateway]:
    async with ParticleGateway().listening() as running:
        yield running


@pytest.fixture
async def client(gateway: ParticleGateway) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(gateway.base_url, "k", patience=QUICK) as opened:
        yield opened


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("particles", [0, 1, 6, 13])
async def test_a_run_that_is_kept_is_read_to_its_end_however_its_lines_end(
    gateway: ParticleGateway, client: AsyncClient, ending: Ending, particles: int
) -> None:
    run = gateway.runs["r"] = Run(answer(10), [Line(2, "close"), Line(particles, ending), Line(1, "half")])
    stream = client.stream("Hi", model="r", resumable=True)
    came = [one async for one in stream]
    assert (stream.message.outcome, stream.message.error) == ("completed", None)
    assert stream.message.text == text_of(came) == text_of(answer(10))
    assert [one for one in came if isinstance(one, p.End)] == [OK]
    assert not [one for one in came if isinstance(one, p.Issue)]
    assert run.begun == 1
    assert stream.run_id == "r"
    assert gateway.bodies[0]["motes"] == {"resumable": True}


@pytest.mark.parametrize("ending", ["close", "half", "reset", "stall"])
async def test_a_line_that_ends_before_its_first_word_is_joined_where_the_run_is_known(
    gateway: ParticleGateway, client: AsyncClient, ending: Ending
) -> None:
    run = gateway.runs["r"] = Run(answer(3), [Line(0, ending)])
    message = await client.generate("Hi", model="r", resumable=True)
    assert (message.outcome, message.text, run.begun) == ("completed", text_of(answer(3)), 1)


@pytest.mark.parametrize("ending", ["close", "half", "stall"])
@pytest.mark.parametrize("particles", [0, 2, 5, 9])
async def test_a_run_that_is_not_kept_fails_with_all_that_came(
    gateway: ParticleGateway, client: AsyncClient, ending: Ending, particles: int
) -> None:
    run = gateway.runs["r"] = Run(answer(10), [Line(particles, ending)], is_kept=False)
    message = await client.generate("Hi", model="r")
    assert message.outcome == "failed"
    assert message.error is not None
    assert message.error.code == ("idle_timeout" if ending == "stall" else "connection_lost")
    assert message.text == gateway.text_of(run)
    assert run.asked == ["POST 0"]


async def test_a_gateway_that_is_busy_is_asked_again_since_nothing_has_begun(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    run = gateway.runs["r"] = Run(answer(3), [Line(0, "busy"), Line(0, "html")], is_kept=False)
    came = [one async for one in client.stream("Hi", model="r")]
    resets = [
        (one.scope, one.clear, one.attempt, one.cause_http) for one in came if isinstance(one, p.RetryReset)
    ]
    assert resets == [("cli-ll", "none", 1, 503), ("cli-ll", "none", 2, 502)]
    assert text_of(came) == text_of(answer(3))
    assert run.begun == 1


async def test_a_gateway_that_stays_busy_is_asked_so_often_and_no_more(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    run = gateway.runs["r"] = Run(answer(3), [Line(0, "busy")] * 9, is_kept=False)
    message = await client.generate("Hi", model="r")
    assert message.error is not None
    assert (message.error.kind, message.error.http_status) == ("overloaded", 503)
    assert len(run.asked) == 1 + QUICK.attempts


async def test_where_nobody_knows_whether_a_run_has_begun_it_is_not_begun_twice(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    run = gateway.runs["r"] = Run(answer(3), [Line(0, "refuse")])
    message = await client.generate("Hi", model="r", resumable=True)
    assert (message.outcome, run.asked) == ("failed", ["POST 0"])


async def test_a_gateway_that_is_not_there_is_told_as_such() -> None:
    async with AsyncClient("http://me:very-secret@127.0.0.1:9", "k", patience=QUICK) as client:
        stream = client.stream("Hi", model="r")
        came = [one async for one in stream]
        assert sum(isinstance(one, p.RetryReset) for one in came) == QUICK.attempts
        assert stream.message.error is not None
        assert stream.message.error.code == "gateway_unreachable"
        # Whoever reads it knows where to look, and nothing that he should not.
        assert "the gateway at http://127.0.0.1:9 could not be reached" in stream.message.error.message
        assert "very-secret" not in repr(stream.message)


async def test_a_restart_is_allowed_by_the_caller_and_voids_what_he_has(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    run = gateway.runs["r"] = Run(answer(10), [Line(6, "close")], is_kept=False)
    stream = client.stream("Hi", model="r", restart="always")
    came = [one async for one in stream]
    (at,) = [n for n, one in enumerate(came) if isinstance(one, p.RetryReset)]
    assert came[at] == p.RetryReset("cli-ll", "all", came[at].reason, 1, 3, 0, None, "connection_lost")  # type: ignore[union-attr]
    assert text_of(came[at:]) == stream.message.text == text_of(answer(10))
    assert run.begun == 2


async def test_a_restart_while_nothing_was_seen_is_not_done_once_something_was(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    run = gateway.runs["r"] = Run(answer(10), [Line(2, "close"), Line(6, "close")], is_kept=False)
    stream = client.stream("Hi", model="r", restart="unseen")
    texts: list[str] = []
    with pytest.raises(RunFailed) as failed:
        await slowly(stream, texts)
    assert "".join(texts) == failed.value.answer.text == gateway.text_of(run)
    assert run.begun == 2


async def test_a_reader_of_text_never_gets_a_second_answer_for_the_rest_of_the_first(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    gateway.runs["r"] = Run(answer(10), [Line(6, "close")], is_kept=False)
    texts: list[str] = []
    with pytest.raises(RunFailed):
        await slowly(client.stream("Hi", model="r", restart="always"), texts)
    assert "".join(texts) == "w0 w1 w2 w3 "


async def test_a_run_that_was_forgotten_fails_with_what_came_and_says_both_reasons(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    run = gateway.runs["r"] = Run(answer(10), [Line(6, "forget")])
    message = await client.generate("Hi", model="r", resumable=True)
    assert message.error is not None
    assert (message.outcome, message.error.code) == ("failed", "connection_lost")
    assert "no such run" in message.error.message
    assert message.text == gateway.text_of(run) == "w0 w1 w2 w3 "
    assert run.asked == ["POST 0", "GET 6"]


async def test_the_gateways_deadline_hands_the_run_on_and_the_reader_never_sees_it(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    run = gateway.runs["r"] = Run(answer(12), [Line(4, "deadline"), Line(0, "deadline"), Line(3, "deadline")])
    came = [one async for one in client.stream("Hi", model="r", resumable=True)]
    assert not [one for one in came if isinstance(one, p.Issue)]
    assert text_of(came) == text_of(answer(12))
    assert run.asked == ["POST 0", "GET 4", "GET 4", "GET 7"]


async def test_a_deadline_without_a_run_that_lives_on_is_the_gateways_own_last_word(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    gateway.runs["r"] = Run(answer(12), [Line(4, "deadline")], is_kept=False)
    message = await client.generate("Hi", model="r")
    assert message.error is not None
    assert (message.outcome, message.error.code) == ("failed", "platform_deadline")


async def test_a_run_is_joined_by_its_name(gateway: ParticleGateway, client: AsyncClient) -> None:
    gateway.runs["r"] = Run(answer(5), [Line(3, "reset")])
    whole = await client.resume("r").result()
    assert (whole.outcome, whole.text) == ("completed", text_of(answer(5)))
    rest = [one async for one in client.resume("r", after=4)]
    assert rest[0] == p.Text("w2 ")
    gone = gateway.runs["r"] = Run(answer(5), is_kept=False)
    message = await client.resume("r").result()
    assert message.error is not None
    assert (message.error.http_status, gone.asked) == (404, ["GET 0"])


async def test_an_abort_keeps_what_came_and_marks_it(gateway: ParticleGateway, client: AsyncClient) -> None:
    run = gateway.runs["r"] = Run(answer(10), [Line(6, "stall")])
    async with client.stream("Hi", model="r", resumable=True) as stream:
        await came_so_far(stream, "w0 w1 w2 w3 ")
        message = await stream.abort()
        assert (message.outcome, message.text) == ("aborted", gateway.text_of(run))
        came = [one async for one in stream]
        assert came[-1] == p.End("done-dispatch-aborted")
        assert text_of(came) == message.text
    assert stream.message.outcome == "aborted"


async def test_a_cancelled_reader_leaves_a_message_that_says_so(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    gateway.runs["r"] = Run(answer(10), [Line(6, "stall")])
    stream = client.stream("Hi", model="r", resumable=True)

    async def read() -> None:
        async for _ in stream.text:
            pass

    task = asyncio.create_task(read())
    await came_so_far(stream, "w0 w1 w2 w3 ")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (stream.message.outcome, stream.message.text) == ("aborted", "w0 w1 w2 w3 ")


def lines_of(dice: Random, size: int) -> list[Line]:
    return [Line(dice.randrange(size + 2), dice.choice(ENDINGS)) for _ in range(dice.randrange(4))]


async def one_run(gateway: ParticleGateway, client: AsyncClient, seed: int) -> None:
    """A run with faults at random moments; what must hold whatever they are."""
    dice = Random(seed)
    words = dice.randrange(1, 40)
    whole = answer(words)
    run = gateway.runs[f"r{seed}"] = Run(whole, lines_of(dice, len(whole)), is_kept=dice.random() < 0.7)
    lossless = all(line.ending != "reset" for line in run.lines)
    restart: Restart = dice.choice(["never", "never", "unseen", "always"])
    stream = client.stream("Hi", model=f"r{seed}", resumable=True, restart=restart)
    came = [one async for one in stream]
    check(stream.message, came, whole)
    if stream.message.outcome == "failed" and lossless:
        assert stream.message.text == gateway.text_of(run)


def check(message: Message, came: list[p.Particle], whole: list[p.Particle]) -> None:
    assert [type(one) for one in came].count(p.End) == 1
    assert isinstance(came[-1], p.End)
    voided = [n for n, one in enumerate(came) if isinstance(one, p.RetryReset) and one.clear == "all"]
    assert text_of(came[voided[-1] if voided else 0 :]) == message.text
    assert text_of(whole).startswith(message.text)
    operations = [tree.operation.id for tree in message.operations]
    assert len(operations) == len(set(operations))
    if message.outcome == "completed":
        assert message.text == text_of(whole)
        assert [call.arguments for call in message.tool_calls] == ["{}"]
    else:
        assert message.outcome == "failed"
        assert message.error is not None


async def many_runs(gateway: ParticleGateway, client: AsyncClient, seeds: range) -> None:
    outcomes = [one_run(gateway, client, seed) for seed in seeds]
    for at in range(0, len(outcomes), 20):
        await asyncio.gather(*outcomes[at : at + 20])


async def test_faults_at_random_moments_leave_a_right_message_or_one_that_says_it_is_not(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    await many_runs(gateway, client, range(SMALL))


@pytest.mark.soak
async def test_faults_at_random_moments_a_thousand_times(
    gateway: ParticleGateway, client: AsyncClient
) -> None:
    await many_runs(gateway, client, range(FAULTS))
