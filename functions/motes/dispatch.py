"""From a request to one conversation with one upstream, as a value: what to send and how to read it.

Pure: settings, rows and secrets come as arguments. Must never send anything, and a secret must never
leave the headers or the URL of the one request it is for.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from functools import partial
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

from motes import __version__, jsontext
from motes import particles as p
from motes.chat import ChatRequest
from motes.dataclass import dataclass, maker, replace
from motes.demux.base import MAX_EVENT_BYTES, Demuxer
from motes.dialects.base import NO_TRAITS, Dialect, Parser, Traits, UpstreamBody
from motes.dialects.registry import resolve
from motes.errors import ErrorKind, InvalidRequest, PrepareError
from motes.estimates import prompt_estimate
from motes.model_rules import of_model
from motes.normaliser import prepared
from motes.request_ids import NO_IDS, filled
from motes.secrecy import parts_of
from motes.vendors.auth import AWSCredentials, signer
from motes.vendors.sendable import faults
from motes.vendors.vendor import DEFAULT_TIMEOUTS, Timeouts, Vendor

OWN_HEADERS: Final[Mapping[str, str]] = {
    "user-agent": f"motes/{__version__}",
    "accept": "*/*",
    "accept-encoding": "identity",
}
"""What goes with every request, where it does not say otherwise itself. Identity: a compressor between us and
the model holds pieces of the answer back; what comes compressed all the same is decoded.
"""


Method: TypeAlias = Literal["GET", "POST", "DELETE"]

_JSON: Final[Mapping[str, str]] = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamRequest:
    """One HTTP request. Headers, body and URL stay out of every repr: they may carry the key."""

    method: Method
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    is_one_of_many: bool = False
    """Whether others go out with this head, so that it may be remembered with the key in it."""

    @property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers as they are written on the wire, where a value may be Latin-1."""
        return [(name.encode("ascii"), value.encode("latin-1")) for name, value in self.headers.items()]


def unsigned(request: UpstreamRequest, _now: datetime) -> UpstreamRequest:
    """The request as it is: most vendors want a key and no signature."""
    return request


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """A question beside the conversation: what to send to the vendor's own host, and what signs it."""

    request: UpstreamRequest
    sign: Callable[[UpstreamRequest, datetime], UpstreamRequest] = unsigned


@dataclass(frozen=True, slots=True, kw_only=True)
class FileErrands:
    """How a file at the vendor is had; `about` tells its name, type and size, where the vendor tells them."""

    content: Errand
    about: Errand | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A question that the vendor's search answers in place of the model."""

    errand: Errand
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transforms:
    """What is done to the particles of a run before they are given on; all of it chosen once, here.

    `file`: a file the answer left at its vendor is put into the answer. `snapshot`: how a stored run is read
    again, where its stream may end without usage. `resolve_links`: sources behind Google's redirects get
    their own addresses. `search`: what answers in place of the model.
    """

    file: Callable[[p.HostedResource], FileErrands | None] | None = None
    snapshot: Callable[[str], Errand] | None = None
    resolve_links: bool = False
    search: Search | None = None


NO_TRANSFORMS: Final = Transforms()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """One conversation with one upstream. The factories give every attempt fresh state; `sign` is called when
    a request is sent, over what is sent.
    """

    vendor: str
    model: str
    dialect: str
    request: UpstreamRequest
    demuxer: Callable[[], Demuxer]
    parser: Callable[[], Parser]
    sign: Callable[[UpstreamRequest, datetime], UpstreamRequest] = unsigned
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    warnings: tuple[str, ...] = ()
    error_kinds: Mapping[str, ErrorKind] = field(default_factory=dict)
    context: str | None = None
    creates_run: bool = False
    """Whether it starts a run that lives on at the vendor and is billed there, whoever listens."""
    transforms: Transforms = NO_TRANSFORMS
    tool_names: Mapping[str, str] = field(default_factory=dict)
    """What the vendor's short name of a tool stands for."""
    credential: int | None = None
    """Which of several keys of the vendor this goes with; None where there is one at most."""
    spares: tuple[Callable[[], "Dispatch"], ...] = field(default=(), repr=False)
    """The same with the other keys, in the order in which they are to be tried."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What nobody may hear of, whoever repeats it."""
    prompt_tokens: Callable[[], int] | None = None
    """About how many tokens the request is, for a vendor that does not say."""

    @property
    def label(self) -> str:
        """vendor/model, for logs and the watchdog."""
        return f"{self.vendor}/{self.model}"

    @property
    def is_plain(self) -> bool:
        """Whether nothing is done before its request, and its answer is told as it comes."""
        return not self.tool_names and self.transforms == NO_TRANSFORMS


