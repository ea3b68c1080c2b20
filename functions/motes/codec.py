"""Particles to JSON objects and back, by the one table `TAGS`.

Must never write a `null` (a field that has its default value is left out) and never raise for what comes
over the wire: what this version does not know, or cannot read, is kept as `Unknown`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import UnionType
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from motes import particles as p
from motes.errors import ErrorKind, VendorError

TAGS: Final[Mapping[type, tuple[str, str]]] = {
    p.Text: ("t", ""),
    p.Heartbeat: ("p", "❤"),
    p.Reasoning: ("p", "tr_"),
    p.ReasoningSignature: ("p", "trs"),
    p.ReasoningRedacted: ("p", "trr_"),
    p.Refusal: ("p", "rf_"),
    p.ToolCall: ("p", "fci"),
    p.ToolCallArguments: ("p", "_fci"),
    p.CodeCall: ("p", "cei"),
    p.CodeResult: ("p", "cer"),
    p.Audio: ("p", "ia"),
    p.Image: ("p", "ii"),
    p.Video: ("p", "iv"),
    p.Operation: ("p", "vp"),
    p.Citation: ("p", "urlc"),
    p.HostedResource: ("p", "hres"),
    p.VendorState: ("p", "svs"),
    p.End: ("cg", "end"),
    p.Issue: ("cg", "issue"),
    p.Note: ("cg", "aix-info"),
    p.RetryReset: ("cg", "aix-retry-reset"),
    p.Metrics: ("cg", "set-metrics"),
    p.ModelName: ("cg", "set-model"),
    p.ResponseId: ("cg", "set-response-id"),
    p.ProviderInfra: ("cg", "set-provider-infra"),
    p.HandleSet: ("cg", "set-upstream-handle"),
    p.Warn: ("cg", "warn"),
    p.DebugRequest: ("cg", "_debugDispatchRequest"),
    p.DebugProfiler: ("cg", "_debugProfiler"),
}

_BY_TAG: Final = {tag: cls for cls, tag in TAGS.items()}
_INNER: Final[Mapping[str, type]] = {"handle": p.UpstreamHandle, "cost": p.Cost}
_NESTED: Final[Mapping[type, str]] = {p.Metrics: "metrics"}
_ERROR_KEYS: Final = {
    "kind": "kind",
    "message": "message",
    "http_status": "httpStatus",
    "code": "vendorCode",
    "type": "vendorType",
    "retryable": "retryable",
    "retry_after": "retryAfter",
    "request_id": "requestId",
    "details": "details",
}

_ERROR_KINDS: Final = frozenset(get_args(ErrorKind))

_Column: TypeAlias = tuple[str, str, Any]


class _Columns(dict[type, tuple[_Column, ...]]):
    """(Python name, wire key, default) of every field of a class, found when it is first written or read."""

    def __missing__(self, cls: type) -> tuple[_Column, ...]:
        self[cls] = tuple((f.name, f.metadata.get("key", f.name), f.default) for f in fields(cls))
        return self[cls]


_COLUMNS: Final = _Columns()


def to_wire(particle: p.Particle) -> dict[str, Any]:
    """The flat JSON object of a particle, fields at their default left out."""
    if type(particle) is p.Text:
        # Nearly all particles are, and it needs no table.
        return {"t": particle.text}
    if isinstance(particle, p.Unknown):
        return dict(particle.raw)
    cls = type(particle)
    group, tag = TAGS[cls]
    head: dict[str, Any] = {} if group == "t" else {group: tag}
    body = _written(particle, _COLUMNS[cls])
    nest = _NESTED.get(cls)
    return head | ({nest: body} if nest else body)


def _written(value: Any, columns: tuple[_Column, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, key, default in columns:
        item = getattr(value, name)
        if default is MISSING or item != default:
            out[key] = _plain(item)
    return out


def _plain(item: Any) -> Any:
    if isinstance(item, tuple):
        return [_plain(i) for i in item]
    if isinstance(item, p.UpstreamHandle):
        return _written(item, _COLUMNS[p.UpstreamHandle])
    if isinstance(item, p.Cost):
        return {name: getattr(item, name) for name, _, _ in _COLUMNS[p.Cost]}
    if isinstance(item, VendorError):
        return {key: v for name, key in _ERROR_KEYS.items() if (v := getattr(item, name)) is not None}
    return dict(item) if isinstance(item, Mapping) else item


def from_wire(raw: Mapping[str, Any]) -> p.Particle:
    """The particle a JSON object means; `Unknown` for what this version does not know or cannot read."""
    cls = _class_of(raw)
    if cls is None:
        return p.Unknown(raw)
    nest = _NESTED.get(cls)
    body = raw.get(nest) if nest else raw
    if not isinstance(body, Mapping):
        return p.Unknown(raw)
    values = _read(cls, body)
    return p.Unknown(raw) if values is None else cls(**values)


def _class_of(raw: Mapping[str, Any]) -> Any:
    if "t" in raw:
        return p.Text
    group = "p" if "p" in raw else "cg"
    tag = raw.get(group)
    return _BY_TAG.get((group, tag)) if isinstance(tag, str) else None


def _read(cls: type, body: Mapping[str, Any]) -> dict[str, Any] | None:
    values: dict[str, Any] = {}
    kinds = _kinds(cls)
    for name, key, default in _COLUMNS[cls]:
        if key in body:
            item = values[name] = _rich(name, body[key])
            if not isinstance(item, kinds[name]):
                return None
        elif default is MISSING:
            return None
    return values


@cache
def _kinds(cls: type) -> Mapping[str, tuple[type, ...]]:
    """What the values of each field are at run time; whoever only writes never asks."""
    return {name: tuple(_run_time(annotation)) for name, annotation in cls.__annotations__.items()}


def _run_time(annotation: Any) -> Iterator[type]:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        yield from {type(part) for part in parts}
    elif origin in (Union, UnionType):
        for part in parts:
            yield from _run_time(part)
    else:
        yield origin or annotation
        if annotation is float:
            yield int


def _rich(name: str, item: Any) -> Any:
    if name in ("inputs", "outputs", "measurements"):
        return tuple(item) if isinstance(item, list) else p.Unknown
    if name in _INNER:
        read = _read(_INNER[name], item) if isinstance(item, Mapping) else None
        return _INNER[name](**read) if read is not None else p.Unknown
    if name == "error" and isinstance(item, Mapping):
        return _read_error(item)
    return item


def _read_error(item: Mapping[str, Any]) -> VendorError:
    """The error, without what of it makes no sense here."""
    kinds = _kinds(VendorError)
    known = {name: item[key] for name, key in _ERROR_KEYS.items() if key in item}
    known = {name: value for name, value in known.items() if isinstance(value, kinds[name])}
    if known.get("kind") not in _ERROR_KINDS:
        known["kind"] = "server_error"
    return VendorError(**({"message": ""} | known))
