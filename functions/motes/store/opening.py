"""Which store a process has: the table where one is set, else the files of `MOTES_HOME`.

Must never reach for the network: a table is first asked when something is wanted of it.
"""

from pathlib import Path

from motes.aws import AWS
from motes.dataclass import dataclass
from motes.settings import Settings
from motes.store.base import HealthStore, KeyStore
from motes.store.runs import RunStore
from motes.store.usage import UsageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Everything that outlives the process. `is_remote` tells that a question takes a network's time."""

    keys: KeyStore
    health: HealthStore
    runs: RunStore
    usage: UsageStore
    is_remote: bool


def open_stores(settings: Settings, aws: AWS) -> Stores:
    """The stores of these settings. Those of the other kind are not even loaded."""
    return _files(settings) if settings.table is None else _tables(settings, settings.table, aws)


def _tables(settings: Settings, table: str, aws: AWS) -> Stores:
    from motes.store.dynamo import DynamoHealth, DynamoKeys
    from motes.store.dynamo_runs import DynamoRuns
    from motes.store.dynamo_usage import DynamoUsage

    return Stores(
        keys=DynamoKeys(table, aws),
        health=DynamoHealth(table, aws),
        runs=DynamoRuns(table, aws),
        usage=DynamoUsage(table, aws, settings.usage_days),
        is_remote=True,
    )


def _files(settings: Settings) -> Stores:
    from motes.store.files import FileHealth, FileKeys
    from motes.store.sqlite import SqliteRuns
    from motes.store.sqlite_usage import FILE_NAME, SqliteUsage

    return Stores(
        keys=FileKeys(key_file(settings)),
        health=FileHealth(settings.home / "health.json"),
        usage=SqliteUsage(settings.home / FILE_NAME, settings.usage_days),
        runs=SqliteRuns(settings.home / "motes.sqlite"),
        is_remote=False,
    )


def key_file(settings: Settings) -> Path:
    """Where the callers' keys lie on this machine."""
    return settings.home / "keys.json"
