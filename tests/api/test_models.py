"""What vendors list, as the gateway lists it: over real sockets, each vendor's shape, what fails left out."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from openai.types import Model

from fakes.serving import VENDOR_KEY, client, serving
from fakes.upstream import Gate, Upstream, answer

OTHER_KEY = "sk-of-another-vendor-123456"


def row(name, base_url, key=VENDOR_KEY, dialect="openai-chat"):
    return f'[vendors.{name}]\ndialect = "{dialect}"\nbase_url = "{base_url}"\nkey = "{key}"\n'


def openai_list(*ids):
    return {
        "object": "list",
        "data": [{"id": id, "object": "model", "created": 5, "owned_by": "x"} for id in ids],
    }


@pytest.fixture
def one():
    with Upstream() as running:
        yield running


@pytest.fixture
def two():
    with Upstream() as running:
        yield running


def ids(response):
    assert response.status_code == 200
    return [model["id"] for model in response.json()["data"]]


def test_vendors_are_asked_side_by_side_each_with_its_own_key_only(tmp_path, one, two):
    """Neither answers before both were asked."""
    one.play(Gate("asked"), answer(200, openai_list("a", "b/c")))
    two.play(Gate("asked"), answer(200, openai_list("d")))
    toml = row("one", one.base_url) + row("two", two.base_url, OTHER_KEY)
    with serving(tmp_path, toml) as url, client(url) as caller:
        one.open("asked")
        two.open("asked")
        listed = caller.get("/models")
    assert ids(listed) == ["one/a", "one/b/c", "two/d"]
    assert "x-motes-models-missing" not in listed.headers
    assert [asked.path for asked in one.received] == ["/v1/models"]
    assert one.received[0].headers["authorization"] == f"Bearer {VENDOR_KEY}"
    assert OTHER_KEY not in str(one.received)
    assert two.received[0].headers["authorization"] == f"Bearer {OTHER_KEY}"


def test_a_list_is_asked_for_once_until_it_is_too_old(tmp_path, one):
    one.play(answer(200, openai_list("a")))
    with serving(tmp_path, row("one", one.base_url)) as url, client(url) as caller:
        assert ids(caller.get("/models")) == ids(caller.get("/models")) == ["one/a"]
        assert caller.get("/models/one/a").json()["created"] == 5
        assert len(one.received) == 1


def test_all_who_ask_at_once_wait_for_one_question(tmp_path, one):
    one.play(Gate("all asked"), answer(200, openai_list("a")))
    with (
        serving(tmp_path, row("one", one.base_url)) as url,
        client(url) as caller,
        ThreadPoolExecutor(8) as pool,
    ):
        asked = [pool.submit(caller.get, "/models") for _ in range(8)]
        one.open("all asked")
        assert [ids(each.result()) for each in asked] == [["one/a"]] * 8
    assert len(one.received) == 1


@pytest.mark.parametrize(
    "said",
    [
        answer(500, {"error": "no"}),
        answer(401, {"error": "no"}),
        answer(200, b"<html>"),
        answer(200, {"data": "none"}),
        answer(302, b"", location="http://127.0.0.1:9/elsewhere"),
        b"",
    ],
)
def test_a_vendor_that_fails_is_left_out_and_named_and_left_alone_for_a_while(tmp_path, one, two, said):
    one.play(said)
    two.play(answer(200, openai_list("d")))
    toml = '[aliases]\nfast = "one/a"\n' + row("one", one.base_url) + row("two", two.base_url)
    with serving(tmp_path, toml) as url, client(url) as caller:
        listed = caller.get("/models")
        assert ids(listed) == ["fast", "two/d"]
        assert listed.headers["x-motes-models-missing"] == "one"
        assert caller.get("/models").headers["x-motes-models-missing"] == "one"
        assert caller.get("/models/one/anything").json()["id"] == "one/anything"
        assert len(one.received) == 1


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_vendor_without_a_list_is_stood_for_by_its_row(tmp_path, one, status):
    one.play(answer(status, b"nothing here"))
    environ = {"GROQ_BASE_URL": one.base_url, "GROQ_API_KEY": VENDOR_KEY}
    with serving(tmp_path, "", **environ) as url, client(url) as caller:
        listed = caller.get("/models")
        assert "groq/openai/gpt-oss-120b" in ids(listed)
        assert "x-motes-models-missing" not in listed.headers


def test_a_vendor_that_needs_no_key_is_asked_only_if_the_operator_named_it(tmp_path, one):
    one.play(answer(200, {"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]}))
    with serving(tmp_path, "", OLLAMA_BASE_URL=one.base_url) as url, client(url) as caller:
        listed = caller.get("/models")
        assert ids(listed) == ["ollama/qwen3:8b"]
        assert "x-motes-models-missing" not in listed.headers
    assert [asked.path for asked in one.received] == ["/api/tags"]
    assert "authorization" not in one.received[0].headers


def test_the_pages_of_a_list_are_read_to_the_end(tmp_path, one):
    first = {"data": [{"id": "claude-a"}], "has_more": True, "last_id": "claude-a"}
    last = {"data": [{"id": "claude-b", "display_name": "B"}], "has_more": False, "last_id": "claude-b"}
    one.play(answer(200, first))
    one.play(answer(200, last))
    environ = {"ANTHROPIC_BASE_URL": one.base_url, "ANTHROPIC_API_KEY": VENDOR_KEY}
    with serving(tmp_path, "", **environ) as url, client(url) as caller:
        assert ids(caller.get("/models")) == ["anthropic/claude-a", "anthropic/claude-b"]
        page = caller.get("/models", headers={"anthropic-version": "2023-06-01"}).json()
        assert page["data"][1]["display_name"] == "B"
    assert [asked.path for asked in one.received] == [
        "/v1/models?limit=1000",
        "/v1/models?limit=1000&after_id=claude-a",
    ]
    assert one.received[0].headers["x-api-key"] == VENDOR_KEY
    assert one.received[0].headers["anthropic-version"]


def test_a_list_that_never_ends_is_cut(tmp_path, one):
    one.play(answer(200, {"models": [{"name": "models/g"}], "nextPageToken": "again"}))
    environ = {"GEMINI_BASE_URL": one.base_url, "GEMINI_API_KEY": VENDOR_KEY}
    with serving(tmp_path, "", **environ) as url, client(url) as caller:
        assert ids(caller.get("/models")) == ["gemini/g"]
    assert len(one.received) == 2


def test_what_a_vendor_tells_of_a_model_is_told_and_an_alias_tells_it_too(tmp_path, one):
    entry = {
        "id": "maker/m",
        "name": "The M",
        "created": 1700000000,
        "context_length": 128000,
        "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
        "pricing": {"prompt": "0.0000025", "completion": "0.00001", "request": "0"},
        "top_provider": {"max_completion_tokens": 16384},
        "supported_parameters": ["tools", "temperature"],
    }
    one.play(answer(200, {"data": [entry]}))
    toml = '[aliases]\nm = "one/maker/m"\n' + row("one", one.base_url)
    with serving(tmp_path, toml) as url, client(url) as caller:
        alias, model = caller.get("/models").json()["data"]
    assert model == {
        "id": "one/maker/m",
        "object": "model",
        "created": 1700000000,
        "owned_by": "one",
        "name": "The M",
        "context_length": 128000,
        "max_output_tokens": 16384,
        "capabilities": {"tools": True, "vision": True, "reasoning": False},
        "pricing": {"prompt": "0.0000025", "completion": "0.00001"},
    }
    assert alias == model | {"id": "m"}
    Model.model_validate(model, strict=True)


def test_a_chat_asks_no_vendor_for_its_models(tmp_path, one):
    one.play(answer(500, {"error": {"message": "no"}}))
    with serving(tmp_path, row("one", one.base_url)) as url, client(url) as caller:
        caller.post(
            "/chat/completions", json={"model": "one/m", "messages": [{"role": "user", "content": "x"}]}
        )
    assert [asked.path for asked in one.received] == ["/v1/chat/completions"]
    assert json.loads(one.received[0].body)["model"] == "m"
