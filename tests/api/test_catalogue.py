"""Which vendor and which model a name means."""

import pytest

from motes.errors import InvalidRequest, PrepareError, UnknownModel
from motes.settings import load_settings
from motes.vendors.catalogue import base_url_variable, build_catalogue, speaking
from motes.vendors.model_lists import list_of
from motes.vendors.table import ALIASES, VENDORS
from motes.vendors.vendor import CHAT, MESSAGES, Auth, Vendor


def catalogue(tmp_path, toml="", **environ):
    (tmp_path / "motes.toml").write_text(toml)
    settings = load_settings({"MOTES_HOME": str(tmp_path), **environ}, tmp_path)
    return build_catalogue(VENDORS, ALIASES, settings)


def faults(tmp_path, toml):
    with pytest.raises(PrepareError) as caught:
        catalogue(tmp_path, toml)
    return caught.value.message


@pytest.mark.parametrize(
    ("name", "vendor", "model"),
    [
        ("openai/gpt-x", "openai", "gpt-x"),
        ("openrouter/anthropic/claude-x", "openrouter", "anthropic/claude-x"),
        ("together/meta/llama", "togetherai", "meta/llama"),
        ("google/gemini-x", "gemini", "gemini-x"),
    ],
)
def test_what_stands_before_the_first_slash_is_the_vendor(tmp_path, name, vendor, model):
    route = catalogue(tmp_path).resolve(name)
    assert (route.vendor.id, route.model) == (vendor, model)


def test_an_alias_or_the_default_may_be_a_bare_name_and_nothing_else(tmp_path):
    made = catalogue(tmp_path, 'default_model = "groq/d"\n[aliases]\nfast = "groq/a/b"\n"x/y" = "xai/z"\n')
    assert made.resolve("fast").model == "a/b"
    assert made.resolve("x/y").vendor.id == "xai"
    assert made.resolve(None).model == made.resolve("").model == "d"
    with pytest.raises(UnknownModel, match=r"did you mean 'fast'.*Known vendors: alibaba, anthropic, "):
        made.resolve("fasst")


def test_without_a_default_the_model_must_be_named(tmp_path):
    with pytest.raises(InvalidRequest, match="required: write vendor/model, for no default_model is set"):
        catalogue(tmp_path).resolve(None)


@pytest.mark.parametrize("name", ["gpt-x", "openai/", "/gpt-x", "nobody/gpt-x", "opnai/gpt-x", "/", "é/x"])
def test_a_name_that_means_nothing_is_unknown_and_says_what_there_is(tmp_path, name):
    with pytest.raises(UnknownModel, match=r"Known vendors: .*openai"):
        catalogue(tmp_path).resolve(name)


def test_a_long_name_is_not_repeated_in_full(tmp_path):
    with pytest.raises(UnknownModel) as caught:
        catalogue(tmp_path).resolve("x" * 100_000)
    assert len(caught.value.message) < 1000


def test_every_row_can_be_moved_by_its_own_variable(tmp_path):
    for id in VENDORS:
        made = catalogue(tmp_path, **{base_url_variable(id): "http://moved/v9"})
        assert made.resolve(f"{id}/m").vendor.base_url == "http://moved/v9"
    assert base_url_variable("openai-compatible") == "OPENAI_COMPATIBLE_BASE_URL"


def test_a_vendor_without_an_address_says_where_to_set_it(tmp_path):
    with pytest.raises(PrepareError, match="OPENAI_COMPATIBLE_BASE_URL"):
        catalogue(tmp_path).resolve("openai-compatible/m")


def test_settings_change_only_what_they_name(tmp_path):
    toml = """
    [vendors.anthropic]
    base_url = "http://proxy"
    headers = {X-Team = "a"}
    timeouts = {idle = 5}
    quirks = {default_max_tokens = 9}
    """
    made, old = catalogue(tmp_path, toml).vendors["anthropic"], VENDORS["anthropic"]
    assert (made.base_url, made.headers["x-team"]) == ("http://proxy", "a")
    assert (made.auth, made.surfaces, made.models, made.key_name) == (
        old.auth,
        old.surfaces,
        old.models,
        old.key_name,
    )
    assert (made.timeouts.idle, made.timeouts.connect) == (5, old.timeouts.connect)
    assert (made.quirks.default_max_tokens, made.quirks.think_tags) == (9, old.quirks.think_tags)


def test_settings_of_an_alias_change_its_vendor(tmp_path):
    made = catalogue(tmp_path, '[vendors.together]\nbase_url = "http://proxy"\n')
    assert made.vendors["togetherai"].base_url == "http://proxy"
    assert "together" not in made.vendors


def test_a_new_vendor_is_a_row_of_its_own(tmp_path):
    toml = """
    [vendors."lab-one"]
    dialect = "gemini-generate"
    base_url = "http://lab/v1"
    auth = "query:Key"
    path = "/ask"
    models = ["m"]
    """
    row = catalogue(tmp_path, toml).vendors["lab-one"]
    assert row.auth == Auth("query", "Key")
    assert (row.surfaces[0].dialect, row.surfaces[0].path) == ("gemini-generate", "/ask")
    assert (row.key_name, row.models) == ("LAB_ONE_API_KEY", ("m",))


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ('[vendors.x]\nbase_url = "http://x"', "vendors.x: a new vendor needs dialect"),
        ('[vendors.x]\ndialect = "openai-chat"', "vendors.x: a new vendor needs base_url"),
        ('[vendors.openai]\ndialect = "openai-cat"', "did you mean 'openai-chat'?"),
        ('[vendors.openai]\nbase_url = "proxy"', "vendors.openai.base_url: must be an address"),
        ('[vendors.openai]\nauth = "basic"', "vendors.openai.auth: use bearer"),
        ("[vendors.openai.quirks]\nthink_tag = true", "did you mean 'think_tags'?"),
        ("[vendors.openai.quirks]\nthink_tags = 'often'", "vendors.openai.quirks.think_tags: "),
        ("[vendors.openai.quirks]\ndelta_mode = 'sum'", "vendors.openai.quirks.delta_mode: "),
        ('[vendors."a/b"]\nbase_url = "http://x"', "has no `/` in it"),
    ],
)
def test_a_fault_in_a_row_names_file_place_and_cure(tmp_path, toml, told):
    message = faults(tmp_path, toml)
    assert f"{tmp_path}/motes.toml: vendors." in message
    assert told in message


def test_an_alias_belongs_to_the_vendor_it_means(tmp_path):
    made = catalogue(tmp_path, '[aliases]\nfast = "google/x/y"\nslow = "groq/y"\n')
    assert made.aliased(["gemini"]) == [("fast", "gemini", "x/y")]


def test_the_models_an_operator_names_stand_for_the_vendors_own_list(tmp_path):
    made = catalogue(tmp_path, '[vendors.groq]\nmodels = ["m"]\n[vendors.xai]\npath = "p"\n')
    assert list_of(made.vendors["groq"]) is None
    assert list_of(made.vendors["xai"]) is not None
    assert made.set_up == {"groq", "xai"}


def test_a_request_may_pick_another_of_the_vendors_dialects():
    row = Vendor(id="v", base_url="http://v", surfaces=(CHAT, MESSAGES))
    assert speaking(row, None).surfaces[0] is CHAT
    assert speaking(row, "anthropic-messages").surfaces == (MESSAGES, CHAT)
    with pytest.raises(InvalidRequest, match="it speaks openai-chat, anthropic-messages"):
        speaking(row, "gemini-generate")
