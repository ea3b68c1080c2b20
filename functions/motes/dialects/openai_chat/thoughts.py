"""Reads the model's reasoning out of a delta or a message, whatever the vendor calls it.

One thought may come as a plain field, mirrored in a second field, and again in typed details: it is said
once. Signatures and encrypted parcels are kept, since some vendors want them back unchanged; details that
hold any are also kept whole, in the vendor's own form.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from motes.dialects.openai_chat.fields import rows, text

# DeepSeek and most others; OpenRouter, Groq, vLLM; GitHub; some proxies; one that sends a summary.
FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_text", "thinking", "cot_summary")

_DETAILS: Final = ("reasoning_details", "thinking_blocks")


class Thought(NamedTuple):
    """One piece: text, then what belongs to the block that it ends."""

    text: str = ""
    signature: str = ""
    encrypted: str = ""


def thoughts_of(source: Mapping[str, Any]) -> list[Thought]:
    """The pieces of reasoning in a delta or a message, in order."""
    details = [
        _thought(row) for row in [*rows(source, "reasoning_details"), *rows(source, "thinking_blocks")]
    ]
    plain = text(source, *FIELDS)
    if plain and "".join(thought.text for thought in details) != plain:
        details = [Thought(plain), *(thought._replace(text="") for thought in details)]
    details.append(Thought(encrypted=text(source, "reasoning_opaque")))
    return [thought for thought in details if thought != Thought()]


def _thought(row: Mapping[str, Any]) -> Thought:
    return Thought(text(row, "text", "summary", "thinking"), text(row, "signature"), text(row, "data"))


class Details:
    """The typed details of one answer, pieces of one entry joined, as they must go back."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._pieces: list[dict[str, list[str]]] = []

    def keep(self, source: Mapping[str, Any]) -> None:
        """Add the details of one delta."""
        for row in rows(source, "reasoning_details"):
            last = self._entries[-1] if self._entries else None
            if last is not None and _continues(last, row):
                _join(last, self._pieces[-1], row)
            else:
                self._entries.append(dict(row))
                self._pieces.append({})

    def worth_keeping(self) -> list[dict[str, Any]]:
        """All entries, if any of them holds what only the vendor can read; else none."""
        opaque = any(text(entry, "signature", "data") for entry in self._entries)
        return [_whole(*known) for known in zip(self._entries, self._pieces, strict=True)] if opaque else []


def _continues(last: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    same = all(last.get(key) == row.get(key) for key in ("type", "index"))
    return same and not text(last, "data") and not text(row, "data")


def _whole(entry: dict[str, Any], pieces: Mapping[str, list[str]]) -> dict[str, Any]:
    return entry | {key: "".join(said) for key, said in pieces.items()}


def _join(last: dict[str, Any], pieces: dict[str, list[str]], row: Mapping[str, Any]) -> None:
    for key, value in row.items():
        if key in ("text", "summary") and isinstance(value, str) and isinstance(last.get(key), str):
            pieces.setdefault(key, [last[key]]).append(value)
        elif value is not None:
            last[key] = value
            pieces.pop(key, None)
