"""Vendors that speak several protocols: which one serves a model, at what address, with what patience."""

import pytest

from motes.dialects.registry import resolve
from motes.dispatch import generate, join_url
from motes.intake import parse_request
from motes.settings import load_settings
from motes.vendors.catalogue import build_catalogue, speaking
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import CHAT, Surface, Timeouts, Vendor

AZURE = "https://res.openai.azure.com"


def catalogue(tmp_path, toml="", **environ):
    (tmp_path / "motes.toml").write_text(toml)
    settings = load_settings({"MOTES_HOME": str(tmp_path), **environ}, tmp_path)
    return build_catalogue(VENDORS, ALIASES, settings)


def dispatched(made, name, **motes):
    request = parse_request({"messages": [{"role": "user", "content": "hi"}], "motes": motes})
    route = made.resolve(name)
    vendor = speaking(route.vendor, request.motes.dialect, route.model)
    return generate(request, vendor, route.model, secret="sk-x")


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("gpt-6-sol", "openai-chat"),
        ("gpt-4.1", "openai-chat"),
        ("gpt-5-pro", "openai-responses"),
        ("gpt-5.4-pro", "openai-responses"),
        ("gpt-5-pro-2025-10-06", "openai-responses"),
        ("o1-pro", "openai-responses"),
        ("gpt-5.3-codex", "openai-responses"),
        ("codex-mini-latest", "openai-responses"),
        ("o3-deep-research", "openai-responses"),
        ("o4-mini-deep-research-2025-06-26", "openai-responses"),
        ("gpt-4o-process", "openai-chat"),
    ],
)
def test_a_model_that_only_one_surface_serves_goes_there(tmp_path, model, dialect):
    dispatch = dispatched(catalogue(tmp_path), f"openai/{model}")
    path = {"openai-chat": "chat/completions", "openai-responses": "responses"}[dialect]
    assert (dispatch.dialect, dispatch.request.url) == (dialect, f"https://api.openai.com/v1/{path}")


def test_the_callers_own_choice_goes_first(tmp_path):
    made = catalogue(tmp_path)
    assert dispatched(made, "openai/gpt-5-pro", dialect="openai-chat").dialect == "openai-chat"
    assert dispatched(made, "openai/gpt-6-sol", dialect="openai-responses").dialect == "openai-responses"


@pytest.mark.parametrize("vendor", ["openai", "xai", "openrouter", "azure"])
def test_the_default_of_a_vendor_with_both_is_chat(vendor):
    assert [s.dialect for s in VENDORS[vendor].surfaces][:2] == ["openai-chat", "openai-responses"]


def test_sakana_speaks_responses(tmp_path):
    dispatch = dispatched(catalogue(tmp_path), "sakana/fugu")
    assert dispatch.request.url == "https://api.sakana.ai/v1/responses"
    assert dispatch.timeouts.idle == 600


@pytest.mark.parametrize(
    ("model", "path"), [("sonar-pro", "chat/completions"), ("openai/gpt-5.2", "v1/responses")]
)
def test_perplexitys_own_models_chat_and_the_others_are_agents(tmp_path, model, path):
    dispatch = dispatched(catalogue(tmp_path), f"perplexity/{model}")
    assert dispatch.request.url == f"https://api.perplexity.ai/{path}"


def test_a_surface_brings_its_own_patience_and_quirks():
    vendor = speaking(VENDORS["openai"], "openai-responses")
    assert (vendor.timeouts.first_byte, vendor.timeouts.idle) == (600, 300)
    assert vendor.quirks.replay_phase
    assert speaking(VENDORS["openai"], None).timeouts == Timeouts()


def test_the_operators_changes_reach_every_surface(tmp_path):
    toml = "[vendors.openai]\nquirks = { think_tags = false }\ntimeouts = { idle = 7 }\n"
    row = catalogue(tmp_path, toml).vendors["openai"]
    for dialect in ("openai-chat", "openai-responses"):
        vendor = speaking(row, dialect)
        assert (vendor.quirks.think_tags, vendor.timeouts.idle) == (False, 7)


def test_the_operator_may_make_another_surface_the_default(tmp_path):
    row = catalogue(tmp_path, '[vendors.openai]\ndialect = "openai-responses"\n').vendors["openai"]
    vendor = speaking(row, None, "gpt-4.1")
    assert [s.dialect for s in vendor.surfaces] == ["openai-responses", "openai-chat"]
    assert vendor.quirks.replay_phase


