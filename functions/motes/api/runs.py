"""Runs by their ids: what became of them, what they say, and their end.

Must never show a run to anybody but its owner: whatever is asked of a foreign id is answered with the same
404 as for one that never was.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Final, TypeAlias, get_args

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from motes import jsontext
from motes import particles as p
from motes.api.auth import VENDOR_KEY, admit, confirm
from motes.api.deadline import deadline_of
from motes.api.envelope import DEPARTURE, NOTES, REQUEST_ID
from motes.api.gateway import Gateway
from motes.api.headers import headers_of
from motes.api.streaming import StreamWriter, while_present
from motes.callers import owner_of
from motes.egress.message_json import usage_json
from motes.egress.numbers import START, NumberedChunks, Position, position_of
from motes.egress.openai_chat import ChunkEncoder
from motes.egress.particles import EventEncoder, LineEncoder
from motes.egress.reply import Reply, signature_format
from motes.errors import InvalidRequest
from motes.executor.run import Batch, Options
from motes.runs.following import Follower, Mode
from motes.runs.live import is_abandonment
from motes.runs.orders import Means
from motes.settings import ReasoningField
from motes.store.runs import StoredRun

_CHAT_ID: Final = "chatcmpl-"
_MOST: Final = 100
_MODES: Final = get_args(Mode)
_EVENT_STREAM: Final = "text/event-stream; charset=utf-8"


async def _list(gateway: Gateway, request: Request) -> Response:
    """`GET /v1/runs?limit=…&before=…`: the newest runs of the caller."""
    owner = await _owner(gateway, request.scope)
    limit = _number(request.query_params, "limit", 20)
    before = _number(request.query_params, "before", None)
    runs = await gateway.runs.list(owner, min(limit, _MOST), before)
    return _json({"object": "list", "data": [shown(run) for run in runs]})


async def _get(gateway: Gateway, request: Request) -> Response:
    """`GET /v1/runs/{id}`."""
    owner = await _owner(gateway, request.scope)
    run = await gateway.runs.get(_id(request.scope), owner)
    usage = usage_json(await gateway.runs.metrics(run))
    return _json(shown(run) | ({"usage": usage} if usage else {}))


async def _cancel(gateway: Gateway, request: Request) -> Response:
    """`POST /v1/runs/{id}/cancel`: what came is kept."""
    owner, id = await _owner(gateway, request.scope), _id(request.scope)
    run = await gateway.runs.cancel(id, owner, _means(gateway, request.scope, id))
    return _json(shown(run))


async def _delete(gateway: Gateway, request: Request) -> Response:
    """`DELETE /v1/runs/{id}`: at the vendor first, then here."""
    owner, id = await _owner(gateway, request.scope), _id(request.scope)
    is_gone = await gateway.runs.delete(id, owner, _means(gateway, request.scope, id))
    told: dict[str, Any] = {"id": id, "object": "run", "deleted": is_gone}
    if not is_gone:
        told["problem"] = "the vendor's copy could not be deleted yet: it is tried again"
    return _json(told, 200 if is_gone else 202)


async def _particles(gateway: Gateway, scope: Scope, receive: Receive, send: Send) -> None:
    """`GET /v1/runs/{id}/particles?after=n`: the run from behind that particle, and on to its end."""
    headers, query = headers_of(scope), QueryParams(scope["query_string"])
    run = await _run(gateway, scope)
    after = _position(query, headers, "after")
    if after.events:
        raise _bad("after", "must be the number of a particle")
    await _reach(gateway, run, after, "after")
    events = "text/event-stream" in headers.get("accept", "").lower()
    encoder = EventEncoder(after.particles) if events else LineEncoder(after.particles)
    follower = Follower(gateway.runs, run, after.particles, _means(gateway, scope, run.id))
    writer = StreamWriter(send, encoder, gateway.silence, scope)
    work = _poured(writer, encoder.media_type, follower.batches(_mode(query)))
    await while_present(receive, work, scope[REQUEST_ID], scope.get(DEPARTURE))


async def _chunks(gateway: Gateway, scope: Scope, receive: Receive, send: Send) -> None:
    """`GET /v1/chat/completions/{id}?starting_after=n`: the same as OpenAI's chunks."""
    run = await _run(gateway, scope)
    after = _position(QueryParams(scope["query_string"]), headers_of(scope), "starting_after")
    await _reach(gateway, run, after, "starting_after")
    encoder = NumberedChunks(ChunkEncoder(_reply(run, gateway)), after)
    # From its start: what comes next on this wire depends on all that came before.
    source = Follower(gateway.runs, run, 0, _means(gateway, scope, run.id)).batches()
    if run.state == "finished":
        source = _without_void(source, after)
    source = _abandoned_behind(source, after.particles)
    writer = StreamWriter(send, encoder, gateway.silence, scope)
    await while_present(
        receive, _poured(writer, _EVENT_STREAM, source), scope[REQUEST_ID], scope.get(DEPARTURE)
    )


