"""A request to a vendor that has several keys, or wants names of its own for it: which key, which names.

Must never let one key stand in a request that another one signs, nor tell a key.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from motes.api.destinations import Destination
from motes.api.gateway import Gateway
from motes.chat import ChatRequest
from motes.dispatch import Dispatch, Plan
from motes.request_ids import filled
from motes.secrecy import parts_of
from motes.transforms import with_transforms

CONVERSATION: Final = "x-motes-conversation"
"""The header that names the conversation a request is a turn of."""


def dispatched(
    gateway: Gateway,
    request: ChatRequest,
    destination: Destination,
    keys: Sequence[str],
    conversation: Callable[[], str],
) -> tuple[Dispatch, str | None]:
    """The dispatch, with what else it may be asked with, and the key it goes with. `conversation` is asked
    for its name where that counts. Raises what `generate` does.

    A run that lives on at its vendor goes with the first key, which is the one that finds it again.
    """
    vendor, limit = destination.vendor, gateway.settings.max_event_bytes
    ids = None
    if destination.wants_ids:
        from motes.api.conversation import new_ids  # Few vendors want any.

        ids = new_ids(conversation())

    def made(secret: str | None) -> Dispatch:
        if ids is None:
            plan = destination.plan(secret)
        else:
            row = replace(vendor, headers=filled(vendor.headers, ids, secret))
            plan = Plan(row, destination.model, secret)
        return with_transforms(plan.dispatch(request, max_event_bytes=limit), request, plan)

    if len(keys) < 2:
        secret = keys[0] if keys else None
        return made(secret), secret
    first, *others = gateway.rotation.order(vendor.id, keys, conversation())
    dispatch = made(keys[first])
    if dispatch.creates_run:
        return made(keys[0]), keys[0]

    def spare(at: int) -> Callable[[], Dispatch]:
        return lambda: replace(made(keys[at]), credential=at)

    secrets = tuple(part for key in keys for part in parts_of(key))
    spares = tuple(spare(at) for at in others)
    return replace(dispatch, credential=first, spares=spares, secrets=secrets), keys[first]
