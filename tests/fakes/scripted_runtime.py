"""A runtime that does what its events say, right or wrong, and notes how the Runtime API answers.

It is run as the runtime's process, once before the platform's own emulator and once before the fake; the notes
(lines of JSON in $NOTES) must be the same.
"""

import json
import os
import socket
import sys

_ROOT = "/2018-06-01/runtime"
_PRELUDE = b'{"statusCode":200,"headers":{"content-type":"text/plain"}}' + bytes(8)
_ERROR = b'{"errorMessage":"why","errorType":"Motes.Why","stackTrace":[]}'
_TRAILERS = b"Lambda-Runtime-Function-Error-Type: Motes.Why\r\nLambda-Runtime-Function-Error-Body: e30=\r\n"


def exchange(request, wait=10.0):
    """(status, the error's type, headers, body) of one exchange over a connection of its own."""
    host, port = os.environ["AWS_LAMBDA_RUNTIME_API"].split(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        connection.sendall(request)
        head, _, body = _received(connection, b"").partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = _received(connection, body, int(fields.get("content-length", 0)))
    return int(first.split()[1]), _type_of(body), fields, body


def _received(connection, data, size=None):
    while (b"\r\n\r\n" not in data) if size is None else len(data) < size:
        piece = connection.recv(65536)
        if not piece:
            break
        data += piece
    return data


def _type_of(body):
    try:
        return json.loads(body).get("errorType")
    except (ValueError, AttributeError):
        return None


def get(path):
    return exchange(f"GET {_ROOT}{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())


def post(path, body=b"", **headers):
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"POST {_ROOT}{path} HTTP/1.1\r\nHost: x\r\n{fields}Content-Length: {len(body)}\r\n\r\n"
    return exchange(head.encode() + body)


def stream(id, *pieces, trailers=b"", mode="streaming"):
    head = (
        f"POST {_ROOT}/invocation/{id}/response HTTP/1.1\r\nHost: x\r\n"
        "Content-Type: application/vnd.awslambda.http-integration-response\r\n"
        f"Lambda-Runtime-Function-Response-Mode: {mode}\r\nTransfer-Encoding: chunked\r\n"
        "Trailer: Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body\r\n\r\n"
    )
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return exchange(head.encode() + chunks + b"0\r\n" + trailers + b"\r\n")


def twice(id):
    yield "of nobody", post("/invocation/nobody/response", b"x")
    yield "error of nobody", post("/invocation/nobody/error", _ERROR)
    yield "first", stream(id, _PRELUDE, b"hello")
    yield "second", stream(id, _PRELUDE, b"hello")
    yield "whole", post(f"/invocation/{id}/response", b"x")
    yield "error", post(f"/invocation/{id}/error", _ERROR)
    yield "init", post("/init/error", _ERROR)


def error(id):
    yield "error", post(f"/invocation/{id}/error", _ERROR, Lambda_Runtime_Function_Error_Type="Motes.Why")
    yield "response", stream(id, _PRELUDE, b"x")


def trailers(id):
    yield "trailers", stream(id, _PRELUDE, b"part", trailers=_TRAILERS)


def whole(id):
    yield "whole", post(f"/invocation/{id}/response", b'{"ok":1}', Content_Type="application/json")


def empty(id):
    yield "empty", stream(id, _PRELUDE)


def pieces(id):
    yield "prelude in pieces", stream(id, _PRELUDE[:5], _PRELUDE[5:-3], _PRELUDE[-3:] + b"a", b"b")


def large(id):
    yield "large", post(f"/invocation/{id}/response", bytes(7 * 1024 * 1024))


def again(id):
    yield "next while busy", get("/invocation/next")
    yield from whole(id)


def places(id):
    yield "unknown place", get("/nowhere")
    yield "wrong method", post("/invocation/next")
    yield "no snapshot here", get("/restore/next")
    yield "no snapshot to fail", post("/restore/error", _ERROR)
    yield from whole(id)


def mode(id):
    yield "mode", stream(id, _PRELUDE, b"x", mode="weird")
    yield "again", stream(id, _PRELUDE, b"x")


def leave(_):
    sys.exit(3)


MOVES = {
    move.__name__: move
    for move in (twice, error, trailers, whole, empty, pieces, large, again, places, mode, leave)
}


def live(notes):
    def note(what, told):
        status, kind, fields, _ = told
        names = sorted(name for name in fields if name.startswith("lambda-runtime-"))
        notes.write(json.dumps([what, status, kind, names]) + "\n")
        notes.flush()

    if os.environ.get("FAIL_AT_START"):
        note("init", post("/init/error", _ERROR, Lambda_Runtime_Function_Error_Type="Motes.Why"))
        note("init again", post("/init/error", _ERROR))
        sys.exit(1)
    note("too early", post("/invocation/nobody/response", b"x"))
    while True:
        told = get("/invocation/next")
        note("next", told)
        if told[0] != 200:
            sys.exit(1)
        for what, answer in MOVES[json.loads(told[3])["move"]](told[2]["lambda-runtime-aws-request-id"]):
            note(what, answer)


if __name__ == "__main__":
    with open(os.environ["NOTES"], "a") as file:
        live(file)
