"""The CA certificates of the streaming function, one by one, as OpenSSL finds them in a handshake."""

import importlib.util
import os
import re
import shutil
import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from infra.templates import ROOT

FUNCTIONS = ROOT / "functions"
HOST = "vendor.example"
# As everyone's /etc/ssl/certs names them.
KNOWN = {"ISRG Root X1": "4042bcee", "Amazon Root CA 1": "ce5e74ef", "GTS Root R1": "1001acf7"}


def tool() -> Any:
    """The script that `sam build` runs."""
    spec = importlib.util.spec_from_file_location("hashed", FUNCTIONS / "hashed_certificates.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle that the function carries."""
    folder = tmp_path_factory.mktemp("certificates")
    tool().write(Path(certifi.where()), folder)
    return folder


def name(*pairs: tuple[Any, str]) -> x509.Name:
    """A name of these parts."""
    return x509.Name([x509.NameAttribute(kind, text) for kind, text in pairs])


def signed(
    subject: x509.Name, key: Any, issuer: x509.Name, by: Any, extensions: list[Any]
) -> x509.Certificate:
    """A certificate that is good today."""
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )
    for extension in extensions:
        made = made.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
    return made.sign(by, hashes.SHA256())


def pem(certificate: x509.Certificate) -> bytes:
    """As text."""
    return certificate.public_bytes(serialization.Encoding.PEM)


def server(folder: Path, ca_name: x509.Name) -> tuple[ssl.SSLContext, bytes]:
    """A server's context, and the certificate of the CA that vouches for it."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    own = x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key())
    about = [x509.BasicConstraints(ca=True, path_length=None), own]
    ca = signed(ca_name, ca_key, ca_name, ca_key, about)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own)
    names = [x509.SubjectAlternativeName([x509.DNSName(HOST)]), issuer]
    leaf = signed(name((NameOID.COMMON_NAME, HOST)), key, ca_name, ca_key, names)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    chain = folder / "server.pem"
    chain.write_bytes(secret + pem(leaf))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return context, pem(ca)


def shake_hands(client: ssl.SSLContext, server: ssl.SSLContext) -> None:
    """Both sides in memory. Raises SSLError where the client does not trust the server."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(back, there, server_hostname=HOST),
        server.wrap_bio(there, back, server_side=True),
    ]
    for _ in range(10):
        for end in list(ends):
            try:
                end.do_handshake()
                ends.remove(end)
            except ssl.SSLWantReadError:
                continue
        if not ends:
            return
    pytest.fail("the handshake has no end")


@pytest.mark.parametrize(
    "ca_name",
    [
        name((NameOID.COUNTRY_NAME, "DE"), (NameOID.ORGANIZATION_NAME, "  Two   Words "), (NameOID.COMMON_NAME, "Äpfel CA")),
        name((NameOID.COMMON_NAME, "plain")),
    ],
    ids=["spaces, case and letters beyond ASCII", "plain"],
)  # fmt: skip
def test_a_server_is_trusted_whose_authority_is_in_the_folder(tmp_path: Path, ca_name: x509.Name) -> None:
    serving, ca = server(tmp_path, ca_name)
    bundle, folder = tmp_path / "bundle.pem", tmp_path / "certificates"
    bundle.write_bytes(b"# a remark\n" + ca)
    assert tool().write(bundle, folder) == 1
    shake_hands(ssl.create_default_context(capath=str(folder)), serving)


def test_a_server_is_not_trusted_whose_authority_is_not_there(tmp_path: Path, folder: Path) -> None:
    serving, _ = server(tmp_path, name((NameOID.COMMON_NAME, "stranger")))
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(ssl.create_default_context(capath=str(folder)), serving)


def test_authorities_of_one_name_are_told_apart(tmp_path: Path) -> None:
    twins = [server(tmp_path, name((NameOID.COMMON_NAME, "twin"))) for _ in range(2)]
    bundle, folder = tmp_path / "bundle.pem", tmp_path / "certificates"
    bundle.write_bytes(b"".join(ca for _, ca in twins))
    assert tool().write(bundle, folder) == 2
    context = ssl.create_default_context(capath=str(folder))
    for serving, _ in twins:
        shake_hands(context, serving)


def test_no_certificate_of_the_bundle_is_left_out(folder: Path) -> None:
    bundle = Path(certifi.where()).read_text()
    blocks = re.findall(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n", bundle)
    assert len(blocks) > 100
    assert sorted(path.read_text() for path in folder.iterdir()) == sorted(blocks)


def test_the_names_of_the_files_are_those_that_openssl_gives(folder: Path) -> None:
    for common_name, known in KNOWN.items():
        found = ssl.PEM_cert_to_DER_cert((folder / f"{known}.0").read_text())
        assert common_name.encode() in found
    if openssl := shutil.which("openssl"):
        for path in folder.iterdir():
            command = [openssl, "x509", "-in", str(path), "-noout", "-hash"]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert told.strip() == path.stem


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [({}, "certificates"), ({"SSL_CERT_FILE": "own.pem"}, ""), ({"SSL_CERT_DIR": "own"}, "own")],
)
def test_the_function_looks_there_unless_told_where_else(
    tmp_path: Path, environ: dict[str, str], wanted: str
) -> None:
    shutil.copy(FUNCTIONS / "bootstrap", tmp_path)
    (tmp_path / "certificates").mkdir()
    teller = tmp_path / "python"
    teller.write_text('#!/bin/sh\nprintf %s "${SSL_CERT_DIR:-}"\n')
    teller.chmod(0o755)
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("SSL_CERT", "LAMBDA"))}
    command = [str(tmp_path / "bootstrap"), str(teller)]
    done = subprocess.run(command, env=bare | environ, capture_output=True, text=True, check=True)
    assert done.stdout.removeprefix(f"{tmp_path}/") == wanted
