"""The command that the stack prints for the first key, run by a shell and signed by curl."""

import hashlib
import hmac
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from infra.templates import TEMPLATE, read

REGION = "eu-central-1"
SECRET = "secret/of+the-operator"

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")


class Office(HTTPServer):
    """Notes what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Desk)
        self.headers: dict[str, str] = {}
        self.path = ""
        self.body = b""


class Desk(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        office: Any = self.server
        office.headers = {name.lower(): value for name, value in self.headers.items()}
        office.path, office.body = self.path, self.rfile.read(int(self.headers["content-length"]))
        self.send_response(201)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def office() -> Iterator[Office]:
    with Office() as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield listening
        listening.shutdown()
        thread.join()


def command(url: str) -> str:
    """As CloudFormation prints it."""
    text = read(TEMPLATE)["Outputs"]["FirstKey"]["Value"]["Fn::Sub"]
    told = {"${ManageFunctionUrl.FunctionUrl}": f"{url}/", "${AWS::Region}": REGION, "${!": "${"}
    for name, value in told.items():
        text = text.replace(name, value)
    return text


def signature(office: Office, signed: list[str]) -> str:
    """What the signature must be (Signature Version 4)."""
    lines = [f"{name}:{office.headers[name].strip()}" for name in signed]
    body = hashlib.sha256(office.body).hexdigest()
    canonical = "\n".join(["POST", office.path, "", *lines, "", ";".join(signed), body])
    date = office.headers["x-amz-date"]
    scope = f"{date[:8]}/{REGION}/lambda/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}".encode(), "sha256").hex()


@pytest.mark.parametrize("token", ["", "token=="])
def test_the_printed_command_signs_with_lasting_and_with_passing_credentials(
    office: Office, token: str
) -> None:
    credentials = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": token}
    line = command(f"http://127.0.0.1:{office.server_port}")
    told = {**os.environ, **credentials, "NO_PROXY": "*"}
    done = subprocess.run(["/bin/sh", "-c", line], env=told, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}", "")
    assert (office.path, office.body) == ("/keys", b'{"name":"first"}')
    found = re.search(r"SignedHeaders=([^,]+), *Signature=(\w+)", office.headers["authorization"])
    assert found is not None
    signed = found[1].split(";")
    assert ("x-amz-security-token" in signed) == bool(token)
    assert found[2] == signature(office, signed)
