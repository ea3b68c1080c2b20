"""Where the requests of every vendor's surfaces go, and with what of the vendor's."""

from dataclasses import replace
from typing import Any

import pytest

from motes import dispatch
from motes.errors import PrepareError, UnknownModel
from motes.intake import parse_request
from motes.settings import load_settings
from motes.vendors.catalogue import Catalogue, build_catalogue, speaking
from motes.vendors.table import ALIASES, RETIRED, VENDORS

REQUEST = {"messages": [{"role": "user", "content": "hi"}]}
RESPONSES, MESSAGES, CHAT = "openai-responses", "anthropic-messages", "openai-chat"

URLS = {
    ("alibaba", RESPONSES): "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/responses",
    ("alibaba", MESSAGES): "https://dashscope-intl.aliyuncs.com/apps/anthropic/v1/messages",
    ("azure", RESPONSES): "https://here/openai/v1/responses",
    ("azure", MESSAGES): "https://here/anthropic/v1/messages",
    ("cloudflare", RESPONSES): "https://here/responses",
    ("deepinfra", MESSAGES): "https://api.deepinfra.com/anthropic/v1/messages",
    ("deepseek", RESPONSES): "https://api.deepseek.com/responses",
    ("deepseek", MESSAGES): "https://api.deepseek.com/anthropic/v1/messages",
    ("fireworks", RESPONSES): "https://api.fireworks.ai/inference/v1/responses",
    ("fireworks", MESSAGES): "https://api.fireworks.ai/inference/v1/messages",
    ("groq", RESPONSES): "https://api.groq.com/openai/v1/responses",
    ("huggingface", RESPONSES): "https://router.huggingface.co/v1/responses",
    ("llamacpp", RESPONSES): "http://localhost:8080/v1/responses",
    ("llamacpp", MESSAGES): "http://localhost:8080/v1/messages",
    ("lmstudio", RESPONSES): "http://localhost:1234/v1/responses",
    ("lmstudio", MESSAGES): "http://localhost:1234/v1/messages",
    ("minimax", RESPONSES): "https://api.minimax.io/v1/responses",
    ("minimax", MESSAGES): "https://api.minimax.io/anthropic/v1/messages",
    ("mistral", RESPONSES): "https://api.mistral.ai/v1/responses",
    ("moonshot", MESSAGES): "https://api.moonshot.ai/anthropic/v1/messages",
    ("novita", MESSAGES): "https://api.novita.ai/anthropic/v1/messages",
    ("nvidianim", RESPONSES): "https://integrate.api.nvidia.com/v1/responses",
    ("nvidianim", MESSAGES): "https://integrate.api.nvidia.com/v1/messages",
    ("ollama", RESPONSES): "http://localhost:11434/v1/responses",
    ("ollama", MESSAGES): "http://localhost:11434/v1/messages",
    ("openai", RESPONSES): "https://api.openai.com/v1/responses",
    ("openrouter", RESPONSES): "https://openrouter.ai/api/v1/responses",
    ("openrouter", MESSAGES): "https://openrouter.ai/api/v1/messages",
    ("perplexity", RESPONSES): "https://api.perplexity.ai/v1/responses",
    ("sambanova", RESPONSES): "https://api.sambanova.ai/v1/responses",
    ("sambanova", MESSAGES): "https://api.sambanova.ai/v1/messages",
    ("sglang", RESPONSES): "http://localhost:30000/v1/responses",
    ("sglang", MESSAGES): "http://localhost:30000/v1/messages",
    ("siliconflow", MESSAGES): "https://api.siliconflow.cn/v1/messages",
    ("stepfun", RESPONSES): "https://api.stepfun.com/v1/responses",
    ("stepfun", MESSAGES): "https://api.stepfun.com/v1/messages",
    ("tencent-tokenhub", MESSAGES): "https://tokenhub.tencentmaas.com/v1/messages",
    ("vertex", CHAT): "https://here/endpoints/openapi/chat/completions",
    ("vertex", RESPONSES): "https://here/publishers/openai/v1/responses",
    ("vertex", MESSAGES): "https://here/publishers/anthropic/models/m@1:streamRawPredict",
    ("vllm", RESPONSES): "http://localhost:8000/v1/responses",
    ("vllm", MESSAGES): "http://localhost:8000/v1/messages",
    ("volcengine", RESPONSES): "https://ark.cn-beijing.volces.com/api/v3/responses",
    ("xai", RESPONSES): "https://api.x.ai/v1/responses",
    ("zai", MESSAGES): "https://api.z.ai/api/anthropic/v1/messages",
}


