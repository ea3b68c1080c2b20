"""What a caller may choose about the form of an answer: by request, by key, by settings; the nearest counts."""

import asyncio
import json

import pytest

from fakes.particle_runs import chunks_of
from fakes.serving import ASK, STREAM, client, serving, vendor_row
from fakes.upstream import DONE, HELLO, SSE_HEAD, Gate, chat_chunk
from motes.api.choices import TABLE, chosen, header_of
from motes.callers import KeyRing
from motes.settings import load_settings
from motes.store.files import FileKeys

CHAT = "/chat/completions"
REASONED = (SSE_HEAD, chat_chunk({"reasoning": "hm"}), chat_chunk({"content": "yes"}, "stop"), DONE)
WRONG = {
    "reasoning_field": "loud",
    "keepalive": "drum",
    "stream_usage": "sometimes",
    "strict_requests": "maybe",
    "resumable": "perhaps",
}


def reasoning_of(response):
    """Which members of the message carry reasoning."""
    message = response.json()["choices"][0]["message"]
    return {name for name in message if name.startswith("reasoning")}


@pytest.fixture(scope="module")
def spoken(tmp_path_factory, listening):
    """A gateway whose settings choose, and the secret of a key that chooses otherwise."""
    home = tmp_path_factory.mktemp("home")
    ring = KeyRing(FileKeys(home / "keys.json"))
    _, secret = asyncio.run(ring.new("mine", {"reasoning_field": "both", "stream_usage": "always"}))
    toml = 'reasoning_field = "none"\n' + vendor_row(listening.base_url)
    with serving(home, toml) as url, client(url) as caller:
        yield caller, {"authorization": f"Bearer {secret}"}


def test_every_choice_is_a_setting_of_its_name_and_has_its_words(tmp_path):
    settings = load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path)
    for name, words in TABLE.items():
        assert getattr(settings, name) in words.values()
        assert all(isinstance(word, str) for word in words)


@pytest.mark.parametrize("name", TABLE)
def test_the_nearest_word_counts(tmp_path, name):
    settings = load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path)
    (first, one), (second, other), *_ = TABLE[name].items()
    body, header, key = {name: first}, {header_of(name): second}, {name: second}
    assert getattr(chosen(body, header, key, settings), name) == one
    assert getattr(chosen({}, header, {name: first}, settings), name) == other
    assert getattr(chosen({}, {}, key, settings), name) == other
    assert getattr(chosen({}, {}, {}, settings), name) == getattr(settings, name)


def test_body_header_key_and_settings_are_asked_in_this_order(spoken, upstream):
    caller, key = spoken
    upstream.play(*REASONED)
    header = {"x-motes-reasoning-field": "reasoning"}
    body = ASK | {"motes": {"reasoning_field": "reasoning_content"}}
    assert reasoning_of(caller.post(CHAT, json=ASK)) == set()
    assert reasoning_of(caller.post(CHAT, json=ASK, headers=key)) == {"reasoning", "reasoning_content"}
    assert reasoning_of(caller.post(CHAT, json=ASK, headers=key | header)) == {"reasoning"}
    assert reasoning_of(caller.post(CHAT, json=body, headers=key | header)) == {"reasoning_content"}


@pytest.mark.parametrize("name", TABLE)
def test_a_word_that_is_no_choice_is_refused_with_its_place_and_the_words_there_are(gateway, name):
    in_body = gateway.post(CHAT, json=ASK | {"motes": {name: WRONG[name]}})
    in_header = gateway.post(CHAT, json=ASK | {"motes": {}}, headers={header_of(name): WRONG[name]})
    for response, place, param in (
        (in_body, f"motes.{name}", f"motes.{name}"),
        (in_header, f"header {header_of(name)}", header_of(name)),
    ):
        assert response.status_code == 400
        error = response.json()["error"]
        assert error["message"] == f"{place}: must be one of {', '.join(TABLE[name])}"
        assert (error["param"], error["code"]) == (param, "invalid_value")


def test_a_wrong_word_is_refused_also_where_a_nearer_one_counts(gateway):
    body = ASK | {"motes": {"keepalive": "comment"}}
    assert gateway.post(CHAT, json=body, headers={"x-motes-keepalive": "drum"}).status_code == 400


