"""Names that stand for other names, and the words for a name that means nothing."""

import pytest

from motes.errors import PrepareError, UnknownModel
from motes.settings import load_settings
from motes.vendors.catalogue import build_catalogue
from motes.vendors.table import ALIASES, VENDORS


def catalogue(tmp_path, toml=""):
    (tmp_path / "motes.toml").write_text(toml)
    settings = load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path)
    return build_catalogue(VENDORS, ALIASES, settings)


def test_an_alias_may_name_an_alias(tmp_path):
    made = catalogue(tmp_path, 'default_model = "c"\n[aliases]\nc = "b"\nb = "a/b"\n"a/b" = "groq/x/y"\n')
    for name in ("c", "b", "a/b", None):
        route = made.resolve(name)
        assert (route.vendor.id, route.model) == ("groq", "x/y")


@pytest.mark.parametrize(
    "toml",
    ['a = "b"\nb = "a"', 'a = "b"\nb = "c"\nc = "b"', '"groq/x" = "xai/x"\n"xai/x" = "groq/x"\na="groq/x"'],
)
def test_aliases_in_a_circle_are_the_operators_fault_and_end(tmp_path, toml):
    with pytest.raises(PrepareError, match="aliases lead in a circle: 'a' > '"):
        catalogue(tmp_path, f"[aliases]\n{toml}\n").resolve("a")


@pytest.mark.parametrize("name", ["gemini/\ud83d", "openai/\udcff", "\ud800"])
def test_half_a_character_is_in_no_models_name(tmp_path, name):
    with pytest.raises(UnknownModel, match="half a character"):
        catalogue(tmp_path).resolve(name)


def test_an_alias_for_itself_changes_nothing(tmp_path):
    made = catalogue(tmp_path, '[aliases]\n"groq/x" = "groq/x"\nfast = "fast"\n')
    assert made.resolve("groq/x").model == "x"
    with pytest.raises(UnknownModel, match=r"^model 'fast' names no vendor: write vendor/model\. Known"):
        made.resolve("fast")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fasst", "model 'fasst' names no vendor; did you mean 'fast'? Write vendor/model. Known vendors: "),
        ("zzzz", "model 'zzzz' names no vendor: write vendor/model. Known vendors: "),
        ("/x", "model '/x' names no vendor: write vendor/model. Known vendors: "),
        ("/", "model '/' names no vendor: write vendor/model. Known vendors: "),
        ("opnai/x", "there is no vendor 'opnai'; did you mean 'openai'? Known vendors: "),
        ("zzzz/x", "there is no vendor 'zzzz'. Known vendors: "),
        ("nope/x", "there is no vendor 'nope'. Known vendors: "),
        (
            "groq/",
            "model 'groq/' names a vendor and no model: write groq/model, with a name of its own. Known",
        ),
    ],
)
def test_a_name_that_means_nothing_is_told_in_whole_sentences(tmp_path, name, said):
    with pytest.raises(UnknownModel) as caught:
        catalogue(tmp_path, '[aliases]\nfast = "groq/x"\n').resolve(name)
    assert caught.value.message.startswith(said)


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ('headers = {Content-Length = "3"}', "vendors.openai.headers.Content-Length: is not to be set"),
        ('headers = {x = "a\\r\\nb"}', "vendors.openai.headers.x: must have no line break"),
        ('headers = {"x y" = "a"}', "vendors.openai.headers.x y: must have a name"),
        ('headers = {x = "海"}', "vendors.openai.headers.x: must have no characters beyond Latin-1"),
        ('auth = "header:Host"', "vendors.openai.auth: 'header:Host' is not to be set"),
        ('auth = "header:x y"', "vendors.openai.auth: 'header:x y' must have a name"),
        ('auth = "query:a&b"', "vendors.openai.auth: 'query:a&b' must have a name"),
        ('base_url = "http://host:99999/v1"', "vendors.openai.base_url: must have a port from 1 to 65535"),
        ('base_url = "http://host/a b"', "vendors.openai.base_url: must have no white space"),
    ],
)
def test_what_could_not_be_sent_is_a_fault_of_the_settings(tmp_path, toml, told):
    with pytest.raises(PrepareError) as caught:
        catalogue(tmp_path, f"[vendors.openai]\n{toml}\n")
    assert told in caught.value.message
