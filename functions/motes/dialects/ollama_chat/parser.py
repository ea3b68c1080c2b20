"""The grammar of Ollama's chat: one record in, what it means out.

`done: true` is the evidence of completion and the end; a record with an `error` is the end too, whatever the
status was. Must never take a stream that stops before either for an answer, and never ask for a call's id:
there is none in older versions. Source: Ollama API reference, "Generate a chat message", "Streaming" and
"Errors" (docs.ollama.com/api, read 2026-11-29).
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from motes import jsontext
from motes import particles as p
from motes.demux.base import WireEvent
from motes.dialects.ollama_chat.events import Json, Message, Record, count, obj, objects, text, texts
from motes.quirks import Quirks
from motes.transmitter import Emitter
from motes.vendor_errors import excerpt, from_body

_STOPS: Final[Mapping[str, p.StopReason]] = {
    "stop": "ok",
    "length": "out-of-tokens",
    # A request without messages only loads or unloads the model.
    "load": "ok",
    "unload": "ok",
}
# What a proxy's error has in place of `error`.
_COMPLAINTS: Final = ("message", "detail")
_NANOSECONDS: Final = 1e9
# The first characters of base64 tell the format; there is no other word about it.
_IMAGES: Final = (
    ("iVBOR", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
)


class ChatParser:
    """One per attempt."""

    def __init__(self, quirks: Quirks) -> None:
        self._think_tags = quirks.think_tags
        self._has_spoken = False

    def parse(self, event: WireEvent, out: Emitter) -> None:
        """See `Parser`."""
        record = _read(event)
        match _kind(record):
            case "error":
                out.issue(from_body(record))
            case "chat":
                self._on_record(record, obj(record.get("message")), out)
            case "generate":
                self._on_record(record, {**record, "content": record.get("response")}, out)
            case _:
                names = excerpt(", ".join(record), 60)
                out.warn("unknown_event", f"an upstream record of {names or 'nothing'} was skipped")

    def eof(self, out: Emitter) -> None:
        """See `Parser`. The last record says that it is over; without it nothing is."""

    def _on_record(self, record: Record, said: Json, out: Emitter) -> None:
        out.model(text(record.get("model")))
        out.provider(text(record.get("remote_host")))
        self._on_message(cast("Message", said), out)
        if record.get("done") is True:
            _say_usage(record, out)
            _say_stop(text(record.get("done_reason")), out)
            out.done()

    def _on_message(self, message: Message, out: Emitter) -> None:
        if thinking := text(message.get("thinking")):
            # Who tells reasoning apart writes no tags.
            self._think_tags = self._think_tags and self._has_spoken
            out.reasoning(thinking)
        if content := text(message.get("content")):
            self._has_spoken = True
            (out.tagged_text if self._think_tags else out.text)(content)
        for call in objects(message.get("tool_calls")):
            function = obj(call.get("function"))
            out.tool_call(text(call.get("id")) or None, text(function.get("name")), _arguments(function))
        for image in texts(message.get("images")):
            out.add(_image(image))


def _read(event: WireEvent) -> Record:
    record = jsontext.loads(event.data)
    if not isinstance(record, dict):
        raise ValueError("a record of Ollama is a JSON object")
    return cast("Record", record)


def _kind(record: Record) -> str:
    """What a record is: a piece of an answer, an error, or nothing we know."""
    if record.get("error"):
        return "error"
    if isinstance(record.get("response"), str):
        return "generate"
    if isinstance(record.get("message"), dict) or record.get("done") is True:
        return "chat"
    return "error" if any(record.get(name) for name in _COMPLAINTS) else ""


def _arguments(function: Json) -> str | None:
    """The JSON text of a call's arguments; some servers write text where an object belongs."""
    arguments: Any = function.get("arguments")
    if isinstance(arguments, str):
        return arguments
    return None if arguments is None else jsontext.dumps(arguments)


def _image(data: str) -> p.Image:
    mime = next((mime for head, mime in _IMAGES if data.startswith(head)), "image/png")
    return p.Image(mime, data)


def _say_stop(word: str, out: Emitter) -> None:
    if word and word not in _STOPS:
        out.warn(
            "unknown_stop_reason", f"the unknown done_reason {excerpt(word, 40)!r} counts as a plain stop"
        )
    out.stop(_STOPS.get(word, "ok"), native=word or None)


def _say_usage(record: Record, out: Emitter) -> None:
    """The counts, and how long the model wrote; what the prompt took and what loading did are apart."""
    written, took = count(record.get("eval_count")), count(record.get("eval_duration"))
    out.usage(
        tokens_in=count(record.get("prompt_eval_count")),
        tokens_out=written,
        inner_ms=None if took is None else round(took / _NANOSECONDS * 1000),
        tokens_per_second=round(written / took * _NANOSECONDS, 2) if written and took else None,
    )
