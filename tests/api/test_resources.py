"""Files at vendors: who may have them, under which names, how many bytes of them, and what a browser is told."""

import json

import httpx
import pytest

from fakes.messages_wire import block, end, sse, start
from fakes.serving import KEY, VENDOR_KEY, client, serving
from fakes.upstream import SSE_HEAD, Upstream, answer

ANTHROPIC = "/resources/anthropic/vnd.ant.file/file_011CNha8iCJcU1wXNR6q4V8w"
OPENAI = "/resources/openai/vnd.oai.container_file/cntr_1/cfile_2"
GEMINI = "/resources/google/vnd.gem.file/files/abc-123"
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def listening():
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory, listening):
    """A gateway whose vendors of that name are the scripted upstream."""
    names = ("ANTHROPIC", "OPENAI", "GEMINI", "XAI")
    environ = {f"{name}_BASE_URL": listening.base_url.removesuffix("/v1") for name in names}
    environ |= {f"{name}_API_KEY": VENDOR_KEY for name in names}
    environ["OPENAI_BASE_URL"] = listening.base_url
    with serving(tmp_path_factory.mktemp("home"), "", **environ) as base_url:
        yield base_url


@pytest.fixture
def upstream(listening):
    listening.forget()
    return listening


@pytest.fixture
def caller(served):
    with client(served) as made:
        yield made


@pytest.mark.parametrize(
    ("path", "asked", "header"),
    [
        (ANTHROPIC, "/v1/files/file_011CNha8iCJcU1wXNR6q4V8w/content", "x-api-key"),
        (OPENAI, "/v1/containers/cntr_1/files/cfile_2/content", "authorization"),
        (GEMINI, "/v1beta/files/abc-123:download?alt=media", "x-goog-api-key"),
    ],
)
def test_a_file_comes_with_the_vendors_key_and_as_an_attachment(caller, upstream, path, asked, header):
    upstream.play(answer(200, b"\x00bytes", content_type="text/html; charset=utf-8", set_cookie="a=b"))
    response = caller.get(path)
    assert (response.status_code, response.content) == (200, b"\x00bytes")
    assert response.headers["content-type"] == "text/html"
    assert response.headers["content-disposition"] == f'attachment; filename="{path.rpartition("/")[2]}"'
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"].startswith("sandbox")
    assert "set-cookie" not in response.headers
    assert VENDOR_KEY not in str(response.headers)
    (received,) = upstream.received
    assert received.path == asked
    assert VENDOR_KEY in received.headers[header]
    assert KEY not in str(received.headers)


def test_without_a_key_nobody_gets_a_file(served, upstream):
    for headers in ({}, {"x-api-key": "wrong"}):
        assert httpx.get(served + ANTHROPIC, headers=headers, trust_env=False).status_code == 401
    assert not upstream.received


@pytest.mark.parametrize(
    "path",
    [
        "/resources/anthropic/vnd.ant.file/..%2F..%2Fmodels",
        "/resources/anthropic/vnd.ant.file/a%3Fb",
        "/resources/anthropic/vnd.ant.file/a%23b",
        "/resources/anthropic/vnd.ant.file/a%0Ab",
        "/resources/anthropic/vnd.ant.file/a%00",
        "/resources/anthropic/vnd.ant.file/" + "a" * 129,
        "/resources/anthropic/vnd.ant.file/a/b",
        "/resources/anthropic/vnd.ant.file/é",
        "/resources/openai/vnd.oai.container_file/only_one",
        "/resources/openai/vnd.oai.container_file/a/../b",
        "/resources/openai/vnd.oai.container_file/a/b/c",
        "/resources/gemini/vnd.gem.file/models/x",
        "/resources/gemini/vnd.gem.file/files/A",
        "/resources/gemini/vnd.gem.file/files/a:b",
        "/resources/gemini/vnd.gem.file/files/-a",
        "/resources/anthropic/vnd.gem.file/files/a",
        "/resources/xai/vnd.oai.container_file/a/b",
        "/resources/nobody/vnd.ant.file/a",
        "/resources/anthropic/other/a",
        "/resources/http:%2F%2Fevil.example/vnd.ant.file/a",
    ],
)
def test_what_is_no_name_of_a_file_is_404_and_asks_nobody(caller, upstream, path):
    response = caller.get(path)
    assert response.status_code == 404
    assert response.json()["error"]
    assert not upstream.received


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        (answer(404, {"error": "x"}), 404, "resource_not_found"),
        (answer(401, {"error": VENDOR_KEY}), 502, "upstream_error"),
        (answer(500, b"boom"), 502, "upstream_error"),
        (answer(302, b"", location="http://127.0.0.1:9/"), 502, "upstream_error"),
        (b"", 502, "upstream_error"),
    ],
)
def test_a_vendor_that_gives_no_file(caller, upstream, said, status, code):
    upstream.play(said)
    response = caller.get(ANTHROPIC)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert VENDOR_KEY not in response.text
    assert len(upstream.received) == 1


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\nconnection: close\r\n"


def test_a_file_is_not_passed_on_beyond_its_size_whether_it_is_told_or_not(caller, upstream):
    told = HEAD + f"content-length: {10 * MIB + 1}\r\n\r\n".encode()
    for script in ((told, b"a" * MIB), (HEAD + b"\r\n", b"a" * (10 * MIB + 1))):
        upstream.forget()
        upstream.play(*script)
        response = caller.get(ANTHROPIC)
        assert (response.status_code, response.json()["error"]["code"]) == (502, "resource_too_large")


def test_a_file_of_unknown_size_is_passed_on_whole(caller, upstream):
    upstream.play(HEAD + b"\r\n", b"a" * MIB)
    response = caller.get(GEMINI)
    assert response.content == b"a" * MIB
    assert response.headers["content-type"] == "image/png"


def test_a_file_that_breaks_off_is_seen_to_break_off(caller, upstream):
    upstream.play(HEAD + b"content-length: 1000\r\n\r\n", b"a" * 500)
    with pytest.raises(httpx.RemoteProtocolError):
        caller.get(ANTHROPIC)


def test_a_small_file_of_an_answer_is_put_into_it_where_the_caller_asks(caller, upstream):
    content = {"type": "bash_code_execution_result", "stdout": "", "return_code": 0}
    content |= {"content": [{"type": "bash_code_execution_output", "file_id": "file_1"}]}
    result = block(0, type="bash_code_execution_tool_result", tool_use_id="t", content=content)
    about = {"id": "file_1", "filename": "a.csv", "mime_type": "text/csv", "size_bytes": 4}

    def asked(**motes):
        upstream.forget()
        upstream.play(SSE_HEAD, sse(start(), *result, *end()))
        upstream.play(answer(200, about))
        upstream.play(answer(200, b"1,2\n"))
        request = {"model": "anthropic/claude-x", "messages": [{"role": "user", "content": "x"}]}
        response = caller.post("/chat/completions", content=json.dumps(request | {"motes": motes}))
        return response.json()["choices"][0]["message"]["content"] or ""

    assert "\n```a.csv\n1,2\n```\n" in asked(inline_files=True)
    assert [received.path for received in upstream.received] == [
        "/v1/messages",
        "/v1/files/file_1",
        "/v1/files/file_1/content",
    ]
    assert "a.csv" not in asked()
    assert len(upstream.received) == 1
