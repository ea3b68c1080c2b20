"""One whole message as OpenAI's chat completion object: the same content as the stream, told at once.

Pure. Must never be asked for a failed run: that is an error, not an answer.
"""

from collections.abc import Iterator
from typing import Any, Final

from motes import particles as p
from motes.egress.finish import finish_reason
from motes.egress.places import Places
from motes.egress.reply import (
    GEMINI_FORMAT,
    UNKNOWN_FORMAT,
    Facts,
    Reply,
    annotations,
    audio,
    encrypted,
    extension,
    image,
    kept_rows,
    phase_entry,
    reasoning_item,
    signed_call,
    signed_text,
    thought_signature,
    told_details,
    usage,
)
from motes.fragments import (
    CodeFragment,
    Fragment,
    Message,
    OperationFragment,
    ReasoningFragment,
    TextFragment,
    ToolCallFragment,
)

# What the vendor's own tools did has no part in a chat message that its signature could go back with.
_UNANSWERABLE: Final = (OperationFragment, CodeFragment)


def completion(message: Message, reply: Reply) -> dict[str, Any]:
    """The object of a completed message."""
    end = message.end or p.End("done-dispatch-closed")
    word = finish_reason(end, bool(message.refusal))
    if word == "stop" and message.tool_calls:
        word = "tool_calls"
    counts = usage(message.metrics)
    choice = {"index": 0, "message": _message(message, reply), "logprobs": None, "finish_reason": word}
    return {
        "id": reply.id,
        "object": "chat.completion",
        "created": reply.created,
        "model": reply.model,
        "choices": [choice],
        **({"usage": counts} if counts else {}),
        "motes": extension(reply, _facts(message), end),
    }


def _message(message: Message, reply: Reply) -> dict[str, Any]:
    text, places = _text(message, reply)
    calls = [_call(call) for call in message.tool_calls]
    members: dict[str, Any] = {
        "role": "assistant",
        "content": text if text or not calls else None,
        "refusal": message.refusal or None,
    }
    members |= _reasoning(message, reply, places)
    optional = {
        "tool_calls": calls,
        "annotations": _annotations(message, places),
        "images": [{"index": index, **image(media)} for index, media in enumerate(_images(message))],
        "audio": _audio(message, reply),
    }
    return members | {name: value for name, value in optional.items() if value}


def _text(message: Message, reply: Reply) -> tuple[str, Places]:
    """The answer; with think tags, each run of reasoning between tags where it stood."""
    places = Places()
    if reply.reasoning_field != "think-tags":
        return message.text, places
    out: list[str] = []
    thinking = False
    for fragment in message.fragments:
        if isinstance(fragment, ReasoningFragment):
            if fragment.text:
                _insert(fragment.text if thinking else f"<think>{fragment.text}", out, places)
                thinking = True
            continue
        if thinking:
            _insert("</think>", out, places)
            thinking = False
        if isinstance(fragment, TextFragment):
            out.append(fragment.text)
            places.length += len(fragment.text)
    if thinking:
        _insert("</think>", out, places)
    return "".join(out), places


def _insert(text: str, out: list[str], places: Places) -> None:
    out.append(text)
    places.inserted(len(text))


def _reasoning(message: Message, reply: Reply, places: Places) -> dict[str, Any]:
    field = reply.reasoning_field
    text = "".join(f.text for f in message.fragments if isinstance(f, ReasoningFragment))
    out: dict[str, Any] = {}
    if text and field in ("reasoning_content", "both"):
        out["reasoning_content"] = text
    if text and field in ("reasoning", "both"):
        out["reasoning"] = text
    details = _details(message, reply, places)
    if details:
        out["reasoning_details"] = [entry | {"index": index} for index, entry in enumerate(details)]
    return out


def _details(message: Message, reply: Reply, places: Places) -> list[dict[str, Any]]:
    """Ours, as the particles told them, or the vendor's own; a call's signature is in neither of those."""
    entries: list[dict[str, Any]] = []
    spoken = 0
    for fragment in message.fragments:
        entries += [*_entries(fragment, reply), *_vendors_own(fragment, places.start(spoken))]
        spoken += len(fragment.text) if isinstance(fragment, TextFragment) else 0
    rows = kept_rows(message.vendor_state.get("openrouter", {}), "reasoning_details")
    if reply.signature_format != UNKNOWN_FORMAT:
        return entries
    signed = [entry for entry in entries if entry["format"] == GEMINI_FORMAT]
    own = [entry for entry in entries if entry["format"] != GEMINI_FORMAT]
    return signed + (told_details(rows, reply.reasoning_field == "none") if rows else own)


def _entries(fragment: Fragment, reply: Reply) -> list[dict[str, Any]]:
    out = []
    if isinstance(fragment, ReasoningFragment) and reply.reasoning_field != "none":
        out += [encrypted(data, reply.signature_format) for data in fragment.redacted]
        if fragment.signature is not None:
            out.append(signed_text(fragment.text, fragment.signature, reply.signature_format))
    signature = thought_signature(fragment.state.get("gemini"))
    if signature is not None and not isinstance(fragment, _UNANSWERABLE):
        call_id = fragment.id if isinstance(fragment, ToolCallFragment) else None
        out.append(encrypted(signature, GEMINI_FORMAT, call_id))
    return out


def _vendors_own(fragment: Fragment, start: int) -> Iterator[dict[str, Any]]:
    """What a Responses host wants back of a fragment; `start` is where it begins in the content."""
    for vendor, state in fragment.state.items():
        for entry in (reasoning_item(vendor, state), phase_entry(vendor, state, start)):
            if entry is not None:
                yield entry


def _call(call: ToolCallFragment) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    out: dict[str, Any] = {"id": call.id, "type": "function", "function": function}
    signature = thought_signature(call.state.get("gemini"))
    return out if signature is None else signed_call(out, signature)


def _annotations(message: Message, places: Places) -> list[dict[str, Any]]:
    return annotations(places.moved(citation) for citation in message.citations if citation.url)


def _images(message: Message) -> list[p.Image]:
    return [media for media in message.media(p.Image) if isinstance(media, p.Image) and not media.partial]


def _clips(message: Message) -> list[p.Audio]:
    return [media for media in message.media(p.Audio) if isinstance(media, p.Audio)]


def _audio(message: Message, reply: Reply) -> dict[str, Any] | None:
    clips = _clips(message)
    if not clips:
        return None
    # Typed clients want both members; the clip is inline and does not expire.
    return {"expires_at": reply.created, "transcript": ""} | audio(clips[0], reply)


def _facts(message: Message) -> Facts:
    return Facts(
        model=message.model,
        response_id=message.response_id,
        provider=message.provider,
        metrics=message.metrics,
        attempts=message.attempts,
        clips=len(_clips(message)),
        files=kept_rows(message.vendor_state.get("openrouter", {}), "annotations"),
        documents=[citation for citation in message.citations if not citation.url],
        warnings=message.warnings,
    )
