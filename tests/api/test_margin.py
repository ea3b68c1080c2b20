"""What the operator adds to a price changes what an answer costs, and never what it is said to have used."""

import pytest

from fakes.particle_runs import chunks_of
from fakes.serving import ASK, STREAM, client, serving, vendor_row
from fakes.upstream import DONE, SSE_HEAD, chat_chunk, event

CHAT = "/chat/completions"
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 100,
    "total_tokens": 1100,
    "prompt_tokens_details": {"cached_tokens": 400},
    "completion_tokens_details": {"reasoning_tokens": 30},
}
OWN = {"cost": 0.002}
SAID = (SSE_HEAD, chat_chunk({"content": "Hello"}), chat_chunk({}, "stop"))
PRICE = '[prices."fake/m"]\ninput = 1\noutput = 10\ncached_input = 0.1\n'


def answers(tmp_path, upstream, margin, price, usage):
    """A stream's usage and `motes` member, and those of the whole answer."""
    upstream.play(*SAID, event({"choices": [], "usage": usage}), DONE)
    (home := tmp_path / margin).mkdir()
    toml = f"margin = {margin}\n" + price + vendor_row(upstream.base_url)
    with serving(home, toml) as url, client(url) as caller:
        chunks = chunks_of(
            caller.post(CHAT, json=STREAM | {"stream_options": {"include_usage": True}}).content
        )
        whole = caller.post(CHAT, json=ASK).json()
    return (chunks[-1]["usage"], chunks[-2]["motes"]), (whole["usage"], whole["motes"])


@pytest.mark.parametrize(
    ("price", "usage", "dollars"),
    [
        (PRICE, USAGE, (600 * 1 + 400 * 0.1 + 100 * 10) / 1e6),
        ("", USAGE | OWN, 0.002),
    ],
    ids=["the operator's price", "the vendor's own cost"],
)
def test_a_margin_is_in_the_cost_and_in_no_count(tmp_path, upstream, price, usage, dollars):
    for margin in ("1.0", "1.3"):
        for counts, told in answers(tmp_path, upstream, margin, price, usage):
            assert counts == USAGE
            assert told["usage_source"] == "measured"
            assert told["cost"]["amount"] == pytest.approx(dollars * float(margin), rel=1e-9)
            assert (told["cost"]["currency"], told["cost"]["margin"]) == ("USD", float(margin))
        upstream.forget()
