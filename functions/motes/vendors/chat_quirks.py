"""How the vendors that speak the chat dialect differ from it: data, one `Quirks` a vendor.

Must never hold code that runs after import; a difference that needs an `if` is a field of `Quirks`.
Sources: the vendors' API references, all read on 2026-11-29; each entry names its pages' host.
"""

from dataclasses import replace
from typing import Final

from motes.quirks import ModelRule, Quirks
from motes.vendors.efforts import ORDER, efforts, family
from motes.vendors.parameters import OPENAI_ONLY, SAMPLING

_ALL_BUT_MINIMAL: Final = ("off", "low", "medium", "high", "xhigh")

# developers.openai.com/api/docs: which efforts a family takes on this endpoint (`max` is none of them).
_OPENAI_RULES: Final = (
    *family("o1", "o3", "o4", known=("low", "medium", "high")),
    *family("gpt-5", known=("minimal", "low", "medium", "high")),
    *family("gpt-5.1", known=("off", "low", "medium", "high"), off_by_default=True),
    *family("gpt-5.2", "gpt-5.3", "gpt-5.4", known=_ALL_BUT_MINIMAL, off_by_default=True),
    *family("gpt-5.5", "gpt-5.6", "gpt-6", known=_ALL_BUT_MINIMAL),
    *family("gpt-6-astra", "gpt-6.2-astra", "gpt-6.1-sol", "gpt-6.2-sol", known=_ALL_BUT_MINIMAL[1:]),
    *family("gpt-5-pro", known=("high",)),
    *family("gpt-5.2-pro", "gpt-5.4-pro", "gpt-5.5-pro", known=("medium", "high", "xhigh")),
    *family("gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat", "gpt-5.3-chat"),
)

NEVER_REASONING: Final = family("gpt-3.5", "gpt-35", "gpt-4", "gpt-4o", "chatgpt")
# Models of other makers keep their own ways there.
OTHERS_ON_AZURE: Final = (
    ModelRule(prefix="grok", efforts=efforts("low", "medium", "high"), off_by_default=True, schema="no-refs"),
    ModelRule(prefix="grok-4-fast-non-reasoning", schema="no-refs"),
    ModelRule(prefix="grok-4-1-fast-non-reasoning", schema="no-refs"),
    ModelRule(prefix="mistral", token_field="max_tokens"),  # noqa: S106 (a member's name)
)

OPENAI: Final = Quirks(
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    developer_role=True,
    effort_map=efforts("off", "minimal", "low", "medium", "high", "xhigh"),
    reasoning_models=("o1", "o3", "o4", "gpt-5", "gpt-6"),
    model_rules=_OPENAI_RULES,
    drop_when_reasoning=SAMPLING | {"logit_bias", "stop"},
    passthrough=frozenset(
        {"moderation", "prompt_cache_breakpoint", "prompt_cache_options", "prompt_cache_retention"}
    ),
    custom_tools=True,
    max_tool_id=40,
    max_tool_name=64,
    max_stop=4,
)

# learn.microsoft.com/azure: OpenAI's models under the names of deployments, some weeks behind it. A name that
# says nothing of its family may be a model that reasons.
AZURE: Final = replace(
    OPENAI,
    reasoning_models=(),
    model_rules=(*_OPENAI_RULES, *NEVER_REASONING, *OTHERS_ON_AZURE),
    drop=frozenset({"prediction", "web_search_options"}),
    passthrough=OPENAI.passthrough | {"data_sources", "user_security_context"},
)

# api-docs.deepseek.com: thinking is on unless it is switched off; `max_completion_tokens` is ignored there.
DEEPSEEK: Final = Quirks(
    reasoning_field="reasoning_content",
    images="none",
    merge_same_role=True,
    reasoning_control="thinking-type-effort",
    effort_map={
        "off": "none",
        "minimal": "low",
        "low": "low",
        "medium": "high",
        "high": "high",
        "xhigh": "high",
        "max": "max",
    },
    reasoning_models=("deepseek",),
    drop_when_reasoning=SAMPLING,
    replay_reasoning="with-tools",
    drop=OPENAI_ONLY | {"logit_bias", "parallel_tool_calls", "prompt_cache_key", "seed"},
    tool_choice="forced-without-thinking",
    strict_tools=False,
    max_tool_name=64,
    max_stop=16,
    json_schema="json-object",
)