def made(vendor: str, model: str = "m", dialect: str | None = None, **changes: Any) -> dispatch.Dispatch:
    row = speaking(replace(VENDORS[vendor], **changes), dialect, model)
    return dispatch.generate(parse_request(REQUEST), row, model, secret="s")


@pytest.mark.parametrize(("vendor", "dialect"), URLS, ids="-".join)
def test_a_second_surface_stands_where_the_vendor_has_it(vendor: str, dialect: str) -> None:
    row = VENDORS[vendor]
    base = row.base_url or f"https://here{row.base_path}"
    sent = made(vendor, "m@1", dialect, base_url=base)
    assert sent.request.url == URLS[vendor, dialect]


def test_no_second_surface_of_the_copied_protocols_goes_untested() -> None:
    copied = (RESPONSES, MESSAGES)
    ours = {
        (row.id, surface.dialect)
        for row in VENDORS.values()
        for surface in row.surfaces[1:]
        if surface.dialect in copied and not row.id.startswith("bedrock")
    }
    assert ours <= set(URLS)


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("gemini-3.8-flash", "gemini-generate"),
        ("claude-sonnet-4-5@20250929", MESSAGES),
        ("gpt-6-sol", RESPONSES),
        ("meta/llama-4", CHAT),
    ],
)
def test_vertex_asks_every_maker_in_its_own_words(model: str, dialect: str) -> None:
    assert made("vertex", model, base_url="https://here/v1").dialect == dialect


def test_claude_on_vertex_is_named_in_the_path_alone() -> None:
    body = made("vertex", "claude-opus-4-6", base_url="https://here/v1").request.body
    assert b'"model"' not in body
    assert b'"anthropic_version":"vertex-2023-10-16"' in body


def catalogue(tmp_path: Any, text: str = "", **environ: str) -> Catalogue:
    (tmp_path / "motes.toml").write_text(text)
    settings = load_settings({"MOTES_HOME": str(tmp_path), **environ}, tmp_path)
    return build_catalogue(VENDORS, ALIASES, settings)


def asked(made: Catalogue, name: str, secret: str) -> str:
    route = made.resolve(name)
    sent = dispatch.generate(parse_request(REQUEST), route.vendor, route.model, secret=secret)
    return sent.request.url


def test_a_key_of_another_plan_goes_to_that_plans_address(tmp_path: Any) -> None:
    rows = catalogue(tmp_path)
    assert asked(rows, "kimi/kimi-k3", "sk-other") == "https://api.moonshot.ai/v1/chat/completions"
    assert asked(rows, "kimi/kimi-k3", "sk-kimi-x") == "https://api.kimi.com/coding/v1/chat/completions"


@pytest.mark.parametrize("how", ["file", "environment"])
def test_an_address_that_the_operator_sets_is_where_every_key_goes(tmp_path: Any, how: str) -> None:
    url = "https://api.moonshot.cn/v1"
    given = {"MOONSHOT_BASE_URL": url} if how == "environment" else {}
    text = f'[vendors.moonshot]\nbase_url = "{url}"\n' if how == "file" else ""
    rows = catalogue(tmp_path, text, **given)
    assert asked(rows, "moonshot/kimi-k3", "sk-kimi-x") == f"{url}/chat/completions"


def test_a_row_without_an_address_says_what_one_looks_like(tmp_path: Any) -> None:
    with pytest.raises(PrepareError, match=r"CLOUDFLARE_BASE_URL, such as https://api\.cloudflare\.com"):
        catalogue(tmp_path).resolve("cloudflare/@cf/x")


@pytest.mark.parametrize("vendor", RETIRED)
def test_a_vendor_that_is_no_more_is_said_to_be(tmp_path: Any, vendor: str) -> None:
    with pytest.raises(UnknownModel, match="is no more"):
        catalogue(tmp_path).resolve(f"{vendor}/m")


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("aws-bedrock", "bedrock"),
        ("aws-bedrock-mantle", "bedrock-mantle"),
        ("azure-foundry", "azure"),
        ("google", "gemini"),
        ("google-vertex", "vertex"),
        ("huggingface-router", "huggingface"),
        ("llama.cpp", "llamacpp"),
        ("ollama-cloud", "ollama"),
        ("together", "togetherai"),
    ],
)
def test_recordings_names_of_vendors_are_known(name: str, vendor: str) -> None:
    assert ALIASES[name] == vendor
