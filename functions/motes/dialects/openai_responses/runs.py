"""Runs that live on at the vendor: how one is made, named, reached again, stopped and removed.

Source: OpenAI guide "Background mode" and API reference, "Responses" (read 2026-11-29): a run that is stored
is kept for 30 days, one in background without `store` for about ten minutes.
"""

from typing import Final
from urllib.parse import quote

from motes import particles as p
from motes.dialects.base import StoredRuns
from motes.dialects.openai_responses.fields import Json, number, text

HANDLE: Final = "vnd.oai.responses"
LIFETIME_S: Final = 30 * 24 * 3600
_UNSTORED_LIFETIME_S: Final = 600


def handle_of(response: Json) -> p.UpstreamHandle | None:
    """The handle of a run in background; any other run ends with its connection."""
    id = text(response, "id")
    if not id or response.get("background") is not True:
        return None
    created = created_ms(response)
    lifetime = _UNSTORED_LIFETIME_S if response.get("store") is False else LIFETIME_S
    return p.UpstreamHandle(HANDLE, id, created, None if created is None else created + lifetime * 1000)


def created_ms(response: Json) -> int | None:
    """When the run was made, in epoch milliseconds."""
    seconds = number(response, "created_at")
    return round(seconds * 1000) if seconds else None


def _replay(id: str, cursor: str | None) -> str:
    """From its start, or from behind the event whose sequence number is the cursor."""
    after = "" if cursor is None else f"&starting_after={quote(cursor, safe='')}"
    return f"{_snapshot(id)}?stream=true{after}"


def _snapshot(id: str) -> str:
    return f"responses/{quote(id, safe='')}"


STORED_RUNS: Final = StoredRuns(
    handle_type=HANDLE,
    create={"background": True, "store": True},
    replay=_replay,
    snapshot=_snapshot,
    cancel=lambda id: f"{_snapshot(id)}/cancel",
    delete=_snapshot,
    lifetime_s=LIFETIME_S,
)
