"""The codec: every particle has its key, round-trips, and leaves out what it does not have."""

import dataclasses
from typing import Any, get_args

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motes import particles as p
from motes.codec import TAGS, from_wire, to_wire
from motes.errors import VendorError

ALL = [cls for cls in get_args(p.Particle) if cls is not p.Unknown]


def words() -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def json_values() -> st.SearchStrategy[Any]:
    leaves = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words()
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words(), inner, max_size=3),
        max_leaves=6,
    )


def errors() -> st.SearchStrategy[VendorError]:
    return st.builds(
        VendorError,
        message=words(),
        kind=st.sampled_from(["rate_limit", "protocol", "timeout"]),
        http_status=st.none() | st.integers(400, 599),
        code=st.none() | words(),
        type=st.none() | words(),
        retryable=st.booleans(),
        retry_after=st.none() | st.floats(0, 100),
        request_id=st.none() | words(),
        details=st.none() | st.dictionaries(words(), json_values(), max_size=2),
    )


def particles() -> st.SearchStrategy[Any]:
    st.register_type_strategy(VendorError, errors())
    # JSON readers keep no more of an integer than a double does.
    st.register_type_strategy(int, st.integers(-(2**53), 2**53))
    mappings = st.dictionaries(words(), json_values(), max_size=3)
    special: dict[type, dict[str, st.SearchStrategy[Any]]] = {
        p.VendorState: {"state": mappings},
        p.DebugRequest: {"request": mappings},
        p.DebugProfiler: {"measurements": st.lists(mappings, max_size=3).map(tuple)},
        p.Citation: {"location": st.none() | mappings},
    }
    return st.one_of(*(st.builds(cls, **_fields(cls, special.get(cls, {}))) for cls in ALL))


def _fields(cls: type, special: dict[str, Any]) -> dict[str, Any]:
    hints = {f.name: f.type for f in dataclasses.fields(cls)}
    strings = {name: words() for name, hint in hints.items() if hint is str}
    exact = st.integers(-(2**53), 2**53)
    numbers = {name: exact for name, hint in hints.items() if hint in (int, int | None)}
    return strings | numbers | special


def test_every_particle_has_a_tag_and_tags_are_unique() -> None:
    assert set(TAGS) == set(ALL)
    assert len(set(TAGS.values())) == len(ALL)


def test_there_are_the_reference_systems_26_discriminators_and_our_additions() -> None:
    tags = set(TAGS.values())
    reference_parts = {
        "❤",
        "tr_",
        "trs",
        "trr_",
        "fci",
        "_fci",
        "cei",
        "cer",
        "ia",
        "ii",
        "iv",
        "vp",
        "urlc",
        "hres",
        "svs",
    }
    reference_controls = {
        "end", "issue", "aix-info", "aix-retry-reset", "set-metrics", "set-model", "set-provider-infra",
        "set-upstream-handle", "_debugDispatchRequest", "_debugProfiler",
    }  # fmt: skip
    assert tags == (
        {("t", "")}
        | {("p", name) for name in reference_parts | {"rf_"}}
        | {("cg", name) for name in reference_controls | {"warn", "set-response-id"}}
    )


@given(particles())
def test_every_particle_survives_the_wire(particle: Any) -> None:
    line = orjson.dumps(to_wire(particle))
    assert from_wire(orjson.loads(line)) == particle


@given(particles())
def test_a_particle_is_flat_has_one_discriminator_and_writes_no_null(particle: Any) -> None:
    wire = to_wire(particle)
    if isinstance(particle, p.VendorState | p.DebugRequest | p.DebugProfiler | p.Citation | p.Issue):
        wire = {
            k: v
            for k, v in wire.items()
            if k not in ("state", "dispatchRequest", "measurements", "loc", "err")
        }
    assert sum(key in wire for key in ("t", "p", "cg")) == 1
    assert None not in wire.values()


@given(
    st.dictionaries(
        st.sampled_from(["t", "p", "cg", "id", "name", "metrics", "handle", "err", "iTexts"]), json_values()
    )
)
def test_whatever_comes_over_the_wire_is_a_particle_or_kept_as_it_came(raw: dict[str, Any]) -> None:
    particle = from_wire(raw)
    if isinstance(particle, p.Unknown):
        assert to_wire(particle) == raw


