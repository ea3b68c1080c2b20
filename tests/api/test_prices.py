"""Where prices come from: the operator's own, then the list; and that nobody waits for them."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest
from genai_prices.data_snapshot import get_snapshot

from motes import particles as p
from motes.api.price_list import excerpt
from motes.api.prices import PriceBook, listed
from motes.costs import Rates
from motes.errors import PrepareError
from motes.settings import Settings, load_settings
from motes.vendors.table import VENDORS

THOUSAND = p.Metrics(tokens_in=1000, tokens_out=100)


def settings(tmp_path, toml="", **environ):
    (tmp_path / "motes.toml").write_text(toml)
    return load_settings({"MOTES_HOME": str(tmp_path), **environ}, tmp_path)


async def cost(book, label, metrics=THOUSAND):
    await book.settled(label)
    return book.pricing(label)(metrics)


async def test_the_operators_own_price_goes_before_the_list_and_has_the_margin(tmp_path):
    toml = """
margin = 1.3
[prices."openai/gpt-5"]
input = 2
output = 10
cached_input = 0.5
"""
    book = PriceBook(settings(tmp_path, toml), VENDORS, lambda row, model: Rates(input=99, output=99))
    assert await cost(book, "openai/gpt-5") == p.Cost(0.0039, 1.3)
    cached = p.Metrics(tokens_in=0, tokens_cache_read=1000, tokens_out=0)
    assert (await cost(book, "openai/gpt-5", cached)).amount == pytest.approx(0.0005 * 1.3)
    assert (await cost(book, "openai/other")).amount == pytest.approx(1100 * 99 / 1e6 * 1.3)


async def test_nobody_waits_for_a_price_and_each_model_is_looked_up_once(tmp_path):
    gate, asked = threading.Event(), []

    def slow(row, model):
        asked.append((row.id, model))
        gate.wait(10)
        return Rates(input=Decimal(1), output=Decimal(1))

    book = PriceBook(settings(tmp_path), VENDORS, slow)
    pricing = book.pricing("groq/a/b")
    for _ in range(3):
        book.begin("groq/a/b")
        assert pricing(THOUSAND) is None
    assert not book.is_settled("groq/a/b")
    gate.set()
    await book.settled("groq/a/b")
    assert pricing(THOUSAND) == p.Cost(0.0011)
    assert asked == [("groq", "a/b")]


async def test_one_thread_looks_for_all_prices_and_ends_when_there_is_nothing_to_look_for(tmp_path):
    gate, used = threading.Event(), []

    def slow(row, model):
        gate.wait(10)
        used.append(threading.current_thread())
        return Rates(input=Decimal(1), output=Decimal(1))

    book = PriceBook(settings(tmp_path), VENDORS, slow)
    for time in ("first", "second"):
        gate.clear()
        used.clear()
        labels = [f"groq/{time}{number}" for number in range(5)]
        for label in labels:
            book.begin(label)
        gate.set()
        for label in labels:
            assert await cost(book, label) == p.Cost(0.0011)
        (thread,) = set(used)
        thread.join(10)
        assert not thread.is_alive()


async def test_the_vendors_own_cost_needs_no_price(tmp_path):
    book = PriceBook(settings(tmp_path, "margin = 2.0"), VENDORS, lambda row, model: None)
    assert await cost(book, "vllm/m", p.Metrics(tokens_in=1, tokens_out=1, cost_cents=3.0)) == p.Cost(
        0.06, 2.0
    )
    assert await cost(book, "vllm/m") is None


async def test_without_a_list_there_are_only_the_operators_prices(tmp_path):
    def asked(row, model):
        raise AssertionError("the list was asked")

    book = PriceBook(settings(tmp_path, 'price_list = "none"'), VENDORS, asked)
    assert await cost(book, "openai/gpt-5") is None
    assert book.is_settled("openai/gpt-5")


def price(vendor, model, **counts):
    found = listed(VENDORS[vendor], model)
    return found and found(p.Metrics(**counts))


@pytest.mark.parametrize(
    ("vendor", "model"),
    [
        ("openai", "gpt-5"),
        ("azure", "gpt-5"),
        ("anthropic", "claude-sonnet-4-5"),
        ("gemini", "gemini-2.5-pro"),
        ("vertex", "gemini-2.5-pro"),
        ("xai", "grok-4"),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("togetherai", "meta-llama/Llama-3.3-70B-Instruct-Turbo"),
        ("groq", "openai/gpt-oss-20b"),
        ("openrouter", "anthropic/claude-sonnet-4.5"),
        ("mistral", "mistral-large-latest"),
        ("deepseek", "deepseek-chat"),
        ("cohere", "command-r-plus"),
    ],
)
def test_the_list_knows_the_models_of_the_vendors_under_its_own_names(vendor, model):
    assert price(vendor, model, tokens_in=1000, tokens_out=100) > 0


@pytest.mark.parametrize(
    ("vendor", "model"),
    [("ollama", "gpt-oss"), ("vllm", "gpt-5"), ("openai-compatible", "gpt-5"), ("openai", "zz")],
)
def test_a_model_is_not_priced_by_its_name_alone(vendor, model):
    assert listed(VENDORS[vendor], model) is None
    assert listed(None, model) is None


def test_a_row_of_ones_own_is_priced_by_its_address(tmp_path):
    from motes.vendors.catalogue import build_catalogue

    toml = '[vendors.mine]\ndialect = "openai-chat"\nbase_url = "https://api.openai.com/v1"\n'
    rows = build_catalogue(VENDORS, {}, settings(tmp_path, toml)).vendors
    assert listed(rows["mine"], "gpt-5")(THOUSAND) == listed(VENDORS["openai"], "gpt-5")(THOUSAND)


def test_the_list_discounts_what_was_cached_and_tells_writes_of_five_minutes_from_those_of_an_hour():
    model = ("anthropic", "claude-sonnet-4-5")
    fresh = price(*model, tokens_in=1000, tokens_out=0)
    read = price(*model, tokens_in=0, tokens_cache_read=1000, tokens_out=0)
    short = price(*model, tokens_in=0, tokens_cache_write=1000, tokens_out=0)
    long = price(*model, tokens_in=0, tokens_cache_write=1000, tokens_cache_write_1h=1000, tokens_out=0)
    assert (read / fresh, short / fresh, long / fresh) == (Decimal("0.1"), Decimal("1.25"), Decimal(2))


def test_the_list_has_prices_of_their_own_for_sound():
    text = price("gemini", "gemini-2.5-flash", tokens_in=1000, tokens_out=0)
    sound = price("gemini", "gemini-2.5-flash", tokens_in=1000, tokens_out=0, tokens_in_audio=1000)
    assert sound > text


@pytest.mark.parametrize(
    ("vendor", "model"),
    [
        ("openai", "gpt-5"),
        ("azure", "claude-sonnet-4-5"),
        ("vertex", "gemini-2.5-pro"),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("openrouter", "openai/gpt-5.2-20251211"),
        ("groq", "zz"),
    ],
)
def test_what_is_taken_out_of_the_list_for_a_vendor_knows_what_the_whole_list_knows(vendor, model):
    row = VENDORS[vendor]
    whole = get_snapshot()
    provider = next((one for one in whole.providers if one.id == (row.priced_as or row.id)), None)
    provider = provider or whole.find_provider(None, None, row.base_url)
    taken = excerpt(row.priced_as or row.id, row.base_url or "-")
    assert taken.provider == provider
    assert taken.model(model) == provider.find_model(model, all_providers=whole.providers)


def test_several_gateways_of_a_process_may_read_the_list_at_once():
    names = ("openai", "anthropic", "google", "groq", "mistral", "deepseek", "cohere", "x-ai")
    excerpt.cache_clear()
    with ThreadPoolExecutor(len(names)) as threads:
        found = list(threads.map(lambda name: excerpt(name, "-"), names))
    assert [one.provider.id for one in found] == list(names)


def test_of_the_list_only_what_a_vendor_needs_stays_in_memory():
    code = (
        "import gc, sys\n"
        "from motes.api.prices import listed\n"
        "from motes.vendors.table import VENDORS\n"
        "assert listed(VENDORS['anthropic'], 'claude-sonnet-4-5') and not listed(VENDORS['vllm'], 'm')\n"
        "assert not listed(VENDORS['anthropic'], 'none') and listed(VENDORS['azure'], 'gpt-5')\n"
        "from genai_prices.types import Provider\n"
        "held = [one.id for one in gc.get_objects() if type(one) is Provider]\n"
        "assert not {'genai_prices.data', 'httpx2', 'pydantic'} & set(sys.modules)\n"
        "print(*held)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    held = done.stdout.split()
    assert {"anthropic", "azure", "openai"} <= set(held)
    assert len(held) < 10
    assert "openrouter" not in held


def run(code):
    """What a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_no_model_of_the_list_is_made_but_those_of_the_provider_that_is_asked_for():
    code = (
        "import genai_prices.types as types\n"
        "from motes.api.price_list import excerpt\n"
        "made, count = types.ModelInfo.__init__, 0\n"
        "def init(self, **members):\n"
        "    global count\n"
        "    made(self, **members)\n"
        "    count += 1\n"
        "types.ModelInfo.__init__ = init\n"
        "assert excerpt('nobody', '-') is None and not count\n"
        "print(len(excerpt('anthropic', '-').provider.models), count)\n"
        "azure = excerpt('azure', '-')\n"
        "print(sum(len(one.models) for one in (azure.provider, *azure.fallbacks)), count)\n"
    )
    anthropic, made, both, made_in_all = map(int, run(code))
    assert 0 < anthropic == made
    assert made < both == made_in_all - made


