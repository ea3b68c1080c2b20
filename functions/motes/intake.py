"""The gate: what a caller sent becomes a `ChatRequest`, or a clear refusal.

Must never repeat a caller's value in an error: it may be long, and it is the caller's.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import ValidationError

from motes import jsontext
from motes.chat import EFFORTS, REASONING, AssistantMessage, ChatRequest
from motes.complaints import told, where
from motes.errors import InvalidRequest

_CHECKED: Final = REASONING | {"n", "logprobs", "top_logprobs"}
"""Members that may hold what cannot be had."""
_OBJECTS: Final = (dict, Mapping)


def parse_request(data: bytes | Mapping[str, Any]) -> ChatRequest:
    """The request a caller's JSON body holds. Raises InvalidRequest, which names the place."""
    if isinstance(data, bytes):
        try:
            data = jsontext.loads(data)
        except ValueError as error:
            raise not_json(error) from None
    if not isinstance(data, _OBJECTS):
        raise InvalidRequest("the request body must be a JSON object", code="invalid_json")
    try:
        request = ChatRequest.model_validate(data)
    except ValidationError as error:
        raise _explained(error) from None
    _check(request)
    return request


def not_json(error: ValueError) -> InvalidRequest:
    """How a body is refused that is no JSON."""
    return InvalidRequest(f"the request body is not valid JSON{jsontext.place(error)}", code="invalid_json")


def _explained(error: ValidationError) -> InvalidRequest:
    """The first complaint, in words; never the value, which may be long or private."""
    complaints = error.errors(include_url=False, include_input=False)
    first = complaints[0]["loc"][:2]
    # Of the forms that were tried at one place, the one that was followed deepest is the one meant.
    deepest = max((c for c in complaints if c["loc"][:2] == first), key=lambda c: len(c["loc"]))
    steps = _place(where(deepest))
    place = ".".join(steps)
    tried = [c for c in complaints if len(c["loc"]) == len(deepest["loc"]) and _place(where(c)) == steps]
    return InvalidRequest(f"{place or 'body'}: {told(tried)}", param=place or None, code="invalid_value")


def _place(steps: tuple[int | str, ...]) -> list[str]:
    """The path as the caller wrote it: without the names of the union members that were tried."""
    out: list[str] = []
    for step in map(str, steps):
        in_union = len(out) >= 2 and out[-1].isdigit() and out[-2] in ("messages", "content")
        if in_union and step not in ("role", "type") and f"{step}#" not in out:
            out.append(f"{step}#")
        elif step != "str" and "[" not in step:
            out.append(step)
    return [step for step in out if not step.endswith("#")]


def _check(request: ChatRequest) -> None:
    if request.gives(_CHECKED):
        _check_options(request)
    _check_members(request)


def _check_options(request: ChatRequest) -> None:
    if request.n is not None and request.n > 1:
        raise InvalidRequest(
            "n > 1 is not supported: send the request n times", param="n", code="unsupported"
        )
    if request.logprobs or request.top_logprobs:
        raise InvalidRequest("log probabilities are not supported", param="logprobs", code="unsupported")
    word = request.reasoning_effort or (request.reasoning and request.reasoning.effort)
    if word and word not in EFFORTS:
        known = ", ".join(dict.fromkeys(EFFORTS.values()))
        raise InvalidRequest(
            f"unknown effort {word[:20]!r}: use one of {known}",
            param="reasoning_effort",
            code="invalid_value",
        )


def _check_members(request: ChatRequest) -> None:
    """What one member promises, another must hold."""
    form = request.response_format
    if form is not None and form.type == "json_schema" and form.json_schema is None:
        raise _missing("response_format.json_schema")
    for index, tool in enumerate(request.tools or []):
        for kind, member in (("function", tool.function), ("custom", tool.custom)):
            if tool.type == kind and member is None:
                raise _missing(f"tools.{index}.{kind}")
    for index, message in enumerate(request.messages):
        for call in (message.tool_calls or []) if isinstance(message, AssistantMessage) else []:
            if call.function is None and call.custom is None:
                place = f"messages.{index}.tool_calls"
                raise InvalidRequest(f"{place}: a call needs `function`", param=place, code="invalid_value")


def _missing(place: str) -> InvalidRequest:
    return InvalidRequest(f"{place}: is missing", param=place, code="invalid_value")
