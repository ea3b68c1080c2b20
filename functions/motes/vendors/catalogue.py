"""Which vendor and which of its models a model name means.

Pure: the rows, the settings and the environment's base URLs are arguments. What stands before the first `/`
names the vendor (by id or alias); the rest is the vendor's own name, which may hold more of them. A name
without `/` is only ever an alias of the settings.

Where a key goes: a row's key is sent to the host of its row and nowhere else, unless the operator himself
set another `base_url` for it, in `[vendors.<id>]` or as `<ID>_BASE_URL`. That is his choice, so the key goes
there. No caller can name a host.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast, get_args
from urllib.parse import urlsplit, urlunsplit

from pydantic_core import ValidationError

from motes.complaints import told
from motes.dataclass import dataclass
from motes.dialects.base import DialectName
from motes.errors import InvalidRequest, PrepareError, UnknownModel
from motes.quirks import Quirks
from motes.settings import AWS_KEY, Settings, VendorSettings, closest
from motes.vendors.aliases import RETIRED
from motes.vendors.sendable import address_fault, auth_fault, header_fault
from motes.vendors.vendor import BEARER, NO_AUTH, Auth, Surface, Timeouts, Vendor

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_DIALECTS: Final[tuple[str, ...]] = get_args(DialectName)
_LISTED: Final = 80
_LINKS: Final = 10
_HALVES: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Route:
    """A vendor, and what it calls the model."""

    vendor: Vendor
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Every vendor there is in this process, and every name by which a model can be asked for. `set_up` are
    the vendors that the settings or the environment name.
    """

    vendors: Mapping[str, Vendor]
    vendor_aliases: Mapping[str, str]
    aliases: Mapping[str, str]
    default_model: str | None = None
    set_up: frozenset[str] = frozenset()

    def resolve(self, name: str | None) -> Route:
        """The route of a model name. Raises InvalidRequest or UnknownModel, which names what there is, or
        PrepareError where its vendor has no address or the aliases lead in a circle.
        """
        route = self.find(name)
        if not route.vendor.base_url:
            raise PrepareError(f"vendor {route.vendor.id!r} {no_address(route.vendor)}")
        return route

    def find(self, name: str | None) -> Route:
        """The route of a model name, whether or not its vendor has an address."""
        asked = name or self.default_model
        if not asked:
            message = "`model` is required: write vendor/model, for no default_model is set"
            raise InvalidRequest(message, param="model", code="missing_model")
        if _HALVES.search(asked):
            # No address can hold it, and no vendor has it.
            raise UnknownModel("the model's name has half a character in it", param="model")
        chain = self._chain(asked)
        meant = chain[-1]
        if meant in chain[:-1]:
            raise PrepareError(f"aliases lead in a circle: {' > '.join(map(_shown, chain[:_LINKS]))}")
        vendor, slash, model = meant.partition("/")
        if not slash or not vendor:
            raise UnknownModel(self._no_vendor(meant), param="model")
        row = self.vendors.get(self.vendor_aliases.get(vendor, vendor))
        if row is None:
            raise UnknownModel(self._no_such_vendor(vendor), param="model")
        if not model:
            raise UnknownModel(self._no_model(meant), param="model")
        return Route(row, model)

    def _chain(self, name: str) -> list[str]:
        """A name and what it stands for, until that is no alias; in a circle, the last one is there twice."""
        chain = [name]
        while (target := self.aliases.get(chain[-1], chain[-1])) != chain[-1]:
            chain.append(target)
            if target in chain[:-1]:
                break
        return chain

    def vendor(self, name: str) -> Vendor | None:
        """The vendor of that id or alias."""
        return self.vendors.get(self.vendor_aliases.get(name, name))

    def aliased(self, usable: Iterable[str]) -> list[tuple[str, str, str]]:
        """(alias, vendor, vendor's name of the model) of every alias that means one of these vendors."""
        ids = set(usable)
        meant = [(alias, *self._chain(alias)[-1].partition("/")) for alias in self.aliases]
        owned = [(alias, self.vendor_aliases.get(head, head), model) for alias, head, _, model in meant]
        return [one for one in owned if one[1] in ids]

    def with_rows(self, rows: Iterable[Vendor]) -> "Catalogue":
        """The same with more vendors, which are asked first."""
        return replace(self, vendors={row.id: row for row in rows} | dict(self.vendors))

    def _no_vendor(self, asked: str) -> str:
        near = closest(asked, self.aliases.keys() - {asked})
        cure = f"{near} Write vendor/model." if near else ": write vendor/model."
        return f"model {_shown(asked)} names no vendor{cure} {self._known()}"

    def _no_model(self, asked: str) -> str:
        cure = f"write {asked}model, with a name of its own"
        return f"model {_shown(asked)} names a vendor and no model: {cure}. {self._known()}"

    def _no_such_vendor(self, vendor: str) -> str:
        if vendor in RETIRED:
            return f"vendor {vendor!r} is no more: {RETIRED[vendor]}. {self._known()}"
        near = closest(vendor, [*self.vendors, *self.vendor_aliases])
        return f"there is no vendor {_shown(vendor)}{near or '.'} {self._known()}"

    def _known(self) -> str:
        names = sorted(self.vendors)
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return f"Known vendors: {', '.join(names[:_LISTED])}{more}."


def speaking(vendor: Vendor, dialect: str | None, model: str = "") -> Vendor:
    """The vendor with one of its dialects first, and what it differs in there: the one that is asked for,
    else the one that serves the model, else its default. Raises InvalidRequest where it does not speak it.
    """
    wanted = dialect or _only_served_by(vendor, model) or vendor.surfaces[0].dialect
    first = next((surface for surface in vendor.surfaces if surface.dialect == wanted), None)
    if first is None:
        spoken = ", ".join(surface.dialect for surface in vendor.surfaces)
        raise InvalidRequest(
            f"vendor {vendor.id!r} does not speak that dialect here; it speaks {spoken}",
            param="motes.dialect",
            code="unsupported",
        )
    if first is vendor.surfaces[0] and first.quirks is None and first.timeouts is None:
        return vendor
    rest = [surface for surface in vendor.surfaces if surface.dialect != wanted]
    return replace(
        vendor,
        surfaces=(first, *rest),
        quirks=first.quirks or vendor.quirks,
        timeouts=first.timeouts or vendor.timeouts,
    )


def _only_served_by(vendor: Vendor, model: str) -> str | None:
    """The dialect of a model that the default one does not serve, where the vendor speaks it here."""
    spoken = {surface.dialect for surface in vendor.surfaces}
    found = (name for pattern, name in vendor.model_surfaces.items() if fnmatchcase(model, pattern))
    return next((name for name in found if name in spoken), None)


def build_catalogue(
    rows: Mapping[str, Vendor], vendor_aliases: Mapping[str, str], settings: Settings
) -> Catalogue:
    """The catalogue of built-in rows and settings. Raises PrepareError with every fault, one a line."""
    faults: list[str] = []
    vendors, named = dict(rows), set[str]()
    for name, changes in settings.vendors.items():
        id = vendor_aliases.get(name, name) if name not in rows else name
        named.add(id)
        try:
            vendors[id] = _changed(vendors.get(id), id, _in_our_words(changes))
        except ValueError as error:
            faults += [f"{settings.source}: vendors.{name}{line}" for line in str(error).splitlines()]
    for id, row in vendors.items():
        url = settings.base_urls.get(base_url_variable(id))
        if url:
            vendors[id] = replace(row, base_url=_placed(url, row.base_path), addresses={})
            named.add(id)
    if faults:
        raise PrepareError("\n".join(faults), code="bad_setting")
    return Catalogue(
        vendors={id: _in_region(row, settings.aws_region) for id, row in vendors.items()},
        vendor_aliases=vendor_aliases,
        aliases=settings.aliases,
        default_model=settings.default_model,
        set_up=frozenset(named),
    )


def _in_our_words(changes: VendorSettings) -> VendorSettings:
    if not changes.quirks:
        return changes
    from motes.vendors.quirk_words import translated

    return translated(changes)


def _in_region(row: Vendor, region: str) -> Vendor:
    """A row of AWS at the operator's place: `{region}` in its address, and what its signature is for."""
    auth = replace(row.auth, region=region) if row.auth.kind == "sigv4" else row.auth
    return replace(row, base_url=row.base_url.replace("{region}", region), auth=auth)


def base_url_variable(id: str) -> str:
    """The environment variable that moves a vendor: `<ID>_BASE_URL`."""
    return _variable(id, "BASE_URL")


def _variable(id: str, what: str) -> str:
    return f"{re.sub(r'[^A-Z0-9]', '_', id.upper())}_{what}"


def no_address(row: Vendor) -> str:
    """What a row without an address lacks, and what to do about it."""
    like = f", such as {row.address}" if row.address else ""
    where = f"set `base_url` in [vendors.{row.id}] of motes.toml, or {base_url_variable(row.id)}"
    return f"has no address: {where}{like}"


def _changed(row: Vendor | None, id: str, changes: VendorSettings) -> Vendor:
    """A built-in row with the given members changed, or a new one. Raises ValueError, its place in front."""
    if not id or "/" in id:
        raise ValueError(": a vendor's name has no `/` in it")
    base = row or _new(id, changes)
    surface, others = base.surfaces[0], base.surfaces[1:]
    if changes.dialect is not None:
        surface, others = _surface(base, _dialect(changes.dialect))
    if changes.path is not None:
        surface = replace(surface, path=changes.path)
    surfaces = (surface, *(s for s in others if s.dialect != surface.dialect))
    names = [changes.key_env] if isinstance(changes.key_env, str) else changes.key_env or []
    return replace(
        base,
        base_url=base.base_url
        if changes.base_url is None
        else _placed(_url(changes.base_url), base.base_path),
        addresses=base.addresses if changes.base_url is None else {},
        surfaces=tuple(_changed_surface(surface, changes) for surface in surfaces),
        auth=base.auth if changes.auth is None else _auth(changes.auth),
        key_name=names[0] if names else base.key_name,
        more_key_names=tuple(names[1:]) if names else base.more_key_names,
        quirks=_quirks(base.quirks, changes.quirks),
        timeouts=_timeouts(base.timeouts, changes),
        headers=_headers(base.headers, changes.headers),
        model_list=base.model_list if changes.models is None else None,
        models=base.models if changes.models is None else tuple(changes.models),
    )


def _surface(base: Vendor, dialect: DialectName) -> tuple[Surface, tuple[Surface, ...]]:
    """A dialect's surface, and the vendor's others; a new one stands for the vendor's default."""
    known = next((s for s in base.surfaces if s.dialect == dialect), None)
    return (known, base.surfaces) if known else (Surface(dialect=dialect), base.surfaces[1:])


def _changed_surface(surface: Surface, changes: VendorSettings) -> Surface:
    """A surface that differs from its vendor gets the operator's changes too."""
    return replace(
        surface,
        quirks=surface.quirks and _quirks(surface.quirks, changes.quirks),
        timeouts=surface.timeouts and _timeouts(surface.timeouts, changes),
    )


def _new(id: str, changes: VendorSettings) -> Vendor:
    missing = [name for name in ("dialect", "base_url") if getattr(changes, name) is None]
    if missing:
        raise ValueError(f": a new vendor needs {' and '.join(missing)}")
    surface = Surface(dialect=_dialect(changes.dialect or ""))
    signs = (changes.auth or "").startswith("sigv4")
    key_name = AWS_KEY if signs else _variable(id, "API_KEY")
    return Vendor(id=id, base_url="", surfaces=(surface,), key_name=key_name)


def _dialect(name: str) -> DialectName:
    if name not in _DIALECTS:
        raise ValueError(
            f".dialect: there is no dialect {name[:40]!r}{closest(name, _DIALECTS)}; known are "
            f"{', '.join(_DIALECTS)}"
        )
    return cast(DialectName, name)


def _url(text: str) -> str:
    fault = address_fault(text)
    if fault is not None:
        raise ValueError(f".base_url: {fault}")
    return text


def _placed(url: str, base_path: str) -> str:
    """The address with a vendor's own path, where it is given with the beginning of that path or none."""
    parts = urlsplit(url)
    missing = base_path and base_path.startswith(parts.path.rstrip("/"))
    return urlunsplit(parts._replace(path=base_path)) if missing else url


def _auth(text: str) -> Auth:
    kind, _, name = text.partition(":")
    if text == "bearer":
        return BEARER
    if text == "none":
        return NO_AUTH
    if kind in ("header", "query") and name:
        return _named_place(text, Auth("query", name) if kind == "query" else Auth("header", name.lower()))
    if kind == "sigv4":
        return Auth("sigv4", name or "bedrock")
    raise ValueError(".auth: use bearer, none, header:<name>, query:<name> or sigv4:<service>")


def _named_place(text: str, auth: Auth) -> Auth:
    fault = auth_fault(auth)
    if fault is not None:
        raise ValueError(f".auth: {text[:40]!r} {fault}")
    return auth


def _headers(base: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    """The headers with the given ones changed."""
    found = [(name, header_fault(name, value)) for name, value in changes.items()]
    wrong = [f".headers.{name[:40]}: {fault}" for name, fault in found if fault is not None]
    if wrong:
        raise ValueError("\n".join(wrong))
    return {**base, **{name.lower(): value for name, value in changes.items()}}


def _quirks(base: Quirks, changes: Mapping[str, Any]) -> Quirks:
    """The quirks with the given ones changed."""
    if not changes:
        return base
    from motes.vendors.quirk_words import WORDS

    known = Quirks.__dataclass_fields__
    unknown = [
        f".quirks.{name}: no such quirk{closest(name, (*known, *WORDS))}"
        for name in changes
        if name not in known
    ]
    if unknown:
        raise ValueError("\n".join(unknown))
    try:
        read = _quirks_reader().validate_python(dict(changes))
    except ValidationError as error:
        items = error.errors(include_url=False)
        faults = [f".quirks.{'.'.join(map(str, item['loc']))}: {told([item], 'a table')}" for item in items]
        raise ValueError("\n".join(faults)) from None
    return replace(base, **{name: getattr(read, name) for name in changes})


@cache
def _quirks_reader() -> "TypeAdapter[Quirks]":
    """Costs milliseconds to make, and most processes never need it."""
    from pydantic import TypeAdapter

    return TypeAdapter(Quirks)


def _timeouts(base: Timeouts, changes: VendorSettings) -> Timeouts:
    given = changes.timeouts.model_dump(exclude_none=True)
    return replace(base, **given)


def _shown(name: str) -> str:
    return repr(name if len(name) <= 80 else name[:79] + "…")
