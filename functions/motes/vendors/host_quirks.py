"""How the oldest hosts of other makers' models differ from the chat dialect: data, one `Quirks` a host.

Must never hold code that runs after import; a difference that needs an `if` is a field of `Quirks`.
Sources: the hosts' API references, all read on 2026-11-29; each entry names its pages' host.
"""

from typing import Final

from motes.quirks import ModelRule, Quirks
from motes.vendors.efforts import ORDER, efforts
from motes.vendors.parameters import LOCAL_SAMPLERS, OPENAI_ONLY

# openrouter.ai/docs: the unified `reasoning` object, routing and plug-ins.
OPENROUTER: Final = Quirks(
    reasoning_field="reasoning, reasoning_details",
    developer_role=True,
    reasoning_control="openrouter",
    effort_map=efforts("off", "minimal", "low", "medium", "high", "xhigh", "max"),
    model_rules=(ModelRule(prefix="google", efforts=efforts("off", "minimal", "low", "medium", "high")),),
    replay_reasoning="details",
    cache_control=True,
    passthrough=frozenset(
        {
            "image_config",
            "include_reasoning",
            "min_p",
            "models",
            "plugins",
            "prompt_cache_options",
            "provider",
            "repetition_penalty",
            "route",
            "session_id",
            "stop_server_tools_when",
            "top_a",
            "top_k",
            "trace",
            "transforms",
            "usage",
        }
    ),
)

# console.groq.com/docs: qwen takes none or default, gpt-oss the three levels.
GROQ: Final = Quirks(
    reasoning_field="reasoning",
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    developer_role=True,
    effort_map=efforts("low", "medium", "high"),
    model_rules=(
        ModelRule(prefix="qwen/qwen3", efforts={"off": "none"} | dict.fromkeys(ORDER[1:], "default")),
        ModelRule(prefix="qwen/qwen3.8", efforts=efforts("off", "low", "medium", "high")),
    ),
    drop=(OPENAI_ONLY - {"service_tier"})
    | {"frequency_penalty", "logit_bias", "presence_penalty", "prompt_cache_key"},
    passthrough=frozenset(
        {
            "citation_options",
            "compound_custom",
            "disable_tool_validation",
            "documents",
            "include_reasoning",
            "reasoning_format",
            "search_settings",
        }
    ),
    max_stop=4,
)

# docs.together.ai: reasoning is switched by an object and graded by an effort.
TOGETHERAI: Final = Quirks(
    reasoning_field="reasoning",
    reasoning_control="effort-or-disabled",
    effort_map=efforts("off", "low", "medium", "high"),
    drop=OPENAI_ONLY | {"parallel_tool_calls", "prompt_cache_key", "user"},
    passthrough=LOCAL_SAMPLERS | {"compliance", "context_length_exceeded_behavior", "echo", "safety_model"},
    strict_tools=False,
)

# docs.fireworks.ai
FIREWORKS: Final = Quirks(
    reasoning_field="reasoning_content",
    effort_map=efforts("off", "low", "medium", "high"),
    drop=OPENAI_ONLY - {"service_tier"},
    passthrough=LOCAL_SAMPLERS
    | {
        "context_length_exceeded_behavior",
        "mirostat_lr",
        "mirostat_target",
        "perf_metrics_in_response",
        "prompt_cache_isolation_key",
        "reasoning_history",
        "typical_p",
    },
)

# docs.ollama.com/api/openai-compatibility
OLLAMA: Final = Quirks(
    reasoning_field="reasoning",
    images="inline",
    effort_map=efforts("off", "low", "medium", "high"),
    drop=OPENAI_ONLY | {"logit_bias", "parallel_tool_calls", "prompt_cache_key", "user"},
    tool_choice="auto-only",
    strict_tools=False,
)
