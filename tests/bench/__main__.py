"""motes beside the limit and beside its peers, measured in the same rounds; prints Markdown.

    uv run --group bench python -m tests.bench [slope] [burst] [paced] [live] [long] [cold] [small] [lasting]
        [--rounds 3] [--targets motes,raw_pass] [--dialects openai-chat] [--connections 1,8,64,256] [--minutes 30]

Absolute times of a shared machine mean little: each round visits every target in a new order, and a ratio is
one of two figures of the same round. Servers have one processor, the vendor and the callers another; who is
not measured is stopped. Every answer is checked, event by event. Portkey and LiteLLM are measured where they
are installed (see `targets`). `motes_journal` is motes with a journal of every run.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.bench.gauge import resident_mb, tree
from tests.bench.lasting import lasting
from tests.bench.load import Job, cpu_until_the_first_piece
from tests.bench.small import small
from tests.bench.tables import say, table
from tests.bench.targets import GATEWAY_CPU, REST_CPU, ROOT, VENDOR_PORT, Running, Target, all_targets, place
from tests.bench.wires import DIALECTS, Script

LARGEST_MB = 64
Figures = dict[str, list[float]]


class Bench:
    """Everything that runs, and how it is asked."""

    def __init__(self, options: argparse.Namespace, stack: ExitStack) -> None:
        self.options = options
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        vendor = [sys.executable, "-m", "tests.bench.vendor", str(VENDOR_PORT)]
        mock = Target("direct", vendor, VENDOR_PORT, path="vendor", answers_in="", weight=4)
        self.log = self.folder / "servers.log"
        self.running = {"direct": self.started(mock, REST_CPU, stack)}
        wanted = options.targets.split(",") if options.targets else []
        for target in all_targets(self.folder, stack, wanted):
            if wanted and target.name not in wanted:
                continue
            if target.note:
                say(f"{target.name}: {target.note}\n")
                continue
            self.running[target.name] = self.started(target, GATEWAY_CPU, stack)
        self.idle_mb = {name: resident_mb(tree(one.pid)) for name, one in self.running.items()}
        for name in self.gateways():
            for dialect in options.dialects:
                self.ask(name, dialect, Script(n=50), 4, 16)

    def started(self, target: Target, cpus: set[int], stack: ExitStack) -> Running:
        running = Running(target, cpus, self.log)
        stack.callback(running.stop)
        return running

    def gateways(self) -> list[str]:
        return [name for name in self.running if name != "direct"]

    def ask(
        self, name: str, dialect: str, script: Script, connections: int, requests: int, ramp_s: float = 0.0
    ) -> dict[str, Any]:
        """One measurement."""
        running = self.running[name]
        job = {
            **running.target.job(dialect),
            "connections": connections,
            "requests": requests,
            "script": asdict(script),
            "pid": running.pid,
            "ramp_s": ramp_s,
        }
        job["dialect"] = job["dialect"] if name not in ("direct", "raw_pass") else dialect
        with self.alone(name):
            command = [sys.executable, "-m", "tests.bench.load", json.dumps(job)]
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
            place(process.pid, REST_CPU)
            told, _ = process.communicate()
        found: dict[str, Any] = json.loads(told)
        if found["good"] != requests:
            say(f"{name} {dialect}: {found['good']} of {requests} answers are good: {found['faults']}\n")
        return found

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """The others stand still."""
        others = [one for other, one in self.running.items() if other not in (name, "direct")]
        for one in others:
            one.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for one in others:
                one.signal(signal.SIGCONT)

    def rounds(self, measure: Callable[[str, str], dict[str, float]], names: list[str]) -> Iterator[Any]:
        """((dialect, name), {figure: values by round})."""
        found: defaultdict[tuple[str, str], Figures] = defaultdict(lambda: defaultdict(list))
        for _ in range(self.options.rounds):
            for dialect in self.options.dialects:
                for name in random.sample(names, len(names)):
                    for figure, value in measure(name, dialect).items():
                        found[dialect, name][figure].append(value)
        for dialect in self.options.dialects:
            for name in names:
                yield dialect, name, found[dialect, name], lambda other, d=dialect: found[d, other]

    def scaled(self, name: str, requests: int) -> int:
        """More requests for who needs less time for each, so that clocks have something to tell."""
        return max(8, int(requests * self.running[name].target.weight))


def slope(bench: Bench) -> None:
    """What a request costs, and what an event costs on top of it."""

    def measure(name: str, dialect: str) -> dict[str, float]:
        few, many = bench.scaled(name, 120), bench.scaled(name, 24)
        short = bench.ask(name, dialect, Script(n=10), 8, few)["cpu_s"] / few
        long = bench.ask(name, dialect, Script(n=1000), 8, many)["cpu_s"] / many
        event = (long - short) / 990
        return {"µs an event": event * 1e6, "ms a request": (short - 10 * event) * 1e3}

    table(
        bench,
        "Burst, 8 connections: the cost of an event and of a request apart",
        measure,
        {
            "µs an event": ["raw_template", "motes", "portkey", "litellm"],
            "ms a request": ["aiohttp_template", "motes", "litellm"],
        },
        bench.gateways(),
    )


def burst(bench: Bench) -> None:
    """All events of an answer at once: throughput."""
    for connections in bench.options.connections:

        def measure(name: str, dialect: str, connections: int = connections) -> dict[str, float]:
            requests = max(connections, bench.scaled(name, {1: 10, 8: 40}.get(connections, 128)))
            told = bench.ask(name, dialect, Script(n=100), connections, requests)
            cpu = told["cpu_s"] / max(1, told["events"]) * 1e6
            return {
                "events/s": told["events"] / told["wall_s"],
                "µs an event": cpu,
                "peak MB": told["peak_mb"],
            }

        beside = {"events/s": ["portkey", "litellm"], "µs an event": ["raw_template", "litellm"]}
        names = ["direct", *bench.gateways()]
        table(bench, f"Burst of 100 events, {connections} connections", measure, beside, names)


def paced(bench: Bench) -> None:
    """One event a read, 20 ms apart, as live streams come: answers of 200 events, the request among them."""
    for connections in bench.options.connections:

        def measure(name: str, dialect: str, connections: int = connections) -> dict[str, float]:
            script = Script(n=200, size=32, pause=20_000, wait=50, stamp=1)
            told = bench.ask(
                name, dialect, script, connections, max(2, connections), min(2.0, connections / 50)
            )
            return {
                "µs an event": told["cpu_s"] / max(1, told["events"]) * 1e6,
                "first token ms": told["first_ms"] - script.wait,
                "event late by µs, p50": told["late_us"],
                "p99": told["late_p99_us"],
                "peak MB": told["peak_mb"],
            }

        beside = {"µs an event": ["raw_pass", "portkey", "litellm"], "event late by µs, p50": ["raw_pass"]}
        names = ["direct", *bench.gateways()]
        added = {"first token ms": ["portkey", "litellm"]}
        title = f"Paced, 20 ms between events, {connections} connections"
        table(bench, title, measure, beside, names, added)


def live(bench: Bench) -> None:
    """256 streams of 50 events a second on one processor: does it keep up?"""

    def measure(name: str, dialect: str) -> dict[str, float]:
        script = Script(n=250, size=32, pause=20_000, wait=50, stamp=1)
        told = bench.ask(name, dialect, script, 256, 256, 2.0)
        return {"seconds a stream": told["total_s"], "busy %": told["busy"] * 100, "peak MB": told["peak_mb"]}

    names = ["direct", *[name for name in ("raw_pass", "motes") if name in bench.running]]
    table(bench, "256 streams of 50 events a second", measure, {"seconds a stream": ["direct"]}, names)


def long(bench: Bench) -> None:
    """One event of many megabytes: the work is linear if a megabyte costs the same in each."""

    def measure(name: str, dialect: str) -> dict[str, float]:
        out = {}
        for size in (1, 8, 32, LARGEST_MB):
            told = bench.ask(name, dialect, Script(n=1, size=size * 10**6), 1, 1)
            out[f"ms a MB of {size} MB"] = told["cpu_s"] / size * 1e3
        return out

    table(bench, "One event of many megabytes", measure, {}, [n for n in ("motes",) if n in bench.running])


def cold(bench: Bench) -> None:
    """From the start of the process to the first text of a stream, and what it holds while it does nothing."""

    def measure(name: str, dialect: str) -> dict[str, float]:
        one = bench.running[name]
        one.start_again(GATEWAY_CPU, bench.log)
        idle = resident_mb(tree(one.pid))
        script = asdict(Script(n=5))
        job = {**one.target.job(dialect), "connections": 1, "requests": 1, "script": script, "pid": one.pid}
        with bench.alone(name):
            cpu = cpu_until_the_first_piece(Job(**job))
        return {"start s": one.start_s, "first text, CPU ms": cpu * 1e3, "idle MB": idle}

    beside = {"first text, CPU ms": ["aiohttp_template", "portkey", "litellm"], "idle MB": ["raw_pass"]}
    bench.options.dialects = bench.options.dialects[:1]
    table(bench, "Cold start, and memory at rest", measure, beside, bench.gateways())


# `lasting` comes last, and only where it is asked for.
CASES = {case.__name__: case for case in (slope, burst, paced, live, long, cold, small, lasting)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--targets", default="")
    parser.add_argument("--dialects", default=",".join(DIALECTS))
    parser.add_argument("--connections", default="1,8,64,256")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long `lasting` takes")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    options.dialects = options.dialects.split(",")
    if unknown := set(options.dialects) - set(DIALECTS):
        parser.error(f"no such dialect: {', '.join(sorted(unknown))}; there are {', '.join(DIALECTS)}")
    options.connections = [int(one) for one in options.connections.split(",")]
    # What was started is stopped, also where a limit of time ends this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with ExitStack() as stack:
        bench = Bench(options, stack)
        say(f"At rest: {', '.join(f'{name} {mb:.0f} MB' for name, mb in bench.idle_mb.items())}")
        for case in options.cases or list(CASES)[:-1]:
            CASES[case](bench)


if __name__ == "__main__":
    main()
