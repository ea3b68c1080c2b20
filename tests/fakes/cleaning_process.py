"""A process that does one round of cleaning up, with its clock so many seconds ahead, and says how it went.

python cleaning_process.py <seconds>
"""

import asyncio
import json
import os
import resource
import sys
import time
from pathlib import Path

from motes.hosts.upkeep import Upkeep
from motes.settings import load_settings

_WARM = 100


def main() -> None:
    """One round; the peak of memory after a hundred runs, and at the end, in KiB."""
    ahead, looks, warm = float(sys.argv[1]), 0, 0

    def is_time_left() -> bool:
        nonlocal looks, warm
        looks += 1
        if looks == _WARM:
            warm = _peak()
        return True

    upkeep = Upkeep(load_settings(os.environ, Path.cwd()), os.environ, lambda: time.time() + ahead)
    counts = asyncio.run(upkeep.round(is_time_left)).counts()
    sys.stdout.write(json.dumps({**counts, "warm": warm, "peak": _peak()}))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
