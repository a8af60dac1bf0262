"""Key files: OpenSSH's own, locked where an agent could read them, and never overwritten."""

from __future__ import annotations

import base64
import builtins
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.approvals.errors import OperatorKeyError
from stanchion.approvals.keys import KeyFile, KeyOwner, make_key_file
from stanchion.approvals.public_key import PublicKey, public_of, verify

OURS = KeyOwner(shields_own=True)
APART = KeyOwner(shields_own=False)
WORDS = b"correct horse"


def keygen(*args: object, stdin: str | None = None) -> str:
    """What the real ssh-keygen says."""
    done = subprocess.run(
        ["ssh-keygen", *map(str, args)], check=True, capture_output=True, text=True, input=stdin
    )
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, PublicKey]:
    """A key that Stanchion made."""
    path = tmp_path_factory.mktemp("keys") / "ops" / "ann"
    return path, make_key_file(path, WORDS, "ann")


def test_ssh_keygen_reads_what_is_made(made: tuple[Path, PublicKey]) -> None:
    path, key = made
    assert keygen("-y", "-P", WORDS.decode(), "-f", path).split()[:2] == key.line.split()
    assert keygen("-l", "-f", f"{path}.pub").split()[1:3] == [key.fingerprint, "ann"]
    assert Path(f"{path}.pub").read_text() == f"{key.line} ann\n"


def test_each_guess_at_its_passphrase_costs_twice_what_ssh_keygen_asks_for(
    made: tuple[Path, PublicKey],
) -> None:
    whole = base64.b64decode("".join(made[0].read_text().splitlines()[1:-1]))
    options = whole[
        whole.index(b"bcrypt") + len(b"bcrypt") :
    ]  # a length, the salt with its own, and the rounds
    assert int.from_bytes(options[24:28], "big") == 32


