"""Tencent's rows: Hunyuan, TokenHub, LKEAP and its plans, CodeBuddy.

Data only. motes names itself honestly: these rows need the operator's own key for an official endpoint, and
send nothing that belongs to another program. Sources: cloud.tencent.com/document and codebuddy.ai/docs (read
2026-11-29).
"""

from typing import Final

from motes.quirks import ModelRule, Quirks
from motes.vendors.efforts import ORDER, SWITCH
from motes.vendors.parameters import OPENAI_ONLY
from motes.vendors.twins import messages
from motes.vendors.vendor import CHAT, Vendor

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

# There must be a system message, a choice of tools is a word, and schemas are read by a plain parser. Effort
# is OpenAI's for every model, and is left out where there is to be none.
CODEBUDDY: Final = Quirks(
    reasoning_field="reasoning_content",
    system_required=True,
    answers_as_text=True,
    schema="plain",
    effort_map={"off": None} | {effort: effort for effort in ORDER[1:]},
    reasoning_with={"reasoning_summary": "auto"},
    replay_reasoning="always",
    drop=_DROP,
    passthrough=frozenset({"enable_thinking", "reasoning_summary"}),
    tool_choice="words",
    strict_tools=False,
    error_kinds={"6004": "quota", "11101": "invalid_request"},
)

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
        model_list=None,
    ),
    Vendor(
        id="codebuddy-cn",
        base_url="https://copilot.tencent.com/v2",
        surfaces=(CHAT,),
        key_name="CODEBUDDY_API_KEY",
        quirks=CODEBUDDY,
        model_list=None,
    ),
)
