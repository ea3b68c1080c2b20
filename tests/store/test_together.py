"""Several processes change one key file at once, and none of them loses what another wrote."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from motes.store.files import FileKeys
from motes.store.records import CallerKey


def _add(path, n):
    # A store of its own, as another process has.
    return asyncio.run(FileKeys(path).add(CallerKey(f"id{n}", "a", f"{n:064x}", "2026-11-29T00:00:00+00:00")))


def test_keys_that_are_made_and_disabled_at_once_are_all_kept(tmp_path):
    path = tmp_path / "home" / "keys.json"
    _add(path, 0)
    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(_add, path, n) for n in range(1, 33)]
        disabled = pool.submit(lambda: asyncio.run(FileKeys(path).disable("id0")))
        assert all(one.result() for one in made)
        assert disabled.result()
    keys = FileKeys(path).now()
    assert {key.id for key in keys} == {f"id{n}" for n in range(33)}
    assert [key.id for key in keys if key.disabled] == ["id0"]
