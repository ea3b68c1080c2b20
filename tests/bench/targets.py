"""What is measured, and how each is started.

A peer that is not installed is named and left out. Where peers lie: `BENCH_LITELLM` is the `litellm` command
of an environment of its own, `BENCH_PORTKEY` the folder with `node_modules/@portkey-ai/gateway`.
"""

import http.client
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from botocore.session import Session
from tests.bench.wires import PATHS
from tests.fakes.ministack import running as ministack
from tests.fakes.tables import TABLE, make_table

ROOT = Path(__file__).parents[2]
VENDOR_PORT = int(os.environ.get("BENCH_VENDOR_PORT", "19100"))
KEY = "bench-key-of-the-caller"
SECRET = "sk-bench-0123456789abcdef"
BASES = {"openai-chat": "/v1", "anthropic-messages": "/v1", "gemini-generate": "/v1beta"}
REGION, KEY_ID = "eu-central-1", "AKIDEXAMPLE"
START_SECONDS = 90.0
# Where there are two processors: the gateway has one of its own, the vendor and the callers the other.
GATEWAY_CPU, REST_CPU = {1}, {0}


@dataclass
class Target:
    """A gateway. Paths, models and headers may differ by dialect; `note` says why it is not here."""

    name: str
    command: list[str]
    port: int
    path: str = "/{dialect}/v1/chat/completions"
    model: dict[str, str] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    answers_in: str = "openai-chat"
    weight: float = 1.0
    note: str = ""

    def job(self, dialect: str) -> dict[str, Any]:
        """What the load client has to know to ask it."""
        path = PATHS[dialect] if self.path == "vendor" else self.path.format(dialect=dialect)
        return {
            "port": self.port,
            "path": path,
            "headers": self.headers.get(dialect, self.headers.get("", {})),
            "model": self.model.get(dialect, "m"),
            "dialect": self.answers_in or dialect,
            "more": self.more,
        }


def reference(name: str, port: int, **more: Any) -> Target:
    command = [sys.executable, "-m", "tests.bench.references", name, str(port), str(VENDOR_PORT)]
    return Target(name, command, port, **more)


def motes(
    folder: Path, port: int = 19120, name: str = "motes", extra: str = "", more: dict[str, str] | None = None
) -> Target:
    """The real thing: `motes serve` with the mock vendor behind three rows, and a key to be let in."""
    rows = [
        f'[vendors.bench-{dialect.split("-")[0]}]\ndialect = "{dialect}"\nkey = "{SECRET}"\n'
        f'base_url = "http://127.0.0.1:{VENDOR_PORT}{base}"\nmodels = ["m"]\n'
        for dialect, base in BASES.items()
    ]
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    (home / "motes.toml").write_text(extra + "\n".join(rows))
    environ = {"MOTES_HOME": str(home), "MOTES_CONFIG": str(home / "motes.toml"), "MOTES_API_KEY": KEY}
    environ |= more or {}
    return Target(
        name,
        [str(Path(sys.executable).with_name("motes")), "serve", "--port", str(port)],
        port,
        path="/v1/chat/completions",
        model={dialect: f"bench-{dialect.split('-')[0]}/m" for dialect in BASES},
        headers={"": {"authorization": f"Bearer {KEY}"}},
        environ=environ,
        weight=4,
    )


def motes_dynamodb(folder: Path, stack: ExitStack) -> Target:
    """The same with all it keeps in DynamoDB: the client is loaded, as on Lambda."""
    command = shutil.which("ministack")
    if command is None:
        return Target(
            "motes_dynamodb", [], 19122, note="MiniStack is not installed (`uv tool install ministack`)"
        )
    place = folder / "dynamodb"
    place.mkdir()
    address = stack.enter_context(ministack(command, place))
    environ = {
        "MOTES_TABLE": TABLE,
        "AWS_ENDPOINT_URL": address,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }
    client = Session().create_client(
        "dynamodb",
        region_name=REGION,
        endpoint_url=address,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=SECRET,
    )
    make_table(client, TABLE)
    return motes(folder, 19122, "motes_dynamodb", more=environ)


