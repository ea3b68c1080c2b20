"""What the demo vendor's models do, as data: no wire, no clock, no socket.

A script is a sequence of beats; each dialect's wire has its own words for them. `{question}` in a text
stands for what the user said last, `{result}` for what a tool answered after that.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from typing import Any, Final, TypeAlias

from motes.dataclass import dataclass

MAX_SAID_CHARS: Final = 2000
_PLACES: Final = re.compile(r"\{(question|result)\}")


@dataclass(frozen=True, slots=True)
class Think:
    """The model reasons."""

    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers."""

    text: str


@dataclass(frozen=True, slots=True)
class Search:
    """The vendor searches the web by itself and finds one page."""

    query: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Answer text that rests on a page."""

    text: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool of the client."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing comes for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks."""


@dataclass(frozen=True, slots=True)
class Fail:
    """The vendor says that it is overloaded."""


Beat: TypeAlias = Think | Say | Search | Quote | Call | Pause | Cut | Fail


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One model's behaviour. `refuses_first`: every second request is told to come back in a second.

    `asks` follows the beats where the tools it calls are offered; `concludes` stands for all of them once a
    tool has answered.
    """

    beats: Sequence[Beat] = field(default=())
    asks: Sequence[Beat] = field(default=())
    concludes: Sequence[Beat] = field(default=())
    refuses_first: bool = False

    def about(self, question: str, tools: AbstractSet[str], result: str | None) -> Sequence[Beat]:
        """The beats for a question, the tools that are offered, and what a tool answered already."""
        said = {"question": _short(question) or "nothing", "result": _short(result or "") or "nothing"}
        called = {beat.name for beat in self.asks if isinstance(beat, Call)}
        beats = [*self.beats, *(self.asks if called <= tools else ())]
        if result is not None and self.concludes:
            beats = list(self.concludes)
        return [_filled(beat, said) for beat in beats]


def _short(text: str) -> str:
    return " ".join(text.split())[:MAX_SAID_CHARS]


def _filled(beat: Beat, said: Mapping[str, str]) -> Beat:
    if isinstance(beat, Think | Say):
        return replace(beat, text=_PLACES.sub(lambda found: said[found[1]], beat.text))
    return beat


_PAGE: Final = ("Mote (dust)", "https://en.wiktionary.org/wiki/mote")

SCRIPTS: Final[Mapping[str, Script]] = {
    "hello": Script(
        beats=(
            Think("The question is “{question}”. I will look the word up, "),
            Think("answer in two sentences, and ask for the time if I can."),
            Search("what is a mote", *_PAGE),
            Pause(2.0),
            Say("You asked: “{question}”. "),
            Quote("A mote is a speck of dust, such as one sees in a beam of light.", *_PAGE),
        ),
        asks=(
            Say(" Let me see what time it is where you are: 東京, Zürich or São Paulo?"),
            Call("get_time", {"city": "Zürich", "format": "24h"}),
        ),
        concludes=(
            Think("The tool has answered, so all is said but the time."),
            Say("You asked: “{question}”. And the time where you are: {result}."),
        ),
    ),
    "slow": Script(beats=(Pause(12.0), Say("Here I am at last. "), Say("You asked: “{question}”."))),
    "cut": Script(beats=(Say("This answer will not come to its "), Say("end, because the "), Cut())),
    "flaky": Script(
        beats=(Say("The second attempt went well. You asked: “{question}”."),), refuses_first=True
    ),
    "echo": Script(beats=(Say("{question}"),)),
    "error": Script(beats=(Say("So far it goes well, "), Say("and now "), Fail())),
}
