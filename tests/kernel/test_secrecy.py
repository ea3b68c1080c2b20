"""What an upstream repeats of the vendor's key is not told on."""

from urllib.parse import quote

import pytest

from motes import particles as p
from motes.errors import VendorError
from motes.secrecy import Secrecy, masked, parts_of, without_secrets
from motes.vendor_errors import excerpt

KEY = "sk-SECRET-abc/def+ghi=jklmnopqrstuvwxyz"
AWS = "AKIDEXAMPLE0:wJalrXUtnFEMI/K7MDENG:session-token-long"


@pytest.mark.parametrize("form", [KEY, KEY.upper(), KEY.lower(), quote(KEY, safe=""), KEY[:-9], KEY[:8]])
@pytest.mark.parametrize("around", ["{}", "bad key {}!", "{0} {0}", "({}…)", "x{}"])
def test_a_key_is_masked_however_it_is_written(form, around):
    told = masked(around.format(form), parts_of(KEY)).lower()
    assert KEY[:8].lower() not in told
    assert KEY[10:].lower() not in told
    assert told.startswith(around.format("***").split("***", 1)[0])


@pytest.mark.parametrize("kept", range(480, 500))
def test_no_part_of_eight_characters_outlives_an_excerpt(kept):
    told = masked(excerpt("x" * kept + KEY), parts_of(KEY))
    assert KEY[:8] not in told


@pytest.mark.parametrize("part", AWS.split(":"))
def test_each_part_of_a_key_made_of_several_is_masked(part):
    assert masked(f"no {part}.", parts_of(AWS)) == "no ***."


def test_what_is_no_key_stays():
    assert masked("sk-SECR is İ fine", parts_of(KEY)) == "sk-SECR is İ fine"
    assert masked("İ" + KEY + "İ", parts_of(KEY)) == "İ***İ"
    assert parts_of(None) == parts_of("") == ()


CONTROL = [
    p.End("issue-dialect", None, KEY, KEY),
    p.Issue("dialect-issue", KEY, None),
    p.RetryReset("srv-op", "none", KEY, 1, 2, 3, cause_conn=KEY),
    p.Warn(KEY, "x"),
    p.Note(KEY),
    p.ModelName(KEY),
    p.ResponseId(KEY),
    p.ProviderInfra(KEY),
]


@pytest.mark.parametrize("particle", CONTROL, ids=lambda one: type(one).__name__)
def test_every_word_of_a_control_particle_is_looked_at(particle):
    assert KEY not in repr(without_secrets(particle, parts_of(KEY)))
    assert without_secrets(particle, ()) is particle


FORMS = [
    KEY,
    KEY.upper(),
    quote(KEY, safe=""),
    KEY[:8],
    KEY[:7],
    "s\u212a" + KEY[2:],
    "İ" + KEY[:8],
    "İ",
    "",
    None,
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", [KEY, AWS, "sk-Ünicode-" + KEY, "short", None])
def test_what_looks_once_says_what_the_whole_rule_says(form, secret):
    secrecy = Secrecy(parts_of(secret))
    for around in ("{}", "bad key {} and " + str(secret), "{}" + str(secret).lower()):
        words = form if form is None else around.format(form)
        said = [p.End("issue-dialect", None, words, "stop"), p.End("issue-dialect", None, None, words)]
        if words is not None:
            error = VendorError(message="no", kind="quota", details={words: [{"a": words}]})
            said += [
                p.Warn(words, "x"),
                p.ModelName(words),
                p.Text(words),
                p.Issue("dialect-issue", "", error),
            ]
        for particle in said:
            assert secrecy.kept(particle) == without_secrets(particle, parts_of(secret))
    assert "sk-" not in repr(secrecy)


def test_every_field_of_an_error_is_looked_at():
    error = VendorError(
        message=KEY, kind="quota", code=KEY, type=KEY, request_id=KEY, details={KEY: [{"a": KEY}, 3, None]}
    )
    told = without_secrets(p.Issue("dialect-issue", KEY, error), parts_of(KEY))
    assert KEY not in repr(told)
    assert told.error.kind == "quota"
    assert told.error.details == {"***": [{"a": "***"}, 3, None]}


def test_the_answer_is_the_vendors_own_and_stays():
    assert without_secrets(p.Text(KEY), parts_of(KEY)) == p.Text(KEY)
