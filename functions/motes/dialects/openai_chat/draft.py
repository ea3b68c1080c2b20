"""A request body in the making, with what was changed on the way there.

The one gate to the body: what the vendor refuses or calls otherwise is settled here. Must never lose
anything without a warning.
"""

from collections.abc import Mapping
from typing import Any

from motes import jsontext
from motes.errors import InvalidRequest


class Draft:
    """The members of one body, and the warnings."""

    def __init__(self, refused: frozenset[str], rename: Mapping[str, str], passed: frozenset[str]) -> None:
        self.json: dict[str, Any] = {}
        self._refused = refused
        self._rename = rename
        self._passed = passed
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was dropped, clamped or changed, each once."""
        return tuple(self._warnings)

    def warn(self, text: str) -> None:
        """Note a change."""
        self._warnings[text] = None

    def put(self, name: str, value: Any, why: str = "this vendor does not take it") -> None:
        """Set a member under the vendor's name for it, unless there is no value or the vendor refuses it."""
        if value is None:
            return
        if name in self._refused:
            self.warn(f"{name}: dropped, {why}")
        else:
            self.json[self._rename.get(name, name)] = value

    def extras(self, members: Mapping[str, Any] | None, place: str = "") -> dict[str, Any]:
        """Of the members that are no part of the protocol, those the vendor knows; the others are dropped."""
        out = {}
        for name, value in (members or {}).items():
            if self.passes(name):
                out[name] = value
            elif value not in (None, [], {}, "", False):
                self.warn(f"{place}{name}: dropped, this vendor does not know it")
        return out

    def passes(self, name: str) -> bool:
        """Whether a member that is no part of the protocol is passed on."""
        return name in self._passed or "*" in self._passed

    def takes(self, name: str) -> bool:
        """Whether the vendor takes a member of the protocol."""
        return name not in self._refused

    def fill(self, members: Mapping[str, object]) -> None:
        """Set members that nobody has set."""
        for name, value in members.items():
            self.json.setdefault(name, value)

    def mend(self) -> bytes | None:
        """Make every text fit for UTF-8: half a character, which JSON can write, becomes U+FFFD. Gives the
        body as it is written, where nothing had to be looked for.

        Raises InvalidRequest for what is nested too deeply to be written.
        """
        written = jsontext.dump_strictly(self.json)
        if written is not None:
            return written
        try:
            mended = _mended(self.json)
        except RecursionError:
            raise InvalidRequest("the request is nested too deeply", code="invalid_value") from None
        if mended != self.json:
            self.warn("text: half a character became U+FFFD")
            self.json = mended
        return None


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value if _fits(value) else jsontext.mend_surrogates(value)
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return [_mended(item) for item in value] if isinstance(value, list) else value


def _fits(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
