"""What is done to particles on their way: files put in, redirects resolved, late usage; nothing is ever lost."""

import asyncio
import base64
from contextlib import aclosing

import httpx
import pytest

from fakes.tiny import Listener, TinyParser, line, tiny_dispatch
from fakes.tiny_runs import options
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.dispatch import Errand, FileErrands, Transforms, UpstreamRequest
from motes.executor.links import is_public, is_redirect
from motes.executor.pipeline import run

REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"
KEY = {"x-api-key": "sk-secret"}


class Parser(TinyParser):
    """The tiny protocol with files and sources."""

    def __init__(self):
        super().__init__()
        self.actions |= {
            "file": lambda out, id: out.add(p.HostedResource("tiny.file", file_id=id)),
            "source": lambda out, said: out.add(p.Citation("t", said[0], start=said[1], end=said[2])),
        }


def errand(path):
    return Errand(request=UpstreamRequest(method="GET", url=f"http://tiny.invalid/{path}", headers=KEY))


def file_errands(resource):
    if resource.file_id == "bug":
        raise RuntimeError("a bug")
    if resource.file_id == "unknown":
        return None
    id = resource.file_id
    return FileErrands(content=errand(f"files/{id}/content"), about=errand(f"files/{id}"))


class Site:
    """The upstream, and whatever else is asked: answers by URL."""

    def __init__(self, lines, answers):
        self.lines, self.answers, self.asked = lines, answers, []

    async def handle(self, request):
        if request.method == "POST":
            return httpx.Response(200, content=b"".join(self.lines))
        self.asked.append(request)
        answer = self.answers.get(str(request.url).removeprefix("http://tiny.invalid/"))
        if isinstance(answer, float):
            await asyncio.sleep(answer)
        return answer if isinstance(answer, httpx.Response) else httpx.Response(404)


async def outcome(lines, transforms, answers=None):
    """(particles but metrics, the site, what was heard)."""
    site, heard = Site(lines, answers or {}), Listener()
    dispatch = tiny_dispatch(parser=Parser, transforms=transforms)
    async with (
        httpx.AsyncClient(transport=httpx.MockTransport(site.handle)) as http,
        aclosing(run(dispatch, http, options(), heard)) as particles,
    ):
        said = [particle async for particle in particles]
    assert isinstance(said[-1], p.End)
    return said, site, heard


def told(name, mime, size, **more):
    return httpx.Response(200, json={"filename": name, "mime_type": mime, "size_bytes": size, **more})


FILES = Transforms(file=file_errands)
DONE = line(stop="ok")


@in_virtual_time
async def test_a_text_file_is_put_in_between_fences_longer_than_any_in_it():
    content = "a\n```\nb\n````\n"
    answers = {
        "files/f1": told("notes.md", "text/markdown", len(content)),
        "files/f1/content": httpx.Response(200, text=content),
    }
    said, site, _ = await outcome([line(text="See"), line(file="f1"), DONE], FILES, answers)
    assert said[:2] == [p.Text("See"), p.Text("\n\n`````notes.md\na\n```\nb\n````\n`````\n")]
    assert [request.headers["x-api-key"] for request in site.asked] == ["sk-secret"] * 2


@in_virtual_time
async def test_a_picture_becomes_an_image():
    answers = {
        "files/f1": told("plot.png", "image/png", 4),
        "files/f1/content": httpx.Response(200, content=b"\x89PNG"),
    }
    said, _, _ = await outcome([line(file="f1"), DONE], FILES, answers)
    data = base64.b64encode(b"\x89PNG").decode()
    assert said[0] == p.Image("image/png", data, label="plot.png", hint_skip_resize=True)


