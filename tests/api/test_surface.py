"""Everything of the surface that is not an answer: paths, methods, keys, lists, browsers, health."""

import json
import re

import httpx
import pytest
from openai.types import Model

from fakes.serving import KEY, client, serving, vendor_row

MODELS = ("fake/m", "fast")


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
    """A caller of a gateway whose vendor cannot be reached, with one alias."""
    toml = '[aliases]\nfast = "fake/m"\n' + vendor_row("http://127.0.0.1:9/v1")
    openai = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    with serving(tmp_path_factory.mktemp("home"), toml, **openai) as url, client(url) as made:
        yield made


@pytest.fixture
def stranger(caller):
    """Somebody without a key."""
    root = str(caller.base_url).removesuffix("/v1/")
    with httpx.Client(base_url=root, timeout=20, trust_env=False) as made:
        yield made


def shape_of(response):
    error = response.json()["error"]
    assert {"message", "type", "param", "code"} <= set(error)
    assert response.headers["x-request-id"]
    return error


@pytest.mark.parametrize("path", ["/healthz", "/healthz/", "/openapi.json"])
def test_health_and_description_need_no_key(stranger, path):
    response = stranger.get(path)
    assert response.status_code == 200
    assert response.headers["x-request-id"]
    assert response.json()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/particles"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/fake/m"),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"x-api-key": "wrong"}])
def test_everything_else_needs_a_key(stranger, method, path, headers):
    response = stranger.request(method, path, headers=headers, content=b"not even json")
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    error = shape_of(response)
    assert error["type"] == "authentication_error"
    assert error["code"] in ("invalid_api_key", "missing_api_key")


@pytest.mark.parametrize("header", ["x-api-key", "api-key", "authorization"])
def test_any_of_three_headers_carries_the_key(stranger, header):
    value = f"Bearer {KEY}" if header == "authorization" else KEY
    assert stranger.get("/v1/models", headers={header: value}).status_code == 200


def test_models_lists_aliases_and_the_models_of_vendors_that_can_be_asked(caller):
    answer = caller.get("/models")
    assert answer.headers["x-motes-models-missing"] == "openai"
    listed = answer.json()
    assert listed["object"] == "list"
    ids = [model["id"] for model in listed["data"]]
    assert ids[0] == "fast"
    assert "fake/m" in ids
    assert not any(id.startswith(("openai/", "groq/")) for id in ids)
    for model in listed["data"]:
        Model.model_validate(model, strict=True)


@pytest.mark.parametrize("name", ["fake/m", "fast", "fake/not/listed"])
def test_a_model_is_found_by_any_name_that_means_one(caller, name):
    model = caller.get(f"/models/{name}").json()
    assert (model["id"], model["object"], model["owned_by"]) == (name, "model", "fake")


def test_a_model_that_means_nothing_is_404(caller):
    response = caller.get("/models/gpt-x")
    assert response.status_code == 404
    assert shape_of(response)["code"] == "model_not_found"


def test_a_client_of_anthropics_gets_its_shape(caller):
    page = caller.get("/models?limit=1000", headers={"anthropic-version": "2023-06-01"}).json()
    assert page["data"][0].keys() == {"type", "id", "display_name", "created_at"}
    assert (page["has_more"], page["first_id"]) == (False, "fast")


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/", "/models", "/models//"])
def test_paths_are_tolerated_with_and_without_v1_and_with_a_last_slash(stranger, path):
    response = stranger.get(path, headers={"x-api-key": KEY}, follow_redirects=False)
    assert response.status_code == 200


def test_a_doubled_v1_is_404_with_a_hint(caller):
    response = caller.get("/v1/models")
    assert response.status_code == 404
    assert "ends in /v1 already" in shape_of(response)["message"]


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/nothing", "/v1/chat", "/api/hello", "/%F0%9F%98%80", "/v1/models"]
)
def test_an_unknown_path_is_404_in_openais_shape(stranger, path):
    response = stranger.request("DELETE" if path == "/v1/models" else "GET", path)
    assert response.status_code == (405 if path == "/v1/models" else 404)
    assert shape_of(response)["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/chat/completions", {"POST"}),
        ("DELETE", "/v1/particles", {"POST"}),
        ("POST", "/v1/models", {"GET", "HEAD"}),
        ("PUT", "/healthz", {"GET", "HEAD"}),
    ],
)
def test_a_wrong_method_is_405_and_says_which_is_right(stranger, method, path, allowed):
    response = stranger.request(method, path)
    assert response.status_code == 405
    assert set(response.headers["allow"].split(", ")) == allowed
    assert shape_of(response)["code"] == "method_not_allowed"


def test_a_browser_may_ask(stranger):
    asks = {
        "origin": "http://page",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,x-stainless-os",
    }
    response = stranger.options("/v1/chat/completions", headers=asks)
    assert response.status_code == 204
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["access-control-allow-headers"] == "authorization,x-stainless-os"
    assert "POST" in response.headers["access-control-allow-methods"]


