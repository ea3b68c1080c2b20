"""Rows of the makers of models in China: Alibaba, MiniMax, Moonshot, StepFun, Z.ai.

Data only. Where a vendor has one address for China and one for the rest of the world, the row has the latter,
and a comment the former; keys are not shared. Sources: the vendors' API references, read on 2026-11-29; each
entry names its pages' host.
"""

from typing import Final

from motes.errors import ErrorKind
from motes.quirks import ModelRule, Quirks
from motes.vendors.efforts import ALWAYS, ORDER, SWITCH, efforts
from motes.vendors.parameters import OPENAI_ONLY, PENALTIES
from motes.vendors.twins import messages, responses
from motes.vendors.vendor import CHAT, Vendor

_QWEN: Final = SWITCH | {"minimal": "low", "low": "low", "xhigh": "max", "max": "max"}

# help.aliyun.com/model-studio: thinking is a flag, and graded at its ends; Qwen's template wants one system
# text, but files of qwen-long are system messages of their own.
ALIBABA: Final = Quirks(
    reasoning_field="reasoning_content",
    system_first=True,
    system_apart=("fileid://",),
    reasoning_control="enable-flag-effort",
    effort_map=_QWEN,
    reasoning_models=("qwen3", "qwen4", "deepseek", "glm", "kimi"),
    model_rules=(
        ModelRule(prefix="qwq", efforts=ALWAYS),
        ModelRule(prefix="qvq", efforts=ALWAYS),
        # A commercial model thinks when it is told to.
        *(
            ModelRule(prefix=head, efforts=_QWEN, off_by_default=True)
            for head in ("qwen-plus", "qwen-max", "qwen-flash", "qwen-turbo")
        ),
    ),
    json_when_reasoning="none",
    drop=(OPENAI_ONLY - {"audio", "modalities"}) | {"frequency_penalty", "logit_bias", "prompt_cache_key"},
    passthrough=frozenset(
        {
            "enable_search",
            "enable_thinking",
            "preserve_thinking",
            "repetition_penalty",
            "search_options",
            "thinking_budget",
            "top_k",
            "translation_options",
            "vl_high_resolution_images",
        }
    ),
    tool_choice="named-without-thinking",
    cache_control=True,
    error_kinds={
        "Arrearage": "quota",
        "data_inspection_failed": "content_blocked",
        "DataInspectionFailed": "content_blocked",
        "InvalidParameter": "invalid_request",
        "invalid_api_key": "authentication",
        "InvalidApiKey": "authentication",
        "ModelNotFound": "invalid_request",
        "Throttling": "rate_limit",
    },
)

# platform.minimax.io/docs: M3 thinks unless it is told not to, M2 always; failures come with status 200.
MINIMAX: Final = Quirks(
    reasoning_field="reasoning_details, reasoning_content",
    delta_mode="either",
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    system_first=True,
    reasoning_control="thinking-type",
    thinking_on="adaptive",
    effort_map=SWITCH,
    reasoning_models=("minimax-m3",),
    model_rules=(
        ModelRule(prefix="minimax-m3", efforts=SWITCH),
        ModelRule(prefix="minimax-m2", efforts=ALWAYS),
    ),
    replay_reasoning="think-tags",
    extra_body={"reasoning_split": True},
    ranges={"temperature": (0.01, 1.0)},
    drop=OPENAI_ONLY | PENALTIES | {"logit_bias", "parallel_tool_calls", "prompt_cache_key", "seed", "user"},
    passthrough=frozenset({"reasoning_split"}),
    strict_tools=False,
    json_schema="none",
    cache_control=True,
    error_kinds={
        "1000": "server_error",
        "1001": "timeout",
        "1002": "rate_limit",
        "1004": "authentication",
        "1008": "quota",
        "1013": "server_error",
        "1024": "server_error",
        "1026": "content_blocked",
        "1027": "content_blocked",
        "1033": "server_error",
        "1039": "rate_limit",
        "2013": "invalid_request",
        "2049": "authentication",
    },
)

_KIMI: Final = efforts("off", "low", "high", "max")
_FIXED: Final = frozenset({"temperature"})

# platform.moonshot.ai/docs: the sampling of a Kimi is fixed; `reasoning_effort: none` is refused.
MOONSHOT: Final = Quirks(
    reasoning_field="reasoning_content",
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    drop_empty=True,
    images="inline",
    reasoning_control="thinking-type-effort",
    effort_map=_KIMI,
    reasoning_models=("kimi",),
    model_rules=(
        ModelRule(prefix="kimi", efforts=_KIMI, drop=_FIXED),
        ModelRule(prefix="kimi-k2.7", efforts=ALWAYS, drop=_FIXED),
        ModelRule(prefix="kimi-k3", efforts=_KIMI, drop=_FIXED, tool_choice="words", json_schema="native"),
        ModelRule(prefix="kimi-k3.1", efforts=_KIMI, drop=_FIXED, tool_choice="words", json_schema="native"),
        ModelRule(prefix="moonshot-v1", tool_choice="words"),
    ),
    replay_reasoning="on-calls",
    drop=OPENAI_ONLY | {"logit_bias", "parallel_tool_calls", "seed"},
    passthrough=frozenset({"partial"}),
    prefill_flag="partial",
    tool_choice="not-while-thinking",
    strict_tools=False,
    json_schema="json-object",
    max_stop=5,
    error_kinds={
        "content_filter": "content_blocked",
        "engine_overloaded_error": "overloaded",
        "exceeded_current_quota_error": "quota",
        "rate_limit_reached_error": "rate_limit",
    },
)

