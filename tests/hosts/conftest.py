"""The streaming host as a process of its own, behind a Runtime API and a Function URL."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fakes.aws_lambda import FakeLambda
from fakes.serving import KEY, vendor_row
from fakes.upstream import Upstream
from hosts.commands import GATEWAY

Launch = Callable[..., FakeLambda]


@pytest.fixture(scope="module")
def listening() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def upstream(listening: Upstream) -> Upstream:
    """The scripted upstream, with nothing played and nothing received yet."""
    listening.forget()
    return listening


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory, listening: Upstream) -> Iterator[Launch]:
    """Starts a function; it lives as long as the module's tests."""
    with ExitStack() as stack:

        def launch(command: list[str] = GATEWAY, toml: str = "", **options: Any) -> FakeLambda:
            home: Path = tmp_path_factory.mktemp("home")
            (home / "motes.toml").write_text(toml or vendor_row(listening.base_url))
            environ = {
                "MOTES_HOME": str(home),
                "MOTES_CONFIG": str(home / "motes.toml"),
                "MOTES_API_KEY": KEY,
                # Each process would load it anew; here times are measured.
                "MOTES_PRICE_LIST": "none",
                **options.pop("environ", {}),
            }
            return stack.enter_context(FakeLambda(command, environ, **options))

        yield launch


@pytest.fixture(scope="module")
def gateway(launch: Launch) -> FakeLambda:
    """The real thing: one invocation at a time."""
    return launch().warm()