@pytest.mark.parametrize("path", ["/v1/models", "/healthz", "/nowhere"])
def test_every_answer_can_be_read_by_a_page_errors_too(stranger, path):
    response = stranger.get(path)
    assert response.headers["access-control-allow-origin"] == "*"
    assert "x-request-id" in response.headers["access-control-expose-headers"]


@pytest.mark.parametrize("origin", ["http://page", "null"])
def test_no_page_is_let_in_by_a_cookie(stranger, origin):
    for method in ("GET", "OPTIONS"):
        response = stranger.request(method, "/v1/models", headers={"origin": origin})
        assert response.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in response.headers


@pytest.mark.parametrize(
    ("path", "methods"), [("/v1/chat/completions/", {"POST"}), ("/v1/models", {"GET"}), ("/nowhere", set())]
)
def test_every_path_may_be_asked_what_it_takes(stranger, path, methods):
    response = stranger.options(path)
    assert response.status_code == 204
    assert methods | {"OPTIONS"} <= set(response.headers["allow"].split(", "))


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT"])
def test_chat_takes_post_alone_and_the_hint_about_v1_holds_for_it_too(stranger, method):
    refused = stranger.request(method, "/v1/chat/completions/")
    assert refused.status_code == 405
    assert "POST" in refused.headers["allow"]
    doubled = stranger.post("/v1/v1/chat/completions", json={})
    assert doubled.status_code == 404
    assert "ends in /v1 already" in shape_of(doubled)["message"]


def test_one_model_has_anthropics_shape_for_a_client_of_anthropics(caller):
    model = caller.get("/models/fake/m", headers={"anthropic-version": "2023-06-01"}).json()
    assert (model["type"], model["id"]) == ("model", "fake/m")


@pytest.mark.parametrize(
    ("path", "key", "status", "kind"),
    [
        ("/v1/models", "wrong", 401, "authentication_error"),
        ("/v1/models/none", KEY, 404, "invalid_request_error"),
        ("/v1/nothing", KEY, 404, "invalid_request_error"),
    ],
)
def test_an_error_has_anthropics_shape_too_for_a_client_of_anthropics(stranger, path, key, status, kind):
    given = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    response = stranger.get(path, headers=given)
    assert response.status_code == status
    assert response.json()["type"] == "error"
    assert response.json()["error"]["type"] == kind
    assert response.json()["error"]["message"]
    del given["anthropic-version"]
    assert set(stranger.get(path, headers=given).json()) == {"error"}


@pytest.mark.parametrize("path", ["/healthz", "/v1/models"])
def test_head_is_get_without_a_body(stranger, path):
    key = {"x-api-key": KEY}
    head, get = stranger.head(path, headers=key), stranger.get(path, headers=key)
    assert head.status_code == get.status_code
    assert head.headers["content-length"] == get.headers["content-length"]
    assert head.content == b""


@pytest.mark.parametrize(
    ("given", "kept"), [("trace-1.a:b", True), ("", False), ("a b", False), ("x" * 65, False)]
)
def test_the_callers_own_request_id_is_kept_where_it_is_one(stranger, given, kept):
    told = stranger.get("/healthz", headers={"x-request-id": given}).headers["x-request-id"]
    assert (told == given) is kept
    assert kept or re.fullmatch(r"req_[0-9a-f]{24}", told)


def test_the_description_is_made_of_the_models_that_police_requests(stranger):
    document = stranger.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert set(document["paths"]) == {
        "/v1/chat/completions",
        "/v1/particles",
        "/v1/models",
        "/v1/models/{id}",
        "/v1/resources/{vendor}/{kind}/{name}",
        "/v1/runs",
        "/v1/runs/{id}",
        "/v1/runs/{id}/cancel",
        "/v1/runs/{id}/particles",
        "/v1/chat/completions/{id}",
        "/healthz",
    }
    schemas = document["components"]["schemas"]
    assert "reasoning_effort" in schemas["ChatRequest"]["properties"]
    referred = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert referred <= set(schemas)


def test_a_gateway_without_any_key_lets_nobody_in(tmp_path):
    with serving(tmp_path, "", MOTES_API_KEY="") as url:
        response = httpx.get(f"{url}/models", headers={"x-api-key": ""}, trust_env=False)
    assert response.status_code == 401


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/chat/completions", {"OPTIONS", "POST"}),
        ("/v1/models", {"GET", "HEAD", "OPTIONS"}),
        ("/models/a/b", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_a_path_tells_how_it_can_be_asked(stranger, path, methods):
    response = stranger.options(path)
    assert response.status_code == 204
    for name in ("allow", "access-control-allow-methods"):
        assert set(response.headers[name].split(", ")) == methods
