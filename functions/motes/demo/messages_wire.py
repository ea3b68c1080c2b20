"""Anthropic's Messages as the demo vendor writes them.

Sources: docs.claude.com, "Streaming Messages", "Extended thinking", "Web search tool", "Errors" (all read
2026-11-29). Must never read motes' own dialect house.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from motes import jsontext
from motes.demo.scripts import Beat, Call, Cut, Fail, Pause, Quote, Say, Search, Think
from motes.demo.wire import (
    Asked,
    Heard,
    Refused,
    Step,
    halves,
    joined,
    last_of,
    names_of,
    object_of,
    objects,
    tokens_of,
    turns_of,
    words,
)

_SIGNATURE: Final = "ZGVtby1zaWduYXR1cmUtb2YtdGhpcy10aG91Z2h0"
_ENCRYPTED: Final = "ZGVtby1lbmNyeXB0ZWQtcGFnZQ=="


class MessagesWire:
    """`POST /v1/messages`."""

    stream_type = "text/event-stream; charset=utf-8"
    overloaded = Refused(529, "overloaded_error", "Overloaded")

    def read(self, target: str, headers: dict[str, str], body: bytes) -> Asked:  # noqa: ARG002
        """See `Wire`."""
        if "anthropic-version" not in headers:
            raise Refused(400, "invalid_request_error", "anthropic-version: header is required")
        request = object_of(body)
        if not isinstance(request.get("max_tokens"), int):
            raise Refused(400, "invalid_request_error", "max_tokens: Field required")
        question, result = last_of(_heard(request.get("messages")))
        return Asked(
            model=str(request.get("model") or ""),
            question=question,
            stream=request.get("stream") is True,
            result=result,
            tools=_tools(request),
        )

    def stream(self, asked: Asked, beats: Sequence[Beat]) -> Iterator[Step]:
        """See `Wire`."""
        start = _envelope(asked, [], None, _usage(asked, beats) | {"output_tokens": 1})
        yield _event("message_start", message=start)
        yield _event("ping")
        index = 0
        for group in _blocks(beats):
            first = group[0]
            if isinstance(first, Pause | Cut):
                yield first
            elif isinstance(first, Fail):
                yield _event("error", **_error(self.overloaded))
                return
            else:
                for opening, deltas in _shapes(asked, group, index):
                    yield from _block(index, opening, deltas)
                    index += 1
        yield _event(
            "message_delta",
            delta={"stop_reason": _stop_reason(beats), "stop_sequence": None},
            usage=_usage(asked, beats),
        )
        yield _event("message_stop")

    def whole(self, asked: Asked, beats: Sequence[Beat]) -> dict[str, Any]:
        """See `Wire`."""
        content: list[dict[str, Any]] = []
        for group in _blocks(beats):
            if not isinstance(group[0], Pause | Cut | Fail):
                content += [_whole(*shape) for shape in _shapes(asked, group, len(content))]
        return _envelope(asked, content, _stop_reason(beats), _usage(asked, beats))

    def refusal(self, refused: Refused) -> dict[str, Any]:
        """See `Wire`."""
        return {"type": "error"} | _error(refused) | {"request_id": "req_demo"}


_WORDS: Final = {404: "not_found_error", 429: "rate_limit_error"}
_Delta = dict[str, Any]


def _heard(messages: Any) -> Iterator[Heard]:
    """A tool's answer is a block of a user's turn; the text beside it is the user's."""
    for message in turns_of(messages):
        if message.get("role") == "user":
            content = message.get("content")
            for block in objects(content):
                if block.get("type") == "tool_result":
                    yield Heard(joined(block.get("content")), is_result=True)
            yield Heard(joined(content))


def _tools(request: dict[str, Any]) -> frozenset[str]:
    choice = request.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "none":
        return frozenset()
    return names_of(objects(request.get("tools")))


