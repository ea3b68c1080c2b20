"""The conversation as Google's contents: user and model in turn, calls and results paired by id and order.

Signatures go back on the very part they came with. Must never leave a call of a step unsigned where the
generation demands one, and never sign a second call of a step that has a signature.

Sources: ai.google.dev/gemini-api/docs/thought-signatures and /function-calling, read 2026-11-29.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from motes import history, jsontext
from motes.chat import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallItem,
    ToolMessage,
    UserMessage,
    text_of,
)
from motes.dialects.gemini_generate import models
from motes.dialects.gemini_generate.fields import an_object
from motes.dialects.gemini_generate.inputs import GooglePart, parts
from motes.errors import InvalidRequest

SIGNATURE_FORMAT: Final = "google-gemini-v1"

# What Google's page tells to send for a call that another model, or the caller, made.
NO_SIGNATURE: Final = "skip_thought_signature_validator"

# Google's reader gives up a message of more than a hundred levels; deeper values go as their text.
_MAX_DEPTH: Final = 80

# A conversation must begin with the user; this says as little as can be said.
_OPENING: Final[GooglePart] = {"text": "."}


class Conversation:
    """Builds `contents` and the parts of the `systemInstruction` from a caller's messages."""

    def __init__(self, model: str, warnings: list[str]) -> None:
        self.contents: list[dict[str, Any]] = []
        self.system: list[GooglePart] = []
        self._model = model
        self._warnings = warnings
        self._names: dict[str, str] = {}
        self._strict = models.is_at_least(model, models.FIRST_WITH_LEVELS)
        self._signs_all = models.signs_every_part(model)

    def build(self, messages: Sequence[Message]) -> None:
        """Put the messages in. Raises InvalidRequest where nothing is left to send."""
        normal, changed = history.normalise(messages)
        self._warnings += changed
        self._add_system([m for m in normal if isinstance(m, SystemMessage)])
        if any(getattr(message, "name", None) for message in normal if not isinstance(message, ToolMessage)):
            self._warnings.append("messages: this vendor does not know speakers by name; `name` was dropped")
        for message in normal:
            if isinstance(message, UserMessage):
                self._add("user", parts(message.content, self._warnings))
            elif isinstance(message, AssistantMessage):
                self._add("model", self._answer(message))
            elif isinstance(message, ToolMessage):
                self._add("user", self._result(message))
        self._open()

    def _add(self, role: str, new: list[GooglePart]) -> None:
        """Add parts to the turn of that role; turns of one role in a row are one."""
        if not new:
            return
        if self.contents and self.contents[-1]["role"] == role:
            self.contents[-1]["parts"] += new
        else:
            self.contents.append({"role": role, "parts": new})

    def _add_system(self, messages: list[SystemMessage]) -> None:
        words = [part for message in messages for part in parts(message.content, self._warnings)]
        if words and not models.takes_system_text(self._model):
            self._warnings.append(f"system messages: {self._model} takes none; they open the user's turn")
            self._add("user", words)
        else:
            self.system = words

    def _open(self) -> None:
        if not self.contents and self.system:
            self._warnings.append("messages: there is no user message; the instruction is sent as one")
            self._add("user", self.system)
            self.system = []
        if not self.contents:
            raise InvalidRequest("messages: there is nothing in them to send", param="messages")
        if self.contents[0]["role"] == "model":
            self._warnings.append(
                "messages: a conversation begins with the user here; a full stop was put first"
            )
            self.contents.insert(0, {"role": "user", "parts": [dict(_OPENING)]})

    def _answer(self, message: AssistantMessage) -> list[GooglePart]:
        """An earlier turn of the model, signed as it was."""
        signatures = _signatures(message)
        out = parts(message.content, self._warnings)
        if message.refusal:
            out.append({"text": message.refusal})
        if message.audio:
            self._warnings.append("messages: sound of an earlier answer cannot be named by id; dropped")
        _sign_text(out, signatures.get(None))
        calls = [self._call(call, signatures) for call in message.tool_calls or []]
        if self._strict and calls and not any("thoughtSignature" in call for call in calls):
            calls[0]["thoughtSignature"] = NO_SIGNATURE
        if self._signs_all:
            for part in out:
                part.setdefault("thoughtSignature", NO_SIGNATURE)
        return out + calls

    def _call(self, call: ToolCallItem, signatures: Mapping[str | None, str]) -> GooglePart:
        self._names[call.id] = call.name
        out: GooglePart = {"functionCall": {"id": call.id, "name": call.name, "args": self._arguments(call)}}
        signature = call.thought_signature or signatures.get(call.id)
        if signature:
            out["thoughtSignature"] = signature
        return out

    def _arguments(self, call: ToolCallItem) -> dict[str, Any]:
        if call.custom is not None:
            return {"input": call.arguments}
        if not call.arguments.strip():
            return {}
        arguments = jsontext.as_object(call.arguments)
        if arguments is None or _shape(arguments)[1] > _MAX_DEPTH:
            self._warnings.append(
                f"messages: the arguments of call {call.name} are no JSON object; sent as text"
            )
            return {"output": call.arguments}
        return arguments

    def _result(self, message: ToolMessage) -> list[GooglePart]:
        """The result of a call. Pictures in it go inside where the generation takes them there."""
        found = parts(message.content, self._warnings)
        media = [part for part in found if "text" not in part]
        name = self._names.get(message.tool_call_id) or message.name or "unknown_function"
        response: dict[str, Any] = {
            "id": message.tool_call_id,
            "name": name,
            "response": _response(text_of(message.content), failed=message.is_error),
        }
        if media and self._strict:
            response["parts"], media = media, []
        return [{"functionResponse": response}, *media]


def _signatures(message: AssistantMessage) -> dict[str | None, str]:
    """Signatures by the id of the call they belong to; None is the text's."""
    found: dict[str | None, str] = {}
    google = an_object(an_object((message.model_extra or {}).get("extra_content")).get("google"))
    if isinstance(own := google.get("thought_signature"), str):
        found[None] = own
    for detail in message.reasoning_details or []:
        data = detail.get("data") or detail.get("signature")
        if detail.get("format") == SIGNATURE_FORMAT and isinstance(data, str):
            id = detail.get("id")
            found[id if isinstance(id, str) and id else None] = data
    return found


def _sign_text(out: list[GooglePart], signature: str | None) -> None:
    """Sign the last text; a signature that came with an empty text goes back with one."""
    if not signature:
        return
    texts = [part for part in out if "text" in part]
    if not texts:
        texts = [{"text": ""}]
        out += texts
    texts[-1]["thoughtSignature"] = signature


def _response(text: str, *, failed: bool) -> dict[str, Any]:
    """What a function gave, always an object. A key such as `$ref` is Google's own, and would be refused."""
    if failed:
        return {"error": text}
    value = jsontext.as_object(text)
    keys, depth = _shape(value)
    plain = depth <= _MAX_DEPTH and not any(key.startswith("$") for key in keys)
    return value if value is not None and plain else {"output": text}


def _shape(value: Any) -> tuple[set[str], int]:
    """Every key in a JSON value, and how many levels it has."""
    keys: set[str] = set()
    deepest = 0
    waiting = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(item, dict):
            keys.update(item)
            waiting += [(inner, depth + 1) for inner in item.values()]
        elif isinstance(item, list):
            waiting += [(inner, depth + 1) for inner in item]
    return keys, deepest
