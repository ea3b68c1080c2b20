"""From a caller's HTTP request to a run that can start: key, body, model, dispatch, in this order.

Must never send anything upstream; whatever it refuses, it refuses before the first byte.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import field
from typing import Final

from starlette.types import Receive, Scope

from motes.api.auth import admit, confirm, own_vendor_key
from motes.api.body import discard, read_body, refuse_unknown, understand
from motes.api.choices import Choices, chosen
from motes.api.deadline import deadline_of
from motes.api.destinations import Destination
from motes.api.dispatching import CONVERSATION, dispatched
from motes.api.envelope import ANSWER_HEADERS, NOTES, WARNINGS, header_text
from motes.api.gateway import Gateway
from motes.api.headers import headers_of
from motes.api.terms import Terms, terms_of, wants_background
from motes.callers import Admission, owner_of
from motes.chat import ChatRequest
from motes.dataclass import dataclass, maker
from motes.dispatch import Dispatch
from motes.egress.reply import Reply, signature_format
from motes.errors import StoreError, Unauthenticated
from motes.executor.exchange import sent_ahead
from motes.executor.run import Batch, Lane
from motes.runs.orders import Order
from motes.store.records import CallerKey
from motes.store.runs import ReplyForm, StoredRun

_new_form: Final = maker(ReplyForm)
_new_order: Final = maker(Order)
_new_reply: Final = maker(Reply)
_new_run: Final = maker(StoredRun)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request that was understood. `started` and `deadline` are times of the event loop's clock."""

    gateway: Gateway
    admission: Admission
    is_stream: bool
    dispatch: Dispatch
    run_id: str
    started: float
    deadline: float | None
    has_own_key: bool
    """Whether the caller brought the vendor's key, which is kept nowhere."""
    terms: Terms
    reply: Reply
    """How an OpenAI answer to it begins."""
    secret: str | None = field(repr=False)

    @property
    def commit_until(self) -> float:
        """When the status must be out at the latest; the clock is looked at once a tick."""
        return self.started + max(0.0, self.gateway.settings.commit_after_s - self.gateway.tick)

    async def confirm(self) -> None:
        """Be sure of the caller: before the first particle is shown, while the vendor is already being asked.
        Raises Unauthenticated where the key was disabled meanwhile, or StoreError.
        """
        if self.admission.entry is not None:
            await confirm(self.admission)

    def look_up_price(self) -> None:
        """Have it known what the model costs when the counts come. For when the vendor has begun to speak, so
        that nobody waits for both.
        """
        self.gateway.prices.begin(self.dispatch.label)

    def batches(self, lane: Lane | None = None) -> AsyncGenerator[Batch, None]:
        """The run, a read at a time. Whoever reads its first batch confirms the caller (`confirm`), and
        whoever began it closes it. What the lane takes comes no other way.
        """
        gateway = self.gateway
        until = gateway.stop_at(self.started, self.deadline)
        ahead = sent_ahead(self.dispatch, gateway.http, until)
        run = self.run()
        price = gateway.ledger.pricing(run)
        return gateway.runs.begin(
            _new_order(
                run=run,
                dispatch=self.dispatch,
                options=gateway.options(self.run_id, self.started, self.deadline, price),
                observer=gateway.observer,
                departure=self.terms.departure,
                secret=self.secret if self.has_own_key else None,
                hidden=self.secret,
                lane=lane,
                ahead=ahead,
            )
        )

    def run(self) -> StoredRun:
        """The run as it begins."""
        reply, key = self.reply, self.admission.key
        form = _new_form(
            model=reply.model,
            created=reply.created,
            include_usage=reply.include_usage,
            reasoning_field=reply.reasoning_field,
        )
        return _new_run(
            id=self.run_id,
            owner=owner_of(key),
            caller=key.id,
            vendor=self.dispatch.vendor,
            model=self.dispatch.model,
            dialect=self.dispatch.dialect,
            created=self.gateway.now(),
            reply=form,
            context=self.dispatch.context,
            is_resumable=self.terms.is_resumable,
            is_kept=self.terms.is_kept,
            has_own_key=self.has_own_key,
        )


_new_asked: Final = maker(Asked)


