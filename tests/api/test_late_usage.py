"""A research run whose stream ends without usage: its own snapshot tells it, asked for once, with its key."""

from pathlib import Path

import pytest

from fakes.serving import VENDOR_KEY, client, serving
from fakes.upstream import SSE_HEAD, Upstream, answer

RESEARCH = (
    Path(__file__).parents[1] / "wire" / "gemini-interactions" / "gemini-deep-research" / "response.bin"
)
ASK = {
    "model": "gemini/deep-research-preview-04-2026",
    "messages": [{"role": "user", "content": "Mills?"}],
    "motes": {"dialect": "gemini-interactions"},
}
USAGE = {
    "total_input_tokens": 1200,
    "total_cached_tokens": 200,
    "total_output_tokens": 300,
    "total_tokens": 1500,
}
SNAPSHOT = {
    "id": "v1_Research13",
    "status": "completed",
    "object": "interaction",
    "steps": [],
    "usage": USAGE,
}


@pytest.mark.parametrize(("said", "counted"), [(answer(200, SNAPSHOT), (1200, 300)), (answer(404, {}), None)])
def test_usage_that_was_not_told_comes_from_the_runs_snapshot(tmp_path, said, counted):
    with Upstream() as upstream:
        environ = {"GEMINI_BASE_URL": upstream.base_url.removesuffix("/v1"), "GEMINI_API_KEY": VENDOR_KEY}
        upstream.play(SSE_HEAD, RESEARCH.read_bytes())
        upstream.play(said)
        with serving(tmp_path, "", **environ) as url, client(url) as caller:
            response = caller.post("/chat/completions", json=ASK)
    assert response.status_code == 200, response.text
    body = response.json()
    assert "Tidal mills" in body["choices"][0]["message"]["content"]
    if counted:
        assert (body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"]) == counted
    created, asked, *_, deleted = upstream.received
    assert (created.method, asked.method, deleted.method) == ("POST", "GET", "DELETE")
    assert asked.path == "/v1beta/interactions/v1_Research13"
    assert asked.headers["x-goog-api-key"] == VENDOR_KEY
    assert asked.headers["api-revision"] == created.headers["api-revision"]
