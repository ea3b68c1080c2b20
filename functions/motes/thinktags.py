"""Splits `<think>…</think>` at the head of an answer from the answer itself; tags may be cut anywhere.

Only a block that opens the text counts (white space before it is dropped); a tag later in the text is
text. Must never hold back more than the longest tag and a little white space before it, and never lose a
character at `close`.
"""

from collections.abc import Iterator
from typing import Final, Literal

Kind = Literal["text", "reasoning"]
Piece = tuple[Kind, str]

OPENING: Final = ("<think>", "<thinking>")
# White space that long opens no block: it is text.
_MAX_BLANK: Final = 256


class ThinkTags:
    """One splitter per answer. Feed it text deltas; it gives (kind, text) pieces."""

    def __init__(self) -> None:
        self._state: Literal["before", "inside"] = "before"
        self.is_over = False
        """Whether all that is still to come is text."""
        self._held = ""
        self._closing = ""

    def passes(self, text: str) -> bool:
        """Whether what comes now is text and goes on as it is, as mostly; what is not is to be fed."""
        if not self.is_over and not self._held and self._state == "before":
            head = text.lstrip()
            self.is_over = bool(head) and head[0] != "<"
        return self.is_over

    def feed(self, text: str) -> Iterator[Piece]:
        """The pieces that are certain now."""
        if self.is_over:
            if text:
                yield "text", text
            return
        self._held += text
        if self._state == "before":
            yield from self._before()
        if self._state == "inside":
            yield from self._inside()

    def close(self) -> Iterator[Piece]:
        """What was held back: an unfinished tag is what it looks like, text before and reasoning inside."""
        held, self._held = self._held, ""
        if held:
            yield ("reasoning" if self._state == "inside" else "text"), held

    def _before(self) -> Iterator[Piece]:
        head = self._held.lstrip()
        if len(self._held) - len(head) > _MAX_BLANK:
            yield "text", self._over()
            return
        for tag in OPENING:
            if head.startswith(tag):
                self._state, self._closing = "inside", tag.replace("<", "</")
                self._held = head[len(tag) :]
                return
        if not any(tag.startswith(head) for tag in OPENING):
            yield "text", self._over()

    def _over(self) -> str:
        """No tag is looked for any more; gives what was held back."""
        held, self._held = self._held, ""
        self.is_over = True
        return held

    def _inside(self) -> Iterator[Piece]:
        thought, tag, rest = self._held.partition(self._closing)
        if tag:
            self._over()
            if thought:
                yield "reasoning", thought
            if rest:
                yield "text", rest
            return
        keep = self._possible_tag_length(thought)
        self._held = thought[len(thought) - keep :] if keep else ""
        if len(thought) > keep:
            yield "reasoning", thought[: len(thought) - keep]

    def _possible_tag_length(self, text: str) -> int:
        """How many characters at the end of `text` may be the start of the closing tag."""
        for size in range(min(len(text), len(self._closing) - 1), 0, -1):
            if self._closing.startswith(text[-size:]):
                return size
        return 0
