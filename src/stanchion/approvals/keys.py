"""Operators' keys: the file of the private one, as OpenSSH writes it, made, and unlocked by its
passphrase."""

from __future__ import annotations

import base64
import binascii
import os
import re
import shlex
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.approvals.errors import OperatorKeyError
from stanchion.approvals.public_key import (
    MAKE_ONE,
    NEEDED,
    Malformed,
    PieceReader,
    PublicKey,
    of_blob,
    public_of,
)
from stanchion.kernel.regex import regex

LARGEST: Final = 64 * 1024
"""How many bytes a key file has at most."""

_BODY: Final = regex(
    rb"\A\s*-----BEGIN OPENSSH PRIVATE KEY-----\s(.*?)-----END OPENSSH PRIVATE KEY-----\s*\Z",
    re.DOTALL,
)
_MAGIC: Final = b"openssh-key-v1\0"
_OPEN: Final = b"none"


class KeyOwner(msgspec.Struct, frozen=True):
    """Whose a key file is. With `shields_own` the user of this process is the one that agents work
    as: what this process can read, they can read as well."""

    shields_own: bool


OURS: Final = KeyOwner(shields_own=True)


class _Locked(msgspec.Struct, frozen=True):
    """A key file as it can be read without its passphrase."""

    data: bytes
    public: PublicKey
    encrypted: bool


class KeyFile:
    """An operator's private key in a file. `passphrase` is asked for every signature, and nothing
    of it is kept.

    Where agents could read the file it has to be encrypted.
    """

    def __init__(
        self, path: Path, passphrase: Callable[[], bytes] | None, place: KeyOwner = OURS
    ) -> None:
        self.path = path
        self._passphrase = passphrase
        self._place = place

    @property
    def public(self) -> PublicKey:
        """The public half, for which no passphrase is needed."""
        return self._read().public

    def sign(self, message: bytes) -> bytes:
        """The key's signature of a message."""
        locked = self._read()
        private = self._unlocked(locked)
        signature: bytes = private.sign(message)
        return signature

    def _read(self) -> _Locked:
        data = _bytes_of(self.path)
        try:
            public, encrypted = _opened(data)
        except (Malformed, binascii.Error) as error:
            raise OperatorKeyError(
                f"the key file `{self.path}` is not an OpenSSH private key ({error}): use another "
                f"one, or {MAKE_ONE}"
            ) from None
        if self._place.shields_own and not encrypted:
            raise OperatorKeyError(
                f"the key file `{self.path}` has no passphrase, so an agent that runs as this user "
                f"could sign with it: set one with `ssh-keygen -p -f {_typed(self.path)}`"
            )
        return _Locked(data, public, encrypted)

    def _unlocked(self, locked: _Locked) -> Any:
        try:
            from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
            from cryptography.hazmat.primitives.serialization import (
                Encoding,
                PublicFormat,
                load_ssh_private_key,
            )
        except ImportError:
            raise OperatorKeyError(NEEDED) from None
        passphrase = None
        if locked.encrypted:
            _need_bcrypt()
            passphrase = b"" if self._passphrase is None else self._passphrase()
            if not passphrase:
                raise OperatorKeyError(f"the key file `{self.path}` is locked: give its passphrase")
        try:
            private = load_ssh_private_key(locked.data, passphrase)
        except UnsupportedAlgorithm as error:
            raise OperatorKeyError(
                f"the key file `{self.path}` cannot be unlocked ({error}): write it again with "
                f"`ssh-keygen -p -Z aes256-ctr -f {_typed(self.path)}`"
            ) from None
        except (ValueError, TypeError, InvalidTag):
            raise OperatorKeyError(_cannot_unlock(self.path, locked.encrypted)) from None
        if private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw) != locked.public.raw:
            raise OperatorKeyError(
                f"the key file `{self.path}` holds two different keys: use another one, or "
                f"{MAKE_ONE}"
            )
        return private


def _typed(path: Path) -> str:
    """A path as it is typed in a shell."""
    return shlex.quote(str(path))


def _cannot_unlock(path: Path, encrypted: bool) -> str:
    if encrypted:
        return f"the passphrase does not unlock `{path}`: try again"
    return f"the key file `{path}` is damaged: use another one, or {MAKE_ONE}"


def _need_bcrypt() -> None:
    try:
        import bcrypt  # noqa: F401 # cryptography looks for it by itself, and says nothing of how to get it
    except ImportError:
        raise OperatorKeyError(NEEDED) from None


def _opened(data: bytes) -> tuple[PublicKey, bool]:
    """What stands in front of the private half: the public one, and whether a passphrase locks the
    rest."""
    body = _BODY.match(data)
    if body is None:
        raise Malformed("it does not begin and end like one")
    whole = PieceReader(base64.b64decode(b"".join(body[1].split()), validate=True))
    if whole.take(len(_MAGIC)) != _MAGIC:
        raise Malformed("it has another format")
    cipher, kdf = whole.string(), whole.string()
    whole.string()
    if whole.number() != 1:
        raise Malformed("it holds several keys")
    return of_blob(whole.string()), _OPEN not in (cipher, kdf)


def _bytes_of(path: Path) -> bytes:
    try:
        # Without O_NONBLOCK a pipe in the file's place would wait for a writer.
        file = os.open(
            path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
        )
        try:
            return _checked(path, file)
        finally:
            os.close(file)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise OperatorKeyError(
            f"the key file `{path}` cannot be read ({why}): use one that this user can read"
        ) from None


def _checked(path: Path, file: int) -> bytes:
    about = os.fstat(file)
    if not stat.S_ISREG(about.st_mode):
        raise OperatorKeyError(f"`{path}` is not a file: give the file of a private key")
    if os.name != "nt" and about.st_mode & 0o077:
        raise OperatorKeyError(
            f"other users can reach the key file `{path}`: run `chmod 600 {_typed(path)}`"
        )
    with open(file, "rb", closefd=False) as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OperatorKeyError(f"`{path}` is too large for a key: give the file of a private key")
    return data


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