def _blocks(beats: Sequence[Beat]) -> list[list[Beat]]:
    """The beats in groups that are one content block: thinking joins thinking, saying joins saying."""
    groups: list[list[Beat]] = []
    for beat in beats:
        last = groups[-1][-1] if groups else None
        joins = (isinstance(beat, Think) and isinstance(last, Think)) or (
            isinstance(beat, Say) and isinstance(last, Say)
        )
        if joins:
            groups[-1].append(beat)
        else:
            groups.append([beat])
    return groups


def _shapes(asked: Asked, group: list[Beat], index: int) -> Iterator[tuple[dict[str, Any], list[_Delta]]]:
    """The content blocks of a group: how each opens, and its deltas."""
    first = group[0]
    if isinstance(first, Think):
        deltas = [{"type": "thinking_delta", "thinking": w} for b in group for w in _words(b)]
        signature = {"type": "signature_delta", "signature": _SIGNATURE}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]
    elif isinstance(first, Search):
        yield from _search(first, f"srvtoolu_demo{asked.serial:04d}{index}")
    elif isinstance(first, Call):
        opening = {"type": "tool_use", "id": f"toolu_demo{asked.serial:04d}{index}", "name": first.name}
        pieces = ("", *halves(jsontext.dumps(first.arguments)))
        yield opening | {"input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in pieces]
    else:
        deltas = [{"type": "text_delta", "text": w} for b in group for w in _words(b)]
        yield {"type": "text", "text": ""}, [*_citations(first), *deltas]


def _words(beat: Beat) -> list[str]:
    return words(beat.text) if isinstance(beat, Think | Say | Quote) else []


def _search(search: Search, id: str) -> Iterator[tuple[dict[str, Any], list[_Delta]]]:
    query = jsontext.dumps({"query": search.query})
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in halves(query)]
    yield {"type": "server_tool_use", "id": id, "name": "web_search", "input": {}}, deltas
    page = {
        "type": "web_search_result",
        "title": search.title,
        "url": search.url,
        "encrypted_content": _ENCRYPTED,
        "page_age": None,
    }
    yield {"type": "web_search_tool_result", "tool_use_id": id, "content": [page]}, []


def _citations(beat: Beat) -> list[_Delta]:
    if not isinstance(beat, Quote):
        return []
    citation = {
        "type": "web_search_result_location",
        "cited_text": beat.text,
        "url": beat.url,
        "title": beat.title,
        "encrypted_index": _ENCRYPTED,
    }
    return [{"type": "citations_delta", "citation": citation}]


def _block(index: int, opening: dict[str, Any], deltas: list[_Delta]) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block=opening)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _whole(opening: dict[str, Any], deltas: list[_Delta]) -> dict[str, Any]:
    """A block as it stands in a whole body: its deltas laid into its opening."""
    block = dict(opening)
    text = "".join(delta.get("partial_json", "") for delta in deltas)
    if text:
        block["input"] = jsontext.loads(text)
    for name in ("text", "thinking", "signature"):
        if name in block:
            block[name] = "".join(delta.get(name, "") for delta in deltas)
    citations = [delta["citation"] for delta in deltas if "citation" in delta]
    return block | {"citations": citations} if citations else block


def _stop_reason(beats: Sequence[Beat]) -> str:
    return "tool_use" if any(isinstance(beat, Call) for beat in beats) else "end_turn"


def _envelope(
    asked: Asked, content: list[dict[str, Any]], stop: str | None, usage: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": f"msg_demo{asked.serial:04d}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def _usage(asked: Asked, beats: Sequence[Beat]) -> dict[str, Any]:
    tokens = tokens_of(asked, beats)
    searches = sum(isinstance(beat, Search) for beat in beats)
    return {
        "input_tokens": tokens.prompt,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": tokens.answer + tokens.thinking,
        "server_tool_use": {"web_search_requests": searches},
        "service_tier": "standard",
    }


def _error(refused: Refused) -> dict[str, Any]:
    return {"error": {"type": _WORDS.get(refused.status, refused.word), "message": refused.message}}


def _event(type: str, **members: Any) -> bytes:
    data = jsontext.dump_bytes({"type": type, **members})
    return b"event: " + type.encode() + b"\ndata: " + data + b"\n\n"
