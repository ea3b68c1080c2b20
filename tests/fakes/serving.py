"""The real app under the real server on loopback, in front of a scripted upstream."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from motes.api.app import create_app
from motes.api.gateway import open_gateway
from motes.executor.policy import Backoff, Policy
from motes.hosts.local import running
from motes.hosts.log import LogObserver
from motes.settings import load_settings

KEY = "test-key-of-the-caller"
VENDOR_KEY = "sk-vendor-secret-1234567890"
AUTH = {"authorization": f"Bearer {KEY}"}
ONCE = Policy(http=Backoff(1, 0.0), connection=Backoff(1, 0.0))
ASK: dict[str, Any] = {"model": "fake/m", "messages": [{"role": "user", "content": "Hi"}]}
STREAM = ASK | {"stream": True}


def vendor_row(base_url: str, name: str = "fake", dialect: str = "openai-chat") -> str:
    """A vendor of motes.toml."""
    return (
        f'[vendors.{name}]\ndialect = "{dialect}"\nbase_url = "{base_url}"\nkey = "{VENDOR_KEY}"\n'
        'models = ["m"]\n'
    )


@contextmanager
def serving(home: Path, toml: str, policy: Policy = ONCE, **environ: str) -> Iterator[str]:
    """A gateway with these settings and a log; gives its base URL, with `/v1`."""
    (home / "motes.toml").write_text(toml)
    surroundings = {"MOTES_HOME": str(home), "MOTES_API_KEY": KEY, **environ}
    settings = load_settings(surroundings, home)
    gateway = open_gateway(settings, surroundings, observer=LogObserver(), policy=policy)
    with running(create_app(gateway)) as base_url:
        yield base_url


def client(base_url: str) -> httpx.Client:
    """A caller with the right key."""
    return httpx.Client(base_url=base_url, headers=AUTH, timeout=20, trust_env=False)
