"""Rows of the servers that run on a machine of one's own: llama.cpp, LM Studio, LocalAI, SGLang, vLLM, and
any other host that calls itself compatible.

Data only. None of them demands a key; one that is set is sent. Sources: the projects' own documentation, read
on 2026-11-29; each entry names it.
"""

from typing import Final

from motes.quirks import Quirks
from motes.vendors.efforts import efforts
from motes.vendors.parameters import LOCAL_SAMPLERS, OPENAI_ONLY, SAMPLING
from motes.vendors.twins import messages, responses
from motes.vendors.vendor import BY_DIALECT, CHAT, ModelList, Surface, Vendor

# Known to none of them, or ignored.
_DROP: Final = OPENAI_ONLY | {"prompt_cache_key", "user"}

# github.com/ggml-org/llama.cpp, tools/server
LLAMACPP: Final = Quirks(
    reasoning_field="reasoning_content",
    developer_role=True,
    drop=_DROP,
    passthrough=LOCAL_SAMPLERS
    | {
        "cache_prompt",
        "grammar",
        "id_slot",
        "reasoning_control",
        "reasoning_format",
        "return_progress",
        "timings_per_token",
    },
    strict_tools=False,
)

# lmstudio.ai/docs: images as data only.
LMSTUDIO: Final = Quirks(
    reasoning_field="reasoning_content or think tags",
    images="inline",
    effort_map=efforts("off", "low", "medium", "high"),
    drop=_DROP,
    passthrough=LOCAL_SAMPLERS | {"ttl"},
)

# localai.io/features
LOCALAI: Final = Quirks(
    reasoning_field="reasoning or reasoning_content",
    drop=_DROP,
    passthrough=LOCAL_SAMPLERS | {"grammar"},
    strict_tools=False,
)

# docs.sglang.io
SGLANG: Final = Quirks(
    reasoning_field="reasoning_content",
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    developer_role=True,
    drop=_DROP,
    passthrough=LOCAL_SAMPLERS
    | {
        "custom_logit_processor",
        "ebnf",
        "lora_path",
        "min_tokens",
        "regex",
        "return_cached_tokens_details",
        "separate_reasoning",
        "stop_token_ids",
        "stream_reasoning",
    },
)

# docs.vllm.ai: many chat templates take one system text, at the head.
VLLM: Final = Quirks(
    reasoning_field="reasoning",
    token_field="max_completion_tokens",  # noqa: S106 (a member's name)
    developer_role=True,
    system_first=True,
    drop=_DROP,
    passthrough=LOCAL_SAMPLERS
    | {
        "add_generation_prompt",
        "allowed_token_ids",
        "bad_words",
        "cache_salt",
        "chat_template",
        "continue_final_message",
        "documents",
        "echo",
        "ignore_eos",
        "include_reasoning",
        "include_stop_str_in_output",
        "kv_transfer_params",
        "length_penalty",
        "media_io_kwargs",
        "min_tokens",
        "mm_processor_kwargs",
        "priority",
        "request_id",
        "session_id",
        "stop_token_ids",
        "structured_outputs",
        "thinking_token_budget",
        "truncate_prompt_tokens",
        "truncation_side",
    },
)

# Any host that calls itself compatible: what OpenAI documents is sent, and the samplers of local servers.
COMPATIBLE: Final = Quirks(
    token_field="by-model",  # noqa: S106 (a member's name)
    drop_when_reasoning=SAMPLING | {"logit_bias", "stop"},
    passthrough=LOCAL_SAMPLERS
    | {
        "cache_salt",
        "enable_thinking",
        "extra_content",
        "grammar",
        "include_reasoning",
        "min_tokens",
        "separate_reasoning",
        "stop_token_ids",
        "structured_outputs",
        "thinking_budget",
    },
)


def _row(
    id: str,
    port: int,
    quirks: Quirks,
    *others: Surface,
    key_name: str,
    model_list: ModelList = BY_DIALECT,
) -> Vendor:
    return Vendor(
        id=id,
        base_url=f"http://localhost:{port}/v1",
        surfaces=(CHAT, *others),
        key_name=key_name,
        key_required=False,
        quirks=quirks,
        model_list=model_list,
    )


LOCAL: Final = (
    _row(
        "llamacpp",
        8080,
        LLAMACPP,
        responses(LLAMACPP, "llamacpp"),
        messages(LLAMACPP),
        key_name="LLAMACPP_API_KEY",
    ),
    _row(
        "lmstudio",
        1234,
        LMSTUDIO,
        responses(LMSTUDIO, "lmstudio", passthrough=frozenset({"previous_response_id"})),
        messages(LMSTUDIO),
        key_name="LM_API_TOKEN",
        model_list=ModelList(path="api/v1/models", shape="lmstudio", in_place_of="/v1"),
    ),
    _row("localai", 8080, LOCALAI, key_name="LOCALAI_API_KEY"),
    _row(
        "sglang",
        30000,
        SGLANG,
        # Its own reader of the stream breaks on any other effort.
        responses(SGLANG, "sglang", effort_map=efforts("minimal", "low", "medium", "high")),
        messages(SGLANG),
        key_name="SGLANG_API_KEY",
    ),
    _row("vllm", 8000, VLLM, responses(VLLM, "vllm"), messages(VLLM), key_name="VLLM_API_KEY"),
    Vendor(
        id="openai-compatible",
        base_url="",
        address="http://localhost:8000/v1",
        surfaces=(CHAT,),
        key_name="OPENAI_COMPATIBLE_API_KEY",
        key_required=False,
        quirks=COMPATIBLE,
    ),
)
