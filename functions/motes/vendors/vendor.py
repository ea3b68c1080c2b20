"""What a vendor is: a row.

Must never hold a secret: a row names where its key lies, not the key.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from motes.dataclass import dataclass
from motes.dialects.base import DialectName
from motes.quirks import NO_QUIRKS, Quirks


@dataclass(frozen=True, slots=True)
class Auth:
    """How the key travels: a bearer token, a header of its own, a query parameter, or not at all.

    `sigv4`: it does not travel, it signs (AWS); `name` is the service that the signature is for, `region`
    the one where the address does not tell it. A bearer key of that service travels as such.
    """

    kind: Literal["bearer", "header", "query", "sigv4", "none"]
    name: str = ""
    region: str = ""


BEARER: Final = Auth("bearer")
NO_AUTH: Final = Auth("none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds; a setting overrides each. `connect` is for the connection, `first_byte` for the first byte of
    the answer, `idle` for the next one, and `quiet` for the next event that says anything: a vendor may go on
    sending signs of life for ever.
    """

    connect: float = 10.0
    first_byte: float = 300.0
    idle: float = 120.0
    quiet: float = 1800.0


DEFAULT_TIMEOUTS: Final = Timeouts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One protocol a vendor speaks.

    `path` stands for the dialect's own where it differs; `{model}` in it is the model's name. It stands below
    the vendor's address, or in place of that end of it which `in_place_of` names. Quirks and timeouts stand
    for the vendor's. `stored_runs`: whether runs live on here, where the dialect knows how.
    """

    dialect: DialectName
    path: str | None = None
    in_place_of: str = ""
    quirks: Quirks | None = None
    timeouts: Timeouts | None = None
    stored_runs: bool = True


ListShape = Literal[
    "openai",
    "per-million",
    "anthropic",
    "gemini",
    "cohere",
    "xai",
    "novita",
    "cloudflare",
    "ollama",
    "lmstudio",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelList:
    """Where a vendor lists its models, and how the list is written.

    `path` (with query) stands below the vendor's address, or in place of that end of it which `in_place_of`
    names. `shape` is what `model_lists.read` is told; `headers` are sent besides the key.
    """

    path: str = "models"
    shape: ListShape = "openai"
    in_place_of: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


BY_DIALECT: Final = ModelList(path="")
"""The list is where the vendor's default dialect has it."""

ResourceKind = Literal["vnd.ant.file", "vnd.oai.container_file", "vnd.gem.file"]

CHAT: Final = Surface(dialect="openai-chat")
MESSAGES: Final = Surface(dialect="anthropic-messages")
GENERATE: Final = Surface(dialect="gemini-generate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """One vendor. The first surface is the default; `key_name` is the environment variable of its key.

    `model_surfaces` names the dialect of models that only one of the others serves, by patterns of their
    names (`*` stands for anything). `base_path` is added to an address that is given without it. `address` is
    what an operator's own address looks like, where the row has none. `addresses` are those of other keys of
    the same vendor, by what these keys begin with. `model_list` is None where there is no list that says what
    can be asked for; `models` stand for it then. `resources` are the kinds of files that lie there.
    `priced_as` is what genai-prices calls the provider whose prices hold, where that is not the id.
    """

    id: str
    base_url: str
    surfaces: tuple[Surface, ...]
    auth: Auth = BEARER
    key_name: str | None = None
    more_key_names: tuple[str, ...] = ()
    """Where more keys of the same vendor lie, to be used in turn."""
    key_required: bool = True
    quirks: Quirks = NO_QUIRKS
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    headers: Mapping[str, str] = field(default_factory=dict)
    model_surfaces: Mapping[str, DialectName] = field(default_factory=dict)
    base_path: str = ""
    address: str = ""
    addresses: Mapping[str, str] = field(default_factory=dict)
    model_list: ModelList | None = BY_DIALECT
    resources: tuple[ResourceKind, ...] = ()
    priced_as: str | None = None
    models: tuple[str, ...] = ()
    """A few models to list; a vendor serves whatever name it knows."""

    @property
    def key_names(self) -> tuple[str, ...]:
        """Where its keys lie, all of them."""
        return (self.key_name, *self.more_key_names) if self.key_name else ()
