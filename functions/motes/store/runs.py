"""Runs as values, and what a store of them must be able to do: the Protocol under one law test.

Must never hold a caller's or a vendor's key. What a caller asked is not kept either; what a vendor said
lies in the pages of the journal, and only for a run that asked for one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, Literal, Protocol

from motes.dataclass import dataclass
from motes.errors import ErrorKind, StoreError
from motes.particles import UpstreamHandle

RunState = Literal["running", "finished", "abandoned", "deleting", "parked"]
"""`running -> finished | abandoned -> deleting -> (gone)`; `parked` is what cleaning up gave up on."""

RunOutcome = Literal["completed", "cancelled", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyForm:
    """How the run's OpenAI answer was begun, so that another process goes on in the same words.

    `created` is in epoch seconds.
    """

    model: str
    created: int
    include_usage: bool = False
    reasoning_field: str = "reasoning_content"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """One run. Times are epoch seconds.

    `owner` is a keyed hash of the caller's key, `caller` the id of that key. `vendor`, `model` and `dialect`
    tell whom to ask again (the dialect by its name: a vendor may have several). `is_resumable`: it has a
    journal. `is_kept`: the vendor's copy stays until `due_at`, also after a clean end. `has_own_key`: the
    caller brought the vendor's key, which is kept nowhere, so only the caller can have it deleted there.

    `worker` names the process that runs it, `lease_until` when that must have been renewed. `first_seq` is
    the number of the first particle of the attempt that has the handle: a vendor's replay begins there.
    `last_seq` is the last particle of the journal.

    `due_at` is when cleaning up looks at it (of a run that goes on: when its lease runs out); without one it
    never does, and the store forgets the run two weeks after it was written last. What is over by then goes:
    the vendor's copy unless `kept_until` is later, the journal unless `journal_until` is, the run with the
    last of them. `tries` counts failed clean-ups and `problem` says what failed last, in our words.
    """

    id: str
    owner: str
    caller: str
    vendor: str
    model: str
    dialect: str
    created: float
    reply: ReplyForm
    state: RunState = "running"
    outcome: RunOutcome | None = None
    error: ErrorKind | None = None
    context: str | None = None
    is_resumable: bool = False
    is_kept: bool = False
    has_own_key: bool = False
    worker: str | None = None
    lease_until: float | None = None
    handle: UpstreamHandle | None = None
    first_seq: int = 1
    last_seq: int = 0
    ended: float | None = None
    due_at: float | None = None
    kept_until: float | None = None
    journal_until: float | None = None
    is_cancelled: bool = False
    tries: int = 0
    problem: str | None = None

    @property
    def is_listed(self) -> bool:
        """Whether its owner can still do anything with it."""
        return self.state == "running" or self.handle is not None or self.is_resumable


@dataclass(frozen=True, slots=True)
class RunFlags:
    """What a writer learns when it writes. `is_lost`: another process has taken the run, or it is gone, or
    its journal has gone on without this writer, which must write no more.
    """

    is_cancelled: bool = False
    is_lost: bool = False


LOST: Final = RunFlags(is_lost=True)

MAX_PAGE_BYTES: Final = 5 * 1024 * 1024 // 2
"""The largest body of a page: what DynamoDB writes in one transaction, also as base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a journal: the particles `first` to `last`, without a gap, as compressed JSON.

    `is_last`: the run's `End` stands in it. Of at most `MAX_PAGE_BYTES`; it is cheapest below 1 KB, where
    DynamoDB takes it as one unit.
    """

    first: int
    last: int
    body: bytes = field(repr=False)
    is_last: bool = False


class RunStore(Protocol):
    """The runs and their journals. Methods raise StoreError where the store fails; none blocks the loop.

    A run that is missing and a run of somebody else are one to a caller: `get` and `cancel` with an owner
    make the same calls for both and give None.
    """

    async def put(self, run: StoredRun) -> bool:
        """Keep a run that is new; False, and nothing changed, where its id is there already."""
        ...

    async def put_all(self, runs: Sequence[StoredRun]) -> Mapping[str, StoreError]:
        """`put` for many at once; gives which of them could not be kept, by their ids, and why."""
        ...

    async def update(self, run: StoredRun, *, worker: str) -> RunFlags:
        """Replace what is known of a run that is that worker's: its lease and worker too, which may be given
        up so. What stays: the flag to cancel, `last_seq`, and the fields that tell whose run it is.
        """
        ...

    async def get(self, id: str, *, owner: str | None) -> StoredRun | None:
        """The run as it is now; `owner` None is the operator, who sees all."""
        ...

    async def list(
        self, *, owner: str | None, limit: int, before: float | None = None
    ) -> Sequence[StoredRun]:
        """The newest runs that are listed (`is_listed`), the newest first; created before that time."""
        ...

    async def set_handle(
        self, id: str, handle: UpstreamHandle, *, first_seq: int, due_at: float
    ) -> UpstreamHandle | None:
        """Keep the handle, in one conditional write, and give the one that is kept: of two, that of the run
        which was created earlier; None where our run is gone. A handle that is not kept is the caller's to
        have deleted. The same one again moves `first_seq` and `due_at`.
        """
        ...

    async def renew(self, id: str, *, worker: str, until: float) -> RunFlags:
        """Renew the lease of that worker."""
        ...

    async def flags(self, ids: Sequence[str], *, worker: str) -> Mapping[str, RunFlags]:
        """What that worker would learn of these runs if he renewed their leases, which stay as they are; by
        their ids. One that cannot be read is left out, and told to the log.
        """
        ...

    async def claim(self, run: StoredRun, *, worker: str, until: float, now: float) -> StoredRun | None:
        """Take a run whose lease has run out, and give it as it is then; None where another was faster, or
        the run is gone.
        """
        ...

    async def append(self, id: str, page: Page, *, worker: str, until: float) -> RunFlags:
        """Add the page behind the last one and renew the lease, both or neither. The same page twice is one
        page. Raises StoreError for a page beyond `MAX_PAGE_BYTES`.
        """
        ...

    async def pages(self, id: str, *, after: int, limit: int) -> Sequence[Page]:
        """The pages that hold a particle beyond `after`, in order and without a gap, at most `limit`."""
        ...

    async def cancel(self, id: str, *, owner: str | None) -> StoredRun | None:
        """Set the flag that the run's worker sees, and give the run; None where there is none."""
        ...

    async def due(self, now: float, limit: int) -> Sequence[StoredRun]:
        """Runs whose `due_at` is over and which nobody has a lease of, of every state but `parked`, as they
        are now, the longest due first.
        """
        ...

    async def postpone(self, run: StoredRun, *, until: float, problem: str, is_parked: bool = False) -> bool:
        """Another try later, or none, and give up the lease; False where the run is not `run.worker`'s."""
        ...

    async def drop_pages(self, id: str) -> None:
        """Remove the run's pages, and keep the run."""
        ...

    async def delete(self, id: str) -> None:
        """Remove the run's pages, then the run, which is `deleting` and nobody's meanwhile. What is not there
        is no fault.
        """
        ...
