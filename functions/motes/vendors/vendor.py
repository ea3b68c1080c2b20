"""What a vendor is: a row.

Must never hold a secret: a row names where its key lies, not the key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from motes.dialects.base import DialectName
from motes.quirks import NO_QUIRKS, Quirks


@dataclass(frozen=True, slots=True)
class Auth:
    """How the key travels: a bearer token, a header of its own, a query parameter, or not at all."""

    kind: Literal["bearer", "header", "query", "none"]
    name: str = ""


BEARER: Final = Auth("bearer")
NO_AUTH: Final = Auth("none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds; each is reset as its name says, and a setting overrides it."""

    connect: float = 10.0
    first_byte: float = 300.0
    idle: float = 120.0


DEFAULT_TIMEOUTS: Final = Timeouts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One protocol a vendor speaks, and the path where it differs from the dialect's own."""

    dialect: DialectName
    path: str | None = None


CHAT: Final = Surface(dialect="openai-chat")
MESSAGES: Final = Surface(dialect="anthropic-messages")
GENERATE: Final = Surface(dialect="gemini-generate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """One vendor. The first surface is the default; `key_name` is the environment variable of its key."""

    id: str
    base_url: str
    surfaces: tuple[Surface, ...]
    auth: Auth = BEARER
    key_name: str | None = None
    key_required: bool = True
    quirks: Quirks = NO_QUIRKS
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    headers: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    """A few models to list; a vendor serves whatever name it knows."""