def test_a_rule_for_a_surface_the_vendor_has_no_more_is_no_rule():
    vendor = Vendor(id="v", base_url="https://v", surfaces=(CHAT,), model_surfaces={"*": "openai-responses"})
    assert speaking(vendor, None, "m").surfaces == (CHAT,)


# Azure.


@pytest.mark.parametrize(
    ("given", "base"),
    [
        (AZURE, f"{AZURE}/openai/v1"),
        (f"{AZURE}/", f"{AZURE}/openai/v1"),
        (f"{AZURE}/openai", f"{AZURE}/openai/v1"),
        (f"{AZURE}/openai/v1/", f"{AZURE}/openai/v1"),
        ("https://res.services.ai.azure.com", "https://res.services.ai.azure.com/openai/v1"),
        (f"{AZURE}/openai/deployments/fast", f"{AZURE}/openai/deployments/fast"),
    ],
)
def test_an_azure_address_gets_the_path_it_lacks(tmp_path, given, base):
    for made in (
        catalogue(tmp_path, AZURE_BASE_URL=given),
        catalogue(tmp_path, f'[vendors.azure]\nbase_url = "{given}"\n'),
    ):
        assert made.vendors["azure"].base_url == base


def test_azure_wants_its_own_header_and_a_deployments_name(tmp_path):
    made = catalogue(tmp_path, AZURE_BASE_URL=AZURE)
    chat, responses = (dispatched(made, "azure/fast", dialect=d) for d in ("openai-chat", "openai-responses"))
    assert chat.request.url == f"{AZURE}/openai/v1/chat/completions"
    assert responses.request.url == f"{AZURE}/openai/v1/responses"
    assert chat.request.headers["api-key"] == "sk-x"
    assert "authorization" not in chat.request.headers


def test_azures_preview_and_its_dated_api_are_reached_by_settings(tmp_path):
    preview = catalogue(tmp_path, AZURE_BASE_URL=f"{AZURE}/openai/v1?api-version=preview")
    url = dispatched(preview, "azure/fast", dialect="openai-responses").request.url
    assert url == f"{AZURE}/openai/v1/responses?api-version=preview"
    dated = (
        f'[vendors.azure]\nbase_url = "{AZURE}/openai/deployments"\nauth = "bearer"\n'
        'path = "{model}/chat/completions?api-version=2024-10-21"\n'
    )
    request = dispatched(catalogue(tmp_path, dated), "azure/my deployment").request
    assert (
        request.url == f"{AZURE}/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21"
    )
    assert request.headers["authorization"] == "Bearer sk-x"


def test_without_an_address_azure_says_what_is_missing(tmp_path):
    with pytest.raises(Exception, match="AZURE_BASE_URL"):
        catalogue(tmp_path).resolve("azure/fast")


# Runs that live on.

RUNS = resolve("openai-responses").stored_runs


def test_a_stored_run_is_reached_by_paths_below_the_vendors_address():
    assert RUNS is not None
    assert RUNS.replay is not None
    assert RUNS.cancel is not None
    assert RUNS.delete is not None
    assert RUNS.snapshot("resp_1") == "responses/resp_1"
    assert RUNS.replay("resp_1", None) == "responses/resp_1?stream=true"
    assert RUNS.replay("resp_1", "0") == "responses/resp_1?stream=true&starting_after=0"
    assert RUNS.cancel("resp_1") == "responses/resp_1/cancel"
    assert RUNS.delete("a/../b?x") == "responses/a%2F..%2Fb%3Fx"
    assert (RUNS.handle_type, RUNS.lifetime_s) == ("vnd.oai.responses", 30 * 24 * 3600)
    assert RUNS.create == {"background": True, "store": True}


def test_azures_runs_lie_below_its_path(tmp_path):
    assert RUNS is not None
    base = catalogue(tmp_path, AZURE_BASE_URL=AZURE).vendors["azure"].base_url
    assert join_url(base, RUNS.snapshot("resp_1")) == f"{AZURE}/openai/v1/responses/resp_1"


def test_vendors_that_keep_no_runs_say_so():
    kept = {
        vendor: surface.stored_runs
        for vendor in ("openai", "azure", "xai", "openrouter", "sakanaai")
        for surface in VENDORS[vendor].surfaces
        if surface.dialect == "openai-responses"
    }
    assert kept == {"openai": True, "azure": True, "xai": False, "openrouter": False, "sakanaai": False}
    assert Surface(dialect="openai-responses").stored_runs
