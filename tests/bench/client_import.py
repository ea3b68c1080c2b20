"""What importing the client costs, against importing the packages it rests on.

    uv run python tests/bench/client_import.py [rounds]

Both programs run in turn, in processes of their own without site hooks; processor time is the process's own
clock. A script and not a test: it judges a machine as much as the code.
"""

import os
import statistics
import subprocess
import sys

TELL = "\nimport time; print(time.process_time() * 1000)"
ALONE = "import httpx, pydantic; pydantic.BaseModel"
CLIENT = "import motes.client"
WANTED = 1.3


def milliseconds(program: str) -> float:
    """Processor time of a program, from the start of its interpreter."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path[1:] if path)}
    told = subprocess.run(
        [sys.executable, "-S", "-P", "-c", program + TELL], env=environ, capture_output=True, check=True
    )
    return float(told.stdout)


def main(rounds: int) -> None:
    """Print the medians and the ratio, which is taken within each round."""
    rows = [(milliseconds("pass"), milliseconds(ALONE), milliseconds(CLIENT)) for _ in range(rounds + 1)][1:]
    nothing, alone, client = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio = statistics.median(row[2] / row[1] for row in rows)
    sys.stdout.write(
        f"nothing {nothing:.1f} ms, httpx and pydantic {alone:.1f} ms, motes.client {client:.1f} ms:"
        f" {ratio:.2f} times (wanted: {WANTED})\n"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 15)