_new_request: Final = maker(UpstreamRequest)
_new_dispatch: Final = maker(Dispatch)


def generate(
    request: ChatRequest,
    vendor: Vendor,
    model: str,
    *,
    secret: str | None = None,
    traits: Traits = NO_TRAITS,
    max_event_bytes: int = MAX_EVENT_BYTES,
) -> Dispatch:
    """The dispatch of a chat request. Raises InvalidRequest or PrepareError before anything is sent."""
    return Plan(vendor, model, secret).dispatch(request, traits=traits, max_event_bytes=max_event_bytes)


class Plan:
    """What all requests to one model of a vendor with one key have in common. Raises PrepareError where the
    key is missing. Its repr shows nothing. `is_kept`: with a key of the operator's own, for many
    requests.
    """

    def __init__(self, vendor: Vendor, model: str, secret: str | None, *, is_kept: bool = False) -> None:
        if secret is None and vendor.key_required and vendor.auth.kind != "none":
            raise PrepareError(missing_key(vendor), code="missing_vendor_key")
        self.vendor = vendor
        self.model = model
        self.secret = secret
        self._is_kept = is_kept
        self.dialect = resolve(vendor.surfaces[0].dialect)
        self.quirks = of_model(vendor.quirks, model)
        self._way: _Way | None = None

    def dispatch(
        self, request: ChatRequest, *, traits: Traits = NO_TRAITS, max_event_bytes: int = MAX_EVENT_BYTES
    ) -> Dispatch:
        """The dispatch of one request. Raises InvalidRequest or PrepareError."""
        vendor, dialect, quirks = self.vendor, self.dialect, self.quirks
        request, changes = prepared(request, quirks)
        names: Mapping[str, str] = {}
        if quirks.max_tool_name is not None and (request.tools or request.functions):
            from motes.tool_names import shortened  # Most questions come without tools.

            request, names, told = shortened(request, quirks.max_tool_name)
            changes += told
        try:
            body = dialect.body(request, self.model, quirks, traits)
            written = jsontext.cut_to_size(body.written or jsontext.dump_bytes(body.json))
        except (jsontext.TooDeep, RecursionError):
            raise InvalidRequest("the request is nested too deeply to be sent") from None
        warnings = (*changes, *body.warnings)
        # What is wrong with the request is told before what is wrong with the row.
        way = self._way = self._way or _way(vendor, dialect, self.model, self.secret)
        return _new_dispatch(
            vendor=vendor.id,
            model=self.model,
            dialect=dialect.name,
            request=self._request(way, body, written),
            demuxer=partial(dialect.demuxer, max_event_bytes),
            parser=partial(dialect.parser, quirks),
            sign=way.sign,
            timeouts=vendor.timeouts,
            warnings=tuple(dict.fromkeys(warnings)) if warnings else (),
            error_kinds=quirks.error_kinds,
            context=request.motes.context,
            creates_run=_creates_run(vendor, dialect, body),
            tool_names=names,
            secrets=way.secrets,
            prompt_tokens=prompt_estimate(request),
        )

    def _request(self, way: "_Way", body: UpstreamBody, written: bytes) -> UpstreamRequest:
        ready = way.ready
        if body.headers:
            headers = {**way.plain.headers, **body.headers}
            ready = authorise(replace(way.plain, headers=headers), self.vendor, self.secret)
        return _new_request(
            method="POST",
            url=ready.url,
            headers=ready.headers,
            body=written,
            is_one_of_many=self._is_kept and not body.headers,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How a vendor is reached with a key: the request without a body, as it is (`plain`) and with the key."""

    plain: UpstreamRequest
    ready: UpstreamRequest
    sign: Callable[[UpstreamRequest, datetime], UpstreamRequest]
    secrets: tuple[str, ...] = field(repr=False)


def _way(vendor: Vendor, dialect: Dialect, model: str, secret: str | None) -> _Way:
    headers = {
        **_JSON,
        "accept": "text/event-stream",
        **dialect.headers,
        **filled(vendor.headers, NO_IDS, secret),
    }
    plain = UpstreamRequest(
        method="POST", url=_address(vendor, dialect, model, secret), headers=headers, body=b""
    )
    return _Way(
        plain=plain,
        ready=authorise(plain, vendor, secret),
        sign=signature(vendor, secret),
        secrets=parts_of(secret),
    )


def takes_addresses(vendor: Vendor, model: str) -> bool:
    """Whether images and files may be named by their address; else they have to lie in the request."""
    inline = resolve(vendor.surfaces[0].dialect).inline_media
    return not inline and of_model(vendor.quirks, model).images != "inline"


def _creates_run(vendor: Vendor, dialect: Dialect, body: UpstreamBody) -> bool:
    runs = dialect.stored_runs if vendor.surfaces[0].stored_runs else None
    return runs is not None and all(body.json.get(name) == value for name, value in runs.create.items())


def _address(vendor: Vendor, dialect: Dialect, model: str, secret: str | None) -> str:
    """Where the request goes: the vendor's address, or that of such a key, and the surface's path."""
    surface = vendor.surfaces[0]
    path = dialect.path(model) if surface.path is None else placed_path(surface.path, model)
    return join_url(_base_of(vendor, secret), path, surface.in_place_of)


def _base_of(vendor: Vendor, secret: str | None) -> str:
    heads = [head for head in vendor.addresses if secret and secret.startswith(head)]
    return vendor.addresses[heads[0]] if heads else vendor.base_url


def errand(
    vendor: Vendor,
    secret: str | None,
    path: str,
    *,
    in_place_of: str = "",
    headers: Mapping[str, str] | None = None,
    method: Method = "GET",
) -> Errand:
    """A request below the vendor's address, or in place of that end of it which `in_place_of` names; a POST
    carries an empty object. Raises PrepareError where it cannot be signed.
    """
    url = join_url(_base_of(vendor, secret), path, in_place_of)
    told, body = (_JSON, b"{}") if method == "POST" else ({}, b"")
    known = {**told, **filled(vendor.headers, NO_IDS, secret), **(headers or {})}
    plain = UpstreamRequest(method=method, url=url, headers=known, body=body)
    return Errand(request=authorise(plain, vendor, secret), sign=signature(vendor, secret))


def missing_key(vendor: Vendor) -> str:
    """What to do about a vendor without a key."""
    where = (
        f"set the environment variable {vendor.key_name}" if vendor.key_name else "set `key` in motes.toml"
    )
    if vendor.auth.kind == "sigv4":
        where += ", or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    return f"no key for vendor {vendor.id!r}: {where}"


def authorise(request: UpstreamRequest, vendor: Vendor, secret: str | None) -> UpstreamRequest:
    """The request with the vendor's key in its place. Raises PrepareError where it could not be sent."""
    fault = next(faults(vendor, secret), None)
    if fault is not None:
        raise PrepareError(f"vendor {vendor.id!r} cannot be asked: {fault}")
    if not secret or vendor.auth.kind == "none" or _credentials(vendor, secret):
        return request
    if vendor.auth.kind == "query":
        mark = "&" if "?" in request.url else "?"
        return replace(request, url=f"{request.url}{mark}{vendor.auth.name}={quote(secret, safe='')}")
    name, value = ("authorization", f"Bearer {secret}")
    if vendor.auth.kind == "header":
        name, value = vendor.auth.name, secret
    return replace(request, headers={**request.headers, name: value})


def signature(vendor: Vendor, secret: str | None) -> Callable[[UpstreamRequest, datetime], UpstreamRequest]:
    """What signs the vendor's requests. Raises PrepareError where it cannot be made."""
    credentials = _credentials(vendor, secret)
    if credentials is None:
        return unsigned
    sign = signer(vendor.auth, credentials)

    def signed(request: UpstreamRequest, now: datetime) -> UpstreamRequest:
        headers = sign(request.method, request.url, request.headers, request.body, now)
        return replace(request, headers=headers, is_one_of_many=False)

    return signed


def _credentials(vendor: Vendor, secret: str | None) -> AWSCredentials | None:
    return AWSCredentials.of(secret) if secret and vendor.auth.kind == "sigv4" else None


def placed_path(path: str, model: str) -> str:
    """A surface's own path, with the model's name where it wants it."""
    return path.replace("{model}", quote(model, safe="@"))


def join_url(base: str, path: str, in_place_of: str = "") -> str:
    """Base and path, where a base that already ends in the path's head (`/v1`) does not double it; a query
    of the base stays at the end. The path may stand in place of an end of the base.
    """
    base, _, query = base.partition("?")
    base = base.rstrip("/").removesuffix(in_place_of).rstrip("/")
    head, _, rest = path.lstrip("/").partition("/")
    url = f"{base}/{rest}" if rest and base.endswith("/" + head) else f"{base}/{path.lstrip('/')}"
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url