def test_a_particle_of_a_newer_server_is_kept() -> None:
    raw = {"p": "hologram", "beam": 3}
    assert to_wire(from_wire(raw)) == raw


@pytest.mark.parametrize(
    ("particle", "wire"),
    [
        (p.Text("hi"), {"t": "hi"}),
        (p.Heartbeat(), {"p": "❤"}),
        (p.Reasoning("hm", "tag"), {"p": "tr_", "_t": "hm", "weak": "tag"}),
        (p.Reasoning("I will", "plan"), {"p": "tr_", "_t": "I will", "weak": "plan"}),
        (p.Reasoning("", restart=True), {"p": "tr_", "_t": "", "restart": True}),
        (p.ToolCall("a", "f"), {"p": "fci", "id": "a", "name": "f"}),
        (p.ToolCall("a", "f", "{}"), {"p": "fci", "id": "a", "name": "f", "i_args": "{}"}),
        (p.ToolCallArguments("{", "a"), {"p": "_fci", "_args": "{", "id": "a"}),
        (p.Refusal("no"), {"p": "rf_", "_t": "no"}),
        (
            p.Operation("1", "Searching", "search-web", inputs=("q",)),
            {"p": "vp", "opId": "1", "text": "Searching", "mot": "search-web", "iTexts": ["q"]},
        ),
        (
            p.End("done-dialect", "ok", native_stop="end_turn"),
            {"cg": "end", "terminationReason": "done-dialect", "tokenStopReason": "ok", "nativeStop": "end_turn"},
        ),
        (
            p.Metrics(tokens_in=0, tokens_out=3, cost_cents=0.5),
            {"cg": "set-metrics", "metrics": {"TIn": 0, "TOut": 3, "$cReported": 0.5}},
        ),
        (
            p.HandleSet(p.UpstreamHandle("vnd.oai.responses", "r1", 5)),
            {"cg": "set-upstream-handle", "handle": {"uht": "vnd.oai.responses", "runId": "r1", "createdAt": 5}},
        ),
        (
            p.RetryReset("srv-dispatch", "none", "busy", 1, 3, 250, cause_http=503),
            {
                "cg": "aix-retry-reset",
                "rScope": "srv-dispatch",
                "rClearStrategy": "none",
                "reason": "busy",
                "attempt": 1,
                "maxAttempts": 3,
                "delayMs": 250,
                "causeHttp": 503,
            },
        ),
        (
            p.Issue("dialect-issue", "busy", VendorError(message="busy", kind="overloaded", retryable=True)),
            {
                "cg": "issue",
                "issueId": "dialect-issue",
                "issueText": "busy",
                "err": {"kind": "overloaded", "message": "busy", "retryable": True},
            },
        ),
    ],
)  # fmt: skip
def test_the_wire_keys_are_the_reference_systems(particle: Any, wire: dict[str, Any]) -> None:
    assert to_wire(particle) == wire
    assert from_wire(wire) == particle


def test_only_what_a_reader_sees_is_visible() -> None:
    assert p.is_visible(p.Text("x"))
    assert p.is_visible(p.ToolCall("a", "f"))
    assert not p.is_visible(p.Text(""))
    assert not p.is_visible(p.Heartbeat())
    assert not p.is_visible(p.Metrics(tokens_in=1))
    assert not p.is_visible(p.ReasoningSignature("s"))


@pytest.mark.parametrize(
    "raw",
    [
        {"t": 5},
        {"t": None},
        {"p": "tr_", "_t": ["a"]},
        {"p": "fci", "id": 1, "name": "f"},
        {"p": "svs", "vendor": "gemini", "state": "s"},
        {"cg": "end", "terminationReason": None},
        {"cg": "set-metrics", "metrics": {"TIn": "five"}},
        {"cg": "set-upstream-handle", "handle": {"uht": 1, "runId": "r"}},
    ],
    ids=str,
)
def test_a_field_of_another_type_makes_a_particle_unknown(raw: dict[str, Any]) -> None:
    assert from_wire(raw) == p.Unknown(raw)


def test_an_error_is_read_as_far_as_it_makes_sense() -> None:
    err = {"kind": "novel", "message": 3, "httpStatus": "x", "retryable": True}
    issue = from_wire({"cg": "issue", "issueId": "dispatch-read", "issueText": "a", "err": err})
    assert issue == p.Issue(
        "dispatch-read", "a", VendorError(message="", kind="server_error", retryable=True)
    )