def test_who_wants_the_whole_package_of_the_list_has_it_and_pydantic_is_everybody_elses():
    code = (
        "import sys\n"
        "from motes.api.price_list import excerpt\n"
        "assert excerpt('anthropic', '-') and 'pydantic' not in sys.modules\n"
        "from pydantic import BaseModel, TypeAdapter\n"
        "assert TypeAdapter(int).validate_python('1') == 1\n"
        "import genai_prices\n"
        "assert not hasattr(genai_prices, 'none')\n"
        "from genai_prices import Usage, __version__, calc_price\n"
        "print(calc_price(Usage(input_tokens=1000), 'gpt-5', provider_id='openai').total_price)"
    )
    assert Decimal(*run(code)) > 0


def test_a_package_of_the_list_that_wants_more_of_pydantic_is_loaded_as_others_load_it(tmp_path):
    package = tmp_path / "genai_prices"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "types.py").write_text(
        "import pydantic\n__all__ = ('Provider',)\n"
        "class Provider(pydantic.BaseModel):\n"
        "    id: str\n    models: list = []\n    extractors: list | None = None\n"
        "    fallback_model_providers: list | None = None\n"
        "assert Provider(id='a').models == []\n"
    )
    (package / "data_snapshot.py").write_text(
        "from . import types\n"
        "class DataSnapshot:\n"
        "    def __init__(self, providers, from_auto_update):\n"
        "        self.providers = providers\n"
    )
    (package / "data.py").write_text(
        "from .types import *\nproviders = [Provider(id='a', models=['m']), Provider(id='b', models=['n'])]\n"
    )
    code = (
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
        "from motes.api.price_list import excerpt\n"
        "print(*excerpt('a', '-').provider.models)"
    )
    assert run(code) == ["m"]


