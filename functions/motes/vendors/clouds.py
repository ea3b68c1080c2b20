"""Rows of clouds that serve models of several makers: Baidu's Qianfan, Google's Vertex AI, Volcengine's Ark.

Data only. Sources: cloud.baidu.com/doc/qianfan, cloud.google.com/vertex-ai, volcengine.com/docs/82379 (all
read 2026-11-29).
"""

from dataclasses import replace
from typing import Final

from motes.quirks import ModelRule, Quirks
from motes.vendors.efforts import SWITCH, efforts
from motes.vendors.parameters import OPENAI_ONLY
from motes.vendors.responses_quirks import OPENAI
from motes.vendors.twins import responses
from motes.vendors.vendor import CHAT, Surface, Vendor

# The switch of reasoning is that of the model's maker.
BAIDU: Final = Quirks(
    reasoning_field="reasoning_content",
    reasoning_control="none",
    model_rules=(
        ModelRule(prefix="deepseek", efforts=SWITCH, reasoning_control="thinking-type", off_by_default=True),
        *(
            ModelRule(prefix=head, efforts=SWITCH, reasoning_control="thinking-type")
            for head in ("kimi", "glm")
        ),
        *(
            ModelRule(prefix=head, efforts=SWITCH, reasoning_control="enable-flag")
            for head in ("qwen3", "ernie-4.5-vl", "ernie-5.0-thinking")
        ),
    ),
    drop=(OPENAI_ONLY - {"metadata"}) | {"prompt_cache_key"},
    passthrough=frozenset({"enable_thinking", "penalty_score", "repetition_penalty", "web_search"}),
    error_kinds={"invalid_iam_token": "authentication", "rate_limit_exceeded": "rate_limit"},
)

GOOGLE: Final = Quirks(
    max_tool_name=128, passthrough=frozenset({"cachedContent", "labels", "safetySettings"})
)
"""What Google's own protocol has and OpenAI has no word for."""

# The path names the model, and the body the version of the protocol.
_CLAUDE: Final = Quirks(model_in_path=True, extra_body={"anthropic_version": "vertex-2023-10-16"})

# Models of others behind OpenAI's protocol, by `maker/model`.
_OPEN: Final = Quirks(drop=OPENAI_ONLY | {"prompt_cache_key", "user"})

# OpenAI's own, whose reasoning can be read nowhere else.
_OPENAI: Final = replace(OPENAI, reasoning_origin="vertex-openai")

VOLCENGINE: Final = Quirks(
    reasoning_field="reasoning_content",
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    reasoning_control="thinking-type-effort",
    effort_map=efforts("off", "low", "medium", "high"),
    drop=(OPENAI_ONLY - {"service_tier"}) | {"prompt_cache_key", "seed"},
    passthrough=frozenset({"repetition_penalty"}),
    max_stop=4,
    error_kinds={
        "AccessDenied": "authentication",
        "AuthenticationError": "authentication",
        "InternalServiceError": "server_error",
        "InvalidParameter": "invalid_request",
        "QuotaExceeded": "quota",
        "RateLimitExceeded": "rate_limit",
        "SensitiveContentDetected": "content_blocked",
        "ServerOverloaded": "overloaded",
    },
)

CLOUDS: Final = (
    Vendor(
        id="baidu",
        base_url="https://qianfan.baidubce.com/v2",
        surfaces=(CHAT,),
        key_name="BAIDU_API_KEY",
        quirks=BAIDU,
        models=("ernie-5.0-thinking", "deepseek-v3.2"),
    ),
    Vendor(
        # The key is a token of Google's OAuth, which the operator renews; `global` has no place in the host.
        id="vertex",
        priced_as="google",
        base_url="",
        address="https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}",
        surfaces=(
            Surface(
                dialect="gemini-generate",
                path="publishers/google/models/{model}:streamGenerateContent?alt=sse",
            ),
            Surface(
                dialect="anthropic-messages",
                path="publishers/anthropic/models/{model}:streamRawPredict",
                quirks=_CLAUDE,
            ),
            Surface(dialect="openai-chat", path="endpoints/openapi/chat/completions", quirks=_OPEN),
            Surface(
                dialect="openai-responses",
                path="publishers/openai/v1/responses",
                quirks=_OPENAI,
                stored_runs=False,
            ),
        ),
        model_surfaces={
            "claude-*": "anthropic-messages",
            "gpt-*": "openai-responses",
            "*/*": "openai-chat",
        },
        key_name="VERTEX_ACCESS_TOKEN",
        quirks=GOOGLE,
        model_list=None,
        models=("gemini-3.8-flash", "claude-sonnet-4-5@20250929"),
    ),
    Vendor(
        # Elsewhere: https://ark.ap-southeast.bytepluses.com/api/v3
        id="volcengine",
        base_url="https://ark.cn-beijing.volces.com/api/v3",
        surfaces=(CHAT, responses(VOLCENGINE, "volcengine", drop=OPENAI_ONLY - {"service_tier", "store"})),
        key_name="ARK_API_KEY",
        quirks=VOLCENGINE,
        model_list=None,
        models=("doubao-seed-1-8-251228",),
    ),
)
