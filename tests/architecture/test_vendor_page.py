"""The page about the vendors says what the rows are."""

import subprocess
import sys
from pathlib import Path

from motes.vendors.page import COLUMNS, page
from motes.vendors.table import VENDORS

SOURCE = Path(__file__).parents[2] / "functions"
PAGE = SOURCE / "motes" / "vendors" / "README.md"
HOW = "out of date: run `python -m motes.vendors.page > motes/vendors/README.md` in functions/"


def test_the_page_that_is_kept_is_the_one_that_is_made() -> None:
    assert PAGE.read_text() == page(VENDORS), HOW


def test_the_command_prints_it() -> None:
    command = [sys.executable, "-m", "motes.vendors.page"]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, check=True)
    assert done.stdout.decode() == page(VENDORS)


def test_every_vendor_has_its_line_with_every_cell() -> None:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    assert [len(row) for row in cells] == [len(COLUMNS)] * len(cells)
    assert {row[0] for row in cells[2:]} == set(VENDORS)
    assert all(cell for row in cells for cell in row)
