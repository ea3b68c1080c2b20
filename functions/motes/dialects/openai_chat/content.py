"""Reads the content of a delta or a message: a text, a list of typed parts, or an object.

Gives (kind, value) pieces in order. Must never take a part for text that is not meant to be read.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from motes import jsontext
from motes.dialects.openai_chat.fields import inner, rows, strings, text

Kind = Literal["text", "reasoning", "signature", "refusal", "image", "reference", "unknown"]
Piece = tuple[Kind, str]

_TEXTS: Final = ("text", "output_text", "")


def pieces_of(content: Any) -> Iterator[Piece]:
    """The pieces of a content of any shape. Null, a number or a boolean says nothing."""
    if isinstance(content, str):
        yield "text", content
    elif isinstance(content, dict):
        # Cloudflare gives the parsed object where JSON was asked for.
        yield "text", jsontext.dumps(content)
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield "text", part
            elif isinstance(part, dict):
                yield from _part(part)


def _part(part: Mapping[str, Any]) -> Iterator[Piece]:
    kind = part.get("type", "")
    if kind in _TEXTS or kind == "refusal":
        yield ("refusal" if kind == "refusal" else "text"), text(part, "refusal", "text")
    elif kind in ("thinking", "reasoning"):
        yield "reasoning", _thinking(part)
        yield "signature", text(part, "signature")
    elif kind in ("image_url", "output_image"):
        yield "image", url_of(part)
    elif kind == "reference":
        yield from (("reference", name) for name in _references(part.get("reference_ids")))
    else:
        yield "unknown", str(kind)[:40]


def _thinking(part: Mapping[str, Any]) -> str:
    """Mistral nests `{type: text, text}` in `thinking`, Databricks in `summary`."""
    plain = text(part, "thinking", "text", "summary")
    nested = [*rows(part, "thinking"), *rows(part, "summary")]
    bare = [*strings(part.get("thinking")), *strings(part.get("summary"))]
    return plain or "".join([*(text(row, "text") for row in nested), *bare])


def _references(ids: Any) -> Iterator[str]:
    for item in ids if isinstance(ids, list) else ():
        if isinstance(item, int | str) and not isinstance(item, bool):
            yield str(item)


def url_of(part: Mapping[str, Any]) -> str:
    """The address of an image part, which is a text or an object with it."""
    return text(part, "image_url", "url") or text(inner(part, "image_url"), "url")
