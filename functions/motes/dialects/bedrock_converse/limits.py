"""What Converse counts and measures: stop sequences, cache points, labels, tiers.

Must never leave anything out without a note. Source: Amazon Bedrock API reference, "InferenceConfiguration",
"ConverseStream"; user guide, "Prompt caching" (read 2026-11-29).
"""

import re
from typing import Any, Final

from motes.chat import ChatRequest
from motes.dialects.bedrock_converse.families import Family

MAX_CACHE_POINTS: Final = 4
MAX_STOPS: Final = 4
MAX_METADATA: Final = 16

_SERVICE_TIERS: Final = ("default", "flex", "priority", "reserved")
_METADATA: Final = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}")

Notes = list[str]


def stops_of(request: ChatRequest, notes: Notes) -> list[str]:
    """The stop sequences that can be sent."""
    stops = [stop for stop in request.stops if stop.strip()]
    if len(stops) < len(request.stops):
        notes.append("blank stop sequences were left out: they are refused")
    if len(stops) > MAX_STOPS:
        notes.append(f"only the first {MAX_STOPS} stop sequences were kept: there may be no more")
    return stops[:MAX_STOPS]


def metadata_of(request: ChatRequest, notes: Notes) -> dict[str, Any]:
    """`requestMetadata`, which labels the invocation in the operator's logs: what it can hold."""
    given = dict(request.metadata or {}) | ({"user": request.user} if request.user else {})
    native = (request.model_extra or {}).get("requestMetadata")
    given |= native if isinstance(native, dict) else {}
    fits = {k: v for k, v in given.items() if _METADATA.fullmatch(k) and _is_value(v)}
    kept = dict(list(fits.items())[:MAX_METADATA])
    if len(kept) < len(given):
        notes.append("some of the metadata was left out: it has characters or a length the vendor refuses")
    return {"requestMetadata": kept} if kept else {}


def _is_value(value: object) -> bool:
    return isinstance(value, str) and (not value or _METADATA.fullmatch(value) is not None)


def tier_of(request: ChatRequest, notes: Notes) -> dict[str, Any]:
    """`serviceTier`, where the service has one of that name."""
    tier = request.service_tier
    if tier in _SERVICE_TIERS:
        return {"serviceTier": {"type": tier}}
    if tier and tier != "auto":
        notes.append(f"service tier {tier[:40]!r} was left out: there is no such tier here")
    return {}


def limit_cache_points(json: dict[str, Any], family: Family, notes: Notes) -> None:
    """At most four; the last ones cover the longest prefixes, so the first ones go."""
    lists = [(json.get("toolConfig") or {}).get("tools", []), json.get("system", [])]
    lists += [message["content"] for message in json["messages"]]
    points = [block for blocks in lists for block in blocks if "cachePoint" in block]
    keep = points[-MAX_CACHE_POINTS:] if family.cache else []
    if len(keep) < len(points):
        many = (
            f"only the last {MAX_CACHE_POINTS} of {len(points)} cache marks were kept: there may be no more"
        )
        notes.append(many if family.cache else "cache marks were left out: this model keeps no prompt cache")
        for blocks in lists:
            blocks[:] = [b for b in blocks if "cachePoint" not in b or any(b is point for point in keep)]
