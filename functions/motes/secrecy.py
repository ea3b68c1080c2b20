"""Takes a vendor's key out of what is said about a run: an upstream may repeat in its words what it was sent.

Only the control particles are looked at, never the answer itself. Must never let a key through because it is
written in other case, quoted as in a URL, or cut off by an excerpt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from motes import particles as p
from motes.errors import VendorError

MASK: Final = "***"
_TELLING: Final = 8
"""Fewer characters of a key are a word, and tell nothing."""
_DEPTH: Final = 8

_WORDS: Final[Mapping[type, tuple[str, ...]]] = {
    p.End: ("detail", "native_stop"),
    p.Issue: ("text",),
    p.Note: ("text",),
    p.RetryReset: ("reason", "cause_conn"),
    p.Warn: ("text",),
    p.ModelName: ("name",),
    p.ResponseId: ("id",),
    p.ProviderInfra: ("label",),
}
# What stands in a URL as it is (RFC 3986, 2.3).
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]*")
_ERROR_WORDS: Final = ("message", "code", "type", "request_id")


def parts_of(secret: str | None) -> tuple[str, ...]:
    """What must not be shown of a secret: all of it, and each part of one made of several (AWS's: id, key,
    session token).
    """
    if not secret:
        return ()
    parts = (secret, *(part for part in secret.split(":") if len(part) >= _TELLING))
    return tuple(dict.fromkeys(parts))


def masked(text: str, secrets: Sequence[str]) -> str:
    """The text without the secrets, and without the head of one, as far as the text follows it."""
    for secret in secrets:
        for form in _forms(secret):
            text = _without(text, form)
    return text


def _forms(secret: str) -> tuple[str, ...]:
    """As it is, and as it is quoted in a URL."""
    return (secret,) if _UNRESERVED.fullmatch(secret) else (secret, quote(secret, safe=""))


def without_secrets(particle: p.Particle, secrets: Sequence[str]) -> p.Particle:
    """The particle as it may be told."""
    names = _WORDS.get(type(particle))
    if names is None or not secrets:
        return particle
    changes = _changes(particle, names, secrets)
    if isinstance(particle, p.Issue) and particle.error is not None:
        error = error_without(particle.error, secrets)
        changes |= {"error": error} if error is not particle.error else {}
    return replace(particle, **changes) if changes else particle


class Secrecy:
    """Does the same for all particles of one run. What holds the beginning of no secret, as mostly, is looked
    at once and goes on as it is.
    """

    __slots__ = ("_heads", "_secrets")

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = secrets
        heads = {form[:_TELLING].lower() for secret in secrets for form in _forms(secret[:_TELLING])}
        self._heads = list(heads) if all(map(str.isascii, heads)) else [""]

    def __repr__(self) -> str:
        return "Secrecy(...)"

    def kept(self, particle: p.Particle) -> p.Particle:
        """The particle as it may be told: see `without_secrets`."""
        names, heads = _WORDS.get(type(particle)), self._heads
        if names is None or not heads:
            return particle
        if type(particle) is p.Issue:
            return without_secrets(particle, self._secrets)
        words = ""
        for name in names:
            # What is joined holds all that its parts hold.
            words += getattr(particle, name) or ""
        if words:
            lowered = words.lower()
            for head in heads:
                if head in lowered or not words.isascii():
                    return without_secrets(particle, self._secrets)
        return particle


def error_without(error: VendorError, secrets: Sequence[str]) -> VendorError:
    """The error as it may be told."""
    changes = _changes(error, _ERROR_WORDS, secrets)
    if error.details is not None:
        changes["details"] = _anything(error.details, secrets, 0)
    return replace(error, **changes) if changes else error


def _changes(value: object, names: Sequence[str], secrets: Sequence[str]) -> dict[str, Any]:
    found = {name: getattr(value, name) for name in names}
    after = {name: masked(text, secrets) for name, text in found.items() if isinstance(text, str)}
    return {name: text for name, text in after.items() if text != found[name]}


def _anything(value: Any, secrets: Sequence[str], depth: int) -> Any:
    if isinstance(value, str):
        return masked(value, secrets)
    if not isinstance(value, dict | list):
        return value
    if depth == _DEPTH:
        return MASK
    if isinstance(value, list):
        return [_anything(item, secrets, depth + 1) for item in value]
    return {masked(str(name), secrets): _anything(item, secrets, depth + 1) for name, item in value.items()}


def _without(text: str, secret: str) -> str:
    """One pass over the text; what is found is at least a telling part of the secret, from its beginning."""
    start = secret[:_TELLING]
    if text.isascii() and start.isascii() and start.lower() not in text.lower():
        return text
    head = re.compile(re.escape(start), re.I)
    out, at = list[str](), 0
    while (found := head.search(text, at)) is not None:
        out += (text[at : found.start()], MASK)
        at = found.end()
        for mark in secret[_TELLING:]:
            if text[at : at + 1].lower() != mark.lower():
                break
            at += 1
    return "".join([*out, text[at:]])