async def ask(gateway: Gateway, scope: Scope, receive: Receive) -> Asked:
    """Understand a request. Raises a MotesError or an HTTPException for what cannot be run."""
    started = asyncio.get_running_loop().time()
    headers = headers_of(scope)
    admission = await _admitted(gateway, headers, receive)
    scope[NOTES]["caller"] = admission.key.id
    body = await read_body(headers, receive, gateway.settings.max_body_bytes)
    wish = _understood(gateway, scope, headers, admission.key, body)
    dispatch, secret = await _dispatched(gateway, headers, admission.key, wish)
    run_id = gateway.new_id()
    notes = scope[NOTES]
    notes["run"], notes["model"], notes["context"] = run_id, dispatch.label, dispatch.context
    if dispatch.warnings:
        scope[ANSWER_HEADERS][WARNINGS] = header_text(dispatch.warnings)
    if dispatch.credential is not None:
        notes["vendor_key"] = dispatch.credential + 1
    return _new_asked(
        gateway=gateway,
        admission=admission,
        is_stream=bool(wish.request.stream),
        dispatch=dispatch,
        run_id=run_id,
        started=started,
        deadline=deadline_of(scope),
        has_own_key=wish.own_key is not None,
        terms=wish.terms,
        reply=_reply(gateway, wish, dispatch, run_id),
        secret=secret,
    )


@dataclass(slots=True, kw_only=True)
class _Wish:
    """What a caller wants: of whom, in which form, on which terms, and with which key if he brought one."""

    request: ChatRequest
    destination: Destination
    choices: Choices
    terms: Terms
    own_key: str | None = field(repr=False)


_new_wish: Final = maker(_Wish)


async def _admitted(gateway: Gateway, headers: Mapping[str, str], receive: Receive) -> Admission:
    try:
        return await admit(headers, gateway.keys)
    except (Unauthenticated, StoreError):
        await discard(headers, receive)
        raise


def _understood(
    gateway: Gateway, scope: Scope, headers: Mapping[str, str], key: CallerKey, body: bytes
) -> _Wish:
    settings = gateway.settings
    request = understand(body, headers.get("content-type", ""), settings.max_messages)
    choices = chosen(request.motes.model_extra or {}, headers, key.choices, settings)
    destination = gateway.destinations.find(request.model, request.motes.dialect)
    if choices.strict_requests:
        refuse_unknown(request, destination.vendor.quirks.passthrough)
    background = wants_background(request, settings, destination.label)
    if background:
        from motes.background import in_background

        request, vendor = in_background(request, destination.vendor)
        destination = destination.passing(vendor)
    terms = terms_of(request.motes, choices, scope, background=background)
    own_key = own_vendor_key(headers, destination.vendor)
    return _new_wish(
        request=request,
        destination=destination if own_key is None else destination.passing(),
        choices=choices,
        terms=terms,
        own_key=own_key,
    )


async def _dispatched(
    gateway: Gateway, headers: Mapping[str, str], key: CallerKey, wish: _Wish
) -> tuple[Dispatch, str | None]:
    """The dispatch, and the key it goes with."""
    destination = wish.destination
    if gateway.settings.fetch_media and not destination.takes_addresses:
        from motes.api.media import with_media  # Few requests name an address.

        wish.request = await with_media(wish.request, gateway.fetching, gateway.settings.max_body_bytes)
    named = _conversation(wish.request, headers, key)
    keys = (wish.own_key,) if wish.own_key else await gateway.keys_of(destination.vendor)
    return dispatched(gateway, wish.request, destination, keys, named)


def _reply(gateway: Gateway, wish: _Wish, dispatch: Dispatch, run_id: str) -> Reply:
    request, choices = wish.request, wish.choices
    options, reasoning = request.stream_options, request.reasoning
    hidden = reasoning is not None and reasoning.exclude
    return _new_reply(
        id=f"chatcmpl-{run_id}",
        created=int(gateway.now()),
        model=request.model or gateway.settings.default_model or dispatch.label,
        vendor=dispatch.vendor,
        upstream_model=dispatch.model,
        signature_format=signature_format(dispatch.dialect),
        include_usage=choices.stream_usage == "always" or bool(options and options.include_usage),
        reasoning_field="none" if hidden else choices.reasoning_field,
        keepalive=choices.keepalive,
    )


def _conversation(request: ChatRequest, headers: Mapping[str, str], key: CallerKey) -> Callable[[], str]:
    """What gives the conversation's name, which few vendors need. Raises InvalidRequest for a given one that
    is none.
    """
    given = None
    if request.motes.conversation is not None or CONVERSATION in headers:
        from motes.api.conversation import given_name

        given = given_name(request, headers)

    def name() -> str:
        from motes.api.conversation import made_name

        return given or made_name(request, key.owner)

    return name
