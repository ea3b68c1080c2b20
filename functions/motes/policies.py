"""What an operator wants said, or not said, to a vendor: his own system text, his own words for others.

Off unless `motes.toml` sets it. Must never take a turn out of the history, nor touch a call or its result: a
result without its call is refused everywhere.
"""

from collections.abc import Callable, Mapping, Sequence

from motes.chat import AssistantMessage, Content, Message, SystemMessage, TextPart, text_of
from motes.quirks import Quirks

Warn = Callable[[str], None]


def governed(messages: list[Message], quirks: Quirks, warn: Warn) -> list[Message]:
    """The messages as the operator's policies have them; the same list where there are none."""
    if quirks.content_policy:
        messages = _reworded(messages, quirks.content_policy, warn)
    match quirks.system_policy:
        case "keep":
            return messages
        case "merge":
            return _merged(messages, warn)
        case "prepend":
            return [*_spoken(quirks.system_text), *messages]
        case "replace":
            return _replaced(messages, quirks.system_text, warn)


def _merged(messages: list[Message], warn: Warn) -> list[Message]:
    """All system text as one message at the head."""
    system = [message for message in messages if isinstance(message, SystemMessage)]
    if not system or (len(system) == 1 and messages[0] is system[0]):
        return messages
    warn("system messages: joined into one at the head, as this vendor's settings have it")
    text = "\n\n".join(filter(None, (text_of(message.content, "\n") for message in system)))
    head = system[0].model_copy(update={"content": text})
    return [head, *_others(messages)]


def _replaced(messages: list[Message], text: str, warn: Warn) -> list[Message]:
    others = _others(messages)
    if len(others) < len(messages):
        warn("system messages: replaced by the operator's own text")
    return [*_spoken(text), *others]


def _others(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if not isinstance(message, SystemMessage)]


def _spoken(text: str) -> list[SystemMessage]:
    return [SystemMessage(role="system", content=text)] if text else []


def _reworded(messages: list[Message], words: Mapping[str, str], warn: Warn) -> list[Message]:
    """Earlier answers with the operator's words in place of others."""
    out = [
        _answer(message, words) if isinstance(message, AssistantMessage) else message for message in messages
    ]
    if all(new is old for new, old in zip(out, messages, strict=True)):
        return messages
    warn("messages: words of earlier answers were replaced by the operator's policy")
    return out


def _answer(message: AssistantMessage, words: Mapping[str, str]) -> AssistantMessage:
    content = _content(message.content, words)
    return message if content == message.content else message.model_copy(update={"content": content})


def _content(content: Content, words: Mapping[str, str]) -> Content:
    if isinstance(content, str):
        return _text(content, words)
    if content is None:
        return None
    return [
        part.model_copy(update={"text": _text(part.text, words)}) if isinstance(part, TextPart) else part
        for part in content
    ]


def _text(text: str, words: Mapping[str, str]) -> str:
    for word, instead in words.items():
        text = text.replace(word, instead)
    return text
