"""How a vendor differs from its dialect, as data.

Each field is read in exactly one place, before the stream. A difference that needs an `if` on a vendor's
name is not a quirk: it becomes a field here. Must never hold a function.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

TokenField = Literal["max_tokens", "max_completion_tokens", "by-model"]
ReasoningControl = Literal[
    "none",
    "effort",
    "effort-or-disabled",
    "openrouter",
    "thinking-type",
    "thinking-type-effort",
    "enable-flag",
    "mistral",
]
UsageMode = Literal["ask", "given", "forbidden"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRule:
    """What a family of models takes, told by the head of its name; the longest head that fits counts.

    `efforts` maps neutral efforts to the vendor's words; an effort that is not in it is refused, and a
    family without any does not reason. `off_by_default`: it reasons only when it is asked to. `summary`:
    it may be asked for a summary of its reasoning. `search_tool`: what it calls the tool that searches the
    web, where that is not the vendor's word.
    """

    prefix: str
    efforts: Mapping[str, str] = field(default_factory=dict)
    off_by_default: bool = False
    summary: bool = True
    search_tool: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """A vendor's differences. The defaults are those of a generic OpenAI-compatible host."""

    # Request, chat completions.
    token_field: TokenField = "max_tokens"
    developer_role: bool = False
    """Whether the role `developer` is known; otherwise it becomes `system`."""
    system_first: bool = False
    """Whether system text must be one message at the head."""
    merge_same_role: bool = False
    reasoning_control: ReasoningControl = "effort"
    effort_map: Mapping[str, str | None] = field(default_factory=dict)
    """Neutral effort to the vendor's word; None drops it with a warning."""
    reasoning_models: tuple[str, ...] = ()
    """Heads of the names of models that reason. Where there are none, effort is passed on for any model."""
    model_rules: tuple[ModelRule, ...] = ()
    """Families whose efforts differ from the vendor's."""
    drop_when_reasoning: frozenset[str] = frozenset()
    """Parameters the vendor refuses, or ignores, while a model reasons; dropped with a warning."""
    replay_reasoning: Literal["never", "with-tools", "always", "details"] = "never"
    """Whether assistant turns carry `reasoning_content` back; `details` sends `reasoning_details`."""
    usage_mode: UsageMode = "ask"
    drop: frozenset[str] = frozenset()
    """Parameters the vendor refuses; dropped with a warning."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """Parameters the vendor calls otherwise, such as seed -> random_seed."""
    passthrough: frozenset[str] = frozenset()
    """Extension fields of the request that are passed on; `*` passes everything unknown."""
    tool_choice: Literal["full", "no-forced", "forced-without-thinking", "auto-only"] = "full"
    """What may be chosen; `forced-without-thinking`: a forced tool switches reasoning off."""
    strict_tools: bool = True
    """Whether a function may be marked `strict`."""
    custom_tools: bool = False
    """Whether free-form (`custom`) tools are known."""
    cache_control: bool = False
    """Whether parts of a message may carry `cache_control`."""
    tool_id: Literal["any", "nine-alphanumerics"] = "any"
    results_in_call_order: bool = False
    """Whether tool results must stand in the order of their calls; else they stay as the caller has them."""
    assistant_after_tool: bool = False
    """Whether a user turn directly after a tool result is refused."""
    max_stop: int | None = None
    json_schema: Literal["native", "json-object"] = "native"
    extra_body: Mapping[str, object] = field(default_factory=dict)
    """Members added to every request body, where the caller did not set them."""

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

    # Response.
    reasoning_origin: str = "openai"
    """Who can read the encrypted reasoning of this host; it goes back to the same origin only."""
    citation_leaks: bool = False
    """Whether directives of citations may leak into the text, to be taken out."""
    hosted_custom_tools: tuple[str, ...] = ()
    """Heads of names or ids of free-form calls that the vendor makes itself."""
    delta_mode: Literal["increment", "cumulative"] = "increment"
    think_tags: bool = True
    reasoning_in_completion: bool = True
    """Whether completion tokens include reasoning tokens on this vendor's wire."""


NO_QUIRKS: Final = Quirks()
