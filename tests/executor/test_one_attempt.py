"""One attempt: what the upstream says, and what becomes of everything it may do wrong."""

import gzip
import random
import ssl

import httpx
import pytest

from fakes.tiny import GOOD, Answer, Upstream, line, tiny_dispatch
from fakes.tiny_runs import said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.dispatch import UpstreamRequest
from motes.executor.failures import before_the_answer
from motes.executor.policy import Backoff, Policy
from motes.vendors.vendor import DEFAULT_TIMEOUTS

ONCE = Policy(http=Backoff(1, 1.0), connection=Backoff(1, 0.5))


@in_virtual_time
async def test_a_good_answer_is_given_whole_and_ends_once():
    said = await said_by(Upstream(Answer(GOOD)))
    assert [type(particle).__name__ for particle in said.all] == ["ModelName", "Text", "Metrics", "End"]
    assert said.end == p.End("done-dialect", "ok")


@in_virtual_time
async def test_each_read_is_given_at_once():
    said = await said_by(Upstream(Answer([line(text="a"), 5.0, line(text="b"), 5.0, line(stop="ok")])))
    assert said.at(p.Text) == pytest.approx([0.0, 5.0])
    assert said.at(p.End) == pytest.approx([10.0])


@in_virtual_time
async def test_reading_stops_at_the_first_verdict_and_closes_the_body():
    upstream = Upstream(Answer([line(stop="ok"), 1000.0, line(text="never")]))
    said = await said_by(upstream)
    assert said.text == ""
    assert said.at(p.End)[0] < 0.2
    assert upstream.bodies[0].closed


@in_virtual_time
async def test_changes_of_the_request_are_told_once_and_first():
    upstream = Upstream(Answer([], status=503), Answer(GOOD))
    said = await said_by(upstream, tiny_dispatch(warnings=("top_k was dropped",)))
    assert said.all[0] == p.Warn("top_k was dropped", "request_changed")
    assert len(said.of(p.Warn)) == 1


@pytest.mark.parametrize("cut", range(0, len(b"".join(GOOD)), 3))
def test_a_stream_cut_anywhere_ends_with_exactly_one_end(cut):
    @in_virtual_time
    async def cut_there(failure):
        moves = [b"".join(GOOD)[:cut], *failure]
        said = await said_by(Upstream(Answer(moves)), policy=ONCE)
        assert said.end.reason in ("done-dispatch-closed", "issue-dispatch-rpc")
        assert said.issue.error.kind == "stream_truncated"
        assert said.issue.phase == "dispatch-read"

    cut_there([])
    cut_there([httpx.ReadError("reset")])


@in_virtual_time
async def test_a_reset_after_the_evidence_is_a_success():
    said = await said_by(Upstream(Answer([*GOOD, httpx.ReadError("reset")])))
    assert said.end.stop == "ok"
    assert not said.of(p.Issue)


@in_virtual_time
async def test_garbage_of_any_kind_never_raises():
    dice = random.Random(11)
    for _ in range(60):
        junk = [dice.randbytes(dice.randrange(1, 80)) + b"\n" * dice.randrange(2) for _ in range(12)]
        said = await said_by(Upstream(Answer(junk)), policy=ONCE)
        assert said.issue.error.kind in ("protocol", "stream_truncated")
        assert said.end.stop is None


@in_virtual_time
async def test_a_bug_of_ours_is_one_issue_and_keeps_what_was_said():
    said = await said_by(
        Upstream(Answer([line(text="so far") + line(boom="oops sk-secret"), line(stop="ok")]))
    )
    assert said.text == "so far"
    assert (said.issue.phase, said.issue.error.kind) == ("dispatch-parse", "protocol")
    assert "sk-secret" not in said.issue.text
    assert said.end.reason == "issue-dispatch-rpc"
    assert [type(bug) for bug in said.heard.bugs] == [RuntimeError]


@in_virtual_time
async def test_a_parser_that_cannot_even_be_made_is_one_issue():
    def broken():
        raise TypeError("a bug")

    said = await said_by(Upstream(Answer(GOOD)), tiny_dispatch(parser=broken))
    assert said.issue.error.code == "internal_error"
    assert said.end.reason == "issue-dispatch-rpc"


@in_virtual_time
async def test_an_error_status_is_read_with_its_body():
    body = [b'{"error":{"message":"no such', b' model","code":"model_not_found"}}']
    said = await said_by(Upstream(Answer(body, status=404, headers={"x-request-id": "req_1"})))
    error = said.issue.error
    assert said.issue.phase == "dispatch-fetch"
    assert (error.http_status, error.message, error.request_id) == (404, "no such model", "req_1")
    assert said.end == p.End("issue-dispatch-rpc")


@in_virtual_time
async def test_an_error_body_is_bounded_in_size_and_in_time():
    endless = Answer([b"x" * 50_000] * 1000, status=400)
    upstream = Upstream(endless)
    said = await said_by(upstream)
    assert said.issue.error.http_status == 400
    assert len(said.issue.text) <= 500
    slow = await said_by(Upstream(Answer([b"half of an err", 500.0], status=400)))
    assert slow.issue.text == "half of an err"
    assert slow.at(p.End)[0] < 10


