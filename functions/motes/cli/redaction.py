"""What must not be seen of a request or an answer, and what stands in its place.

Pure. Must never let a key through because of where it stands, how it is quoted, or where an answer was cut
into reads; what is put in its place in a body is as long as it was, so that offsets stay true.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit
from zlib import crc32

from motes.secrecy import MASK, masked, parts_of

_SECRET_WORDS: Final = ("auth", "key", "token", "secret", "cookie", "password", "credential", "signature")
_TELLING: Final = 8
"""Fewer characters of a key are a word: a server without keys is sent `none` or `EMPTY`."""
_LEAST_FRAME: Final = 16
_SCHEMES: Final = ("bearer", "basic", "token")
_SIGNED: Final = "AWS4-HMAC-SHA256"
"""What follows is good for one request only, and begins with what every such request says."""


def is_secret(name: str) -> bool:
    """Whether a header or a member of a query is secret by its name."""
    return any(word in name.lower() for word in _SECRET_WORDS)


def masked_url(url: str) -> str:
    """The URL without a password in front of its host, nor what looks like a secret in its query."""
    url = re.sub(r"//[^/@]*@", f"//{MASK}@", url)
    return re.sub(r"(?<=[?&])([^=&]+)=([^&]*)", _masked_member, url)


def _masked_member(found: re.Match[str]) -> str:
    name, value = found.groups()
    return f"{name}={MASK if is_secret(name) or value == quote(MASK, safe='') else value}"


def secrets_in(url: str, headers: Mapping[str, str]) -> tuple[str, ...]:
    """What a request holds that its answer must not repeat: by the names of headers and query, and whatever
    stands in front of the host.
    """
    found = list(_said_secretly(headers))
    parts = urlsplit(url)
    found += [part for part in (parts.username, parts.password) if part]
    pairs = (member.partition("=") for member in parts.query.split("&"))
    found += [unquote(value) for name, _, value in pairs if is_secret(name)]
    return _telling(part for value in found for part in parts_of(value))


def _said_secretly(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        scheme, _, rest = value.partition(" ")
        if is_secret(name) and scheme != _SIGNED:
            yield rest.strip() if scheme.lower() in _SCHEMES else value


def _telling(values: Iterable[str]) -> tuple[str, ...]:
    """The longest first: a key may begin with another one."""
    return tuple(sorted({value for value in values if len(value) >= _TELLING}, key=len, reverse=True))


def masked_headers(headers: Mapping[str, str], secrets: Sequence[str]) -> dict[str, str]:
    """The headers as they may be seen."""
    return {
        name: MASK if is_secret(name) else masked(value, _telling(secrets)) for name, value in headers.items()
    }


def masked_value(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value as it may be seen."""
    if isinstance(value, str):
        return masked(value, _telling(secrets))
    if isinstance(value, dict):
        return {masked(name, _telling(secrets)): masked_value(item, secrets) for name, item in value.items()}
    return [masked_value(item, secrets) for item in value] if isinstance(value, list) else value


def masked_body(body: bytes, secrets: Sequence[str]) -> tuple[bytes, int]:
    """The body with every secret in it starred out, and how many there were."""
    # Latin-1 maps every byte to one character and back.
    text, count = body.decode("latin-1"), 0
    for secret in _telling(secrets):
        for form in _forms(secret):
            text, more = _starred(text, form)
            count += more
    return text.encode("latin-1"), count


def resummed(body: bytes) -> bytes:
    """Frames of AWS's event stream whose contents were starred out, with sums that are right again: a frame
    begins with its length and ends with its CRC-32 (AWS, "Event stream encoding").
    """
    out, at = list[bytes](), 0
    while (size := int.from_bytes(body[at : at + 4])) >= _LEAST_FRAME and at + size <= len(body):
        frame = body[at : at + size - 4]
        out += (frame, crc32(frame).to_bytes(4))
        at += size
    return b"".join([*out, body[at:]])


def _forms(secret: str) -> Iterator[str]:
    """A secret as it may be written in an answer; base64 in each of the three ways it may come to lie."""
    written = json.dumps(secret, ensure_ascii=False)[1:-1]
    plain = dict.fromkeys((secret, quote(secret, safe=""), written, written.replace("/", "\\/")))
    yield from (form.encode().decode("latin-1") for form in plain)
    for offset in range(3):
        coded = b64encode(b"\0" * offset + secret.encode()).decode("ascii").rstrip("=")
        # What is mixed with the neighbours' bits is left out.
        yield coded[(0, 2, 3)[offset] : -1]


def _starred(text: str, form: str) -> tuple[str, int]:
    """One pass; what is found begins as the secret does, and goes as far as the text follows it."""
    head = re.compile(re.escape(form[:_TELLING]), re.I)
    out, at, count = list[str](), 0, 0
    while (found := head.search(text, at)) is not None:
        end = found.end()
        for mark in form[_TELLING:]:
            if text[end : end + 1].lower() != mark.lower():
                break
            end += 1
        out += (text[at : found.start()], "*" * (end - found.start()))
        at, count = end, count + 1
    return "".join([*out, text[at:]]), count
