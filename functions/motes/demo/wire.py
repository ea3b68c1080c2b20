"""What the demo vendor's three wires have in common: what was asked, what is refused, what is counted.

Pure. Must never hold a word of one wire.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol, TypeAlias

from motes import jsontext
from motes.dataclass import dataclass
from motes.demo.scripts import Beat, Call, Cut, Pause, Quote, Say, Think

_WORDS: Final = re.compile(r"\S+\s*|\s+")
Step: TypeAlias = bytes | Pause | Cut
"""What the server does next: write these bytes, wait, or break the connection."""


class Refused(Exception):
    """The vendor will not take this request. `word` is its own name for the reason."""

    def __init__(self, status: int, word: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.word = word
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request, as far as the demo vendor reads it. `serial` and `created` name the answer.

    `question` is what the user said last, `result` what a tool answered after that; `tools` are the names of
    those that may be called.
    """

    model: str
    question: str
    stream: bool
    result: str | None = None
    tools: frozenset[str] = frozenset()
    with_usage: bool = True
    as_array: bool = False
    serial: int = 0
    created: int = 0


class Wire(Protocol):
    """One dialect's wire: reads requests, writes answers."""

    stream_type: str
    """The content type of a streamed answer."""
    overloaded: Refused
    """How the vendor says that it has too much to do."""

    def read(self, target: str, headers: dict[str, str], body: bytes) -> Asked:
        """What is asked. Raises Refused as the vendor would."""
        ...

    def stream(self, asked: Asked, beats: Sequence[Beat]) -> Iterator[Step]:
        """The streamed answer."""
        ...

    def whole(self, asked: Asked, beats: Sequence[Beat]) -> dict[str, Any]:
        """The answer as one JSON body."""
        ...

    def refusal(self, refused: Refused) -> dict[str, Any]:
        """The JSON body of a refusal."""
        ...


@dataclass(frozen=True, slots=True)
class Tokens:
    """Counts as a tokenizer might give them: about one a word."""

    prompt: int
    answer: int
    thinking: int


def tokens_of(asked: Asked, beats: Sequence[Beat]) -> Tokens:
    """What the answer costs."""
    answer = sum(len(words(b.text)) for b in beats if isinstance(b, Say | Quote))
    answer += sum(2 + 3 * len(b.arguments) for b in beats if isinstance(b, Call))
    thinking = sum(len(words(b.text)) for b in beats if isinstance(b, Think))
    return Tokens(8 + len(words(asked.question)), answer, thinking)


def words(text: str) -> list[str]:
    """A text in the pieces it is streamed in."""
    return _WORDS.findall(text)


def halves(text: str) -> tuple[str, str]:
    """A text cut where a stream would cut it: anywhere."""
    return text[: len(text) // 2], text[len(text) // 2 :]


def object_of(body: bytes) -> dict[str, Any]:
    """The JSON object of a request body. Raises Refused."""
    try:
        value = jsontext.loads(body)
    except ValueError:
        raise Refused(400, "invalid_request_error", "the body is not valid JSON") from None
    if not isinstance(value, dict):
        raise Refused(400, "invalid_request_error", "the body must be a JSON object")
    return value


@dataclass(frozen=True, slots=True)
class Heard:
    """A piece of the conversation: text of the user's, or what a tool answered."""

    text: str
    is_result: bool = False


def turns_of(turns: Any) -> list[dict[str, Any]]:
    """The turns of a conversation. Raises Refused where there is none at all."""
    if not isinstance(turns, list) or not turns:
        raise Refused(400, "invalid_request_error", "at least one message is required")
    return objects(turns)


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, whatever it is."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def last_of(heard: Iterable[Heard]) -> tuple[str, str | None]:
    """What the user said last, and what a tool answered after that, if one did."""
    question, result = "", None
    for piece in heard:
        if piece.is_result:
            result = piece.text
        elif piece.text:
            question, result = piece.text, None
    return question, result


def joined(content: Any) -> str:
    """The text of a content, whatever its form."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in objects(content))


def names_of(tools: Iterable[dict[str, Any]]) -> frozenset[str]:
    """The names of tools."""
    return frozenset(str(tool.get("name")) for tool in tools)
