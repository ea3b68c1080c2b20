"""`GET /openapi.json`, generated from the models that police the requests.

Must never describe by hand what a model describes. It tells what the surface is, not who may use it, so it
needs no key.
"""

from functools import cache
from typing import Any, Final, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from motes import __version__, jsontext
from motes.api.choices import TABLE
from motes.chat import ChatRequest

_REF: Final = "#/components/schemas/{model}"
_JSON: Final = "application/json"


class ErrorDetail(BaseModel):
    """What went wrong, in OpenAI's shape; `motes` says more for programs."""

    message: str
    type: str
    param: str | None
    code: str | None
    motes: dict[str, Any] | None = None


class ErrorBody(BaseModel):
    """The body of every error."""

    error: ErrorDetail


class Capabilities(BaseModel):
    """What a model can do; what its vendor does not tell is left out."""

    tools: bool | None = None
    vision: bool | None = None
    reasoning: bool | None = None


class Model(BaseModel):
    """A model that can be asked for. `pricing` is in US dollars for one token, as decimal text; what the
    vendor does not tell is left out.
    """

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    name: str | None = None
    context_length: int | None = None
    max_output_tokens: int | None = None
    capabilities: Capabilities | None = None
    pricing: dict[str, str] | None = None


class ModelList(BaseModel):
    """All that are listed."""

    object: Literal["list"]
    data: list[Model]


class Health(BaseModel):
    """The gateway is there."""

    status: Literal["ok"]
    version: str


@cache
def body() -> bytes:
    """The document as it is sent, made when it is first asked for."""
    return jsontext.dump_bytes(document())


def document() -> dict[str, Any]:
    """The surface as an OpenAPI 3.1 document."""
    # The request is checked without pydantic, and describes itself as if it were of its kind.
    models: tuple[Any, ...] = (ChatRequest, ErrorBody, ModelList, Model, Health)
    _, definitions = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    definitions["$defs"]["MotesOptions"]["properties"] |= {
        name: {"enum": list(words.values())} for name, words in TABLE.items()
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "motes", "version": __version__},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"x_api_key": []}, {"api_key": []}],
        "paths": _paths(),
        "components": {"schemas": definitions["$defs"], "securitySchemes": _SCHEMES},
    }


_SCHEMES: Final = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "x_api_key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    "api_key": {"type": "apiKey", "in": "header", "name": "api-key"},
}


def _paths() -> dict[str, Any]:
    anything: dict[str, Any] = {"type": "object"}
    chat = {_JSON: {"schema": anything}, "text/event-stream": {"schema": {"type": "string"}}}
    particles = {
        name: {"schema": {"type": "string"}} for name in ("application/x-ndjson", "text/event-stream")
    }
    return {
        "/v1/chat/completions": {"post": _asks("An answer in OpenAI's form", chat)},
        "/v1/particles": {"post": _asks("An answer in particles", particles)},
        "/v1/models": {"get": _gets("The models that can be asked for", "ModelList")},
        "/v1/models/{id}": {"get": _gets("One model", "Model") | {"parameters": [_step("id")]}},
        **_run_paths(particles, chat),
        "/v1/resources/{vendor}/{kind}/{name}": {"get": _gives_a_file()},
        "/healthz": {"get": _gets("Whether the gateway is there", "Health") | {"security": []}},
    }


def _run_paths(particles: dict[str, Any], chat: dict[str, Any]) -> dict[str, Any]:
    id, run = [_step("id")], {_JSON: {"schema": {"type": "object"}}}
    stream = {"text/event-stream": chat["text/event-stream"]}
    after = [
        *id,
        _query("after", "the number of the last particle the reader has"),
        _query("mode", "replay or snapshot"),
    ]
    starting = [*id, _query("starting_after", "the id of the last event the reader has")]
    return {
        "/v1/runs": {
            "get": _run("Runs that can still be joined or stopped", run, [_query("limit", "at most")])
        },
        "/v1/runs/{id}": {
            "get": _run("One run", run, id),
            "delete": _run("Remove a run, at its vendor too", run, id),
        },
        "/v1/runs/{id}/cancel": {"post": _run("Stop a run; what came is kept", run, id)},
        "/v1/runs/{id}/particles": {"get": _run("A run from there on, in particles", particles, after)},
        "/v1/chat/completions/{id}": {"get": _run("A run from there on, in OpenAI's form", stream, starting)},
    }


def _run(summary: str, content: dict[str, Any], parameters: list[dict[str, Any]]) -> dict[str, Any]:
    return {"summary": summary, "parameters": parameters, "responses": _responses(summary, content)}


def _query(name: str, words: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": words, "schema": {"type": "string"}}


def _step(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _gives_a_file() -> dict[str, Any]:
    summary = "A file that an answer left at its vendor"
    content = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
    steps = [_step(name) for name in ("vendor", "kind", "name")]
    return {"summary": summary, "parameters": steps, "responses": _responses(summary, content)}


def _asks(summary: str, content: dict[str, Any]) -> dict[str, Any]:
    body = {"required": True, "content": _content("ChatRequest")}
    return {"summary": summary, "requestBody": body, "responses": _responses(summary, content)}


def _gets(summary: str, model: str) -> dict[str, Any]:
    return {"summary": summary, "responses": _responses(summary, _content(model))}


def _responses(summary: str, content: dict[str, Any]) -> dict[str, Any]:
    return {
        "200": {"description": summary, "content": content},
        "default": {"description": "An error", "content": _content("ErrorBody")},
    }


def _content(model: str) -> dict[str, Any]:
    return {_JSON: {"schema": {"$ref": _REF.format(model=model)}}}
