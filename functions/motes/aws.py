"""Clients of Amazon's APIs: made when they are first used, and never on the event loop.

botocore alone, without boto3 around it: the same clients, signing and retries. Two clients cost a process
that has httpx, pydantic and starlette another 450 ms of CPU and 28 MB (boto3 would take 550 ms and 30 MB), so
nothing here is imported before somebody asks. Must never put what was asked or answered into an error.
"""

import threading
from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from motes import __version__
from motes.errors import StoreError
from motes.threads import Threads

if TYPE_CHECKING:
    from botocore.session import Session
    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_ssm.client import SSMClient

T = TypeVar("T")

# Both services answer in milliseconds. What takes longer is tried again, at most so often.
_CONNECT_SECONDS: Final = 2
_READ_SECONDS: Final = 3
_ATTEMPTS: Final = 4
# As many as a client keeps connections.
_THREADS: Final = 10
_CURES: Final = MappingProxyType(
    {
        "NoRegionError": ": set AWS_REGION",
        "NoCredentialsError": ": set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    }
)
"""What to do about the kinds of failure that come of how a process was started."""


class AWS:
    """The clients of one process. Region, credentials and endpoints come from the environment, as botocore
    finds them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = Threads(_THREADS)
        self._session: Session | None = None
        self._clients: dict[str, Any] = {}

    async def dynamodb(self, work: "Callable[[DynamoDBClient], T]") -> T:
        """Do the work in a thread. Raises StoreError, which names the kind of failure only."""
        return await self._threads.run(partial(self._do, "dynamodb", work))

    async def ssm(self, work: "Callable[[SSMClient], T]") -> T:
        """Do the work in a thread. Raises StoreError, which names the kind of failure only."""
        return await self._threads.run(partial(self._do, "ssm", work))

    async def credentials(self) -> str | None:
        """What botocore finds to sign with, as one secret (id, key, session token), or None. It is found, and
        renewed, in a thread. Raises StoreError, which names the kind of failure only.
        """
        return await self._threads.run(self._credentials)

    def _credentials(self) -> str | None:
        from botocore.exceptions import BotoCoreError

        try:
            with self._lock:
                found = self._opened().get_credentials()
                known = found.get_frozen_credentials() if found is not None else None
        except BotoCoreError as error:
            raise StoreError(f"credentials cannot be had now: {type(error).__name__}") from None
        if known is None or not known.access_key or not known.secret_key:
            return None
        return ":".join(part for part in (known.access_key, known.secret_key, known.token) if part)

    def _opened(self) -> "Session":
        from botocore.session import Session

        self._session = self._session or Session()
        return self._session

    def _do(self, service: str, work: Callable[[Any], T]) -> T:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return work(self._client(service))
        except ClientError as error:
            reason = error.response.get("Error", {}).get("Code", "ClientError")
        except BotoCoreError as error:
            reason = type(error).__name__
            reason += _CURES.get(reason, "")
        raise StoreError(f"{service} cannot be used now: {reason}")

    def _client(self, service: str) -> Any:
        """Sessions are not safe to share between threads while they make a client; clients are."""
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._made(service)
            return self._clients[service]

    def _made(self, service: str) -> Any:
        from botocore.config import Config

        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
            tcp_keepalive=True,
            user_agent_extra=f"motes/{__version__}",
        )
        return self._opened().create_client(service, config=config)