def litellm(folder: Path, port: int = 19130) -> Target:
    command = os.environ.get("BENCH_LITELLM") or shutil.which("litellm") or ""
    kinds = {"openai-chat": "openai", "anthropic-messages": "anthropic", "gemini-generate": "gemini"}
    rows = "".join(
        f"  - model_name: {kind}\n    litellm_params:\n      model: {kind}/m\n      api_key: {SECRET}\n"
        f"      api_base: http://127.0.0.1:{VENDOR_PORT}{base if kind != 'anthropic' else ''}\n"
        for (dialect, kind), base in zip(kinds.items(), BASES.values(), strict=True)
    )
    config = folder / "litellm.yaml"
    config.write_text(f"model_list:\n{rows}")
    environ = {
        "LITELLM_MASTER_KEY": SECRET,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "ERROR",
        "LITELLM_MODE": "PRODUCTION",
    }
    return Target(
        "litellm",
        [command, "--config", str(config), "--port", str(port), "--host", "127.0.0.1", "--num_workers", "1"],
        port,
        path="/v1/chat/completions",
        model=kinds,
        headers={"": {"authorization": f"Bearer {SECRET}"}},
        environ=environ,
        weight=0.2,
        note="" if command else "not installed (BENCH_LITELLM names its command)",
    )


def portkey(port: int = 19140) -> Target:
    folder = os.environ.get("BENCH_PORTKEY", "")
    start = Path(folder) / "node_modules/@portkey-ai/gateway/build/start-server.js"
    kinds = {"openai-chat": "openai", "anthropic-messages": "anthropic", "gemini-generate": "google"}
    headers = {
        dialect: {
            "authorization": f"Bearer {SECRET}",
            "x-portkey-provider": kind,
            "x-portkey-custom-host": f"http://127.0.0.1:{VENDOR_PORT}{BASES[dialect]}",
        }
        for dialect, kind in kinds.items()
    }
    is_here = bool(folder) and start.exists() and shutil.which("node") is not None
    return Target(
        "portkey",
        ["node", str(start), f"--port={port}", "--headless"],
        port,
        path="/v1/chat/completions",
        headers=headers,
        environ={"NODE_ENV": "production", "TRUSTED_CUSTOM_HOSTS": "127.0.0.1,localhost"},
        more={"max_tokens": 4096},
        weight=0.5,
        note="" if is_here else "not installed (BENCH_PORTKEY names the folder with its node_modules)",
    )


def all_targets(folder: Path, stack: ExitStack, wanted: Sequence[str] = ()) -> list[Target]:
    """In the order in which they are shown; what they need besides is stopped with the stack."""
    in_dynamodb = [motes_dynamodb(folder, stack)] if not wanted or "motes_dynamodb" in wanted else []
    return [
        reference("raw_pass", 19111, answers_in="", weight=4),
        reference("raw_template", 19112, weight=4),
        reference("aiohttp_template", 19113, weight=4),
        motes(folder),
        motes(folder, 19121, "motes_journal", "resumable = true\n"),
        *in_dynamodb,
        reference("httpx_translator", 19114),
        portkey(),
        litellm(folder),
    ]


class Running:
    """A process that answers, on processors of its own; stopped while others are measured."""

    def __init__(self, target: Target, cpus: set[int], log: Path) -> None:
        if answers(target.port):
            raise RuntimeError(f"something answers on port {target.port} already: {target.name} cannot")
        environ = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                target.command,
                env=environ | target.environ,
                cwd=ROOT,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self.target = target
        place(self.process.pid, cpus)
        self.start_s = wait_for(target.port, self.process)
        place(self.process.pid, cpus)

    @property
    def pid(self) -> int:
        return self.process.pid

    def signal(self, number: int) -> None:
        os.killpg(self.process.pid, number)

    def start_again(self, cpus: set[int], log: Path) -> None:
        """Stop it, and start it anew."""
        self.stop()
        again = Running(self.target, cpus, log)
        self.process, self.start_s = again.process, again.start_s

    def stop(self) -> None:
        if self.process.poll() is not None:
            return
        self.signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.process.wait()


def place(pid: int, cpus: set[int]) -> None:
    """Keep a process and its threads on these processors, where the machine has them."""
    if (os.cpu_count() or 1) < 2:
        return
    for task in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(task), cpus)


def answers(port: int) -> bool:
    """Whether anything speaks HTTP there."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/healthz")
        connection.getresponse().read()
    except OSError:
        return False
    return True


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> float:
    """Seconds until it answers on that port."""
    started = time.monotonic()
    while time.monotonic() - started < START_SECONDS:
        if process.poll() is not None:
            break
        if answers(port):
            return time.monotonic() - started
        time.sleep(0.02)
    raise RuntimeError(f"nothing answers on port {port}: {process.args}")