# platform.stepfun.com/docs
STEPFUN: Final = Quirks(
    reasoning_field="reasoning_content or reasoning",
    effort_map=efforts("low", "medium", "high"),
    drop=OPENAI_ONLY | {"logit_bias", "prompt_cache_key"},
    passthrough=frozenset({"reasoning_format"}),
    tool_choice="no-forced",
)


def _codes(kind: ErrorKind, *codes: int) -> dict[str, ErrorKind]:
    return dict.fromkeys(map(str, codes), kind)


# docs.z.ai: numbers and `top_p` strictly between 0 and 1; grades from 5.2 on, and 5.3 always thinks. A plan
# that is used up is told with status 429, and waiting does not help.
ZAI: Final = Quirks(
    reasoning_field="reasoning_content",
    reasoning_control="thinking-type-effort",
    effort_map=SWITCH,
    reasoning_models=("glm-4.5", "glm-4.5v", "glm-4.6", "glm-4.6v", "glm-4.7", "glm-5", "glm-5v"),
    model_rules=(
        ModelRule(prefix="glm-5.2", efforts=efforts(*ORDER)),
        ModelRule(prefix="glm-5.3", efforts=efforts("low", "high", "max")),
    ),
    ranges={"temperature": (0.01, 0.99), "top_p": (0.01, 0.99)},
    files="file_url",
    schema="no-refs",
    drop=OPENAI_ONLY | PENALTIES | {"logit_bias", "parallel_tool_calls", "prompt_cache_key"},
    rename={"user": "user_id"},
    passthrough=frozenset(
        {"clear_thinking", "do_sample", "meta", "request_id", "sensitive_word_check", "watermark_enabled"}
    ),
    tool_choice="auto-only",
    strict_tools=False,
    json_schema="json-object",
    max_stop=1,
    with_tools={"tool_stream": True},
    error_kinds={
        **_codes("authentication", 1000, 1001, 1002, 1003, 1004),
        **_codes("quota", 1110, 1111, 1112, 1113, 1121, 1304, 1308, 1309, 1310, 1311, 1313),
        **_codes("invalid_request", 1210, 1211, 1212, 1213, 1214, 1215),
        **_codes("server_error", 1234),
        **_codes("context_length", 1261),
        **_codes("content_blocked", 1301),
        **_codes("rate_limit", 1302, 1303),
        **_codes("overloaded", 1305, 1312),
    },
)

CHINA: Final = (
    Vendor(
        # In China: https://dashscope.aliyuncs.com/compatible-mode/v1; in the United States: dashscope-us.
        id="alibaba",
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        surfaces=(
            CHAT,
            responses(ALIBABA, "alibaba", drop=OPENAI_ONLY - {"store"}),
            messages(ALIBABA, "apps/anthropic/v1/messages", "/compatible-mode/v1"),
        ),
        key_name="ALIBABA_API_KEY",
        quirks=ALIBABA,
        models=("qwen3.8-max", "qwen-plus", "qwen-flash"),
    ),
    Vendor(
        # In China: https://api.minimaxi.com/v1
        id="minimax",
        base_url="https://api.minimax.io/v1",
        surfaces=(CHAT, messages(MINIMAX, "anthropic/v1/messages", "/v1"), responses(MINIMAX, "minimax")),
        key_name="MINIMAX_API_KEY",
        quirks=MINIMAX,
        model_list=None,
        models=("MiniMax-M3", "MiniMax-M2.7"),
    ),
    Vendor(
        # In China: https://api.moonshot.cn/v1
        id="moonshot",
        priced_as="moonshotai",
        base_url="https://api.moonshot.ai/v1",
        addresses={"sk-kimi-": "https://api.kimi.com/coding/v1"},
        surfaces=(CHAT, messages(MOONSHOT, "anthropic/v1/messages", "/v1")),
        key_name="MOONSHOT_API_KEY",
        quirks=MOONSHOT,
        models=("kimi-k3", "kimi-k2.6"),
    ),
    Vendor(
        # Elsewhere: https://api.stepfun.ai/v1; of the plan: https://api.stepfun.com/step_plan/v1
        id="stepfun",
        base_url="https://api.stepfun.com/v1",
        surfaces=(CHAT, messages(STEPFUN), responses(STEPFUN, "stepfun")),
        key_name="STEPFUN_API_KEY",
        quirks=STEPFUN,
        models=("step-5-preview", "step-3.7-flash"),
    ),
    Vendor(
        # In China: https://open.bigmodel.cn/api/paas/v4; of the plan: https://api.z.ai/api/coding/paas/v4
        id="zai",
        base_url="https://api.z.ai/api/paas/v4",
        surfaces=(CHAT, messages(ZAI, "anthropic/v1/messages", "/paas/v4")),
        key_name="ZAI_API_KEY",
        quirks=ZAI,
        model_list=None,
        models=("glm-5.3", "glm-5.2", "glm-4.7"),
    ),
)