@in_virtual_time
async def test_an_error_body_that_breaks_is_still_that_status():
    said = await said_by(Upstream(Answer([httpx.ReadError("reset")], status=401)))
    assert said.issue.error.kind == "authentication"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 304])
def test_a_redirect_is_never_followed(status):
    @in_virtual_time
    async def redirected():
        there = {"location": "https://elsewhere.example/v1?key=sk-other"}
        upstream = Upstream(Answer([], status=status, headers=there))
        said = await said_by(upstream)
        assert len(upstream.requests) == 1
        assert (said.issue.phase, said.issue.error.http_status) == ("dispatch-fetch", status)
        assert "elsewhere.example" in said.issue.text
        assert "sk-other" not in said.issue.text

    redirected()


@in_virtual_time
async def test_a_location_that_is_no_url_is_no_trouble():
    said = await said_by(Upstream(Answer([], status=302, headers={"location": "http://[nonsense"})))
    assert said.issue.error.code == "unexpected_status"


@in_virtual_time
async def test_a_compressed_answer_is_decoded_as_it_comes():
    whole = gzip.compress(b"".join(GOOD))
    moves = [whole[at : at + 9] for at in range(0, len(whole), 9)]
    said = await said_by(Upstream(Answer(moves, headers={"content-encoding": "gzip"})))
    assert said.text == "Hello"
    assert said.end.stop == "ok"


@in_virtual_time
async def test_a_content_encoding_that_lies_is_a_protocol_error():
    said = await said_by(Upstream(Answer(GOOD, headers={"content-encoding": "gzip"})))
    assert (said.issue.phase, said.issue.error.kind) == ("dispatch-read", "protocol")
    assert not said.issue.error.retryable


NETWORK = [
    (httpx.ConnectError("refused"), "server_error", True),
    (httpx.ConnectTimeout("slow"), "timeout", True),
    (httpx.ProxyError("407"), "server_error", True),
    (httpx.ReadError("reset"), "stream_truncated", True),
    (httpx.WriteError("reset"), "stream_truncated", True),
    (httpx.RemoteProtocolError("Server disconnected without sending a response."), "stream_truncated", True),
    (httpx.RemoteProtocolError("illegal status line: bytearray(b'SSH-2.0')"), "protocol", False),
    (httpx.LocalProtocolError("Illegal header value b'Bearer sk-secret\\n'"), "protocol", False),
    (httpx.UnsupportedProtocol("unsupported protocol 'sk-secret://'"), "protocol", False),
    (httpx.InvalidURL("Invalid port: 'sk-secret'"), "protocol", False),
    (httpx.ReadTimeout("slow"), "timeout", True),
    (ssl.SSLError("bad record mac"), "stream_truncated", True),
    (UnicodeEncodeError("ascii", "Bearer sk-secret\u00e9", 16, 17, "no"), "protocol", False),
]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ("illegal status line: bytearray(b'SSH-2.0 hello')", "HTTP"),
        ("illegal header line: bytearray(b'nonsense hello')", "proper HTTP: illegal header line"),
        ("illegal chunk header: bytearray(b'zz hello')", "proper HTTP: illegal chunk header"),
        (
            "Too little data for declared Content-Length",
            "proper HTTP: Too little data for declared Content-Length",
        ),
    ],
)
def test_who_does_not_speak_http_is_told_without_what_was_said(found, told):
    error = before_the_answer(httpx.RemoteProtocolError(found), DEFAULT_TIMEOUTS)
    assert (error.kind, error.message) == ("protocol", f"the upstream does not speak {told}")


@pytest.mark.parametrize(("failure", "kind", "retryable"), NETWORK, ids=lambda value: type(value).__name__)
def test_each_failure_of_the_network_has_its_kind_and_no_secret(failure, kind, retryable):
    @in_virtual_time
    async def fails():
        said = await said_by(Upstream(failure), policy=ONCE)
        error = said.issue.error
        assert (said.issue.phase, error.kind, error.retryable) == ("dispatch-fetch", kind, retryable)
        assert "sk-secret" not in said.issue.text
        assert said.end == p.End("issue-dispatch-rpc")
        assert not said.heard.bugs

    fails()


@pytest.mark.parametrize(
    "url", ["", "nonsense", "http://", "http://a b/", "ftp://a.example/", "http://[::1/", "http://\ud800/"]
)
def test_a_url_that_is_none_is_an_issue(url):
    @in_virtual_time
    async def fails():
        said = await said_by(Upstream(Answer(GOOD)), tiny_dispatch(url=url))
        assert said.end.reason in ("issue-dispatch-rpc", "done-dialect")

    fails()


@in_virtual_time
async def test_a_header_that_cannot_be_sent_is_an_issue_without_the_header():
    request = UpstreamRequest(method="POST", url="http://tiny.invalid/", headers={"x-key": "sk-s€cret"})
    said = await said_by(Upstream(Answer(GOOD)), tiny_dispatch(request=request))
    assert said.issue.error.code == "unsendable_request"
    assert "cret" not in said.issue.text.replace("secret", "")
