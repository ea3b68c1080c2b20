"""About how many tokens something is, for runs whose vendor did not count.

Pure. Rough on purpose: a tokenizer a model is not ours to keep. Must never stand in place of a count that a
vendor gave, and whatever is made of it is tagged.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from motes import jsontext
from motes import particles as p
from motes.particles import Text

if TYPE_CHECKING:
    from motes.chat import ChatRequest

_BYTES_PER_TOKEN: Final = 4
"""Of UTF-8: a rule of thumb for prose in most models' tokens."""
_IMAGE_BYTES: Final = 1000 * _BYTES_PER_TOKEN
"""An image of a common size is about a thousand tokens to most vendors, whatever its file weighs."""
_BASE64_TO_TEXT: Final = 20
"""A second of speech in base64 makes few tokens; so does a page of a document."""


def tokens_of(size: int) -> int:
    """The tokens of so many bytes of text, rounded up."""
    return -(-size // _BYTES_PER_TOKEN)


def prompt_tokens(request: "ChatRequest") -> int:
    """All input of a request: its messages and its tools."""
    return prompt_estimate(request)()


def prompt_estimate(request: "ChatRequest") -> Callable[[], int]:
    """What gives that later, if it is asked at all; of the request it holds no more than it counts."""
    return partial(_tokens, request.messages, (*(request.tools or ()), *(request.functions or ())))


def _tokens(messages: Sequence[Any], tools: Sequence[Any]) -> int:
    described = [jsontext.dump_bytes(tool.model_dump(exclude_none=True)) for tool in tools]
    return tokens_of(sum(map(_size, messages)) + sum(map(len, described)))


def size_of(particle: p.Particle) -> int:
    """The bytes of text in a piece of an answer; of a picture or a clip nothing, since nothing tells it."""
    match particle:
        case p.Text() | p.Reasoning() | p.Refusal():
            return bytes_of(particle.text)
        case p.ToolCall():
            return bytes_of(particle.name) + bytes_of(particle.arguments or "")
        case p.ToolCallArguments():
            return bytes_of(particle.arguments)
        case p.CodeCall():
            return bytes_of(particle.code)
        case _:
            return 0


def words_in(batch: Sequence[p.Particle]) -> int:
    """The bytes of text where all are pieces of text, as most batches of an answer are; else nothing."""
    size = 0
    for particle in batch:
        if type(particle) is not Text:
            return 0
        words = particle.text
        size += len(words) if words.isascii() else bytes_of(words)
    return size


def bytes_of(text: str) -> int:
    """The bytes of a text; half a character counts as one."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _size(message: Any) -> int:
    size = bytes_of(message.role) + _content(message.content)
    # No other message has any: a member of that name is its caller's own.
    for call in (message.tool_calls or ()) if message.role == "assistant" else ():
        if call.function is not None:
            size += bytes_of(call.function.name) + bytes_of(call.function.arguments)
    return size


def _content(content: str | Sequence[Any] | None) -> int:
    if content is None or isinstance(content, str):
        return bytes_of(content or "")
    return sum(_part(part) for part in content)


def _part(part: Any) -> int:
    if part.type == "text":
        return bytes_of(part.text)
    if part.type == "image_url":
        return _IMAGE_BYTES
    return len(jsontext.dump_bytes(part.model_dump(exclude_none=True))) // _BASE64_TO_TEXT