# docs.mistral.ai/api: unknown members are refused with 422, `stream_options` among them.
MISTRAL: Final = Quirks(
    reasoning_field="parts of type thinking",
    reasoning_control="mistral",
    effort_map={"off": "none"} | dict.fromkeys(ORDER[1:], "high"),
    reasoning_models=(
        "magistral",
        "mistral-medium-3.5",
        "mistral-medium-latest",
        "mistral-small-4",
        "mistral-small-latest",
    ),
    model_rules=(
        # Magistral takes a mode: an empty word is the mode without a reasoning prompt.
        ModelRule(prefix="magistral", efforts={"off": ""} | dict.fromkeys(ORDER[1:], "reasoning")),
    ),
    usage_mode="forbidden",
    drop=(OPENAI_ONLY - {"metadata", "prediction", "service_tier"}) | {"logit_bias", "user"},
    rename={"seed": "random_seed"},
    passthrough=frozenset({"guardrails", "min_tokens", "prefix", "prompt_mode", "safe_prompt", "top_k"}),
    tool_id="nine-alphanumerics",
    prefill_flag="prefix",
    assistant_after_tool=True,
)

# docs.x.ai: completion tokens leave reasoning out; reasoning models refuse penalties and stop.
XAI: Final = Quirks(
    reasoning_field="reasoning_content",
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    developer_role=True,
    effort_map=efforts("low", "medium", "high", "xhigh"),
    reasoning_models=("grok-3-mini", "grok-4"),
    model_rules=(
        ModelRule(prefix="grok-3-mini", efforts=efforts("low", "high")),
        ModelRule(prefix="grok-4-fast-non-reasoning"),
        ModelRule(prefix="grok-4-1-fast-non-reasoning"),
        ModelRule(prefix="grok-4.3", efforts=efforts("off", "low", "medium", "high")),
    ),
    drop_when_reasoning=frozenset({"presence_penalty", "frequency_penalty", "stop"}),
    drop=OPENAI_ONLY | {"logit_bias"},
    passthrough=frozenset({"deferred"}),
    results_in_call_order=True,
    reasoning_in_completion=False,
)

# docs.perplexity.ai: one system text, then users and assistants in turn; usage comes with every chunk.
PERPLEXITY: Final = Quirks(
    reasoning_field="think tags",
    takes_tools=False,
    system_first=True,
    merge_same_role=True,
    user_first=True,
    drop_empty=True,
    files="file_url",
    json_schema="schema-only",
    effort_map=efforts("minimal", "low", "medium", "high"),
    reasoning_models=("sonar-reasoning", "sonar-deep-research"),
    usage_mode="given",
    drop=(OPENAI_ONLY - {"web_search_options"})
    | {"logit_bias", "parallel_tool_calls", "prompt_cache_key", "seed", "user"},
    passthrough=frozenset(
        {
            "disable_search",
            "enable_search_classifier",
            "language_preference",
            "last_updated_after_filter",
            "last_updated_before_filter",
            "media_response",
            "return_images",
            "return_related_questions",
            "search_after_date_filter",
            "search_before_date_filter",
            "search_domain_filter",
            "search_mode",
            "search_recency_filter",
            "stream_mode",
        }
    ),
    tool_choice="auto-only",
    strict_tools=False,
)

# docs.cohere.com/docs/compatibility-api: reasoning is on or off, and no tool can be forced.
COHERE: Final = Quirks(
    error_kinds={"498": "authentication"},
    reasoning_field="reasoning_content",
    effort_map={"off": "none"} | dict.fromkeys(ORDER[1:], "high"),
    drop=OPENAI_ONLY | {"logit_bias", "parallel_tool_calls", "prompt_cache_key", "user"},
    tool_choice="no-forced",
    strict_tools=False,
    max_stop=5,
)
