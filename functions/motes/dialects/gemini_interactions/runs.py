"""Runs that live on at the vendor: how one is made, named, reached again, stopped and removed.

Must never name a run that ends with its connection. Source: ai.google.dev/gemini-api/docs/interactions (read
2026-11-29): a stored run is kept for one day without billing, 55 days with it; an environment for seven days.
"""

from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from motes import particles as p
from motes.dialects.base import StoredRuns
from motes.dialects.gemini_interactions.fields import Json, text

HANDLE: Final = "vnd.gem.interactions"
PATH: Final = "v1beta/interactions"
LIFETIME_S: Final = 24 * 3600
_ENVIRONMENT_MS: Final = 7 * 24 * 3600 * 1000


def handle(id: str, created_ms: int | None) -> p.UpstreamHandle:
    """The handle of a run."""
    expires = None if created_ms is None else created_ms + LIFETIME_S * 1000
    return p.UpstreamHandle(HANDLE, id, created_ms, expires)


def environment(run: Json) -> p.VendorState | None:
    """The machine an agent works on, which a later turn may use again."""
    id = text(run, "environment_id")
    if not id:
        return None
    used = epoch_ms(text(run, "updated")) or epoch_ms(text(run, "created"))
    expires = None if used is None else used + _ENVIRONMENT_MS
    return p.VendorState("gemini-envid", {"environment": {"id": id, "expiresAt": expires}})


def epoch_ms(time: str) -> int | None:
    """An ISO 8601 time in epoch milliseconds; one without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(time)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(aware.timestamp() * 1000) or None
    except (ValueError, OverflowError):
        return None


def _snapshot(id: str) -> str:
    return f"{PATH}/{quote(id, safe='')}"


def _replay(id: str, cursor: str | None) -> str:
    """From its start, or from behind the event whose `event_id` is the cursor."""
    after = "" if cursor is None else f"&last_event_id={quote(cursor, safe='')}"
    return f"{_snapshot(id)}?stream=true{after}"


STORED_RUNS: Final = StoredRuns(
    handle_type=HANDLE,
    create={"background": True, "store": True},
    replay=_replay,
    snapshot=_snapshot,
    cancel=lambda id: f"{_snapshot(id)}/cancel",
    delete=_snapshot,
    lifetime_s=LIFETIME_S,
    tells_usage_late=True,
)
