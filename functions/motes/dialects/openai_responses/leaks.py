"""Takes citation directives out of text that a model leaked them into.

Two forms, each optionally behind U+E200: the word with `<citation_id>12</citation_id>`, or with
`?citation_id=12` up to U+0003 or the first character that is no digit. They may be cut anywhere between
deltas. Must never hold back more than the longest directive, and never lose a character of anything else.
Source: xAI's streams of grok-4.6, as its clients report them (read 2026-11-29).
"""

import re
from typing import Final

_LEAD: Final = "\ue200"
_WORD: Final = "render_inline_citation"
_OPEN, _CLOSE, _QUERY = "<citation_id>", "</citation_id>", "?citation_id="
_DIRECTIVE: Final = re.compile(
    f"{_LEAD}?{_WORD}(?:{_OPEN}[0-9]{{1,10}}{_CLOSE}|{re.escape(_QUERY)}[0-9]+(?:\x03|(?=[^0-9\x03])))"
)
_LONGEST: Final = 64
_TAGGED: Final = re.compile(f"{_OPEN}[0-9]{{1,10}}")
_ASKED: Final = re.compile(f"{re.escape(_QUERY)}[0-9]*")


class Leaks:
    """One filter per answer. Feed it text; it gives what is certainly text."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """What can be said now."""
        whole = _DIRECTIVE.sub("", self._held + text)
        at = _beginning(whole)
        self._held = whole[at:]
        return whole[:at]

    def close(self) -> str:
        """The part is over: a directive that was begun in earnest is dropped, anything shorter is text."""
        held, self._held = self._held, ""
        return "" if held.startswith(_LEAD) or _WORD in held else held


def _beginning(text: str) -> int:
    """Where the shortest tail begins that may still become a directive; the text's end if none may."""
    for at in range(max(0, len(text) - _LONGEST), len(text)):
        if text[at] in (_LEAD, _WORD[0]) and _may_become(text[at:]):
            return at
    return len(text)


def _may_become(tail: str) -> bool:
    rest = tail.removeprefix(_LEAD)
    if _WORD.startswith(rest):
        return True
    if not rest.startswith(_WORD):
        return False
    rest = rest[len(_WORD) :]
    if _OPEN.startswith(rest) or _QUERY.startswith(rest) or _ASKED.fullmatch(rest):
        return True
    digits = _TAGGED.match(rest)
    return digits is not None and _CLOSE.startswith(rest[digits.end() :])