@pytest.mark.parametrize(
    ("about", "content"),
    [
        (told("a.svg", "image/svg+xml", 4), b"<svg"),
        (told("a.bin", "application/octet-stream", 4), b"abcd"),
        (told("a.txt", "text/plain", 262_145), b"a"),
        (told("a.txt", "text/plain", 1), b"a" * 262_145),
        (told("a.png", "image/png", 1), b"a" * (1024 * 1024 + 1)),
        (told("a.txt", "text/plain", 2), b"\xff\xfe"),
        (told("a.txt", "text/plain", 20), b"`" * 10),
        (told("a.txt", "text/plain", 1, downloadable=False), b"a"),
        (told("a.txt", "text/plain", 1), None),
        (httpx.Response(200, json=[1]), b"a"),
        (httpx.Response(200, json={"filename": 1, "mime_type": [], "size_bytes": "x"}), b"a"),
        (httpx.Response(200, text="no json"), b"a"),
        (httpx.Response(302, headers={"location": "http://elsewhere.invalid/"}), b"a"),
        (None, b"a"),
    ],
)
def test_a_file_that_cannot_be_put_in_stays_a_file(about, content):
    @in_virtual_time
    async def stays():
        answers = {"files/f1": about}
        if content is not None:
            answers["files/f1/content"] = httpx.Response(200, content=content)
        said, site, heard = await outcome([line(file="f1"), DONE], FILES, answers)
        assert said[0] == p.HostedResource("tiny.file", file_id="f1")
        assert {request.url.host for request in site.asked} == {"tiny.invalid"}
        assert not heard.bugs

    stays()


@in_virtual_time
async def test_a_file_that_does_not_come_in_time_stays_a_file():
    said, _, _ = await outcome([line(file="f1"), DONE], FILES, {"files/f1": 60.0})
    assert p.HostedResource("tiny.file", file_id="f1") in said


@in_virtual_time
async def test_a_bug_in_a_transform_costs_the_transform_and_not_the_particle():
    said, _, heard = await outcome([line(file="bug"), line(text="a"), DONE], FILES)
    assert said[:2] == [p.HostedResource("tiny.file", file_id="bug"), p.Text("a")]
    assert len(heard.bugs) == 1


@in_virtual_time
async def test_sources_move_with_what_was_put_in_before_them():
    answers = {"files/f1": told("n", "text/plain", 1), "files/f1/content": httpx.Response(200, text="x")}
    lines = [
        line(text="One."),
        line(file="f1"),
        line(text="Two."),
        line(source=["u", 0, 4]),
        line(source=["u", 4, 8]),
        line(source=["u", 2, 6]),
        DONE,
    ]
    said, _, _ = await outcome(lines, FILES, answers)
    whole = "".join(one.text for one in said if isinstance(one, p.Text))
    cited = [whole[one.start : one.end] for one in said if isinstance(one, p.Citation)]
    put_in = "\n\n```n\nx\n```\n"
    assert cited == ["One.", "Two.", f"e.{put_in}Tw"]


@in_virtual_time
async def test_without_a_word_of_the_request_nothing_is_asked():
    said, site, _ = await outcome([line(file="f1"), line(source=[REDIRECT + "a", 0, 1]), DONE], Transforms())
    assert said[0] == p.HostedResource("tiny.file", file_id="f1")
    assert not site.asked


LINKS = Transforms(resolve_links=True)


def moved(to):
    return httpx.Response(302, headers={"location": to})


@in_virtual_time
async def test_a_redirect_is_resolved_once_without_a_key():
    answers = {REDIRECT + "a": moved("https://example.com/page")}
    lines = [line(source=[REDIRECT + "a", 0, 1]), line(source=[REDIRECT + "a", 2, 3]), DONE]
    said, site, _ = await outcome(lines, LINKS, answers)
    assert [one.url for one in said if isinstance(one, p.Citation)] == ["https://example.com/page"] * 2
    (asked,) = site.asked
    assert asked.method == "HEAD"
    assert "secret" not in str(asked.headers.raw)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200),
        httpx.Response(404),
        moved("http://127.0.0.1/"),
        moved("http://169.254.169.254/latest"),
        moved("http://[::1]/"),
        moved("http://[::ffff:10.0.0.1]/"),
        moved("http://localhost/"),
        moved("http://printer.local/"),
        moved("http://2130706433/"),
        moved("http://127.1/"),
        moved("https://user:word@example.com/"),
        moved("javascript:alert(1)"),
        moved("/elsewhere"),
        moved("https://example.com/" + "a" * 3000),
        60.0,
    ],
)
def test_a_redirect_that_leads_nowhere_good_stays(answer):
    @in_virtual_time
    async def stays():
        said, _, heard = await outcome(
            [line(source=[REDIRECT + "a", 0, 1]), DONE], LINKS, {REDIRECT + "a": answer}
        )
        assert [one.url for one in said if isinstance(one, p.Citation)] == [REDIRECT + "a"]
        assert not heard.bugs

    stays()


