"""What a chat-completions upstream sends, as types: the specification and what vendors add to it.

Description only: nothing is validated against it, every member may be missing, null or of another type,
and the readers take that. Sources: OpenAI API reference, "Chat completion chunk object"; OpenRouter API
reference, "Responses"; Groq, Mistral, DeepSeek, xAI and Perplexity API references (all read 2026-11-29).
"""

from typing import Any, Literal, TypedDict


class FunctionDelta(TypedDict, total=False):
    """A function's name and a piece of its arguments; some vendors send the arguments as an object."""

    name: str | None
    arguments: str | dict[str, Any] | None


class CustomDelta(TypedDict, total=False):
    """A free-form tool's name and a piece of its input."""

    name: str | None
    input: str | None


class ToolCallDelta(TypedDict, total=False):
    """A piece of a call. `index`, `id`, `type` and `name` may each be missing, late or repeated."""

    index: int | None
    id: str | None
    type: Literal["function", "custom"] | str | None
    function: FunctionDelta | None
    custom: CustomDelta | None
    extra_content: dict[str, Any] | None
    """Gemini's endpoint of this dialect: `{"google": {"thought_signature": …}}`."""


class ReasoningDetail(TypedDict, total=False):
    """OpenRouter: one typed piece of reasoning; those of the same `index` belong together."""

    type: Literal["reasoning.text", "reasoning.summary", "reasoning.encrypted"] | str
    index: int
    id: str | None
    format: str | None
    text: str | None
    summary: str | None
    data: str | None
    signature: str | None


class ContentPart(TypedDict, total=False):
    """A typed part of the content. Mistral nests text in `thinking`, Databricks in `summary`."""

    type: Literal["text", "output_text", "refusal", "thinking", "reasoning", "image_url", "reference"] | str
    text: str | None
    refusal: str | None
    thinking: str | list[dict[str, Any]] | None
    summary: list[dict[str, Any]] | None
    signature: str | None
    image_url: dict[str, Any] | str | None
    reference_ids: list[int | str] | None


class AudioDelta(TypedDict, total=False):
    """A piece of the one spoken answer; `expires_at` comes with the last one."""

    id: str | None
    data: str | None
    transcript: str | None
    expires_at: int | None


class Delta(TypedDict, total=False):
    """What one chunk adds; a whole `message` has the same members."""

    role: str | None
    content: str | list[ContentPart] | dict[str, Any] | None
    refusal: str | None
    reasoning_content: str | None
    reasoning: str | None
    reasoning_text: str | None
    reasoning_details: list[ReasoningDetail] | None
    tool_calls: list[ToolCallDelta] | None
    function_call: FunctionDelta | None
    executed_tools: list[dict[str, Any]] | None
    """Groq: tools the vendor ran itself."""
    audio: AudioDelta | None
    images: list[dict[str, Any]] | None
    annotations: list[dict[str, Any]] | None


class Choice(TypedDict, total=False):
    """One of several answers; motes asks for one, the one of index 0 (or of none)."""

    index: int | None
    delta: Delta | None
    message: Delta | None
    finish_reason: str | None
    native_finish_reason: str | None
    error: dict[str, Any] | str | None
    usage: dict[str, Any] | None


class Chunk(TypedDict, total=False):
    """One datum of the stream, or the whole body of an answer that is not streamed."""

    id: str
    object: str
    created: int
    model: str
    provider: str
    choices: list[Choice] | None
    usage: dict[str, Any] | None
    x_groq: dict[str, Any] | None
    search_results: list[dict[str, Any]] | None
    citations: list[str | dict[str, Any]] | None
    error: dict[str, Any] | str | list[Any] | None
