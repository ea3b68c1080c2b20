"""Rows of the hosts that serve models of others: Cerebras, Cloudflare, DeepInfra, Hugging Face and more.

Data only. Sources: the hosts' API references, read on 2026-11-29; each entry names its pages' host.
"""

from typing import Final

from motes.quirks import ModelRule, Quirks
from motes.vendors.efforts import SWITCH, efforts
from motes.vendors.parameters import LOCAL_SAMPLERS, OPENAI_ONLY
from motes.vendors.twins import messages, responses
from motes.vendors.vendor import CHAT, ModelList, Vendor

_LEVELS: Final = ("low", "medium", "high")

_GLM_ON_CEREBRAS: Final = efforts("off", *_LEVELS)

# inference-docs.cerebras.ai: GLM wants its reasoning back in tags; the newest grade it otherwise.
CEREBRAS: Final = Quirks(
    reasoning_field="reasoning",
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    developer_role=True,
    effort_map=efforts("off", *_LEVELS),
    model_rules=(
        ModelRule(prefix="gpt-oss", efforts=efforts(*_LEVELS)),
        ModelRule(prefix="kimi-k3", efforts=efforts("low", "high", "max")),
        *(
            ModelRule(prefix=head, efforts=_GLM_ON_CEREBRAS, replay_reasoning="think-tags")
            for head in ("glm", "zai-glm")
        ),
        *(
            ModelRule(prefix=head, efforts=efforts("low", "high", "max"), replay_reasoning="think-tags")
            for head in ("glm-5.3", "zai-glm-5.3")
        ),
    ),
    drop=(OPENAI_ONLY - {"prediction", "service_tier"}) | {"logit_bias"},
    passthrough=frozenset({"clear_thinking", "disable_reasoning", "reasoning_format"}),
    error_kinds={"queue_exceeded": "overloaded"},
)

# developers.cloudflare.com/workers-ai: an answer may be refused at once instead of being queued.
CLOUDFLARE: Final = Quirks(
    reasoning_field="think tags",
    effort_map=efforts(*_LEVELS),
    drop=OPENAI_ONLY | {"logit_bias", "prompt_cache_key", "user"},
    passthrough=LOCAL_SAMPLERS | {"options"},
    strict_tools=False,
    error_kinds={
        "3006": "context_length",
        "3007": "timeout",
        "3036": "quota",
        "3040": "overloaded",
        "3041": "authentication",
        "5004": "invalid_request",
        "5007": "invalid_request",
        "5016": "authentication",
        "5018": "authentication",
    },
)

# deepinfra.com/docs: no tool can be forced; Google's models there leave reasoning out of their count.
DEEPINFRA: Final = Quirks(
    reasoning_field="reasoning_content",
    effort_map=efforts("off", *_LEVELS),
    model_rules=(
        ModelRule(prefix="google", efforts=efforts("off", *_LEVELS), reasoning_in_completion=False),
    ),
    drop=OPENAI_ONLY - {"service_tier"},
    passthrough=LOCAL_SAMPLERS,
    tool_choice="no-forced",
)

# huggingface.co/docs/inference-providers: what is sent goes on to the provider that serves the model.
HUGGINGFACE: Final = Quirks(
    reasoning_field="the provider's",
    drop=OPENAI_ONLY | {"prompt_cache_key"},
    passthrough=LOCAL_SAMPLERS | {"enable_thinking", "thinking_budget"},
)

# docs.hyperbolic.xyz: OpenAI's core and nothing else.
HYPERBOLIC: Final = Quirks(
    reasoning_field="think tags",
    reasoning_control="none",
    drop=OPENAI_ONLY | {"logit_bias", "parallel_tool_calls", "prompt_cache_key"},
    strict_tools=False,
)

# docs.modular.com: reasoning is an object; a limit that is too high is lowered there without a word.
MODULAR: Final = Quirks(
    reasoning_field="reasoning",
    system_first=True,
    reasoning_control="openrouter",
    model_rules=(ModelRule(prefix="glm", efforts=efforts("off", "high", "max")),),
    drop=OPENAI_ONLY | {"logit_bias", "prompt_cache_key", "user"},
    passthrough=LOCAL_SAMPLERS,
    strict_tools=False,
)

# novita.ai/docs: a limit is demanded.
NOVITA: Final = Quirks(
    reasoning_field="reasoning_content",
    reasoning_control="enable-flag",
    effort_map=SWITCH,
    fallback_limit=8192,
    drop=OPENAI_ONLY | {"prompt_cache_key", "user"},
    passthrough=LOCAL_SAMPLERS | {"enable_thinking", "separate_reasoning"},
)

# docs.api.nvidia.com: what is not known is refused, so nothing is sent that need not be.
NVIDIA: Final = Quirks(
    reasoning_field="reasoning or reasoning_content",
    system_first=True,
    reasoning_control="template-flags",
    template_flags=("thinking",),
    effort_map=SWITCH,
    model_rules=(
        ModelRule(prefix="gpt-oss", efforts=efforts(*_LEVELS), reasoning_control="effort"),
        *(
            ModelRule(prefix=head, efforts=SWITCH, template_flags=("enable_thinking",))
            for head in ("qwen", "qwen3", "glm")
        ),
    ),
    drop=OPENAI_ONLY | {"logit_bias", "parallel_tool_calls", "prompt_cache_key", "user"},
    passthrough=LOCAL_SAMPLERS | {"nvext"},
    strict_tools=False,
)

