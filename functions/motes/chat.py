"""What callers send: an OpenAI chat request, which is also motes' canonical request.

Callers are policed here, and nowhere else: a request that cannot be meant is an `InvalidRequest` that names
the place. Unknown fields are kept in `model_extra` and ignored unless a vendor row passes them on.
Extensions, all optional: `reasoning`, `thinking`, `top_k`, the `motes` object, and on assistant messages
`reasoning_content` and `reasoning_details` (signatures and encrypted parcels, which must go back unchanged).

Source: OpenAI API reference, "Create chat completion" (read 2026-11-29).
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal

from motes import jsontext
from motes.model import Field, Model, Strict, field_validator

Effort = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]

EFFORTS: Final[Mapping[str, Effort]] = {
    "off": "off",
    "none": "off",
    "disabled": "off",
    "min": "minimal",
    "minimal": "minimal",
    "low": "low",
    "med": "medium",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "max",
}


REASONING: Final = frozenset({"reasoning_effort", "reasoning", "thinking"})
"""The members of a request that say something of reasoning."""

Flag = Annotated[bool, Strict()]
"""True or false, and nothing that could be taken for either."""


class _Open(Model, extra="allow"):
    """Fields we do not know are kept, not refused."""


class TextPart(_Open):
    """Text; `cache_control` marks a prompt-cache breakpoint where the vendor has them."""

    type: Literal["text"]
    text: str
    cache_control: dict[str, Any] | None = None


class ImageURL(_Open):
    """An address or a data URL."""

    url: str
    detail: str | None = None


class ImagePart(_Open):
    """An image."""

    type: Literal["image_url"]
    image_url: ImageURL
    cache_control: dict[str, Any] | None = None

    @field_validator("image_url", mode="before")
    @classmethod
    def _bare_url(cls, value: Any) -> Any:
        return {"url": value} if isinstance(value, str) else value


class InputAudio(_Open):
    """Base64 audio in the named format (wav, mp3, …)."""

    data: str
    format: str


class AudioPart(_Open):
    """An audio clip."""

    type: Literal["input_audio"]
    input_audio: InputAudio


class FileData(_Open):
    """A file by id at the vendor, or inline as a data URL."""

    file_id: str | None = None
    file_data: str | None = None
    filename: str | None = None


class FilePart(_Open):
    """A document."""

    type: Literal["file"]
    file: FileData
    cache_control: dict[str, Any] | None = None


class RefusalPart(_Open):
    """An earlier refusal of the assistant."""

    type: Literal["refusal"]
    refusal: str


Part = Annotated[TextPart | ImagePart | AudioPart | FilePart | RefusalPart, Field(discriminator="type")]
Content = str | list[Part] | None


class FunctionCall(_Open):
    """The name and the JSON text of the arguments; an object is taken as its JSON text."""

    name: str
    arguments: str = ""

    @field_validator("arguments", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        if value is None:
            return ""
        return value if isinstance(value, str) else jsontext.dumps(value)


class CustomCall(_Open):
    """A free-form call of a custom tool."""

    name: str
    input: str = ""


class ToolCallItem(_Open):
    """A call in the history. `extra_content.google.thought_signature` is Gemini's signature of it."""

    id: str = ""
    type: str = "function"
    function: FunctionCall | None = None
    custom: CustomCall | None = None
    extra_content: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """The tool's name."""
        call = self.function or self.custom
        return call.name if call else ""

    @property
    def arguments(self) -> str:
        """The argument text as the model wrote it; may be no JSON at all."""
        if self.function is not None:
            return self.function.arguments
        return self.custom.input if self.custom else ""

    @property
    def thought_signature(self) -> str | None:
        """Gemini's signature of this call, where the caller kept it."""
        google = (self.extra_content or {}).get("google")
        value = google.get("thought_signature") if isinstance(google, dict) else None
        return value if isinstance(value, str) else None


class SystemMessage(_Open):
    """Instructions; `developer` and `system` mean the same."""

    role: Literal["system", "developer"]
    content: Content = None
    name: str | None = None


class UserMessage(_Open):
    """The user's turn."""

    role: Literal["user"]
    content: Content = None
    name: str | None = None


class AssistantMessage(_Open):
    """The model's turn, with what it may need back: reasoning, signatures, calls."""

    role: Literal["assistant"]
    content: Content = None
    refusal: str | None = None
    name: str | None = None
    audio: dict[str, Any] | None = None
    tool_calls: list[ToolCallItem] | None = None
    function_call: FunctionCall | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None


class ToolMessage(_Open):
    """The result of a call. `is_error` (extension) marks a failed one."""

    role: Literal["tool"]
    tool_call_id: str
    content: Content = None
    name: str | None = None
    is_error: Flag = False


class FunctionMessage(_Open):
    """The result of a call in the deprecated form, by name."""

    role: Literal["function"]
    name: str
    content: Content = None


Message = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage | FunctionMessage,
    Field(discriminator="role"),
]


