"""The parts of a candidate, each of them an increment: text, thoughts, calls, media, hosted tools.

Must never interpret a signature: it goes out right after the part it came with.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from motes.dialects.gemini_generate.calls import Calls, signature_state
from motes.dialects.gemini_generate.events import Part
from motes.dialects.gemini_generate.fields import an_object, member, snake, text
from motes.dialects.gemini_generate.hosted import Hosted
from motes.dialects.gemini_generate.media import hosted, inline
from motes.kept_text import KeptText
from motes.transmitter import Emitter

_LONGEST_PLACED: Final = 128 * 1024
"""Characters of an answer in which the places of sources are found."""


class Parts:
    """Reads the parts of one answer. `answer` is the text so far."""

    def __init__(self) -> None:
        self.answer = KeptText(most=_LONGEST_PLACED)
        self._calls = Calls()
        self._hosted = Hosted()
        self._restart = False

    def take(self, part: Part, out: Emitter) -> None:
        """Say what one part means."""
        for name, value in part.items():
            handler = _HANDLERS.get(name)
            if handler is not None:
                handler(self, part, value, out)
            elif name not in _SILENT:
                out.warn("unknown_part", "a part of a kind that is not known was skipped")
        signature = _signature(part) if len(part) > 1 else ""
        # A call says its signature itself, because a streamed one is told only when it is complete.
        if signature and member(part, "functionCall") is None:
            out.add(signature_state(signature))

    def say(self, words: str, out: Emitter) -> None:
        """More of the answer."""
        self.answer.add(words)
        out.text(words)

    def close(self, out: Emitter) -> None:
        """Say what was still open."""
        self._calls.close(out)

    def _on_text(self, part: Part, value: Any, out: Emitter) -> None:
        words = text(value)
        signed = len(part) > 1 and bool(_signature(part))
        if part.get("thought") is True:
            if words or signed:
                out.reasoning(words, restart=self._restart)
                self._restart = signed
        elif words:
            self.say(words, out)
        elif signed:
            # An empty part that only carries a signature closes the thought before it.
            self._restart = True

    def _on_call(self, part: Part, value: Any, out: Emitter) -> None:
        self._calls.take(an_object(value), _signature(part), out)

    def _on_inline(self, part: Part, value: Any, out: Emitter) -> None:
        particle = inline(an_object(value), thought=part.get("thought") is True)
        if particle is None:
            out.warn("empty_media", "an inline part without data was skipped")
        else:
            out.add(particle)

    def _on_file(self, _: Part, value: Any, out: Emitter) -> None:
        particle = hosted(an_object(value))
        if particle is not None:
            out.add(particle)

    def _on_code(self, _: Part, value: Any, out: Emitter) -> None:
        self._hosted.code(an_object(value), out)

    def _on_result(self, _: Part, value: Any, out: Emitter) -> None:
        self._hosted.result(an_object(value), out)

    def _on_tool(self, _: Part, value: Any, out: Emitter) -> None:
        self._hosted.call(an_object(value), out)

    def _on_tool_response(self, _: Part, value: Any, out: Emitter) -> None:
        self._hosted.response(an_object(value), out)


def _signature(part: Part) -> str:
    return text(member(part, "thoughtSignature"))


_Handler = Callable[[Parts, Part, Any, Emitter], None]

_KINDS: Final[Mapping[str, _Handler]] = {
    "text": Parts._on_text,
    "functionCall": Parts._on_call,
    "inlineData": Parts._on_inline,
    "fileData": Parts._on_file,
    "executableCode": Parts._on_code,
    "codeExecutionResult": Parts._on_result,
    "toolCall": Parts._on_tool,
    "toolResponse": Parts._on_tool_response,
}
_HANDLERS: Final = {**_KINDS, **{snake(name): handler for name, handler in _KINDS.items()}}

_MARKS: Final = ("thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata")
_SILENT: Final = frozenset((*_MARKS, *map(snake, _MARKS)))
