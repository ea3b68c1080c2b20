"""Brings written messages into an order, and their call ids into a form, that picky vendors take.

Works on messages in wire form. Must never change what a message says; what is moved or put in between is
told.
"""

import hashlib
import re
import string
from collections.abc import Callable, Iterator
from typing import Any, Final

from motes.quirks import Quirks

Wire = dict[str, Any]
Warn = Callable[[str], None]

FILLER: Final = "OK"
"""What an assistant turn says that only keeps a tool result and the next user turn apart."""

OPENING: Final = "."
"""What a turn of the user says that only stands before an answer."""

_SYSTEM: Final = ("system", "developer")
_ALPHABET: Final = string.digits + string.ascii_letters
_NINE: Final = re.compile(r"[A-Za-z0-9]{9}")


def arranged(messages: list[Wire], quirks: Quirks, warn: Warn) -> list[Wire]:
    """The messages as this vendor takes them."""
    if quirks.drop_empty:
        messages = _without_empty(messages, warn)
    if quirks.system_first:
        messages = _system_first(messages, quirks.system_apart, warn)
    if quirks.user_first:
        messages = _user_first(messages, warn)
    if quirks.merge_same_role:
        messages = _merged(messages)
    if quirks.assistant_after_tool:
        messages = list(_kept_apart(messages, warn))
    if quirks.system_required and not any(message["role"] in _SYSTEM for message in messages):
        messages = [{"role": "system", "content": ""}, *messages]
    _rename_calls(messages, quirks)
    if quirks.prefill_flag and messages and _is_prefill(messages[-1]):
        messages = [*messages[:-1], {quirks.prefill_flag: True} | messages[-1]]
    return messages


def _is_prefill(message: Wire) -> bool:
    """Whether a last turn is the beginning of the answer to come."""
    return message["role"] == "assistant" and not message.get("tool_calls")


def instruct(messages: list[Wire], instruction: str) -> None:
    """Add an instruction to the system text, which is made if there is none."""
    first = messages[0] if messages else {}
    if first.get("role") in _SYSTEM and isinstance(first.get("content"), str):
        messages[0] = first | {"content": f"{first['content']}\n\n{instruction}"}
    else:
        messages.insert(0, {"role": "system", "content": instruction})


def keep_last_marks(messages: list[Wire], most: int, warn: Warn) -> None:
    """Drop all but the last cache marks: a later one covers what is before it."""
    contents = [message["content"] for message in messages if isinstance(message.get("content"), list)]
    marked = [part for content in contents for part in content if "cache_control" in part]
    for part in marked[: max(0, len(marked) - most)]:
        warn(f"cache_control: only the last {most} marks were sent, this vendor takes no more")
        del part["cache_control"]


def _without_empty(messages: list[Wire], warn: Warn) -> list[Wire]:
    """All but the messages that say nothing; a result and a turn with calls say something even so."""
    kept = [message for message in messages if not _is_empty(message)]
    if len(kept) < len(messages):
        warn("messages: those without content were left out, this vendor refuses them")
    return kept or messages


def _is_empty(message: Wire) -> bool:
    if message["role"] == "tool" or message.get("tool_calls"):
        return False
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    return all(part.get("type") == "text" and not part["text"].strip() for part in parts)


def _system_first(messages: list[Wire], apart: tuple[str, ...], warn: Warn) -> list[Wire]:
    system = [message for message in messages if message["role"] in _SYSTEM]
    if not system:
        return messages
    others = [message for message in messages if message["role"] not in _SYSTEM]
    own = [message for message in system if apart and _text(message["content"]).startswith(apart)]
    joined = [message for message in system if message not in own]
    if len(joined) > 1 or messages[: len(system)] != [*joined, *own]:
        warn("system messages: joined into one at the head, since this vendor takes no other")
    text = "\n\n".join(_text(message["content"]) for message in joined)
    head = [{"role": joined[0]["role"], "content": text}] if joined else []
    return [*head, *own, *others]


def _user_first(messages: list[Wire], warn: Warn) -> list[Wire]:
    """The user's turn directly behind the system text; system text alone becomes the user's."""
    at = next((i for i, message in enumerate(messages) if message["role"] not in _SYSTEM), len(messages))
    if at == len(messages):
        warn("system messages: sent as the user's, since this vendor wants a turn of the user")
        return [message | {"role": "user"} for message in messages]
    if messages[at]["role"] == "user":
        return messages
    warn("messages: a turn of the user was put first, since this vendor wants one there")
    return [*messages[:at], {"role": "user", "content": OPENING}, *messages[at:]]


def _merged(messages: list[Wire]) -> list[Wire]:
    """Neighbours of one role as one message; a call stays the end of its message."""
    out: list[Wire] = []
    for message in messages:
        last = out[-1] if out else {}
        same = last.get("role") == message["role"] and message["role"] in ("user", "assistant")
        if same and "tool_calls" not in last:
            both = _joined(last["content"], message["content"])
            out[-1] = last | message | {"content": both}
        else:
            out.append(message)
    return out


def _joined(first: Any, second: Any) -> Any:
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _text(content: Any) -> str:
    return "\n".join(part.get("text", "") for part in _parts(content))


def _kept_apart(messages: list[Wire], warn: Warn) -> Iterator[Wire]:
    previous = ""
    for message in messages:
        if previous == "tool" and message["role"] == "user":
            warn("messages: an assistant turn was put between a tool result and the user's next turn")
            yield {"role": "assistant", "content": FILLER}
        previous = message["role"]
        yield message


def _rename_calls(messages: list[Wire], quirks: Quirks) -> None:
    """Ids that this vendor takes, for calls and results alike; a fitting one stays as it is."""
    if quirks.tool_id == "any" and quirks.max_tool_id is None:
        return
    names = _Names(quirks)
    for message in messages:
        for call in message.get("tool_calls") or ():
            call["id"] = names.of(call["id"])
        if message["role"] == "tool":
            message["tool_call_id"] = names.of(message["tool_call_id"])


class _Names:
    """Ids of calls, and what this vendor knows them by: the same every time, and never two by one name."""

    def __init__(self, quirks: Quirks) -> None:
        self._nine = quirks.tool_id == "nine-alphanumerics"
        self._most = quirks.max_tool_id
        self._made: dict[str, str] = {}
        self._names: set[str] = set()

    def of(self, id: str) -> str:
        """The vendor's name of a call."""
        if id not in self._made:
            name, salt = id if self._fits(id) else _hashed(id), 0
            while name in self._names:
                salt += 1
                name = _hashed(f"{id}/{salt}")
            self._made[id] = name
            self._names.add(name)
        return self._made[id]

    def _fits(self, id: str) -> bool:
        if self._nine:
            return _NINE.fullmatch(id) is not None
        return self._most is None or len(id) <= self._most


def _hashed(id: str) -> str:
    number = int.from_bytes(hashlib.sha256(id.encode("utf-8", "replace")).digest(), "big")
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)
