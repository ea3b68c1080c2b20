"""How the vendors that speak the Responses dialect differ from it: data, one `Quirks` a vendor.

Must never hold code that runs after import; a difference that needs an `if` is a field of `Quirks`. Where a
vendor speaks chat completions too, what is the same there is taken from its row of that dialect. Sources: the
vendors' API references, all read on 2026-11-29; each entry names its pages' host.
"""

from dataclasses import replace
from typing import Final

from motes.quirks import Quirks
from motes.vendors import chat_quirks as chat
from motes.vendors import host_quirks as hosted
from motes.vendors.efforts import efforts, family

_LEVELS: Final = ("low", "medium", "high")
_TO_XHIGH: Final = (*_LEVELS, "xhigh")
_TO_MAX: Final = (*_TO_XHIGH, "max")
_PREVIEW: Final = "web_search_preview"
_ENCRYPTED: Final = frozenset({"reasoning.encrypted_content"})

# developers.openai.com/api/docs: on this endpoint the newest families take `max` too.
_OPENAI_RULES: Final = (
    *family("o1", "o3", "o4", known=_LEVELS),
    *family("o1-pro", known=_LEVELS, summary=False),
    *family("o3-deep-research", "o4-mini-deep-research", known=("medium",), search_tool=_PREVIEW),
    *family("gpt-5", known=("minimal", *_LEVELS)),
    *family("gpt-5.1", known=("off", *_LEVELS), off_by_default=True),
    *family("gpt-5.2", "gpt-5.3", "gpt-5.4", known=("off", *_TO_XHIGH), off_by_default=True),
    *family("gpt-5.5", known=("off", *_TO_XHIGH)),
    *family("gpt-5.6", "gpt-6", known=("off", *_TO_MAX)),
    *family("gpt-6-astra", "gpt-6.2-astra", "gpt-6.1-sol", "gpt-6.2-sol", known=_TO_MAX),
    *family("gpt-5-pro", known=("high",)),
    *family("gpt-5.2-pro", "gpt-5.4-pro", "gpt-5.5-pro", known=("medium", "high", "xhigh")),
    *family("gpt-5-codex", "gpt-5.1-codex", "codex-mini", known=_LEVELS),
    *family("gpt-5.1-codex-max", "gpt-5.2-codex", "gpt-5.3-codex", known=_TO_XHIGH),
    *family("gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat", "gpt-5.3-chat"),
)

# developers.openai.com/api/docs
OPENAI: Final = replace(
    chat.OPENAI,
    effort_map=efforts("off", "minimal", *_TO_MAX),
    reasoning_models=(*chat.OPENAI.reasoning_models, "codex"),
    model_rules=_OPENAI_RULES,
    min_output_tokens=16,
    replay_phase=True,
    passthrough=chat.OPENAI.passthrough
    | {
        "access_programs",
        "background",
        "background_options",
        "context",
        "context_management",
        "conversation",
        "image",
        "include",
        "max_tool_calls",
        "mode",
        "previous_response_id",
        "prompt",
        "truncation",
    },
)

# learn.microsoft.com/azure: the same protocol some weeks later; its reasoning can be read nowhere else.
AZURE: Final = replace(
    OPENAI,
    reasoning_models=(),
    model_rules=(*_OPENAI_RULES, *chat.NEVER_REASONING, *chat.OTHERS_ON_AZURE),
    reasoning_origin="azure-openai",
    replay_phase=False,
    search_tool=_PREVIEW,
    passthrough=OPENAI.passthrough - {"access_programs", "context", "image", "mode"},
)

# docs.x.ai: no `instructions`, no metadata; what it reasoned is shown only where a summary is asked for.
XAI: Final = replace(
    chat.XAI,
    developer_role=False,
    instructions_field=False,
    reasoning_models=(),
    reasoning_origin="xai",
    reasoning_summary="always",
    includes=_ENCRYPTED | {"code_interpreter_call.outputs"},
    drop=frozenset({"metadata", "safety_identifier", "service_tier", "verbosity"}),
    drop_when_reasoning=frozenset(),
    passthrough=frozenset({"include", "max_turns", "previous_response_id"}),
    citation_leaks=True,
    hosted_custom_tools=("x_", "view_x_", "xs_call"),
)

# openrouter.ai/docs: stateless, so nothing is stored; searching is a plug-in there.
OPENROUTER: Final = replace(
    hosted.OPENROUTER,
    reasoning_origin="openrouter",
    includes=_ENCRYPTED,
    drop=frozenset({"store"}),
    search_tool=None,
    passthrough=(hosted.OPENROUTER.passthrough - {"include_reasoning", "transforms", "usage"})
    | {"include", "prompt_cache_breakpoint", "top_k"},
)

# api.sakana.ai: its models always reason, and think long; only the caller's tools and a bare search.
SAKANA: Final = Quirks(
    effort_map=efforts("high", "xhigh"),
    reasoning_models=("fugu", "namazu"),
    reasoning_origin="sakanaai",
    reasoning_summary="never",
    includes=_ENCRYPTED,
    custom_tools=True,
    developer_role=True,
)

# docs.perplexity.ai, "Agent API": models of other vendors as agents that search.
PERPLEXITY: Final = Quirks(
    effort_map=efforts(*_LEVELS),
    reasoning_origin="perplexity",
    reasoning_summary="never",
    includes=frozenset(),
    developer_role=True,
    output_format="response_format",
    tool_choice="auto-only",
    think_tags=False,
    drop=frozenset(
        {
            "metadata",
            "parallel_tool_calls",
            "prompt_cache_key",
            "safety_identifier",
            "service_tier",
            "temperature",
            "top_p",
            "user",
            "verbosity",
        }
    ),
    passthrough=frozenset(
        {
            "background",
            "language_preference",
            "max_steps",
            "models",
            "preset",
            "previous_response_id",
            "skills",
        }
    ),
)
