"""How a vendor differs from its dialect, as data.

Each field is read in exactly one place, before the stream. A difference that needs an `if` on a vendor's
name is not a quirk: it becomes a field here. Must never hold a function.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from motes.dataclass import dataclass
from motes.errors import ErrorKind

TokenField = Literal["max_tokens", "max_completion_tokens", "by-model"]
ReasoningControl = Literal[
    "none",
    "effort",
    "effort-or-disabled",
    "openrouter",
    "reasoning-object",
    "thinking-type",
    "thinking-type-effort",
    "enable-flag",
    "enable-flag-effort",
    "template-flags",
    "mistral",
]
UsageMode = Literal["ask", "given", "forbidden"]
ToolChoice = Literal[
    "full",
    "words",
    "named-without-thinking",
    "forced-without-thinking",
    "not-while-thinking",
    "no-forced",
    "auto-only",
]
ReplayReasoning = Literal["never", "on-calls", "with-tools", "always", "details", "think-tags"]
JSONSupport = Literal["native", "schema-only", "json-object", "none"]
SchemaForm = Literal["any", "no-refs", "plain"]
SystemPolicy = Literal["keep", "merge", "prepend", "replace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchIntercept:
    """A vendor's own search, which answers a question that is a search and nothing else: the caller offers
    one tool of that name, and the user's last words are `opening` and then the query.

    `path` stands below the vendor's address, or in place of that end of it which `in_place_of` names.
    """

    path: str
    in_place_of: str = ""
    tool: str = "web_search"
    opening: str = "Perform a web search for the query:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRule:
    """What a family of models takes, told by the head of its name; the longest head that fits counts.

    `efforts` maps neutral efforts to the vendor's words; an effort that is not in it is refused, and a
    family without any does not reason. `off_by_default`: it reasons only when it is asked to. `summary`:
    it may be asked for a summary of its reasoning. `search_tool`: what it calls the tool that searches the
    web, where that is not the vendor's word. The others are quirks that differ for the family; `drop` adds
    to the vendor's.
    """

    prefix: str
    efforts: Mapping[str, str | None] = field(default_factory=dict)
    off_by_default: bool = False
    summary: bool = True
    search_tool: str | None = None
    token_field: TokenField | None = None
    reasoning_control: ReasoningControl | None = None
    thinking_on: str | None = None
    template_flags: tuple[str, ...] | None = None
    tool_choice: ToolChoice | None = None
    replay_reasoning: ReplayReasoning | None = None
    json_schema: JSONSupport | None = None
    schema: SchemaForm | None = None
    reasoning_in_completion: bool | None = None
    drop: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """A vendor's differences. The defaults are those of a generic OpenAI-compatible host."""

    # Request, every protocol.
    images: Literal["any", "inline", "none"] = "any"
    """Whether an image may be an address, must be data, or is left out."""
    takes_tools: bool = True
    """Whether there may be tools at all; a request with some is refused otherwise."""
    schema: SchemaForm = "any"
    """What a JSON Schema may say: everything, no `$ref`, or only what a plain parser reads."""
    max_tool_name: int | None = None
    """The most characters of a tool's name; a longer one is sent short, and comes back as it was."""
    system_policy: SystemPolicy = "keep"
    """The operator's: system messages as they are, as one at the head, behind his own (`system_text`), or
    replaced by that."""
    system_text: str = ""
    content_policy: Mapping[str, str] = field(default_factory=dict)
    """The operator's: words of earlier answers, and what is sent instead of them."""
    search_intercept: SearchIntercept | None = None
    """A search of the vendor that answers in place of the model, where that is all that was asked."""

    # Request, chat completions.
    token_field: TokenField = "max_tokens"
    developer_role: bool = False
    """Whether the role `developer` is known; otherwise it becomes `system`."""
    system_first: bool = False
    """Whether system text must be one message at the head."""
    system_apart: tuple[str, ...] = ()
    """Heads of system texts that stay messages of their own even so."""
    system_required: bool = False
    """Whether there must be a system message, be it an empty one."""
    merge_same_role: bool = False
    user_first: bool = False
    """Whether the first turn after the system text must be the user's."""
    drop_empty: bool = False
    """Whether messages without content are refused, so that they are left out."""
    answers_as_text: bool = False
    """Whether an earlier answer must be a text and no list of parts."""
    files: Literal["file", "file_url"] = "file"
    """How a document is sent: OpenAI's part, or its address alone."""
    reasoning_control: ReasoningControl = "effort"
    effort_map: Mapping[str, str | None] = field(default_factory=dict)
    """Neutral effort to the vendor's word; None drops it with a warning, `on` switches reasoning on."""
    thinking_on: str = "enabled"
    """The word that switches `thinking` on."""
    template_flags: tuple[str, ...] = ("enable_thinking",)
    """The arguments of a chat template that switch reasoning."""
    reasoning_with: Mapping[str, object] = field(default_factory=dict)
    """Members sent along where reasoning is asked for."""
    thinking_by_prefix: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Members sent where the caller says nothing about reasoning, by the head of the model's name, in any
    case of letters; the longest head that fits counts."""
    reasoning_models: tuple[str, ...] = ()
    """Heads of the names of models that reason. Where there are none, effort is passed on for any model."""
    model_rules: tuple[ModelRule, ...] = ()
    """Families that differ from the vendor's other models."""
    drop_when_reasoning: frozenset[str] = frozenset()
    """Parameters the vendor refuses, or ignores, while a model reasons; dropped with a warning."""
    replay_reasoning: ReplayReasoning = "never"
    """Whether assistant turns carry `reasoning_content` back: none, those with calls, those too where there
    are tools (an empty one, then), or all. `details` sends `reasoning_details`, `think-tags` puts it in tags
    before the text."""
    usage_mode: UsageMode = "ask"
    drop: frozenset[str] = frozenset()
    """Parameters the vendor refuses; dropped with a warning."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """Parameters the vendor calls otherwise, such as seed -> random_seed."""
    passthrough: frozenset[str] = frozenset()
    """Extension fields of the request that are passed on; `*` passes everything unknown."""
    tool_choice: ToolChoice = "full"
    """What may be chosen. `words`: none, auto or required, so a named tool is sent alone. A forced tool
    switches reasoning off (`forced-without-thinking`; only a named one can be forced: `named-…`), or gives
    way to it (`not-while-thinking`)."""
    strict_tools: bool = True
    """Whether a function may be marked `strict`."""
    custom_tools: bool = False
    """Whether free-form (`custom`) tools are known."""
    cache_control: bool = False
    """Whether parts of a message may carry `cache_control`."""
    tool_id: Literal["any", "nine-alphanumerics"] = "any"
    max_tool_id: int | None = None
    """The most characters of a call's id; a longer one is replaced, the same way every time."""
    results_in_call_order: bool = False
    """Whether tool results must stand in the order of their calls; else they stay as the caller has them."""
    prefill_flag: str = ""
    """The member that marks a last turn of the assistant as the beginning of the answer, where that must be
    said."""
    assistant_after_tool: bool = False
    """Whether a user turn directly after a tool result is refused."""
    max_stop: int | None = None
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The least and the most a number may be; one beyond is brought back."""
    fallback_limit: int | None = None
    """The most tokens to answer with where the caller sets none and the vendor's own limit will not do."""
    json_schema: JSONSupport = "native"
    """What `response_format` may be; what it may not becomes an instruction in the system text."""
    json_when_reasoning: JSONSupport | None = None
    """The same while a model reasons, where that differs."""
    extra_body: Mapping[str, object] = field(default_factory=dict)
    """Members added to every request body, where the caller did not set them."""
    with_tools: Mapping[str, object] = field(default_factory=dict)
    """Members added where there are tools."""

    # Request, Responses.
    instructions_field: bool = True
    """Whether system text has a member of its own; otherwise it is the first item of the input."""
    reasoning_summary: Literal["asked", "always", "never"] = "asked"
    """When a summary of the reasoning is asked for; `asked`: where the caller wants to see reasoning."""
    includes: frozenset[str] = frozenset(
        {
            "reasoning.encrypted_content",
            "web_search_call.action.sources",
            "code_interpreter_call.outputs",
        }
    )
    """What the vendor gives only where `include` names it."""
    search_tool: str | None = "web_search"
    """The tool that searches the web; None where there is none."""
    min_output_tokens: int = 1
    """The least limit the vendor takes; a lower one is raised."""
    replay_phase: bool = False
    """Whether earlier assistant text says again if it was commentary or the final answer."""
    output_format: Literal["text", "response_format"] = "text"
    """The member that holds the form of the answer; the second one in the words of chat completions."""

    # Request, Messages.
    default_max_tokens: int = 8192
    thinking_form: Literal["by-name", "budget"] = "by-name"
    """How reasoning is asked for: as the name of a Claude tells, or with a budget, since it is no Claude."""
    model_in_path: bool = False
    """Whether the path names the model, so that the body must not."""

    # Response.
    error_kinds: Mapping[str, ErrorKind] = field(default_factory=dict)
    """What the vendor's own codes mean; a key may be the head of a dotted one."""
    reasoning_origin: str = "openai"
    """Who can read the encrypted reasoning of this host; it goes back to the same origin only."""
    citation_leaks: bool = False
    """Whether directives of citations may leak into the text, to be taken out."""
    hosted_custom_tools: tuple[str, ...] = ()
    """Heads of names or ids of free-form calls that the vendor makes itself."""
    reasoning_field: str = ""
    """Where reasoning comes back, for the reader of the table: every place that is known is read anyway."""
    delta_mode: Literal["increment", "cumulative", "either"] = "increment"
    """Whether a delta is the next piece, or all so far; `either`: all so far where it begins with that."""
    think_tags: bool = True
    reasoning_in_completion: bool = True
    """Whether completion tokens include reasoning tokens on this vendor's wire."""


NO_QUIRKS: Final = Quirks()