@pytest.mark.parametrize(
    "counts",
    [
        {"tokens_in": -5, "tokens_cache_read": 5, "tokens_out": 1},
        {"tokens_in": 1, "tokens_out": 1, "tokens_in_audio": 50},
        {"tokens_in": 1, "tokens_out": 1, "tokens_cache_write": 5, "tokens_cache_write_1h": 9},
        {"tokens_in": 5, "tokens_cache_read": 50, "tokens_out": 1, "tokens_in_audio": 30},
        {"tokens_in": 2**53, "tokens_out": 2**53},
    ],
)
@pytest.mark.parametrize("model", [("gemini", "gemini-2.5-flash"), ("anthropic", "claude-sonnet-4-5")])
def test_counts_that_cannot_be_have_a_price_or_none_and_never_raise(model, counts):
    found = price(*model, **counts)
    assert found is None or found >= 0


def test_an_unknown_count_has_no_price_and_zero_has_one():
    assert price("openai", "gpt-5", tokens_out=5) is None
    assert price("openai", "gpt-5", tokens_in=5) is None
    assert price("openai", "gpt-5", tokens_in=0, tokens_out=0) == 0


@pytest.mark.parametrize(
    ("toml", "place"),
    [
        ('[prices."gpt-5"]\ninput = 1\noutput = 1', "prices"),
        ('[prices."a/b"]\ninput = 1', "prices.a/b.output"),
        ('[prices."a/b"]\ninput = -1\noutput = 1', "prices.a/b.input"),
        ('[prices."a/b"]\ninput = 1\noutput = 1\ncache_writes = 1', "cache_write"),
        ("margin = -1", "margin"),
        ('price_list = "mine"', "price_list"),
    ],
)
def test_a_price_that_cannot_be_meant_is_refused_with_its_place(tmp_path, toml, place):
    with pytest.raises(PrepareError, match=place):
        settings(tmp_path, toml)


def test_the_example_is_one(tmp_path):
    example = Path(__file__).parents[2] / "functions" / "motes.example.toml"
    read = load_settings({"MOTES_HOME": str(tmp_path), "MOTES_CONFIG": str(example)}, tmp_path)
    assert read.margin == Decimal("1.3")
    book = PriceBook(read, VENDORS)
    assert book.pricing("local/llama")(THOUSAND).amount == pytest.approx((0.2 + 0.06) / 1000 * 1.3)


def test_the_margin_can_come_from_the_environment(tmp_path):
    assert settings(tmp_path, MOTES_MARGIN="1.3").margin == Decimal("1.3")
    assert Settings(home=tmp_path).margin == 1


def test_the_list_is_loaded_by_a_run_and_not_by_a_start(tmp_path):
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from motes.api.app import create_app\nfrom motes.api.gateway import open_gateway\n"
        "from motes.settings import load_settings\n"
        "create_app(open_gateway(load_settings(os.environ, Path.cwd()), os.environ))\n"
        "print(*sys.modules)"
    )
    environ = os.environ | {"MOTES_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )
    assert not {"genai_prices", "httpx2", "sqlite3", "concurrent.futures.thread"} & set(done.stdout.split())
