"""A vendor that keeps runs, and cleaning up with a clock that moves when told to."""

import pytest

from fakes.run_vendor import RunVendor
from fakes.stored_runs import NOW
from fakes.stores import Clock
from motes.hosts.upkeep import Upkeep
from motes.settings import load_settings


@pytest.fixture
def clock():
    return Clock(NOW)


@pytest.fixture
def vendor():
    with RunVendor(set()).serving() as made:
        yield made


@pytest.fixture
def environ(vendor, tmp_path):
    return {
        "MOTES_HOME": str(tmp_path / "home"),
        "OPENAI_API_KEY": "sk-vendor",
        "OPENAI_BASE_URL": vendor.base_url,
    }


@pytest.fixture
def upkeep(environ, tmp_path, clock):
    return Upkeep(load_settings(environ, tmp_path), environ, clock)


@pytest.fixture
def runs(upkeep):
    return upkeep.runs
