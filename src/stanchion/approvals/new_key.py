"""Making an operator's key: a file that only its passphrase unlocks, and the public line beside
it."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import Final

from stanchion.approvals.errors import OperatorKeyError
from stanchion.approvals.public_key import NEEDED, PublicKey, public_of

ROUNDS: Final = 32
"""How much work each guess at the passphrase costs: twice what `ssh-keygen` asks for, a third of a
second."""

LONGEST: Final = 1023
"""How many bytes of a passphrase can be used."""


def make_key_file(path: Path, passphrase: bytes, comment: str) -> PublicKey:
    """Make an Ed25519 key: the private half at `path`, locked by the passphrase, the public line in
    `path.pub`.

    `ssh-add` and `ssh-keygen` can use both. A file that is there is left as it is, and
    `OperatorKeyError` raised.
    """
    _check(passphrase, comment)
    private, public = _drawn(passphrase)
    key = public_of(public.decode())
    line = f"{key.line} {comment}".rstrip(" ") + "\n"
    _make_folder(path.parent)
    _make(path, private, 0o600)
    try:
        _make(path.with_name(path.name + ".pub"), line.encode(), 0o644)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return key


def _check(passphrase: bytes, comment: str) -> None:
    if not passphrase:
        raise OperatorKeyError(
            "the passphrase is empty, so an agent could sign with this key: give a passphrase"
        )
    if len(passphrase) > LONGEST:
        raise OperatorKeyError(f"the passphrase has more than {LONGEST} bytes: give a shorter one")
    if any(byte in passphrase for byte in b"\0\r\n"):
        raise OperatorKeyError(
            "the passphrase holds a line break or a zero byte, which nobody can type: leave it out"
        )
    if not comment.isprintable():
        raise OperatorKeyError(f"the comment `{comment}` is not a single line of text: give a name")


def check_packages() -> None:
    """Raise `OperatorKeyError` where what makes keys is not installed, before anybody is asked for
    a passphrase."""
    try:
        import bcrypt  # noqa: F401 # cryptography needs it to lock the key
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: F401
    except ImportError:
        raise OperatorKeyError(NEEDED) from None


def _drawn(passphrase: bytes) -> tuple[bytes, bytes]:
    """A new key: its private half locked, and its public line."""
    check_packages()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat, PublicFormat

    private = Ed25519PrivateKey.generate()
    lock = PrivateFormat.OpenSSH.encryption_builder().kdf_rounds(ROUNDS).build(passphrase)
    locked = private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, lock)
    return locked, private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)


def _make_folder(folder: Path) -> None:
    try:
        for each in reversed((folder, *folder.parents)):
            if not each.exists():
                each.mkdir(mode=0o700, exist_ok=True)
        mode = folder.stat().st_mode
    except OSError as error:
        raise OperatorKeyError(
            f"the folder `{folder}` cannot be created ({error.strerror}): use another one"
        ) from None
    if os.name != "nt" and mode & 0o022 and not mode & stat.S_ISVTX:
        remedy = f"run `chmod 700 {shlex.quote(str(folder))}`, or use another folder"
        raise OperatorKeyError(f"other users can write to the folder `{folder}`: {remedy}")


def _make(path: Path, data: bytes, mode: int) -> None:
    """Write a file that was not there, wherever a link of that name may point, and have it on the
    disk."""
    try:
        file = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode
        )
    except FileExistsError:
        raise OperatorKeyError(
            f"`{path}` already exists: use another file, or move that one away"
        ) from None
    except OSError as error:
        raise OperatorKeyError(
            f"`{path}` cannot be written ({error.strerror}): use another file"
        ) from None
    try:
        with open(file, "wb") as made:
            if os.name != "nt":
                os.fchmod(file, mode)
            made.write(data)
            made.flush()
            os.fsync(file)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OperatorKeyError(
            f"`{path}` cannot be written ({error.strerror}): use another file"
        ) from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise
