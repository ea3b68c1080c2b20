"""What the operator sets: the environment and `motes.toml`, read once into frozen models.

The file is `$MOTES_CONFIG`, else `./motes.toml`, else `$MOTES_HOME/motes.toml`; `MOTES_<NAME>` in the
environment goes before it. Whatever is wrong is told at once, all of it, as a `PrepareError` that names the
file, the place and the cure. Must never show a key: keys are `Secret`, and no value is ever quoted.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic_core import ErrorDetails, ValidationError

from motes.complaints import told
from motes.errors import PrepareError
from motes.model import Field, Model, Secret

ReasoningField = Literal["reasoning_content", "reasoning", "both", "none", "think-tags"]
PriceList = Literal["genai-prices", "none"]
Keepalive = Literal["comment", "empty-delta"]
StreamUsage = Literal["asked", "always"]

MIB: Final = 1024 * 1024
DAY: Final = 24 * 3600
AWS_KEY: Final = "AWS_BEARER_TOKEN_BEDROCK"
"""Where a bearer key for Amazon Bedrock lies; a pair of AWS's keys under their usual names does as well."""
FILE_NAME: Final = "motes.toml"
_NOT_IN_FILE: Final = frozenset({"home", "source", "base_urls"})
_UNKNOWN: Final = "extra_forbidden"
_NEAR: Final = 0.65
"""How alike two words are before one may be meant by the other: `nope` does not mean `openai`."""
# It becomes part of a host's name.
_REGION: Final = r"^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$"
_REGION_VARIABLES: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")


class _Closed(Model, extra="forbid"):
    """A name we do not know is a mistake, since it would be obeyed by nobody."""


class TimeoutSettings(_Closed):
    """Seconds; what is left out stays as the vendor's row has it."""

    connect: float | None = Field(default=None, gt=0)
    first_byte: float | None = Field(default=None, gt=0)
    idle: float | None = Field(default=None, gt=0)
    quiet: float | None = Field(default=None, gt=0)


class VendorSettings(_Closed):
    """One `[vendors.<name>]`: a new row, or changes to the built-in row of that name.

    `auth` is `bearer`, `none`, `header:<name>`, `query:<name>` or, for AWS, `sigv4:<service>`. `key_env` is
    the environment variable that holds the key. Of each there may be several (a list; or one text, with
    commas or line breaks in between), which are used in turn. `models` are listed; a vendor serves whatever
    name it knows.
    """

    dialect: str | None = None
    base_url: str | None = None
    path: str | None = None
    auth: str | None = None
    key: Secret | list[Secret] | None = None
    key_env: str | list[str] | None = None
    quirks: dict[str, Any] = Field(default_factory=dict)
    timeouts: TimeoutSettings = Field(default_factory=TimeoutSettings)
    headers: dict[str, str] = Field(default_factory=dict)
    models: list[str] | None = None


class PriceSettings(_Closed):
    """One `[prices."vendor/model"]`: US dollars a million tokens. What is left out costs as much as `input`;
    what is written to a cache for an hour, as much as what is written at all.
    """

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached_input: Decimal | None = Field(default=None, ge=0)
    cache_write: Decimal | None = Field(default=None, ge=0)
    cache_write_1h: Decimal | None = Field(default=None, ge=0)


class Settings(_Closed):
    """Everything that can be set. Times are in seconds, sizes in bytes."""

    home: Path
    """Where motes keeps its own state where there is no table: callers' keys, vendors' health."""
    source: Path | None = None
    """The file that was read, if there was one."""
    base_urls: Mapping[str, str] = Field(default_factory=dict, repr=False)
    """Every `<VENDOR>_BASE_URL` of the environment, by its full name."""

    heartbeat_s: float = Field(default=10, gt=0)
    commit_after_s: float = Field(default=8, ge=0)
    max_body_bytes: int = Field(default=10 * MIB, ge=1)
    max_messages: int = Field(default=10_000, ge=1)
    """How many messages a request may have."""
    fetch_media: bool = True
    """Whether images and files named by their address are fetched for vendors that take them inline only."""
    max_event_bytes: int = Field(default=64 * MIB, ge=1)
    deadline_s: float | None = Field(default=None, gt=0)
    """How long a run may take; no limit without it."""
    deadline_warn_s: float = Field(default=15, ge=0)
    deadline_stop_s: float = Field(default=3, ge=0)

    table: str | None = Field(default=None, min_length=3, max_length=1024)
    """The DynamoDB table that holds that state; without it, it lies in `home`."""
    key_path: str | None = Field(default=None, pattern=r"^(/[A-Za-z0-9_.-]+)+$")
    """Where in SSM the vendors' keys lie that the environment does not have: `<key_path>/OPENAI_API_KEY`."""
    keys_max_age_s: float = Field(default=60, ge=1)
    """After how long at the latest a caller's key that was disabled in the table is refused."""
    vendor_keys_max_age_s: float = Field(default=300, ge=1)
    """After how long at the latest a vendor's key that was changed in SSM is used."""

    run_keep_s: float = Field(default=DAY, ge=0, le=30 * DAY)
    """How long a run that is left at its vendor can be taken up again before it is deleted there."""
    journal_keep_s: float = Field(default=DAY, ge=0, le=30 * DAY)
    """How long the journal of a run is kept after its end."""

    models_max_age_s: float = Field(default=600, ge=1)
    """For how long a vendor's list of models stands before it is asked again."""

    aws_keys: bool = True
    """Whether Amazon's own models are asked with AWS's keys of this process (a pair in the environment, a
    profile, a role), where there is no key of Bedrock's.
    """
    aws_region: str = Field(default="us-east-1", pattern=_REGION)
    """Where Amazon's own models are asked: `aws_region` here, else AWS_REGION, else AWS_DEFAULT_REGION."""

    default_model: str | None = None
    aliases: dict[str, str] = Field(default_factory=dict)
    vendors: dict[str, VendorSettings] = Field(default_factory=dict)

    prices: dict[Annotated[str, Field(pattern=r"^[^/]+/.+$")], PriceSettings] = Field(default_factory=dict)
    """What these models cost, by vendor/model; goes before what is generally known of them."""
    price_list: PriceList = "genai-prices"
    """Whose prices hold for other models."""
    margin: Decimal = Field(default=Decimal(1), ge=0, le=1000)
    """What a caller's cost is multiplied by; tokens never are."""
    usage_days: int = Field(default=400, ge=1, le=36500)
    """For how long a run's usage is kept."""

    reasoning_field: ReasoningField = "reasoning_content"
    """The member of an OpenAI delta or message that carries reasoning."""
    keepalive: Keepalive = "comment"
    """What an OpenAI stream says when it has nothing to say."""
    stream_usage: StreamUsage = "asked"
    """Whether a stream ends with a usage chunk only if the caller asked."""
    resumable: bool = False
    """Whether a run has a journal, from which a reader that was cut off goes on."""
    background_models: tuple[str, ...] = ()
    """Models whose runs live on at their vendor: patterns of `vendor/model`."""
    lease_s: float = Field(default=60, gt=0)
    """After how long without a word of its process a run is taken up by another."""
    journal_page_s: float = Field(default=1, ge=0)
    journal_page_bytes: int = Field(default=32 * 1024, ge=1)
    """How long a page of a journal waits for more, and how much closes it."""
    strict_requests: bool = False
    """Whether an unknown member of a request is refused rather than ignored."""


_TABLES: Final = frozenset({"aliases", "vendors", "background_models", "prices"})
_SCALARS: Final = tuple(name for name in Settings.model_fields if name not in _NOT_IN_FILE | _TABLES)


def load_settings(environ: Mapping[str, str], directory: Path) -> Settings:
    """The settings of this process. Raises PrepareError with every fault, one a line."""
    home = home_of(environ)
    source = _find(environ, directory, home)
    data = _read(source) if source else {}
    faults = [f"{source}: {fault}" for fault in _unknown(data, _file_keys(), "")]
    values = {key: value for key, value in data.items() if key in _file_keys()}
    values |= {name: environ[_variable(name)] for name in _SCALARS if environ.get(_variable(name))}
    values = _place(environ) | values
    base_urls = {name: url for name, url in environ.items() if name.endswith("_BASE_URL") and url}
    try:
        settings = Settings(home=home, source=source, base_urls=MappingProxyType(base_urls), **values)
    except ValidationError as error:
        faults += [_told(item, source, environ) for item in error.errors(include_url=False)]
    if faults:
        raise PrepareError("\n".join(faults), code="bad_setting")
    return settings


def _place(environ: Mapping[str, str]) -> dict[str, Any]:
    """The region, where AWS's own variables name one; one that is no region at all is not ours to judge."""
    named = (environ.get(name, "") for name in _REGION_VARIABLES)
    region = next((name for name in named if re.fullmatch(_REGION, name)), None)
    return {"aws_region": region} if region else {}


def home_of(environ: Mapping[str, str]) -> Path:
    """`$MOTES_HOME`, else `motes` in the XDG data directory. Raises PrepareError where it cannot be told."""
    if environ.get("MOTES_HOME"):
        return _expanded("MOTES_HOME", environ["MOTES_HOME"])
    data = environ.get("XDG_DATA_HOME")
    try:
        return (Path(data) if data else Path.home() / ".local" / "share") / "motes"
    except RuntimeError:
        raise PrepareError("there is no home directory: set MOTES_HOME", code="bad_setting") from None


def _expanded(variable: str, text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        message = f"environment variable {variable}: there is no user of that name"
        raise PrepareError(message, code="bad_setting") from None


def closest(word: str, known: Iterable[str]) -> str:
    """`; did you mean '…'?` where a known word is near, else nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=_NEAR)
    return f"; did you mean {near[0]!r}?" if near else ""


def _file_keys() -> set[str]:
    return set(Settings.model_fields) - _NOT_IN_FILE


def _variable(name: str) -> str:
    return f"MOTES_{name.upper()}"


def _find(environ: Mapping[str, str], directory: Path, home: Path) -> Path | None:
    named = environ.get("MOTES_CONFIG")
    if named:
        path = _expanded("MOTES_CONFIG", named)
        if not _is_file(path):
            raise PrepareError(f"MOTES_CONFIG: there is no file {path}", code="bad_setting")
        return path
    places = (directory / FILE_NAME, home / FILE_NAME)
    return next((path for path in places if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    """Whether there is a file; what may not even be looked at is one, and reading it says why."""
    try:
        return path.is_file()
    except OSError:
        return True


def _read(path: Path) -> dict[str, Any]:
    import tomllib  # A function on Lambda may have no file, and then starts without it.

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PrepareError(f"{path}: cannot be read: {error.strerror}", code="bad_setting") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PrepareError(f"{path}: is not valid TOML: {error}", code="bad_setting") from None


def _unknown(data: Mapping[str, Any], known: set[str], place: str) -> list[str]:
    return [f"{place}{key}: no such setting{closest(key, known)}" for key in data if key not in known]


def _told(item: ErrorDetails, source: Path | None, environ: Mapping[str, str]) -> str:
    """One fault in words: where it stands, what it is, what was meant. Never the value."""
    steps = [str(step) for step in item["loc"]]
    variable = _variable(steps[0])
    by_environment = len(steps) == 1 and steps[0] in _SCALARS and environ.get(variable)
    where = f"environment variable {variable}" if by_environment else f"{source}: {'.'.join(steps)}"
    if item["type"] == _UNKNOWN:
        return f"{where}: no such setting{closest(steps[-1], _siblings(steps))}"
    return f"{where}: {told([item], 'a table')}"


def _siblings(steps: list[str]) -> Iterable[str]:
    """The names that could have stood where the last step stands."""
    if "timeouts" in steps[:-1]:
        return TimeoutSettings.model_fields
    tables: dict[str, Iterable[str]] = {
        "vendors": VendorSettings.model_fields,
        "prices": PriceSettings.model_fields,
    }
    return tables.get(steps[0], Settings.model_fields)
