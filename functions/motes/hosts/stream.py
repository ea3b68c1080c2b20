"""The gateway as a streaming Lambda function: `python -m motes.hosts.stream`, started by `bootstrap`.

All that is surely needed is loaded before the first invocation is asked for, while the platform gives a whole
processor; what may not be needed (a dialect's house, the SDK) is not. Must import nothing but the standard
library and the Runtime API's client before it could tell the platform that an import failed.

Source: AWS Lambda developer guide, "Understanding the Lambda execution environment lifecycle", "Lambda
SnapStart runtime hooks" and "Lambda Managed Instances runtimes" (read 2026-11-29).
"""

import asyncio
import gc
import logging
import os
import random
import resource
import signal
import ssl
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from motes import chance
from motes.api.logline import logline
from motes.hosts.collector import begin_serving
from motes.hosts.exchange import RuntimeGone
from motes.hosts.json_log import log_as_json
from motes.hosts.runtime import Failure, RuntimeAPI, RuntimeRefused

if TYPE_CHECKING:
    from mangum.protocols.lifespan import LifespanCycle
    from mangum.types import ASGI
    from starlette.types import ASGIApp

    from motes.hosts.server import Server

_log = logging.getLogger("motes.host")

_SNAPSHOT: Final = "snap-start"
_ENTROPY_BYTES: Final = 32


class Service(NamedTuple):
    """An app, and how many seconds before the platform's kill a request that still runs is ended for it."""

    app: "ASGIApp"
    last_call: float = 1.0


Build: TypeAlias = Callable[[], Service]


def gateway_service() -> Service:
    """The gateway of this environment. Raises PrepareError for settings that cannot be."""
    from motes.api.app import create_app
    from motes.api.gateway import open_gateway
    from motes.executor.connection import ssl_context
    from motes.hosts.log import LogObserver
    from motes.settings import load_settings

    # Nearly every vendor is asked over TLS, and the start has a whole processor.
    ssl_context()
    settings = load_settings(os.environ, Path.cwd())
    gateway = open_gateway(settings, os.environ, observer=LogObserver())
    # The run ends itself at `deadline_stop_s`; this is for what is no run.
    return Service(create_app(gateway), settings.deadline_stop_s / 3)


def main(build: Build = gateway_service) -> int:
    """Serve until the platform says stop. Gives the process's exit status."""
    # What an import makes stays: looking for garbage among it costs a twentieth of the start.
    gc.disable()
    log_as_json(sys.stderr)
    return asyncio.run(_live(RuntimeAPI(os.environ["AWS_LAMBDA_RUNTIME_API"]), build))


async def _live(api: RuntimeAPI, build: Build) -> int:
    told_to_stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_stop.set)
    report = api.init_failed
    try:
        if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == _SNAPSHOT:
            _load(build)
            await api.restored()
            report = api.restore_failed
            _renew()
        # After a snapshot a second time: what may have been connected before it serves no life after it.
        host = await _start(api, build())
    except Exception as error:
        _log.critical(logline("init_failed", error=type(error).__name__), exc_info=error)
        await report(Failure(f"Motes.{type(error).__name__}", str(error)))
        return 1
    return await host.serve(told_to_stop)


def _load(build: Build) -> None:
    """Have everything in the snapshot that a life after it needs."""
    import motes.hosts.server  # noqa: F401 (loaded for the snapshot)

    build()


def _renew() -> None:
    """All environments restored from one snapshot begin with the same dice."""
    random.seed()
    chance.forget()
    ssl.RAND_add(os.urandom(_ENTROPY_BYTES), _ENTROPY_BYTES)


async def _start(api: RuntimeAPI, service: Service) -> "Host":
    """The app's own start-up, once in this process's life."""
    from mangum.protocols.lifespan import LifespanCycle

    from motes.hosts.server import Server

    logging.getLogger("mangum").setLevel(logging.WARNING)
    lifespan = LifespanCycle(cast("ASGI", service.app), "auto")
    life = asyncio.create_task(lifespan.run())
    await lifespan.startup()
    return Host(Server(api, service.app, lifespan.lifespan_state, service.last_call), lifespan, life)


class Host:
    """What has started. `life` is the task that the app's lifespan runs in."""

    def __init__(self, server: "Server", lifespan: "LifespanCycle", life: asyncio.Task[None]) -> None:
        self._server = server
        self._lifespan = lifespan
        self._life = life

    async def serve(self, told_to_stop: asyncio.Event) -> int:
        """Until told to stop. Gives the process's exit status."""
        workers = int(os.environ.get("AWS_LAMBDA_MAX_CONCURRENCY") or 1)
        begin_serving()
        _log.info(logline("ready", workers=workers, **_spent()))
        try:
            await self._server.serve(workers, told_to_stop)
            _log.info(logline("stopped"))
            return 0
        except (RuntimeGone, RuntimeRefused) as error:
            _log.critical(logline("runtime_gone", reason=str(error)))
            return 1
        finally:
            await self._lifespan.shutdown()
            await self._life


def _spent() -> dict[str, int]:
    """What the start has cost: milliseconds of processor time, and memory at its highest."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"cpu_ms": round(time.process_time() * 1000), "peak_kib": peak}


if __name__ == "__main__":
    sys.exit(main())
