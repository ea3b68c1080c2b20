"""What comes again and again around the words of a stream, byte for byte: most events differ in nothing else.

An event that the whole rule has read as words and nothing but words teaches its refrain: the bytes before
them and the bytes behind. What comes later between the same bytes is, if it is one JSON string, the same
event with other words, since neither the framing nor JSON can tell the two apart but there. Pure. Must never
guess: whatever differs in one byte more is left to the whole rule.
"""

import json
from typing import Final

from orjson import loads

from motes import jsontext
from motes.emitter import Emitter, Verse

_PROBE: Final = b'"\xef\xb7\x90"'
"""A text of one character, which is none."""
_PROBED: Final = loads(_PROBE)
_QUOTES: Final = (b'"', b'"')
"""Joined by words they are a string: made at once, for half of what two sums cost."""
_CR: Final = 13
_LESSONS: Final = 64
_NEAR: Final = 4096
_ALIKE: Final = 24
"""How much of an event tells at a glance that it is of another kind."""


class Refrain:
    """The bytes around the words of an event, learnt from one (`of`): those before them with the quote that
    begins the words, and those behind with the one that ends them.
    """

    __slots__ = ("_around", "_begin", "_end", "_say", "verse")

    def __init__(self, begin: bytes, end: bytes, verse: Verse) -> None:
        self.verse = verse
        self._say = verse.say
        self._begin = begin
        self._end = end
        self._around = len(begin) + len(end)

    @staticmethod
    def of(event: bytes, words: str, verse: Verse, datum: bytes, later: bytes, at: int) -> "Refrain | None":
        """That of an event and its datum; None where the words cannot be told from the rest, or where what
        comes later, there, does not begin with it.
        """
        token = jsontext.dump_bytes(words)
        if not words.isascii() and event.find(token) < 0:
            # As writers do that keep to ASCII.
            token = json.dumps(words).encode()
        begin, _, end = event.partition(token)
        if not later.startswith(begin, at):
            return None
        found = verse.filler.search(end) if verse.filler else None
        at, behind = found.span(1) if found else (len(end), len(end))
        filler = _PROBE if verse.member and found else end[at:behind]
        likewise = b"".join([begin, _PROBE, end[:at], filler, end[behind:]])
        is_told_apart = event.count(token) == 1 and event.find(_PROBE) < 0
        if not is_told_apart or not _is_read(likewise[event.rindex(datum) :], verse, bool(found)):
            return None
        if found:
            return _FilledRefrain(begin + b'"', b'"' + end[:at], end[behind:], verse)
        return Refrain(begin + b'"', b'"' + end, verse)

    def fits(self, event: bytes) -> bool:
        """Whether the event begins and ends as this one does."""
        return event.startswith(self._begin) and event.endswith(self._end)

    def sings_one(self, data: bytes, size: int, out: Emitter) -> bool:
        """Whether the data, of that size, are one event of this refrain, which is said then: as it comes of a
        vendor in no hurry.
        """
        # Neither takes its arguments apart, which is most of what `startswith` and `find` cost.
        words = data.removeprefix(self._begin).removesuffix(self._end)
        if len(words) + self._around != size:
            return False
        say = self._say
        try:
            # With the quotes of begin and end, lest there be a line end before or behind the string.
            text = loads(words.join(_QUOTES))
            if not text:
                return False
            say(text, b"", out)
        except ValueError:
            return False
        return True

    def sing(self, data: bytes, out: Emitter, at: int = 0) -> int:
        """Say the events of this refrain that come there, one behind the other; gives where they end."""
        begin, end, say = self._begin, self._end, self._say
        before, behind = len(begin), len(end)
        while data.startswith(begin, at):
            start = at + before
            quote = data.find(end, start)
            if quote <= start:
                break
            try:
                # Strictly: a string that needs forgiveness is for the whole rule.
                say(loads(data[start - 1 : quote + 1]), b"", out)
            except ValueError:
                break
            at = quote + behind
        return at


