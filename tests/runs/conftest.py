"""A vendor whose runs live on, and two gateways in front of it that share a store, as two processes would."""

import pytest

from fakes.serving import client, serving
from fakes.stored_vendor import Script, StoredVendor

QUICK = "heartbeat_s = 1.0\ncommit_after_s = 0.5\n"


@pytest.fixture(scope="module")
def listening():
    with StoredVendor() as vendor:
        yield vendor


@pytest.fixture
def vendor(listening):
    """The vendor, with nothing asked of it yet."""
    listening.forget()
    listening.script = Script()
    listening.breaks_replay = listening.breaks_snapshot = False
    listening.cuts.clear()
    return listening


@pytest.fixture(scope="module")
def both(tmp_path_factory, listening):
    home = tmp_path_factory.mktemp("home")
    with serving(home, listening.toml(QUICK)) as one, serving(home, listening.toml(QUICK)) as other:
        yield one, other


@pytest.fixture
def here(both, vendor):
    with client(both[0]) as caller:
        yield caller


@pytest.fixture
def there(both, vendor):
    with client(both[1]) as caller:
        yield caller
