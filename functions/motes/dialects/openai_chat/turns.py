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

_SYSTEM: Final = ("system", "developer")
_ALPHABET: Final = string.digits + string.ascii_letters
_NINE: Final = re.compile(r"[A-Za-z0-9]{9}")


def arranged(messages: list[Wire], quirks: Quirks, warn: Warn) -> list[Wire]:
    """The messages as this vendor takes them."""
    if quirks.system_first:
        messages = _system_first(messages, warn)
    if quirks.merge_same_role:
        messages = _merged(messages)
    if quirks.assistant_after_tool:
        messages = list(_kept_apart(messages, warn))
    if quirks.tool_id == "nine-alphanumerics":
        _rename_calls(messages)
    return messages


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


def _system_first(messages: list[Wire], warn: Warn) -> list[Wire]:
    system = [message for message in messages if message["role"] in _SYSTEM]
    if not system:
        return messages
    others = [message for message in messages if message["role"] not in _SYSTEM]
    if len(system) > 1 or messages[0] is not system[0]:
        warn("system messages: joined into one at the head, since this vendor takes no other")
    joined = "\n\n".join(_text(message["content"]) for message in system)
    return [{"role": system[0]["role"], "content": joined}, *others]


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


def _rename_calls(messages: list[Wire]) -> None:
    """Nine letters and digits for every id, calls and results alike; a fitting one stays as it is."""
    names: dict[str, str] = {}
    for message in messages:
        for call in message.get("tool_calls") or ():
            call["id"] = _short(call["id"], names)
        if message["role"] == "tool":
            message["tool_call_id"] = _short(message["tool_call_id"], names)


def _short(id: str, names: dict[str, str]) -> str:
    if id not in names:
        short, salt = (id, 0) if _NINE.fullmatch(id) else (_hashed(id), 0)
        while short in names.values():
            salt += 1
            short = _hashed(f"{id}/{salt}")
        names[id] = short
    return names[id]


def _hashed(id: str) -> str:
    number = int.from_bytes(hashlib.sha256(id.encode("utf-8", "replace")).digest(), "big")
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)