async def _abandoned_behind(source: AsyncGenerator[Batch, None], place: int) -> AsyncGenerator[Batch, None]:
    """A run as it is; where it was abandoned before that place, its last words come behind it. A process that
    was killed may have told more than it wrote.
    """
    told = 0
    async with aclosing(source):
        async for batch in source:
            words = [one for one in batch if not isinstance(one, p.Heartbeat)]
            at = next((at for at, one in enumerate(words) if is_abandonment(one)), None)
            if at is None or told + at >= place:
                yield batch
            else:
                # What has no words on this wire keeps the numbers of what follows.
                yield [*words[:at], *[p.Unknown({})] * (place - told - at), *words[at:]]
            told += len(words)


async def _without_void(source: AsyncGenerator[Batch, None], after: Position) -> AsyncGenerator[Batch, None]:
    """A run that is over, without what was told before its answer began anew: this wire cannot take back. A
    reader who stands before that place has to be told.
    """
    whole: Batch = []
    async with aclosing(source):
        async for batch in source:
            whole += [one for one in batch if not isinstance(one, p.Heartbeat)]
    resets = [at for at, one in enumerate(whole) if isinstance(one, p.RetryReset) and one.clear == "all"]
    void = resets[-1] if resets else 0
    if after == START or after.particles > void:
        # What has no words on this wire keeps the numbers of what follows.
        whole[:void] = [p.Unknown({})] * void
    yield whole


Answer: TypeAlias = Callable[[Gateway, Request], Awaitable[Response]]
Endpoint: TypeAlias = Callable[[Gateway, Scope, Receive, Send], Awaitable[None]]


def _answering(answer: Answer) -> Endpoint:
    async def endpoint(gateway: Gateway, scope: Scope, receive: Receive, send: Send) -> None:
        response = await answer(gateway, Request(scope, receive))
        await response(scope, receive, send)

    return endpoint


ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    "list": _answering(_list),
    "get": _answering(_get),
    "cancel": _answering(_cancel),
    "delete": _answering(_delete),
    "particles": _particles,
    "chunks": _chunks,
}


async def _poured(writer: StreamWriter, media_type: str, source: AsyncGenerator[Batch, None]) -> None:
    async with aclosing(source):
        await writer.start(media_type, ())
        await writer.pour(source)


def shown(run: StoredRun) -> dict[str, Any]:
    """A run as its owner sees it."""
    can_resume = run.is_resumable or run.handle is not None
    known = {
        "outcome": run.outcome,
        "error": run.error,
        "context": run.context,
        "ended_at": run.ended,
        "handle_type": run.handle.type if run.handle else None,
        "expires_at": run.journal_until or run.kept_until,
        "problem": run.problem,
    }
    resume = {
        "particles": f"/v1/runs/{run.id}/particles?after={run.last_seq}",
        "openai": f"/v1/chat/completions/{run.id}",
    }
    return {
        "id": run.id,
        "object": "run",
        "state": run.state,
        "vendor": run.vendor,
        "model": run.model,
        "created_at": run.created,
        "resumable": run.is_resumable,
        # A run that had come to its own end before was not cancelled, though somebody wished it.
        "cancelled": run.is_cancelled and run.outcome in (None, "cancelled"),
        "last_seq": run.last_seq,
        **{name: value for name, value in known.items() if value is not None},
        **({"resume": resume} if can_resume else {}),
    }


