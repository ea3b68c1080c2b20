"""Puts the pieces of tool calls together, whatever the vendor left out, repeated or sent late.

A piece belongs to a call by its index, else by its id, else by its place; a new id and name under a used
index is a new call. Must never merge two calls, never send a call before its name is known, and never
change a call's id once it was told.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from motes import jsontext
from motes import particles as p
from motes.dataclass import dataclass
from motes.dialects.openai_chat.fields import inner, place, text
from motes.transmitter import Emitter

# What decides where JSON text ends; a backslash takes the next character with it, which may be yet to come.
_MARKS: Final = re.compile(r'\\.|[\\"{}]', re.DOTALL)


@dataclass(slots=True)
class _Piece:
    """What one entry says."""

    index: int | None
    id: str
    name: str
    arguments: str
    signature: str

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "_Piece":
        """Read an entry: a function call, a custom one, or one without the inner object."""
        function = inner(entry, "function") or inner(entry, "custom") or entry
        return cls(
            place(entry, "index"),
            text(entry, "id"),
            text(function, "name"),
            arguments_of(function),
            thought_signature(entry),
        )

    @property
    def says_nothing(self) -> bool:
        return not (self.id or self.name or self.arguments or self.signature)


@dataclass(slots=True)
class _End:
    """Looks for the end of a JSON object that comes in pieces; sees every character once."""

    depth: int = 0
    in_text: bool = False
    escaped: bool = False
    is_behind: bool = False

    def seek(self, piece: str) -> bool:
        """Whether the first brace that was opened is closed in this piece."""
        at = 1 if self.escaped and piece else 0
        self.escaped = self.escaped and not piece
        for found in _MARKS.finditer(piece, at):
            mark = found[0]
            if mark == '"':
                self.in_text = not self.in_text
            elif mark == "\\":
                self.escaped = True
            elif mark in "{}" and not self.in_text:
                self.depth += 1 if mark == "{" else -1
                self.is_behind = self.is_behind or self.depth <= 0
        return self.is_behind


@dataclass(slots=True)
class _Call:
    """One call as far as it is known. `address` is its id once it was told."""

    index: int | None = None
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    address: str | None = None
    signature: str = ""
    has_id: bool = True
    """Whether an id may still come."""
    over: bool = False
    """Whether it is told once more, so that nothing of it counts any longer."""
    said: bool = False
    """Whether there is anything but white space in the arguments."""
    whole: bool = False
    """Whether the arguments are a complete object, so that no more can come."""
    end: _End = field(default_factory=_End)

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    @property
    def quoted(self) -> bool:
        """Whether the arguments come as JSON text inside a JSON string; they are told when all is there."""
        return bool(self.parts) and self.parts[0].lstrip().startswith('"')

    def add(self, arguments: str) -> None:
        """More arguments. They are parsed once, where their first brace closes: no later piece mends them."""
        self.parts.append(arguments)
        blank = not arguments.strip()
        self.said = self.said or not blank
        if self.end.is_behind:
            self.whole = self.whole and blank
        elif self.end.seek(arguments):
            self.whole = jsontext.as_object(self.arguments.strip()) is not None


SIGNATURE: Final = "thoughtSignature"


class ToolCalls:
    """All calls of one answer, in order of appearance."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._legacy: _Call | None = None
        self._told = 0

    def __bool__(self) -> bool:
        return bool(self._calls)

    def read(self, entries: Sequence[Mapping[str, Any]], out: Emitter) -> None:
        """The pieces of one delta."""
        for at, entry in enumerate(entries):
            piece = _Piece.of(entry)
            if not piece.says_nothing:
                call = self._find(piece, at if len(entries) > 1 else None) or self._new(piece)
                self._extend(call, piece, out)

    def read_legacy(self, function: Mapping[str, Any], out: Emitter) -> None:
        """A piece of the deprecated `function_call`: there is one of them, without an id."""
        piece = _Piece(None, "", text(function, "name"), arguments_of(function), "")
        if piece.says_nothing or (self._calls and self._legacy is None):
            return
        if self._legacy is None:
            self._legacy = self._new(piece)
            self._legacy.has_id = False
        self._extend(self._legacy, piece, out)

    def close(self, out: Emitter) -> None:
        """The answer is complete: tell the calls that still waited for a name or an id."""
        for call in self._calls[self._told :]:
            if not call.name:
                out.warn("unnamed_call", "a tool call came without a name")
            self._tell(call, out)
        for call in self._calls:
            if call.quoted:
                out.tool_call_arguments(_unquoted(call.arguments), call.address)

    # Which call a piece belongs to.

    def _find(self, piece: _Piece, at: int | None) -> _Call | None:
        numbered = None if piece.index is None else self._by_index.get(piece.index)
        named = self._by_id.get(piece.id)
        if numbered is not None:
            # An id that is known says more than an index that several calls share.
            if named is not None and named is not numbered and self._goes_on(named, piece):
                return named
            return None if self._is_another(numbered, piece) else numbered
        if named is not None:
            again = piece.name and (piece.index is not None or _restarts(named, piece))
            return None if again else named
        if piece.name:
            return self._repeated(piece, at)
        return self._unmarked(piece, at)

    def _goes_on(self, call: _Call, piece: _Piece) -> bool:
        return piece.name in ("", call.name) and not _restarts(call, piece)

    def _is_another(self, call: _Call, piece: _Piece) -> bool:
        """Whether a piece under the index of a call is the start of the next one."""
        if not piece.name or (piece.id and piece.id == call.id):
            return False
        if piece.id and call.id:
            return True
        return bool(call.name and call.name != piece.name) or _restarts(call, piece)

    def _repeated(self, piece: _Piece, at: int | None) -> _Call | None:
        """A named piece that no index or id places: the latest call again, if that one is not finished."""
        latest = self._calls[-1] if self._calls else None
        if latest is None or at is not None or piece.index is not None or piece.id:
            return None
        unfinished = latest.name == piece.name and latest.said and not latest.whole
        return latest if unfinished or not latest.name else None

    def _unmarked(self, piece: _Piece, at: int | None) -> _Call | None:
        """A piece without name: of the call at its place, or of the latest one."""
        if piece.index is not None:
            fits = 0 <= piece.index < len(self._calls) and self._calls[piece.index].index is None
            return self._calls[piece.index] if fits else None
        if not self._calls:
            return None
        call = self._calls[at] if at is not None and at < len(self._calls) else self._calls[-1]
        return None if piece.id and call.id else call

    def _new(self, piece: _Piece) -> _Call:
        call = _Call(index=piece.index)
        self._calls.append(call)
        return call

    # What a piece adds.

    def _extend(self, call: _Call, piece: _Piece, out: Emitter) -> None:
        if piece.index is not None:
            call.index = piece.index
            self._by_index[piece.index] = call
        # A complete object cannot go on: what comes after it is the same call told once more.
        if call.name and _could_repeat(piece.arguments) and call.whole:
            call.over = piece.arguments == call.arguments or call.arguments.strip() != "{}"
        if piece.id and not call.id:
            call.id = piece.id
            self._by_id[piece.id] = call
        call.name = call.name or piece.name
        if call.over:
            return
        if piece.arguments:
            call.add(piece.arguments)
            if call.address is not None and not call.quoted:
                out.tool_call_arguments(piece.arguments, call.address)
        call.signature = piece.signature or call.signature
        self._advance(out)
        if call.address is not None:
            self._sign(call, out)

    def _advance(self, out: Emitter) -> None:
        """Tell, in order, every call that can be: one waits for its name, and for its id until the
        arguments are whole or the next call begins.
        """
        while self._told < len(self._calls):
            call = self._calls[self._told]
            ready = call.id or not call.has_id or self._told < len(self._calls) - 1 or call.whole
            if not call.name or not ready:
                return
            self._tell(call, out)

    def _tell(self, call: _Call, out: Emitter) -> None:
        self._told += 1
        arguments = None if call.quoted else call.arguments or None
        call.address = out.tool_call(call.id or None, call.name, arguments)
        self._sign(call, out)

    def _sign(self, call: _Call, out: Emitter) -> None:
        if call.signature:
            signature, call.signature = call.signature, ""
            out.add(p.VendorState("gemini", {SIGNATURE: signature}))


def arguments_of(function: Mapping[str, Any]) -> str:
    """The argument text of a call or of a piece of one; an object as its JSON text."""
    value = function.get("arguments", function.get("input"))
    if value is None or isinstance(value, str):
        return value or ""
    return jsontext.dumps(value)


def thought_signature(source: Mapping[str, Any]) -> str:
    """Gemini's signature of a call, or of a whole answer, as its endpoint of this dialect sends it."""
    return text(inner(inner(source, "extra_content"), "google"), "thought_signature")


def _unquoted(arguments: str) -> str:
    """The object that is written in a JSON string, else the text as it is."""
    try:
        value = jsontext.loads(arguments)
    except ValueError:
        return arguments
    return value if isinstance(value, str) and jsontext.as_object(value) is not None else arguments


def _restarts(call: _Call, piece: _Piece) -> bool:
    """Whether a named piece begins new arguments although the call's own are complete."""
    return bool(piece.name) and _begins(piece.arguments) and call.whole


def _could_repeat(arguments: str) -> bool:
    """Whether a piece may stand behind a complete object: the next head of one, or a brace too many."""
    return _begins(arguments) or arguments.strip() == "}"


def _begins(arguments: str) -> bool:
    return arguments.lstrip().startswith("{")