@in_virtual_time
async def test_links_are_few_and_take_seconds_at_most():
    many = [line(source=[f"{REDIRECT}{n}", 0, 1]) for n in range(50)]
    answers = {f"{REDIRECT}{n}": moved("https://example.com/") for n in range(50)}
    _, site, _ = await outcome([*many, DONE], LINKS, answers)
    assert len(site.asked) == 20
    started = asyncio.get_running_loop().time()
    _, site, _ = await outcome([*many, DONE], LINKS, dict.fromkeys(answers, 60.0))
    assert len(site.asked) == 3
    assert asyncio.get_running_loop().time() - started < 6


@pytest.mark.parametrize(
    "url",
    [
        "http://vertexaisearch.cloud.google.com/grounding-api-redirect/a",
        "https://vertexaisearch.cloud.google.com.evil.example/grounding-api-redirect/a",
        "https://evil@vertexaisearch.cloud.google.com/grounding-api-redirect/a",
        "https://vertexaisearch.cloud.google.com:8443/grounding-api-redirect/a",
        "https://vertexaisearch.cloud.google.com/other",
        "https://example.com/?u=https://vertexaisearch.cloud.google.com/grounding-api-redirect/a",
        "",
        "::",
        "https://[",
    ],
)
def test_what_only_looks_like_a_redirect_is_none(url):
    assert not is_redirect(url)


@pytest.mark.parametrize("url", ["https://example.com/a", "http://a.example:8080/", "https://8.8.8.8/"])
def test_a_public_address(url):
    assert is_public(url)


@pytest.mark.parametrize(
    "host",
    ["10.0.0.1", "127.1", "0x7f.1", "[::1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2002:a00:1::]"],
)
def test_a_private_address_is_none_in_whatever_form_it_comes(host):
    assert not is_public(f"https://{host}/a")


LATE = Transforms(snapshot=lambda run_id: errand(f"runs/{run_id}"))
SNAPSHOT = {"runs/r1": httpx.Response(200, content=line(usage={"tokens_in": 7, "tokens_out": 9}, stop="ok"))}


def usage(said):
    return [one for one in said if isinstance(one, p.Metrics)]


@in_virtual_time
async def test_usage_that_a_stream_did_not_tell_is_asked_for_once():
    said, site, _ = await outcome([line(handle="r1"), line(text="a"), DONE], LATE, SNAPSHOT)
    late = usage(said)[-1]
    assert (late.tokens_in, late.tokens_out) == (7, 9)
    assert late.all_ms is not None
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    "lines",
    [
        [line(text="a"), DONE],
        [line(handle="r1"), line(usage={"tokens_in": 1, "tokens_out": 2}), DONE],
        [line(handle="r1"), line(text="a")],
    ],
)
def test_usage_is_not_asked_for_without_a_run_or_a_need_or_a_good_end(lines):
    @in_virtual_time
    async def asks_nothing():
        _, site, _ = await outcome(lines, LATE, SNAPSHOT)
        assert not site.asked

    asks_nothing()


@pytest.mark.parametrize(
    "answer", [None, 60.0, httpx.Response(200, text="junk"), httpx.Response(200, json=[])]
)
def test_an_end_does_not_need_its_usage(answer):
    @in_virtual_time
    async def ends():
        said, _, _ = await outcome([line(handle="r1"), line(text="a"), DONE], LATE, {"runs/r1": answer})
        assert said[-1] == p.End("done-dialect", "ok")
        assert {one.source for one in usage(said)} == {"estimated"}

    ends()
