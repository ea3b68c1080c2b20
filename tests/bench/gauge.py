"""Processor time and memory of a process and its children, from the kernel's own accounts."""

import os
import time
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def tree(pid: int) -> list[int]:
    """The process and all below it."""
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


def cpu_seconds(pids: list[int]) -> float:
    """By the nanosecond clock of each process (clock_getcpuclockid(3)); one that has gone counts nothing."""
    total = 0.0
    for pid in pids:
        try:
            total += time.clock_gettime((~pid << 3) | 2)
        except OSError:
            continue
    return total


def resident_mb(pids: list[int]) -> float:
    """Memory in use."""
    total = 0
    for pid in pids:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        except OSError:
            continue
    return total / 2**20
