"""Gemini's generateContent as the demo vendor writes it: whole partial responses, CRLF between events.

Sources: ai.google.dev, "Generating content" (GenerateContentResponse), "Thinking", "Grounding with Google
Search" (all read 2026-11-29). Must never read motes' own dialect house.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from motes import jsontext
from motes.demo.scripts import Beat, Call, Cut, Fail, Pause, Quote, Say, Search, Think
from motes.demo.wire import (
    Asked,
    Heard,
    Refused,
    Step,
    joined,
    last_of,
    names_of,
    object_of,
    objects,
    tokens_of,
    turns_of,
    words,
)

_PATH: Final = re.compile(r"/v1beta/models/([^/:?]+):(streamGenerateContent|generateContent)(\?.*)?$")
_SIGNATURE: Final = "ZGVtby10aG91Z2h0LXNpZ25hdHVyZQ=="
_WORDS_AN_EVENT: Final = 3


class GenerateWire:
    """`POST /v1beta/models/{model}:streamGenerateContent` and `:generateContent`."""

    stream_type = "text/event-stream"
    overloaded = Refused(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")

    def read(self, target: str, headers: dict[str, str], body: bytes) -> Asked:  # noqa: ARG002
        """See `Wire`."""
        match = _PATH.search(target)
        if match is None:
            raise Refused(404, "NOT_FOUND", f"no such method: {target[:80]}")
        request = object_of(body)
        question, result = last_of(_heard(request.get("contents")))
        return Asked(
            model=match.group(1),
            question=question,
            stream=match.group(2) == "streamGenerateContent",
            result=result,
            tools=_tools(request),
            as_array="alt=sse" not in (match.group(3) or ""),
        )

    def stream(self, asked: Asked, beats: Sequence[Beat]) -> Iterator[Step]:
        """See `Wire`: server-sent events with `alt=sse`, the pieces of one JSON array without."""
        if not asked.as_array:
            yield from self._events(asked, beats, b"data: ", b"\r\n\r\n")
            return
        mark = b"["
        for step in self._events(asked, beats, b"", b""):
            yield mark + step if isinstance(step, bytes) else step
            mark = b",\r\n" if isinstance(step, bytes) else mark
        yield b"]"

    def _events(self, asked: Asked, beats: Sequence[Beat], before: bytes, after: bytes) -> Iterator[Step]:
        for beat in beats:
            if isinstance(beat, Pause | Cut):
                yield beat
            elif isinstance(beat, Fail):
                yield before + jsontext.dump_bytes(self.refusal(self.overloaded)) + after
                return
            else:
                for parts in _parts(beat):
                    yield before + jsontext.dump_bytes(_response(asked, beats, parts)) + after
        yield before + jsontext.dump_bytes(_response(asked, beats, [{"text": ""}], is_last=True)) + after

    def whole(self, asked: Asked, beats: Sequence[Beat]) -> dict[str, Any]:
        """See `Wire`."""
        parts = [part for beat in beats for parts in _parts(beat, whole=True) for part in parts]
        return _response(asked, beats, parts, is_last=True)

    def refusal(self, refused: Refused) -> dict[str, Any]:
        """See `Wire`."""
        status = _STATUSES.get(refused.status, refused.word)
        error: dict[str, Any] = {"code": refused.status, "message": refused.message, "status": status}
        if refused.status == 429:
            error["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}]
        return {"error": error}


def _heard(contents: Any) -> Iterator[Heard]:
    """A tool's answer is a part of a turn that is not the model's; the text beside it is the user's."""
    for turn in turns_of(contents):
        if turn.get("role") != "model":
            parts = objects(turn.get("parts"))
            for answer in objects([part.get("functionResponse") for part in parts]):
                yield Heard(_answered(answer.get("response")), is_result=True)
            yield Heard(joined(parts))


def _answered(response: Any) -> str:
    """A tool's answer is an object; one with a single text in it is that text."""
    values = list(response.values()) if isinstance(response, dict) else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else jsontext.dumps(response)


def _tools(request: dict[str, Any]) -> frozenset[str]:
    config = request.get("toolConfig")
    calling = config.get("functionCallingConfig") if isinstance(config, dict) else None
    if isinstance(calling, dict) and calling.get("mode") == "NONE":
        return frozenset()
    tools = objects(request.get("tools"))
    return names_of(one for tool in tools for one in objects(tool.get("functionDeclarations")))


_STATUSES: Final = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}


def _parts(beat: Beat, *, whole: bool = False) -> Iterator[list[dict[str, Any]]]:
    """The parts of one beat, a list for each event they are streamed in."""
    if isinstance(beat, Call):
        call = {"name": beat.name, "args": dict(beat.arguments)}
        yield [{"functionCall": call, "thoughtSignature": _SIGNATURE}]
    elif isinstance(beat, Think | Say | Quote):
        thought: dict[str, Any] = {"thought": True} if isinstance(beat, Think) else {}
        pieces = words(beat.text)
        step = len(pieces) if whole else _WORDS_AN_EVENT
        for start in range(0, len(pieces), step):
            yield [{"text": "".join(pieces[start : start + step])} | thought]


def _response(
    asked: Asked, beats: Sequence[Beat], parts: list[dict[str, Any]], *, is_last: bool = False
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if is_last:
        candidate["finishReason"] = "STOP"
        candidate |= _grounding(beats)
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(asked, beats, is_last=is_last),
        "modelVersion": asked.model,
        "responseId": f"demo{asked.serial:04d}",
    }


def _grounding(beats: Sequence[Beat]) -> dict[str, Any]:
    """What the answer rests on; segment places are UTF-8 bytes, as Gemini counts them."""
    queries = [beat.query for beat in beats if isinstance(beat, Search)]
    chunks: list[dict[str, Any]] = []
    supports: list[dict[str, Any]] = []
    place = 0
    for beat in beats:
        size = len(beat.text.encode()) if isinstance(beat, Say | Quote) else 0
        if isinstance(beat, Quote):
            segment = {"startIndex": place, "endIndex": place + size, "text": beat.text}
            supports.append({"segment": segment, "groundingChunkIndices": [len(chunks)]})
            chunks.append({"web": {"uri": beat.url, "title": beat.title}})
        place += size
    if not chunks:
        return {}
    sources = {"groundingChunks": chunks, "groundingSupports": supports, "webSearchQueries": queries}
    return {"groundingMetadata": sources}


def _usage(asked: Asked, beats: Sequence[Beat], *, is_last: bool) -> dict[str, Any]:
    tokens = tokens_of(asked, beats)
    details = [{"modality": "TEXT", "tokenCount": tokens.prompt}]
    usage: dict[str, Any] = {"promptTokenCount": tokens.prompt, "promptTokensDetails": details}
    if is_last:
        usage |= {"candidatesTokenCount": tokens.answer, "thoughtsTokenCount": tokens.thinking}
    spent = tokens.answer + tokens.thinking if is_last else 0
    return usage | {"totalTokenCount": tokens.prompt + spent}