def test_files_and_folders_are_their_owners(made: tuple[Path, PublicKey]) -> None:
    path, _ = made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_umask_opens_or_closes_the_files(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        make_key_file(tmp_path / "ann", WORDS, "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "ann").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "ann.pub").stat().st_mode) == 0o644


def test_a_key_file_signs(made: tuple[Path, PublicKey]) -> None:
    path, key = made
    file = KeyFile(path, lambda: WORDS, OURS)
    assert file.public == key
    assert verify(key, b"yes", file.sign(b"yes"))


def test_keys_of_ssh_keygen_sign(tmp_path: Path) -> None:
    for cipher in ("aes256-ctr", "aes256-cbc", "aes256-gcm@openssh.com"):
        path = tmp_path / cipher
        keygen("-q", "-t", "ed25519", "-Z", cipher, "-N", "secret", "-f", path)
        file = KeyFile(path, lambda: b"secret", OURS)
        assert file.public == public_of(path.with_name(f"{cipher}.pub").read_text())
        assert verify(file.public, b"yes", file.sign(b"yes"))
        with pytest.raises(OperatorKeyError, match="does not unlock"):
            KeyFile(path, lambda: b"Secret", OURS).sign(b"yes")


def test_a_cipher_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    keygen(
        "-q",
        "-t",
        "ed25519",
        "-Z",
        "chacha20-poly1305@openssh.com",
        "-N",
        "secret",
        "-f",
        tmp_path / "k",
    )
    with pytest.raises(OperatorKeyError, match=r"chacha20.* -Z aes256-ctr"):
        KeyFile(tmp_path / "k", lambda: b"secret", OURS).sign(b"yes")


def test_a_key_without_passphrase_signs_only_apart_from_the_shield(tmp_path: Path) -> None:
    keygen("-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "k")
    apart = KeyFile(tmp_path / "k", None, APART)
    assert verify(apart.public, b"yes", apart.sign(b"yes"))
    with pytest.raises(
        OperatorKeyError,
        match=r"an agent that runs as this user could sign with it: .*ssh-keygen -p -f",
    ):
        KeyFile(tmp_path / "k", None, OURS).sign(b"yes")
    with pytest.raises(OperatorKeyError, match="has no passphrase"):
        KeyFile(tmp_path / "k", None).public  # noqa: B018 # reading it is what is refused


def test_a_locked_key_needs_its_passphrase(made: tuple[Path, PublicKey]) -> None:
    for asked in (None, lambda: b""):
        with pytest.raises(OperatorKeyError, match="is locked: give its passphrase"):
            KeyFile(made[0], asked, APART).sign(b"yes")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_reach_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a key"
    keygen("-q", "-t", "ed25519", "-N", "secret", "-f", path)
    path.chmod(mode)
    with pytest.raises(OperatorKeyError, match=f"run `chmod 600 '{path}'`"):
        KeyFile(path, lambda: b"secret", OURS).sign(b"yes")


def test_keys_of_other_kinds_are_refused(tmp_path: Path) -> None:
    keygen("-q", "-t", "ecdsa", "-N", "secret", "-f", tmp_path / "k")
    with pytest.raises(OperatorKeyError, match="only `ssh-ed25519`"):
        KeyFile(tmp_path / "k", lambda: b"secret", OURS).sign(b"yes")


def test_what_is_no_key_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "big").touch(0o600)
    (tmp_path / "big").write_bytes(b"x" * 70_000)
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "text").touch(0o600)
    (tmp_path / "text").write_text("hello")
    for name, says in {
        "none": "cannot be read",
        "big": "too large",
        "pipe": "is not a file",
        "text": "not an OpenSSH private",
    }.items():
        with pytest.raises(OperatorKeyError, match=says):
            KeyFile(tmp_path / name, None, OURS).sign(b"yes")
    with pytest.raises(OperatorKeyError, match="is not a file"):
        KeyFile(tmp_path, None, OURS).sign(b"yes")
    with pytest.raises(OperatorKeyError, match="cannot be read"):
        KeyFile(tmp_path / "a\0b", None, OURS).sign(b"yes")


@given(at=st.integers(0, 400), byte=st.integers(0, 255), cut=st.integers(0, 400) | st.none())
def test_a_damaged_file_never_signs_for_another_key(
    at: int, byte: int, cut: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    if not folder.exists():
        folder.mkdir()
        keygen("-q", "-t", "ed25519", "-N", "", "-f", folder / "k")
    data = bytearray((folder / "k").read_bytes())
    data[at % len(data)] = byte
    (folder / "d").touch(0o600)
    (folder / "d").write_bytes(data if cut is None else data[:cut])
    file = KeyFile(folder / "d", None, APART)
    try:
        signature = file.sign(b"yes")
    except OperatorKeyError:
        return
    assert file.public == public_of((folder / "k.pub").read_text())
    assert verify(file.public, b"yes", signature)


def test_a_file_whose_halves_differ_is_refused(tmp_path: Path) -> None:
    keygen("-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "a")
    keygen("-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "b")

    def body(name: str) -> bytes:
        return base64.b64decode("".join((tmp_path / name).read_text().splitlines()[1:-1]))

    def raw(name: str) -> bytes:
        return public_of((tmp_path / f"{name}.pub").read_text()).raw

    mixed = base64.encodebytes(body("a").replace(raw("a"), raw("b"), 1)).decode()
    (tmp_path / "c").touch(0o600)
    (tmp_path / "c").write_text(
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{mixed}-----END OPENSSH PRIVATE KEY-----\n"
    )
    with pytest.raises(OperatorKeyError, match="is damaged"):
        KeyFile(tmp_path / "c", None, APART).sign(b"yes")


@pytest.mark.parametrize(
    ("passphrase", "comment", "says"),
    [
        (b"", "ann", "passphrase is empty"),
        (b"x" * 1024, "ann", "more than 1023 bytes"),
        (b"a\nb", "ann", "line break"),
        (b"a\0b", "ann", "zero byte"),
        (WORDS, "ann\nssh-ed25519 AAAA", "not a single line"),
        (WORDS, "\x1b[2J", "not a single line"),
    ],
)
def test_bad_input_makes_no_file(
    passphrase: bytes, comment: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(OperatorKeyError, match=says) as raised:
        make_key_file(tmp_path / "keys" / "ann", passphrase, comment)
    assert list(tmp_path.iterdir()) == []
    assert "\x1b" not in str(raised.value)


def test_what_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "ann.pub").write_text("kept")
    for name in ("real", "link", "ann"):
        with pytest.raises(OperatorKeyError, match="exists: use another file"):
            make_key_file(tmp_path / name, WORDS, "ann")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ann.pub", "link", "real"]
    assert (tmp_path / "real").read_text() == (tmp_path / "ann.pub").read_text() == "kept"


def test_a_folder_that_others_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(OperatorKeyError, match="chmod 700"):
        make_key_file(folder / "ann", WORDS, "ann")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OperatorKeyError, match="Not a directory"):
        make_key_file(tmp_path / "file" / "ann", WORDS, "ann")


@pytest.mark.parametrize("package", ["bcrypt", "cryptography"])
def test_without_the_extra_it_says_what_to_install(
    package: str, made: tuple[Path, PublicKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def lacking(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(OperatorKeyError, match=r"pip install 'stanchion-guard\[signing\]'"):
        KeyFile(made[0], lambda: WORDS, OURS).sign(b"yes")
    with pytest.raises(OperatorKeyError, match=r"pip install 'stanchion-guard\[signing\]'"):
        make_key_file(tmp_path / "bob", WORDS, "bob")
