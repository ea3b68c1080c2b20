"""Several keys of one vendor: a conversation stays with one, and what is refused goes on with the next."""

import json

import pytest

from fakes.particle_runs import chunks_of
from fakes.serving import ASK, AUTH, STREAM, client, serving
from fakes.upstream import DONE, HELLO, SSE_HEAD, answer, chat_chunk
from motes.api.rotation import COOLDOWN_SECONDS, LONGEST_SECONDS, Rotation
from motes.errors import VendorError

CHAT = "/chat/completions"
KEYS = ("sk-first-of-the-keys", "sk-second-of-the-keys", "sk-third-of-the-keys")


def toml(base_url, keys=KEYS):
    row = f'[vendors.fake]\ndialect = "openai-chat"\nbase_url = "{base_url}"\nmodels = ["m"]\n'
    return f"{row}key = {json.dumps(list(keys))}\n"


@pytest.fixture
def many(tmp_path, upstream):
    """A caller of a gateway whose vendor has three keys, none of which was ever refused."""
    with serving(tmp_path, toml(upstream.base_url)) as url, client(url) as caller:
        yield caller


def used(upstream):
    """The keys that the vendor was asked with, in order."""
    return [request.headers["authorization"].removeprefix("Bearer ") for request in upstream.received]


def of(conversation, **members):
    return ASK | {"motes": {"conversation": conversation}} | members


def refusing(*keys, status=429, body=None):
    """A vendor that refuses these keys and serves the others."""

    def judged(request):
        key = request.headers["authorization"].removeprefix("Bearer ")
        return (
            answer(status, body or {"error": {"message": f"not {key}"}}) if key in keys else b"".join(HELLO)
        )

    return judged


@pytest.mark.parametrize("status", [401, 403, 429])
def test_a_refused_key_is_followed_by_the_next_one_at_once(many, upstream, status):
    upstream.play(*HELLO)
    many.post(CHAT, json=of("a"))
    (first,) = used(upstream)
    upstream.forget()
    upstream.play(refusing(first, status=status))
    told = many.post(CHAT, json=of("a"))
    assert told.status_code == 200
    assert told.json()["motes"]["attempts"] == 2
    assert used(upstream)[0] == first
    assert len(set(used(upstream))) == 2
    assert first not in told.text


def test_a_stream_begins_with_the_answer_and_not_with_the_refusal(many, upstream):
    upstream.play(*HELLO)
    many.post(CHAT, json=of("a"))
    refused = used(upstream)[0]
    upstream.forget()
    upstream.play(refusing(refused))
    chunks = chunks_of(many.post(CHAT, json=STREAM | {"motes": {"conversation": "a"}}).content)
    assert chunks[-1]["motes"]["attempts"] == 2
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}


def test_conversations_stay_with_their_keys_and_are_spread_over_them(many, upstream):
    upstream.play(*HELLO)
    for _ in range(2):
        for number in range(12):
            assert many.post(CHAT, json=of(f"talk-{number}")).status_code == 200
    keys = used(upstream)
    assert keys[:12] == keys[12:]
    assert set(keys) == set(KEYS)


def test_without_a_name_turns_that_begin_alike_stay_with_one_key(many, upstream):
    upstream.play(*HELLO)
    history = [
        *ASK["messages"],
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "More"},
    ]
    for messages in (ASK["messages"], history):
        many.post(CHAT, json=ASK | {"messages": messages})
    assert len(set(used(upstream))) == 1


def test_a_refused_key_is_left_alone_and_its_conversations_go_elsewhere(many, upstream):
    upstream.play(*HELLO)
    many.post(CHAT, json=of("a"))
    (first,) = used(upstream)
    upstream.forget()
    upstream.play(refusing(first))
    for _ in range(3):
        assert many.post(CHAT, json=of("a")).status_code == 200
    assert used(upstream).count(first) == 1
    assert len(set(used(upstream)[1:])) == 1


def test_where_all_are_refused_the_last_refusal_is_told_with_no_key_in_it(many, upstream):
    upstream.play(refusing(*KEYS, status=401))
    told = many.post(CHAT, json=of("a"))
    assert (told.status_code, told.json()["error"]["code"]) == (502, "upstream_auth")
    assert sorted(used(upstream)) == sorted(KEYS)
    assert not any(key in told.text for key in KEYS)


def test_what_is_no_fault_of_the_key_is_not_tried_with_another(many, upstream):
    upstream.play(answer(400, {"error": {"message": "no such parameter"}}))
    assert many.post(CHAT, json=of("a")).status_code == 400
    assert len(upstream.received) == 1


def test_nothing_that_had_begun_is_asked_for_with_another_key(many, upstream):
    failure = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
    upstream.play(SSE_HEAD, chat_chunk({"content": "Hel"}), f"data: {json.dumps(failure)}\n\n".encode(), DONE)
    many.post(CHAT, json=STREAM | {"motes": {"conversation": "a"}})
    assert len(upstream.received) == 1


def test_one_key_is_never_left_alone(tmp_path, upstream):
    upstream.play(answer(401, {}))
    upstream.play(*HELLO)
    with serving(tmp_path, toml(upstream.base_url, KEYS[:1])) as url, client(url) as caller:
        assert caller.post(CHAT, json=ASK).status_code == 502
        assert caller.post(CHAT, json=ASK).status_code == 200


