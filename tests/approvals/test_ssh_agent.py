"""Keys in an ssh-agent: the real one signs where its user says so, and a lying one is never
believed."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, strategies as st

from stanchion.approvals.errors import OperatorKeyError
from stanchion.approvals.keys import make_key_file
from stanchion.approvals.public_key import PublicKey, number, public_of, string, verify
from stanchion.approvals.ssh_agent import LISTED, SIGNED, AgentKey, identities

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = public_of(
    PRIVATE.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
)


def script(path: Path, body: str) -> Path:
    """A program that says what a person would."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o700)
    return path


@contextmanager
def real_agent(folder: Path, confirm: str) -> Iterator[Path]:
    """A real ssh-agent that asks before it signs, and a person who answers so."""
    ask = script(folder / "ask", f"case \"$1\" in *passphrase*) echo secret;; *) echo {confirm};; "
                                 f"esac\n"
                 f"[ {confirm} = yes ] || case \"$1\" in *passphrase*) ;; *) exit "
                 f"1;; esac")  # fmt: skip
    at = folder / "agent"
    environ = {
        **os.environ,
        "SSH_ASKPASS": str(ask),
        "SSH_ASKPASS_REQUIRE": "force",
        "DISPLAY": ":none",
    }
    agent = subprocess.Popen(
        ["ssh-agent", "-D", "-a", at], env=environ, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        assert agent.stdout is not None
        agent.stdout.readline()
        yield at
    finally:
        agent.terminate()
        agent.communicate()


def add(at: Path, key: Path, *options: str) -> None:
    """Put a key into an agent, as a person does."""
    environ = {
        **os.environ,
        "SSH_AUTH_SOCK": str(at),
        "SSH_ASKPASS": str(at.with_name("ask")),
        "SSH_ASKPASS_REQUIRE": "force",
        "DISPLAY": ":none",
    }
    subprocess.run(
        ["ssh-add", "-q", *options, key], env=environ, check=True, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose name is short enough for a socket in it."""
    return tmp_path_factory.mktemp("a")


def test_the_real_agent_signs_with_the_key_that_is_meant(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = make_key_file(short / "ann", b"secret", "ann")
    bob = make_key_file(short / "bob", b"secret", "bob")
    with real_agent(short, "yes") as at:
        add(at, short / "ann", "-c")
        add(at, short / "bob")
        assert {each.key for each in identities(at)} == {ann, bob}
        for key in (ann, bob):
            assert verify(key, b"pay", AgentKey(key, at).sign(b"pay"))
        monkeypatch.setenv("SSH_AUTH_SOCK", str(at))
        assert verify(ann, b"pay", AgentKey(ann).sign(b"pay"))
        with pytest.raises(OperatorKeyError, match=r"it does not have the key .*, or you declined"):
            AgentKey(PUBLIC, at).sign(b"pay")


def test_the_real_agent_does_not_sign_where_its_user_declines(short: Path) -> None:
    ann = make_key_file(short / "ann", b"secret", "ann")
    with real_agent(short, "no") as at:
        add(at, short / "ann", "-c")
        with pytest.raises(OperatorKeyError, match=r"it does not have the key .*, or you declined"):
            AgentKey(ann, at).sign(b"pay")


def test_keys_of_other_kinds_are_left_out(short: Path) -> None:
    for kind in ("ecdsa", "ed25519"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", kind, "-C", "x\x1b[2J", "-N", "", "-f", short / kind],
            check=True,
        )
    with real_agent(short, "yes") as at:
        add(at, short / "ecdsa")
        add(at, short / "ed25519")
        (only,) = identities(at)
    assert only.key == public_of((short / "ed25519.pub").read_text())
    assert "\x1b" not in only.comment


def test_without_an_agent_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(OperatorKeyError, match="there is no ssh-agent: start one"):
        AgentKey(PUBLIC).sign(b"pay")
    for path in (tmp_path / "none", Path("/" + "x" * 300), Path("a\0b")):
        with pytest.raises(OperatorKeyError, match="cannot be asked"):
            AgentKey(PUBLIC, path).sign(b"pay")


@contextmanager
def lying(folder: Path, answer: bytes, hangs: bool = False) -> Iterator[Path]:
    """An agent that answers whatever it is asked with the same bytes, and then hangs up or does
    nothing."""
    at = folder / f"liar-{os.urandom(4).hex()}"
    done = threading.Event()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(at))
        listening.listen()

        def serve() -> None:
            with suppress(OSError):
                asking, _ = listening.accept()
                with asking:
                    asking.recv(100_000)
                    asking.sendall(answer)
                    if hangs:
                        done.wait()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield at
        finally:
            done.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            at.unlink()


def signed(
    signature: bytes, kind: bytes = b"ssh-ed25519", inner: bytes = b"", outer: bytes = b""
) -> bytes:
    """An agent's answer with a signature, and what does not belong there."""
    return string(bytes([SIGNED]) + string(string(kind) + string(signature) + inner) + outer)


RIGHT = PRIVATE.sign(b"pay")


def test_the_right_answer_is_taken(short: Path) -> None:
    with lying(short, signed(RIGHT)) as at:
        assert AgentKey(PUBLIC, at).sign(b"pay") == RIGHT


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (signed(PRIVATE.sign(b"steal")), "does not match"),
        (signed(RIGHT[:63]), "does not match"),
        (signed(RIGHT + b"x"), "does not match"),
        (signed(RIGHT, b"ssh-rsa"), "of another kind"),
        (signed(RIGHT, inner=b"x"), "left over"),
        (signed(RIGHT, outer=b"x"), "left over"),
        (string(bytes([SIGNED])), "cannot be read"),
        (string(bytes([5])), "you declined"),
        (string(bytes([28])), "you declined"),
        (number(0), "answer of 0 bytes"),
        (number(256 * 1024 + 1), "answer of 262145 bytes"),
        (number(2**32 - 1) + b"x" * 1000, "announces"),
        (b"\0\0", "closed the connection"),
        (number(9) + b"12", "closed the connection"),
        (b"", "closed the connection"),
    ],
)
def test_a_lie_is_named(answer: bytes, says: str, short: Path) -> None:
    with lying(short, answer) as at, pytest.raises(OperatorKeyError, match=says):
        AgentKey(PUBLIC, at).sign(b"pay")


