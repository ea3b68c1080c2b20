"""Where names lead, remembered: the same as asked anew, within bounds, and no key that a caller brought."""

from dataclasses import replace

import pytest

from motes.api import destinations
from motes.api.destinations import Destination, Destinations
from motes.dispatch import generate
from motes.errors import InvalidRequest, PrepareError, UnknownModel
from motes.intake import parse_request
from motes.settings import load_settings
from motes.vendors.catalogue import build_catalogue, speaking
from motes.vendors.table import ALIASES, VENDORS

ASK = parse_request({"messages": [{"role": "user", "content": "hi"}]})
SECRET = "sk-0123456789"


@pytest.fixture
def catalogue(tmp_path):
    return build_catalogue(VENDORS, ALIASES, load_settings({"MOTES_HOME": str(tmp_path)}, tmp_path))


def test_every_row_is_dispatched_with_a_remembered_plan_as_without_one(catalogue):
    known = Destinations(catalogue)
    for id, row in catalogue.vendors.items():
        for surface in row.surfaces if row.base_url else ():
            destination = known.find(f"{id}/m", surface.dialect)
            assert known.find(f"{id}/m", surface.dialect) is destination
            secret = None if row.auth.kind == "none" else SECRET
            anew = generate(ASK, speaking(row, surface.dialect, "m"), "m", secret=secret)
            for _ in range(2):
                made = destination.plan(secret).dispatch(ASK)
                assert (replace(made.request, is_one_of_many=False), made.vendor, made.timeouts) == (
                    anew.request,
                    anew.vendor,
                    anew.timeouts,
                )
                assert (made.secrets, made.warnings) == (anew.secrets, anew.warnings)


def test_what_leads_nowhere_is_refused_each_time(catalogue):
    known = Destinations(catalogue)
    for _ in range(2):
        with pytest.raises(UnknownModel):
            known.find("nobody/m", None)
        with pytest.raises(InvalidRequest):
            known.find("anthropic/m", "gemini-generate")
        with pytest.raises(PrepareError):
            known.find("anthropic/m", None).plan(None)


def test_a_fault_of_the_request_is_told_before_one_of_the_row(catalogue):
    row = replace(VENDORS["perplexity"], base_url="nowhere")
    tools = [{"type": "function", "function": {"name": "f"}}]
    request = parse_request({"messages": [{"role": "user", "content": "hi"}], "tools": tools})
    plan = Destination(row, "m").plan(SECRET)
    with pytest.raises(InvalidRequest):
        plan.dispatch(request)
    with pytest.raises(PrepareError):
        plan.dispatch(ASK)


def test_names_and_keys_are_remembered_within_bounds(catalogue):
    known = Destinations(catalogue)
    first = known.find("openai/first", None)
    for n in range(destinations._NAMES):
        known.find(f"openai/{n}", None)
        first.plan(f"sk-{n}")
    assert len(known._known) == destinations._NAMES
    assert len(first._plans) == destinations._KEYS
    assert known.find("openai/first", None) is not first
    long = "openai/" + "m" * destinations._LONGEST_NAME
    assert known.find(long, None) is not known.find(long, None)


def test_a_callers_key_is_not_remembered_and_no_key_is_shown(catalogue):
    destination = Destinations(catalogue).find("openai/m", None)
    passing = destination.passing()
    assert passing.plan(SECRET) is not passing.plan(SECRET)
    assert destination.plan(SECRET) is destination.plan(SECRET)
    plan = destination.plan(SECRET)
    assert plan.dispatch(ASK).request.is_one_of_many
    assert not passing.plan(SECRET).dispatch(ASK).request.is_one_of_many
    for shown in (destination, passing, plan, plan._way, plan._way.plain, plan._way.ready):
        assert SECRET not in repr(shown)