@pytest.mark.parametrize("value", [7, None, ["comment"]])
def test_a_word_that_is_no_word_is_refused_and_null_is_none(gateway, upstream, value):
    upstream.play(*HELLO)
    response = gateway.post(CHAT, json=ASK | {"motes": {"keepalive": value}})
    assert response.status_code == (200 if value is None else 400)


def test_a_word_stored_with_a_key_that_is_none_any_more_counts_as_none(tmp_path):
    settings = load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path)
    assert chosen({}, {}, {"keepalive": "drum", "gone": "x"}, settings).keepalive == "comment"


@pytest.mark.parametrize("place", ["body", "header"])
def test_a_client_that_reads_nothing_but_json_may_ask_for_empty_deltas(tmp_path, upstream, place):
    upstream.play(SSE_HEAD, chat_chunk({"content": "a"}), Gate("quiet"), chat_chunk({}, "stop"), DONE)
    toml = "heartbeat_s = 0.2\n" + vendor_row(upstream.base_url)
    body = STREAM | ({"motes": {"keepalive": "empty-delta"}} if place == "body" else {})
    headers = {"x-motes-keepalive": "empty-delta"} if place == "header" else {}
    deltas = []
    with (
        serving(tmp_path, toml) as url,
        client(url) as caller,
        caller.stream("POST", CHAT, json=body, headers=headers) as response,
    ):
        for line in filter(None, response.iter_lines()):
            assert line.startswith("data: ")
            if line == "data: [DONE]":
                break
            deltas += [choice["delta"] for choice in json.loads(line[6:])["choices"]]
            if deltas[-1] == {}:
                upstream.open("quiet")
    assert {} in deltas[:-1]


def test_usage_always_is_a_choice_of_the_request_and_of_the_key(spoken, upstream):
    caller, key = spoken
    upstream.play(*HELLO)
    asked = STREAM | {"motes": {"stream_usage": "asked"}}
    assert chunks_of(caller.post(CHAT, json=STREAM, headers=key).content)[-1]["usage"]["total_tokens"] == 7
    without = chunks_of(caller.post(CHAT, json=asked, headers=key).content)
    assert all("usage" not in chunk for chunk in without)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"temperatur": 1}, "temperatur"),
        ({"motes": {"strict_requests": True, "reasoning_feild": "none"}}, "motes.reasoning_feild"),
        ({"stream_options": {"includ_usage": True}}, "stream_options.includ_usage"),
    ],
)
def test_a_strict_request_has_no_unknown_parameter(gateway, upstream, body, place):
    upstream.play(*HELLO)
    strict = {"x-motes-strict-requests": "true"}
    response = gateway.post(CHAT, json=ASK | body, headers=strict)
    assert response.status_code == 400
    assert (response.json()["error"]["param"], response.json()["error"]["code"]) == (
        place,
        "unknown_parameter",
    )
    lenient = ASK | body | {"motes": {**body.get("motes", {}), "strict_requests": False}}
    assert gateway.post(CHAT, json=lenient, headers=strict).status_code == 200


def test_a_strict_request_may_have_what_its_vendor_knows(tmp_path, upstream):
    upstream.play(*HELLO)
    toml = vendor_row(upstream.base_url) + 'quirks = { passthrough = ["safe_prompt"] }\n'
    with serving(tmp_path, "strict_requests = true\n" + toml) as url, client(url) as caller:
        assert caller.post(CHAT, json=ASK | {"safe_prompt": True}).status_code == 200
        assert caller.post(CHAT, json=ASK | {"unsafe_prompt": True}).status_code == 400
    assert upstream.received[0].json["safe_prompt"] is True


def test_a_key_of_the_time_before_choices_is_read(tmp_path):
    path = tmp_path / "keys.json"
    path.write_text(
        json.dumps({"keys": [{"id": "a", "name": "b", "hash": "c", "created": "d", "disabled": False}]})
    )
    (key,) = FileKeys(path).now()
    assert (key.name, dict(key.choices)) == ("b", {})


def test_the_description_names_every_choice_and_its_words(gateway):
    document = gateway.get(str(gateway.base_url).removesuffix("/v1/") + "/openapi.json").json()
    members = document["components"]["schemas"]["MotesOptions"]["properties"]
    for name, words in TABLE.items():
        expected = [True, False] if name in ("strict_requests", "resumable") else list(words)
        assert members[name]["enum"] == expected
