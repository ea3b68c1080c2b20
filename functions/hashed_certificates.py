"""Writes a bundle of CA certificates as a folder in which OpenSSL finds each when it needs it.

    python hashed_certificates.py BUNDLE FOLDER

Reading the whole bundle takes a sixth of a cold start, and a handshake needs one certificate of it.
`sam build` runs this, and `bootstrap` points SSL_CERT_DIR to the folder. Any Python 3 will do: must import
nothing but its standard library, and must never leave a certificate out.

Source: OpenSSL, "openssl-rehash" (names of files) and X509_NAME_hash_ex in crypto/x509/x509_cmp.c with
x509_name_canon in crypto/x509/x_name.c (the hash, over a canonical form of the name), read 2026-11-30.
"""

import hashlib
import re
import ssl
import sys
from pathlib import Path

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)
_UTF8 = 0x0C
_VERSION = 0xA0
# Texts of these types are compared without regard to case and to how many spaces they have.
_ENCODINGS = {
    _UTF8: "utf-8",
    0x13: "ascii",  # PrintableString
    0x14: "latin-1",  # T61String, as OpenSSL takes it
    0x16: "ascii",  # IA5String
    0x1A: "ascii",  # VisibleString
    0x1C: "utf-32-be",  # UniversalString
    0x1E: "utf-16-be",  # BMPString
}
_SPACE = " \t\n\v\f\r"


def write(bundle: Path, folder: Path) -> int:
    """One file a certificate; gives how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    seen: dict[str, int] = {}
    for pem in _PEM.findall(bundle.read_text(encoding="utf-8")):
        name = f"{subject_hash(ssl.PEM_cert_to_DER_cert(pem)):08x}"
        # Certificates of one name are told apart by what follows it.
        seen[name] = seen.get(name, -1) + 1
        (folder / f"{name}.{seen[name]}").write_text(pem, encoding="ascii")
    return sum(seen.values()) + len(seen)


def subject_hash(certificate: bytes) -> int:
    """OpenSSL's hash of the subject of a certificate in DER."""
    to_be_signed = _members(_members(certificate)[0][1])[0][1]
    members = _members(to_be_signed)
    # serial, algorithm, issuer, validity, subject; before them the version, which is left out where it is 1.
    subject = members[5 if members[0][0] == _VERSION else 4][1]
    digest = hashlib.sha1(_canonical(subject)).digest()  # noqa: S324 (a name of a file)
    return int.from_bytes(digest[:4], "little")


def _canonical(name: bytes) -> bytes:
    out = []
    for _, group in _members(name):
        pairs = [_members(pair) for _, pair in _members(group)]
        told = [_tlv(0x30, _tlv(*kind) + _tlv(*_plain(*value))) for kind, value in pairs]
        out.append(_tlv(0x31, b"".join(sorted(told))))
    return b"".join(out)


def _plain(tag: int, content: bytes) -> tuple[int, bytes]:
    """A value as it is compared."""
    if tag not in _ENCODINGS:
        return tag, content
    words = re.split(f"[{_SPACE}]+", content.decode(_ENCODINGS[tag]).strip(_SPACE))
    # Only the letters of ASCII have a case here.
    return _UTF8, " ".join(words).encode().lower()


def _members(data: bytes) -> list[tuple[int, bytes]]:
    """The elements that stand one after another, as tag and content (X.690, DER)."""
    out, at = [], 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1], at + 2
        if length & 0x80:
            size = length & 0x7F
            length, at = int.from_bytes(data[at : at + size], "big"), at + size
        out.append((tag, data[at : at + length]))
        at += length
    return out


def _tlv(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


if __name__ == "__main__":
    sys.stdout.write(f"{write(Path(sys.argv[1]), Path(sys.argv[2]))} certificates\n")
