"""Tencent's rows: Hunyuan, TokenHub, LKEAP and its plans, CodeBuddy.

Data only. motes names itself honestly: these rows need the operator's own key for an official endpoint, and
send nothing that belongs to another program. Sources: cloud.tencent.com/document and codebuddy.ai/docs (read
2026-11-29).
"""

from dataclasses import replace
from typing import Final

from motes.quirks import ModelRule, Quirks, SearchIntercept
from motes.vendors.efforts import ORDER, SWITCH
from motes.vendors.parameters import OPENAI_ONLY
from motes.vendors.twins import messages
from motes.vendors.vendor import CHAT, Timeouts, Vendor

_DROP: Final = OPENAI_ONLY | {"logit_bias", "prompt_cache_key"}

# The compatible endpoint; earlier reasoning must not come back.
HUNYUAN: Final = Quirks(
    reasoning_field="reasoning_content",
    reasoning_control="enable-flag",
    effort_map=SWITCH,
    drop=_DROP,
    passthrough=frozenset({"citation", "enable_enhancement", "enable_thinking", "search_info"}),
    strict_tools=False,
)

TOKENHUB: Final = Quirks(
    reasoning_field="reasoning_content",
    reasoning_control="thinking-type",
    effort_map=SWITCH,
    model_rules=(ModelRule(prefix="minimax", efforts=SWITCH, thinking_on="adaptive"),),
    drop=_DROP,
    passthrough=frozenset({"budget_tokens"}),
    strict_tools=False,
)

# Models of others as they are: their own switches are passed on.
LKEAP: Final = Quirks(
    reasoning_field="reasoning_content",
    drop=_DROP,
    passthrough=frozenset({"enable_search", "enable_thinking"}),
    strict_tools=False,
)

# Models that reason there only where they are told to.
_THINKERS: Final = ("deepseek", "glm", "kimi", "minimax", "moonshot", "qwen")

# There must be a system message, a choice of tools is a word, and schemas are read by a plain parser. Effort
# is OpenAI's for every model, and is left out where there is to be none.
CODEBUDDY: Final = Quirks(
    reasoning_field="reasoning_content",
    system_required=True,
    answers_as_text=True,
    schema="plain",
    effort_map={"off": None} | {effort: effort for effort in ORDER[1:]},
    reasoning_with={"reasoning_summary": "auto"},
    thinking_by_prefix={
        head: {"reasoning_effort": "high", "reasoning_summary": "auto"} for head in _THINKERS
    },
    search_intercept=SearchIntercept(path="agenttool/v1/search", in_place_of="/v2"),
    replay_reasoning="always",
    drop=_DROP,
    passthrough=frozenset({"enable_thinking", "reasoning_summary"}),
    tool_choice="words",
    strict_tools=False,
    error_kinds={"6004": "quota", "11101": "invalid_request"},
)

# The accounts of what switches thinking on there differ, so each of the two hosts goes by one of them.
CODEBUDDY_CN: Final = replace(
    CODEBUDDY, thinking_by_prefix={head: {"enable_thinking": True} for head in _THINKERS}
)

# The key travels twice, and a conversation and each of its requests have names of their own.
_CODEBUDDY_HEADERS: Final = {
    "x-api-key": "{key}",
    "x-conversation-id": "{conversation_id}",
    "x-conversation-request-id": "{request_id}",
    "x-conversation-message-id": "{message_id}",
    "x-request-id": "{request_id}",
    "x-trace-id": "{trace_id}",
    "b3": "{trace_id}-{span_id}-1-{parent_id}",
    "x-b3-traceid": "{trace_id}",
    "x-b3-spanid": "{span_id}",
    "x-b3-parentspanid": "{parent_id}",
    "x-b3-sampled": "1",
}
_CODEBUDDY_TIMEOUTS: Final = Timeouts(first_byte=120.0, idle=120.0)

TENCENT: Final = (
    Vendor(
        id="tencent-hunyuan",
        base_url="https://api.hunyuan.cloud.tencent.com/v1",
        surfaces=(CHAT,),
        key_name="HUNYUAN_API_KEY",
        quirks=HUNYUAN,
        models=("hunyuan-turbos-latest", "hunyuan-t1-latest"),
    ),
    Vendor(
        # Elsewhere: https://tokenhub-intl.tencentcloudmaas.com/v1
        id="tencent-tokenhub",
        base_url="https://tokenhub.tencentmaas.com/v1",
        surfaces=(CHAT, messages(TOKENHUB)),
        key_name="TOKENHUB_API_KEY",
        quirks=TOKENHUB,
        models=("hy4",),
    ),
    Vendor(
        id="tencent-lkeap",
        base_url="https://api.lkeap.cloud.tencent.com/v1",
        surfaces=(CHAT,),
        key_name="LKEAP_API_KEY",
        quirks=LKEAP,
    ),
    Vendor(
        id="tencent-token-plan",
        base_url="https://api.lkeap.cloud.tencent.com/plan/v3",
        surfaces=(CHAT,),
        key_name="LKEAP_API_KEY",
        quirks=LKEAP,
    ),
    Vendor(
        id="tencent-coding-plan",
        base_url="https://api.lkeap.cloud.tencent.com/coding/v3",
        surfaces=(CHAT,),
        key_name="LKEAP_API_KEY",
        quirks=LKEAP,
    ),
    Vendor(
        id="codebuddy",
        base_url="https://www.codebuddy.ai/v2",
        surfaces=(CHAT,),
        key_name="CODEBUDDY_API_KEY",
        quirks=CODEBUDDY,
        timeouts=_CODEBUDDY_TIMEOUTS,
        headers=_CODEBUDDY_HEADERS,
        model_list=None,
        models=("default", "claude-sonnet-4.6", "gemini-3.1-pro", "gpt-5.4", "gpt-5.5"),
    ),
    Vendor(
        id="codebuddy-cn",
        base_url="https://copilot.tencent.com/v2",
        surfaces=(CHAT,),
        key_name="CODEBUDDY_API_KEY",
        quirks=CODEBUDDY_CN,
        timeouts=_CODEBUDDY_TIMEOUTS,
        headers=_CODEBUDDY_HEADERS,
        model_list=None,
        models=("default", "deepseek-v4-flash", "deepseek-v4-pro", "glm-5.1", "kimi-k2.6", "minimax-m2.7"),
    ),
)