@pytest.mark.parametrize("answer", [b"", b"\0", number(9) + b"1234"])
def test_an_agent_that_does_not_answer_is_left(answer: bytes, short: Path) -> None:
    with (
        lying(short, answer, hangs=True) as at,
        pytest.raises(OperatorKeyError, match=r"did not answer within 0\.05 s"),
    ):
        AgentKey(PUBLIC, at, wait_s=0.05).sign(b"pay")


PIECES = st.one_of(
    st.binary(max_size=80),
    st.binary(max_size=80).map(string),
    st.integers(0, 2**32 - 1).map(number),
    st.just(string(b"ssh-ed25519")),
    st.just(string(PUBLIC.blob)),
    st.just(string(RIGHT)),
    st.just(string(string(b"ssh-ed25519") + string(RIGHT))),
)
BODIES = st.builds(
    lambda kind, parts: bytes([kind]) + b"".join(parts),
    st.sampled_from([SIGNED, LISTED, 5, 28]) | st.integers(0, 255),
    st.lists(PIECES, max_size=6),
)


@given(answer=BODIES.map(string) | BODIES)
def test_no_answer_gives_a_wrong_signature_or_another_error(
    answer: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with lying(tmp_path_factory.getbasetemp(), answer) as at, suppress(OperatorKeyError):
        assert AgentKey(PUBLIC, at).sign(b"pay") == RIGHT


@given(answer=BODIES.map(string))
def test_no_answer_lists_what_is_no_key(
    answer: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with lying(tmp_path_factory.getbasetemp(), answer) as at, suppress(OperatorKeyError):
        for key, comment in identities(at):
            assert type(key) is PublicKey
            assert public_of(key.line) == key
            assert comment.isprintable()