@pytest.mark.parametrize("text", [", ".join(KEYS), "\n".join(KEYS)])
def test_several_keys_may_stand_in_one_variable(tmp_path, upstream, text):
    upstream.play(refusing(*KEYS[:2]))
    row = f'[vendors.fake]\ndialect = "openai-chat"\nbase_url = "{upstream.base_url}"\n'
    with serving(tmp_path, row, FAKE_API_KEY=text) as url, client(url) as caller:
        assert caller.post(CHAT, json=ASK).status_code == 200
    assert used(upstream)[-1] == KEYS[2]


def test_a_key_that_cannot_be_sent_is_passed_over(tmp_path, upstream):
    upstream.play(refusing(KEYS[0]))
    keys = (KEYS[0], "sk-with-a-\u6d77-in-it", KEYS[1])
    with serving(tmp_path, toml(upstream.base_url, keys)) as url, client(url) as caller:
        statuses = {caller.post(CHAT, json=of(f"talk-{n}")).status_code for n in range(9)}
    # Who is sent to the broken key first is told so; who comes to it later goes on to the next.
    assert statuses <= {200, 500}
    assert 200 in statuses


def test_the_log_and_the_operators_hear_of_the_place_of_a_key_and_never_of_the_key(
    tmp_path, upstream, caplog
):
    upstream.play(refusing(*KEYS[:2], status=429))
    with (
        caplog.at_level("INFO", logger="motes"),
        serving(tmp_path, toml(upstream.base_url)) as url,
        client(url) as caller,
    ):
        for number in range(12):
            caller.post(CHAT, json=of(f"talk-{number}"))
    seen = json.loads((tmp_path / "health.json").read_text())["vendors"][0]
    assert "key_refused vendor=fake key=1 of=3 kind=rate_limit status=429 seconds=60" in caplog.text
    assert "vendor_key=" in caplog.text
    assert {"key", "at", "until", "kind", "status"} == seen["refusals"][0].keys()
    for told in (caplog.text, str(seen)):
        assert not any(key in told for key in KEYS)
    assert AUTH["authorization"] not in caplog.text


# What is remembered


def refusal(kind="rate_limit", **members):
    return VendorError(message="no", kind=kind, http_status=429, **members)


class Clock:
    """A clock that stands still."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (refusal(), COOLDOWN_SECONDS["rate_limit"]),
        (refusal(retry_after=7.0), 7.0),
        (refusal(retry_after=1e9), LONGEST_SECONDS),
        (refusal("quota"), COOLDOWN_SECONDS["quota"]),
        (refusal("authentication"), COOLDOWN_SECONDS["authentication"]),
    ],
)
def test_a_key_rests_as_long_as_the_vendor_says_or_its_kind_wants(error, seconds):
    clock, heard = Clock(), []
    rotation = Rotation(clock, lambda vendor, one: heard.append((vendor, one)))
    first = rotation.order("v", KEYS, "a")[0]
    rotation.refused("v", first, error)
    assert rotation.order("v", KEYS, "a")[-1] == first
    clock.now += seconds - 0.1
    assert rotation.order("v", KEYS, "a")[-1] == first
    clock.now += 0.2
    assert rotation.order("v", KEYS, "a")[0] == first
    ((vendor, told),) = heard
    assert (vendor, told.key, told.until - told.at) == ("v", first, seconds)


def test_where_all_rest_the_one_that_is_ready_first_is_asked():
    rotation = Rotation(Clock(), lambda _, __: None)
    rotation.order("v", KEYS, "a")
    for at, seconds in enumerate((30.0, 10.0, 20.0)):
        rotation.refused("v", at, refusal(retry_after=seconds))
    assert rotation.order("v", KEYS, "a") == [1, 2, 0]


def test_a_key_that_was_replaced_is_a_new_one_and_the_others_keep_their_rest():
    rotation = Rotation(Clock(), lambda _, __: None)
    rotation.order("v", KEYS, "a")
    for at in range(3):
        rotation.refused("v", at, refusal())
    order = rotation.order("v", (KEYS[2], "sk-new", KEYS[0]), "a")
    assert order[0] == 1
    rotation.refused("v", 7, refusal())


def test_a_key_less_moves_only_its_own_conversations():
    rotation = Rotation(Clock(), lambda _, __: None)
    names = [f"talk-{number}" for number in range(40)]
    before = {name: KEYS[rotation.order("v", KEYS, name)[0]] for name in names}
    after = {name: KEYS[rotation.order("v", KEYS[:2], name)[0]] for name in names}
    assert all(after[name] == key for name, key in before.items() if key != KEYS[2])
    assert len(set(before.values())) == 3


def test_a_clock_that_was_set_back_leaves_no_key_alone_for_ever():
    clock = Clock()
    rotation = Rotation(clock, lambda _, __: None)
    first = rotation.order("v", KEYS, "a")[0]
    rotation.refused("v", first, refusal("quota"))
    clock.now -= 10_000
    assert rotation.order("v", KEYS, "a")[0] == first
