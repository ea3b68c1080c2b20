"""One upstream and one gateway in front of it a module; every test has scripts and a client of its own."""

import pytest

from fakes.serving import client, serving, vendor_row
from fakes.upstream import Upstream


@pytest.fixture(scope="module")
def listening():
    with Upstream() as running:
        yield running


@pytest.fixture
def upstream(listening):
    """The scripted upstream, with nothing played and nothing received yet."""
    listening.forget()
    return listening


@pytest.fixture(scope="module")
def served(tmp_path_factory, listening):
    with serving(tmp_path_factory.mktemp("home"), vendor_row(listening.base_url)) as base_url:
        yield base_url


@pytest.fixture
def gateway(served, upstream):
    """A caller of a gateway whose vendor `fake` is the scripted upstream."""
    with client(served) as caller:
        yield caller
