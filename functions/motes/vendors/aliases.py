"""The other names people give to vendors and dialects, and vendors that are no more.

Data only.
"""

from collections.abc import Mapping
from typing import Final

from motes.dialects.base import DialectName

ALIASES: Final[Mapping[str, str]] = {
    "aliyun": "alibaba",
    "amazon-bedrock": "bedrock",
    "ark": "volcengine",
    "aws": "bedrock",
    "aws-bedrock": "bedrock",
    "aws-bedrock-mantle": "bedrock-mantle",
    "azure-foundry": "azure",
    "azure-openai": "azure",
    "bigmodel": "zai",
    "byteplus": "volcengine",
    "claude": "anthropic",
    "cloudflare-workers-ai": "cloudflare",
    "dashscope": "alibaba",
    "deep-infra": "deepinfra",
    "deep-seek": "deepseek",
    "doubao": "volcengine",
    "fireworks-ai": "fireworks",
    "glm": "zai",
    "google": "gemini",
    "google-gemini": "gemini",
    "google-vertex": "vertex",
    "grok": "xai",
    "hf": "huggingface",
    "hugging-face": "huggingface",
    "huggingface-router": "huggingface",
    "hunyuan": "tencent-hunyuan",
    "kimi": "moonshot",
    "llama-cpp": "llamacpp",
    "llama.cpp": "llamacpp",
    "lm-studio": "lmstudio",
    "local-ai": "localai",
    "max": "modular",
    "mistral-ai": "mistral",
    "mistralai": "mistral",
    "moonshotai": "moonshot",
    "nim": "nvidianim",
    "nvidia": "nvidianim",
    "nvidia-nim": "nvidianim",
    "ollama-cloud": "ollama",
    "open-router": "openrouter",
    "openai_compatible": "openai-compatible",
    "qianfan": "baidu",
    "qwen": "alibaba",
    "sakana": "sakanaai",
    "step": "stepfun",
    "tencent": "tencent-hunyuan",
    "together": "togetherai",
    "together-ai": "togetherai",
    "tokenhub": "tencent-tokenhub",
    "vertex-ai": "vertex",
    "vertexai": "vertex",
    "x-ai": "xai",
    "z-ai": "zai",
    "z.ai": "zai",
    "zhipu": "zai",
}
"""Other names of those vendors."""

RETIRED: Final[Mapping[str, str]] = {
    "github": "GitHub Models was retired on 30 July 2026",
    "github-models": "GitHub Models was retired on 30 July 2026",
    "openpipe": "OpenPipe's hosts are gone; its successor is reached as openai-compatible",
}
"""Vendors that were once served, and what became of them."""

DIALECT_ALIASES: Final[Mapping[str, DialectName]] = {
    "anthropic": "anthropic-messages",
    "azure-openai": "openai-chat",
    "bedrock": "bedrock-converse",
    "chat-completions": "openai-chat",
    "cohere": "cohere-chat",
    "converse": "bedrock-converse",
    "deepseek": "openai-chat",
    "fireworks": "openai-chat",
    "gemini": "gemini-generate",
    "google": "gemini-generate",
    "groq": "openai-chat",
    "messages": "anthropic-messages",
    "mistral": "openai-chat",
    "mistral-chat": "openai-chat",
    "ollama": "ollama-chat",
    "ollama-generate": "ollama-chat",
    "openai": "openai-chat",
    "openai-compatible": "openai-chat",
    "openai_responses": "openai-responses",
    "openrouter": "openai-chat",
    "responses": "openai-responses",
    "sakanaai": "openai-responses",
    "together": "openai-chat",
    "togetherai": "openai-chat",
    "vllm": "openai-chat",
    "xai": "openai-chat",
}
"""What recordings call the dialects of ours."""
