"""No observer and no reader of a run hears the vendor's key, whatever the upstream repeats."""

import json

import httpx
import pytest

from fakes.tiny import Answer, Upstream, line, tiny_dispatch
from fakes.tiny_runs import said_by
from fakes.virtual_time import in_virtual_time
from motes import particles as p
from motes.dispatch import generate
from motes.intake import parse_request
from motes.vendors.table import VENDORS

KEY = "sk-SECRET-abcdefghijklmnopqrstuvwxyz"
ERROR = {"message": "x" * 470 + " " + KEY, "code": KEY, "type": f"Bearer {KEY}"}


def refusal(status, error=ERROR):
    body = json.dumps({"error": error, "request_id": KEY}).encode()
    return Answer([body], status=status, headers={"x-request-id": KEY, "location": f"http://{KEY}.example/"})


@pytest.mark.parametrize(
    "answer",
    [
        refusal(302),
        refusal(400),
        refusal(401),
        refusal(429),
        refusal(503),
        Answer([line(error=ERROR)]),
        Answer([line(error={**ERROR, "type": "overloaded_error"})]),
        Answer([KEY.encode() + b"\n"] * 3),
        Answer([line(text="a"), KEY.encode() + b"\n"]),
        Answer([httpx.RemoteProtocolError(f"illegal header line {KEY}")]),
        Answer([line(model=KEY, id=KEY, stop="ok")]),
    ],
)
def test_what_is_told_has_no_part_of_the_key(answer):
    @in_virtual_time
    async def runs():
        said = await said_by(Upstream(answer), tiny_dispatch(secrets=(KEY,)))
        heard = (said.heard.issues, said.heard.retries, said.heard.ends)
        for told in (repr(said.all), repr(heard)):
            assert KEY[:8].lower() not in told.lower()
            assert KEY[10:].lower() not in told.lower()
        assert said.of(p.End)

    runs()


def test_a_dispatch_knows_what_must_not_be_told_and_does_not_tell_it():
    asked = parse_request({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
    dispatch = generate(asked, VENDORS["openai"], "m", secret=KEY)
    assert dispatch.secrets == (KEY,)
    assert KEY not in repr(dispatch)