class _FilledRefrain(Refrain):
    """One with a filler somewhere behind the words: between the bytes in the middle and those at the end."""

    __slots__ = ("_is_filled", "_middle")

    def __init__(self, begin: bytes, middle: bytes, end: bytes, verse: Verse) -> None:
        super().__init__(begin, end, verse)
        self._middle = middle
        self._is_filled = bool(verse.member)

    def fits(self, event: bytes) -> bool:
        """See `Refrain`."""
        return super().fits(event) and event.find(self._middle, len(self._begin)) >= 0

    def sings_one(self, data: bytes, size: int, out: Emitter) -> bool:
        """See `Refrain`."""
        inner = data.removeprefix(self._begin).removesuffix(self._end)
        if len(inner) + self._around != size:
            return False
        # Were there another middle before the last one, the words would be no string; without any, there are
        # none.
        words, _, filler = inner.rpartition(self._middle)
        if not filler and self._is_filled:
            return False
        say = self._say
        try:
            text = loads(words.join(_QUOTES))
            if not text:
                return False
            say(text, filler, out)
        except ValueError:
            return False
        return True

    def sing(self, data: bytes, out: Emitter, at: int = 0) -> int:
        """See `Refrain`."""
        begin, middle, end, say = self._begin, self._middle, self._end, self._say
        before, between, behind = len(begin), len(middle), len(end)
        while data.startswith(begin, at):
            start = at + before
            quote = data.find(middle, start)
            after = data.find(end, quote + between)
            if quote <= start or after < 0:
                break
            filler = data[quote + between : after]
            if not filler and self._is_filled:
                break
            try:
                say(loads(data[start - 1 : quote + 1]), filler, out)
            except ValueError:
                break
            at = after + behind
        return at


class Listener:
    """Knows the refrain of one stream, and learns it anew where it changes: not before something follows that
    may be sung by it, since many an answer is one piece.
    """

    def __init__(self) -> None:
        self.lesson: tuple[str, Verse, str, bytes, bool] | None = None
        """The latest event, where it may teach; whoever reads the next one clears it."""
        self._known: Refrain | None = None
        self._lessons = _LESSONS

    def heard(self, words: str, verse: Verse, datum: str, data: bytes, begins: bool) -> Refrain | None:
        """The refrain after an event that was these words and nothing else, if it is known. The event is the
        last one of the data; `begins`: these do not go on with what came before.
        """
        known = self._known
        if known is not None and known.verse == verse:
            event = last_event(data, datum, begins=begins)
            if not event or known.fits(event):
                return known
        self._known = None
        if self._lessons:
            self.lesson = words, verse, datum, data, begins
        return None

    def taught(self, data: bytes, at: int) -> Refrain | None:
        """What the latest event teaches, if what follows it, there, may be of its refrain."""
        lesson, self.lesson = self.lesson, None
        if lesson is None or lesson[3].find(data[at : at + _ALIKE]) < 0:
            return None
        words, verse, datum, heard, begins = lesson
        if event := last_event(heard, datum, begins=begins):
            self._lessons -= 1
            self._known = Refrain.of(event, words, verse, datum.encode(), data, at)
        return self._known


def last_event(data: bytes, datum: str, *, begins: bool) -> bytes:
    """The last event of the data, to its empty line, or nothing where it is not whole or does not end with a
    datum of one line. `begins`: the data do not go on with what came before.
    """
    line_of_data = datum.encode()
    for end in (b"\n\n", b"\r\n\r\n"):
        tail = line_of_data + end
        if data.endswith(tail):
            line, has_cr = len(data) - len(tail), _CR in data
            before = data.rfind(b"\n\n", 0, line) + 2
            if has_cr:
                before = max(before, data.rfind(b"\n\r\n", 0, line) + 3)
            event = data[before:] if before > 2 else data if begins else b""
            # A CR alone ends a line as well: there may be an event before this one.
            return b"" if has_cr and event.count(b"\r") != event.count(b"\r\n") else event
    return b""


def end_of_event(data: bytes, at: int) -> int:
    """Behind the first empty line from there on, or at the end of the data."""
    for until in (at + _NEAR, len(data)):
        plain, other = data.find(b"\n\n", at, until), data.find(b"\n\r\n", at, until)
        if plain >= 0 and not 0 <= other < plain:
            return plain + 2
        if other >= 0:
            return other + 3
    return len(data)


def _is_read(datum: bytes, verse: Verse, has_filler: bool) -> bool:
    """Whether what was put in the place of the words, and of a member, is read as these."""
    try:
        value = loads(datum)
    except ValueError:
        return False
    if type(value) is not dict or verse.words_of(value) != _PROBED:
        return False
    return not (verse.member and has_filler) or value.get(verse.member) == _PROBED
