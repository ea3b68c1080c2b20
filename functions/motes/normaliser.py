"""A caller's request as its vendor takes it, whichever protocol carries it: done once, before any house.

Here stands what hangs on the vendor and on no protocol: what images it takes, whether it takes tools at all,
and what its JSON Schemas may say. Pairing and order of the history are `motes.history`'s. Must never fetch
anything, and never leave out or change what the caller said without a word. Raises InvalidRequest for what
the vendor cannot be told, with the cure.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from motes.chat import (
    AssistantMessage,
    ChatRequest,
    Content,
    FilePart,
    FunctionCall,
    FunctionDefinition,
    FunctionMessage,
    ImagePart,
    Message,
    Part,
    ResponseFormat,
    TextPart,
    Tool,
    ToolMessage,
    UserMessage,
    text_of,
)
from motes.errors import InvalidRequest
from motes.json_schema import fitted
from motes.quirks import Quirks, SchemaForm

IMAGE_LEFT_OUT: Final = "[an image was left out: it cannot be shown to this model]"
_ADDRESSES: Final = ("http://", "https://")

Warn = Callable[[str], None]


def prepared(request: ChatRequest, quirks: Quirks) -> tuple[ChatRequest, list[str]]:
    """The request in what its vendor takes, and what was changed for it."""
    warnings: list[str] = []
    changes: dict[str, Any] = {}
    if not quirks.takes_tools and (request.tools or request.functions):
        raise InvalidRequest(
            "this vendor takes no tools here: leave `tools` out, or ask another vendor",
            param="tools",
            code="unsupported",
        )
    messages = request.messages
    if quirks.system_policy != "keep" or quirks.content_policy:
        from motes.policies import governed  # Few operators have any.

        messages = governed(messages, quirks, warnings.append)
    if not quirks.takes_tools:
        messages = _told(messages, warnings.append)
    if quirks.images != "any":
        messages = _shown(messages, quirks.images, warnings.append)
    if messages is not request.messages:
        changes["messages"] = messages
    if quirks.schema != "any":
        changes |= _schemas(request, quirks.schema, warnings.append)
    return (request.model_copy(update=changes) if changes else request), warnings


# Calls of earlier turns, where no vendor's tools are.


def _told(messages: list[Message], warn: Warn) -> list[Message]:
    """Earlier calls and their results as words, since there is no other place for them."""
    names: dict[str, str] = {}
    out: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            names |= {call.id: call.name for call in message.tool_calls or []}
        out.append(_in_words(message, names))
    if any(new is not old for new, old in zip(out, messages, strict=True)):
        warn("messages: earlier calls and their results were told in words, this vendor takes no tools")
        return out
    return messages


def _in_words(message: Message, names: Mapping[str, str]) -> Message:
    match message:
        case AssistantMessage(tool_calls=list() as calls) if calls:
            said = [text_of(message.content), *(f"[called {c.name}: {c.arguments}]" for c in calls)]
        case AssistantMessage(function_call=FunctionCall() as call):
            said = [text_of(message.content), f"[called {call.name}: {call.arguments}]"]
        case ToolMessage() | FunctionMessage():
            name = message.name or names.get(getattr(message, "tool_call_id", ""), "the call")
            return UserMessage(role="user", content=f"[result of {name}: {text_of(message.content)}]")
        case _:
            return message
    words = "\n".join(filter(None, said))
    return message.model_copy(update={"content": words, "tool_calls": None, "function_call": None})


# Images.


def _shown(messages: Sequence[Message], takes: str, warn: Warn) -> list[Message]:
    out = []
    for at, message in enumerate(messages):
        content = _content(message.content, takes, f"messages.{at}.content", warn)
        same = content is message.content
        out.append(message if same else message.model_copy(update={"content": content}))
    return out


def _content(content: Content, takes: str, place: str, warn: Warn) -> Content:
    if not isinstance(content, list):
        return content
    parts = [_part(part, takes, f"{place}.{at}", warn) for at, part in enumerate(content)]
    changed = any(new is not old for new, old in zip(parts, content, strict=True))
    return parts if changed else content


def _part(part: Part, takes: str, place: str, warn: Warn) -> Part:
    if not isinstance(part, ImagePart) and not _is_image_file(part):
        return part
    if takes == "none":
        warn(f"{place}: an image was left out, this vendor takes none")
        return TextPart(type="text", text=IMAGE_LEFT_OUT)
    if _address(part).startswith(_ADDRESSES):
        raise InvalidRequest(
            f"{place}: this vendor takes no image by its address: send it as a data URL"
            " (data:image/png;base64,…)",
            param=place,
            code="image_address_unsupported",
        )
    return part


def _is_image_file(part: Part) -> bool:
    return isinstance(part, FilePart) and (part.file.file_data or "").startswith("data:image/")


def _address(part: Part) -> str:
    return part.image_url.url.lower() if isinstance(part, ImagePart) else ""


# JSON Schemas.


def _schemas(request: ChatRequest, form: SchemaForm, warn: Warn) -> dict[str, Any]:
    """The members of a request that hold a schema, where it had to be changed."""
    out: dict[str, Any] = {}
    if request.tools:
        out["tools"] = [_tool(tool, form, warn) for tool in request.tools]
    if request.functions:
        out["functions"] = [_function(function, form, warn) for function in request.functions]
    if request.response_format is not None:
        out["response_format"] = _format(request.response_format, form, warn)
    return out


def _tool(tool: Tool, form: SchemaForm, warn: Warn) -> Tool:
    if tool.function is None:
        return tool
    return tool.model_copy(update={"function": _function(tool.function, form, warn)})


def _function(function: FunctionDefinition, form: SchemaForm, warn: Warn) -> FunctionDefinition:
    place = f"tools.{function.name[:60]}.parameters"
    parameters = _fitted(function.parameters or {}, form, place, warn)
    return function.model_copy(update={"parameters": parameters})


def _format(wanted: ResponseFormat, form: SchemaForm, warn: Warn) -> ResponseFormat:
    described = wanted.json_schema
    if described is None or described.schema_ is None:
        return wanted
    schema = _fitted(described.schema_, form, "response_format.json_schema.schema", warn)
    return wanted.model_copy(update={"json_schema": described.model_copy(update={"schema_": schema})})


def _fitted(schema: Mapping[str, Any], form: SchemaForm, place: str, warn: Warn) -> dict[str, Any]:
    out, lost = fitted(schema, form)
    if lost:
        warn(f"{place}: this vendor cannot read all of the schema; lost or told in words: {', '.join(lost)}")
    elif schema and out != schema:
        warn(f"{place}: the schema was put into words this vendor reads; it means the same")
    return out