# docs.sambanova.ai: images as data only.
SAMBANOVA: Final = Quirks(
    reasoning_field="reasoning",
    images="inline",
    reasoning_control="template-flags",
    effort_map=SWITCH,
    model_rules=(ModelRule(prefix="gpt-oss", efforts=efforts(*_LEVELS), reasoning_control="effort"),),
    drop=OPENAI_ONLY | {"logit_bias", "prompt_cache_key", "user"},
    passthrough=frozenset({"chat_template_kwargs", "do_sample", "top_k"}),
    strict_tools=False,
)

# docs.siliconflow.com: its own limit is low, so one is always sent.
SILICONFLOW: Final = Quirks(
    reasoning_field="reasoning_content",
    reasoning_control="enable-flag",
    effort_map=SWITCH,
    fallback_limit=8192,
    drop=OPENAI_ONLY | {"logit_bias", "parallel_tool_calls", "prompt_cache_key", "user"},
    passthrough=frozenset({"enable_thinking", "min_p", "thinking_budget", "top_k"}),
    max_stop=4,
    error_kinds={"20012": "invalid_request", "30001": "quota", "50505": "overloaded"},
)

HOSTS: Final = (
    Vendor(
        id="cerebras",
        base_url="https://api.cerebras.ai/v1",
        surfaces=(CHAT,),
        key_name="CEREBRAS_API_KEY",
        quirks=CEREBRAS,
        model_list=ModelList(path="public/v1/models", in_place_of="/v1"),
        models=("gpt-oss-120b", "zai-glm-5.3", "kimi-k3"),
    ),
    Vendor(
        id="cloudflare",
        base_url="",
        address="https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1",
        surfaces=(CHAT, responses(CLOUDFLARE, "cloudflare")),
        key_name="CLOUDFLARE_API_TOKEN",
        quirks=CLOUDFLARE,
        model_list=ModelList(path="models/search?per_page=1000", shape="cloudflare", in_place_of="/v1"),
        models=("@cf/openai/gpt-oss-120b",),
    ),
    Vendor(
        id="deepinfra",
        base_url="https://api.deepinfra.com/v1/openai",
        surfaces=(CHAT, messages(DEEPINFRA, "anthropic/v1/messages", "/v1/openai")),
        key_name="DEEPINFRA_API_KEY",
        quirks=DEEPINFRA,
        model_list=ModelList(shape="per-million"),
        models=("openai/gpt-oss-120b",),
    ),
    Vendor(
        # `model:provider`, or `:fastest`, `:cheapest`. Who pays for an organisation: header X-HF-Bill-To.
        id="huggingface",
        base_url="https://router.huggingface.co/v1",
        surfaces=(CHAT, responses(HUGGINGFACE, "huggingface", output_format="response_format")),
        key_name="HF_TOKEN",
        quirks=HUGGINGFACE,
        model_list=ModelList(shape="per-million"),
        models=("openai/gpt-oss-120b",),
    ),
    Vendor(
        id="hyperbolic",
        base_url="https://api.hyperbolic.xyz/v1",
        surfaces=(CHAT,),
        key_name="HYPERBOLIC_API_KEY",
        quirks=HYPERBOLIC,
    ),
    Vendor(
        # Or a MAX server of one's own, which may want no key: http://localhost:8000/v1
        id="modular",
        base_url="https://api.modular.com/v1",
        surfaces=(CHAT,),
        key_name="MODULAR_API_KEY",
        quirks=MODULAR,
    ),
    Vendor(
        id="novita",
        base_url="https://api.novita.ai/openai/v1",
        surfaces=(CHAT, messages(NOVITA, "anthropic/v1/messages", "/openai/v1")),
        key_name="NOVITA_API_KEY",
        quirks=NOVITA,
        model_list=ModelList(shape="novita"),
        models=("openai/gpt-oss-120b",),
    ),
    Vendor(
        # Or a NIM of one's own, which speaks all three protocols and may want no key.
        id="nvidianim",
        base_url="https://integrate.api.nvidia.com/v1",
        surfaces=(CHAT, responses(NVIDIA, "nvidianim"), messages(NVIDIA)),
        key_name="NVIDIANIM_API_KEY",
        quirks=NVIDIA,
        models=("openai/gpt-oss-120b",),
    ),
    Vendor(
        id="sambanova",
        base_url="https://api.sambanova.ai/v1",
        surfaces=(CHAT, responses(SAMBANOVA, "sambanova"), messages(SAMBANOVA)),
        key_name="SAMBANOVA_API_KEY",
        quirks=SAMBANOVA,
        models=("gpt-oss-120b",),
    ),
    Vendor(
        # Elsewhere: https://api.siliconflow.com/v1
        id="siliconflow",
        base_url="https://api.siliconflow.cn/v1",
        surfaces=(CHAT, messages(SILICONFLOW)),
        key_name="SILICONFLOW_API_KEY",
        quirks=SILICONFLOW,
        model_list=ModelList(path="models?type=text&sub_type=chat"),
        models=("Qwen/Qwen3-235B-A22B",),
    ),
)
