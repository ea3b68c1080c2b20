"""Pictures, sound and files of an answer, written beside the chat.

Must never write over a file, nor where a vendor's file name points to.
"""

import mimetypes
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from motes import particles as p
from motes.fragments import MediaFragment, Message, ResourceFragment

_ODD: Final = re.compile(r"[^\w.\- ]+")
_NAME_CHARS: Final = 80
_TRIES: Final = 10_000


def saved(message: Message, directory: Path, stem: str) -> Iterator[str]:
    """Write what an answer holds besides text; a line of where each lies, or why it does not."""
    for wanted, coded in _files(message, stem):
        try:
            data = b64decode(coded, validate=True)
        except (NotBase64, ValueError):
            yield f"{wanted}: not saved, it is no base64"
            continue
        try:
            directory.mkdir(parents=True, exist_ok=True)
            yield f"saved {_written(directory, wanted, data)}"
        except OSError as error:
            yield f"{wanted}: not saved, {error.strerror or error}"


def _files(message: Message, stem: str) -> Iterator[tuple[str, str]]:
    for fragment in message.fragments:
        if isinstance(fragment, MediaFragment):
            media = fragment.media
            if not (isinstance(media, p.Image) and media.partial):
                yield f"{stem}{_ending(media.mime)}", media.base64
        elif isinstance(fragment, ResourceFragment):
            resource = fragment.resource
            name = _plain(resource.filename or resource.resource or "")
            if resource.base64:
                yield name or f"{stem}{_ending(resource.mime or '')}", resource.base64


def _ending(mime: str) -> str:
    return mimetypes.guess_extension(mime.partition(";")[0].strip()) or ".bin"


def _plain(name: str) -> str:
    """The last part of a vendor's file name, as a name in the folder and nowhere else."""
    last = re.split(r"[/\\]", name)[-1]
    return _ODD.sub("-", last).strip(" .-")[:_NAME_CHARS]


def _written(directory: Path, wanted: str, data: bytes) -> Path:
    stem, ending = Path(wanted).stem, Path(wanted).suffix
    for number in range(1, _TRIES):
        path = directory / (wanted if number == 1 else f"{stem}-{number}{ending}")
        try:
            with path.open("xb") as file:
                file.write(data)
        except FileExistsError:
            continue
        return path
    raise FileExistsError(f"there are {_TRIES} files of that name")