async def _owner(gateway: Gateway, scope: Scope) -> str:
    admission = await admit(headers_of(scope), gateway.keys)
    await confirm(admission)
    scope[NOTES]["caller"] = admission.key.id
    return owner_of(admission.key)


async def _run(gateway: Gateway, scope: Scope) -> StoredRun:
    """The run that is asked for, of which something is kept. Raises RunNotFound, InvalidRequest, or
    StoreError.
    """
    run = await gateway.runs.get(_id(scope), await _owner(gateway, scope))
    scope[NOTES] |= {"run": run.id, "model": f"{run.vendor}/{run.model}"}
    is_here = run.id in gateway.runs.keeper.runs
    if not run.is_resumable and run.handle is None and not is_here:
        raise InvalidRequest(
            f"nothing is kept of what run {run.id} said, it had no journal: ask for `motes.resumable`",
            code="not_resumable",
        )
    return run


def means_of(gateway: Gateway, id: str, *, deadline: float | None = None, secret: str | None = None) -> Means:
    """What a request has for a run that it may take up; the deadline is a time of the loop's clock."""

    def options() -> Options:
        return gateway.options(id, asyncio.get_running_loop().time(), deadline)

    return Means(options=options, secret=secret)


def _means(gateway: Gateway, scope: Scope, id: str) -> Means:
    own_key = headers_of(scope).get(VENDOR_KEY) or None
    return means_of(gateway, id, deadline=deadline_of(scope), secret=own_key)


def _id(scope: Scope) -> str:
    id: str = scope["path_params"]["id"]
    return id.removeprefix(_CHAT_ID)


def _reply(run: StoredRun, gateway: Gateway) -> Reply:
    form = run.reply
    field: Any = form.reasoning_field if form.reasoning_field in get_args(ReasoningField) else "none"
    return Reply(
        id=f"{_CHAT_ID}{run.id}",
        created=form.created,
        model=form.model,
        vendor=run.vendor,
        upstream_model=run.model,
        signature_format=signature_format(run.dialect),
        include_usage=form.include_usage,
        reasoning_field=field,
        keepalive=gateway.settings.keepalive,
    )


def _position(query: QueryParams, headers: Mapping[str, str], name: str) -> Position:
    """Where the reader stands: by the query, else by the id of the last event it had."""
    word = query.get(name) or headers.get("last-event-id")
    if not word:
        return START
    found = position_of(word)
    if found is None:
        raise _bad(name, "must be the `id` of an event, or the number of a particle")
    return found


async def _reach(gateway: Gateway, run: StoredRun, after: Position, name: str) -> None:
    """Refuse a place that the run never came to, where that is known: what follows it would be nothing, and
    nothing looks like an answer. Raises InvalidRequest or StoreError.
    """
    if after.particles > run.last_seq and await gateway.runs.has_told_all(run):
        raise _bad(name, f"what is kept of the run ends at {run.last_seq}")


def _mode(query: QueryParams) -> Mode | None:
    word = query.get("mode")
    if word is None:
        return None
    if word not in _MODES:
        raise _bad("mode", f"must be one of {', '.join(_MODES)}")
    mode: Mode = word  # type: ignore[assignment]
    return mode


def _number(query: QueryParams, name: str, default: int | None) -> Any:
    word = query.get(name)
    if word is None:
        return default
    try:
        number = float(word)
    except ValueError:
        raise _bad(name, "must be a number") from None
    if not 0 < number < 1e12:
        raise _bad(name, "must be a positive number")
    return number if name == "before" else int(number) or 1


def _bad(name: str, words: str) -> InvalidRequest:
    return InvalidRequest(f"{name}: {words}", param=name, code="invalid_value")


def _json(value: dict[str, Any], status: int = 200) -> Response:
    return Response(jsontext.dump_bytes(value), status, media_type="application/json")