class FunctionDefinition(_Open):
    """A function the model may call; `parameters` is a JSON Schema."""

    name: str = Field(min_length=1)
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: Flag | None = None


class Tool(_Open):
    """A tool. `function` and `custom` are the client's; any other type is a vendor's own and goes to it as
    it is, where that vendor's dialect has it.
    """

    type: str = "function"
    function: FunctionDefinition | None = None
    custom: dict[str, Any] | None = None
    cache_control: dict[str, Any] | None = None


class JSONSchemaFormat(_Open):
    """The schema an answer must follow."""

    name: str = "response"
    description: str | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: Flag | None = None


class ResponseFormat(_Open):
    """Plain text, any JSON object, or JSON by a schema."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JSONSchemaFormat | None = None


class StreamOptions(_Open):
    """What the stream should also carry."""

    include_usage: Flag | None = None


class ReasoningOptions(_Open):
    """Reasoning control in OpenRouter's form."""

    effort: str | None = None
    max_tokens: int | None = None
    enabled: Flag | None = None
    exclude: Flag | None = None


class ThinkingOptions(_Open):
    """Reasoning control in Anthropic's form."""

    type: str | None = None
    budget_tokens: int | None = None


class MotesOptions(_Open):
    """motes' own options of a request. `context` is the caller's label for logs. `inline_files` puts small
    files that the answer's code left at the vendor into the answer; `resolve_links` gives sources that stand
    behind Google's redirects their own addresses. `background` has the run live on at its vendor, `keep` has
    the vendor's copy stay for a day; `on_disconnect` says what happens when the reader leaves: `detach`,
    `cancel`, or `detach:<seconds>`. `conversation` names what the request is a turn
    of.
    """

    conversation: str | None = None
    context: str | None = Field(default=None, max_length=64)
    dialect: str | None = None
    background: Flag | None = None
    keep: Flag = False
    on_disconnect: str | None = None
    inline_files: Flag = False
    resolve_links: Flag = False


@cache
def no_options() -> MotesOptions:
    """One for all: most requests have no options, and nobody changes any."""
    return MotesOptions()


class ChatRequest(_Open):
    """A chat request, as OpenAI's endpoint takes it."""

    model: str | None = None
    messages: list[Message] = Field(min_length=1)
    stream: Flag | None = None
    stream_options: StreamOptions | None = None
    tools: list[Tool] | None = None
    functions: list[FunctionDefinition] | None = None
    tool_choice: str | dict[str, Any] | None = None
    function_call: str | dict[str, Any] | None = None
    parallel_tool_calls: Flag | None = None
    response_format: ResponseFormat | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    top_k: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    n: int | None = Field(default=None, ge=1)
    logprobs: Flag | None = None
    top_logprobs: int | None = None
    reasoning_effort: str | None = None
    reasoning: ReasoningOptions | None = None
    thinking: ThinkingOptions | None = None
    verbosity: str | None = None
    modalities: list[str] | None = None
    audio: dict[str, Any] | None = None
    prediction: dict[str, Any] | None = None
    user: str | None = None
    metadata: dict[str, Any] | None = None
    service_tier: str | None = None
    store: Flag | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    web_search_options: dict[str, Any] | None = None
    motes: MotesOptions = Field(default_factory=no_options)

    @field_validator("motes", mode="before")
    @classmethod
    def _no_options(cls, value: Any) -> Any:
        return {} if value is None else value

    def gives(self, names: frozenset[str]) -> bool:
        """Whether any of these members was given, if only as null. Where none was, none has a value."""
        return not names.isdisjoint(self.__pydantic_fields_set__)

    @property
    def output_limit(self) -> int | None:
        """The most tokens to answer with, under either name."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def stops(self) -> list[str]:
        """The stop sequences, as a list."""
        return [self.stop] if isinstance(self.stop, str) else list(self.stop or [])

    @property
    def effort(self) -> Effort | None:
        """How hard to reason, in neutral words; None where the caller did not say."""
        word = self.reasoning_effort or (self.reasoning and self.reasoning.effort)
        if word:
            return EFFORTS[word]
        if self.reasoning and self.reasoning.enabled is False:
            return "off"
        return "off" if self.thinking and self.thinking.type == "disabled" else None

    @property
    def reasoning_budget(self) -> int | None:
        """The most tokens to reason with, where the caller counts them."""
        if self.reasoning and self.reasoning.max_tokens:
            return self.reasoning.max_tokens
        return self.thinking.budget_tokens if self.thinking else None

    @property
    def wants_reasoning(self) -> bool:
        """Whether the caller asked for reasoning in any form."""
        if not self.gives(REASONING):
            return False
        asked = (self.reasoning and self.reasoning.enabled) or (
            self.thinking and self.thinking.type in ("enabled", "adaptive")
        )
        return bool(asked or self.reasoning_budget or self.effort not in (None, "off"))


def text_of(content: Content, separator: str = "") -> str:
    """The text of a content, other parts left out."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return separator.join(part.text for part in content if isinstance(part, TextPart))
