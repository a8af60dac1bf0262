"""Public keys: read from OpenSSH's lines alone, named as OpenSSH names them, and worth
something."""

from __future__ import annotations

import base64
import builtins
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import assume, given, strategies as st

from stanchion.approvals.errors import OperatorKeyError, TicketError
from stanchion.approvals.public_key import D, P, PublicKey, proves, public_of, string, verify

SEEDS = st.binary(min_size=32, max_size=32)
ORDER = 2**252 + 27742317777372353535851937790883648493
Point = tuple[int, int]


def line_of(private: Ed25519PrivateKey) -> str:
    """A key's public half as OpenSSH writes it."""
    return private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def line_with(raw: bytes, kind: bytes = b"ssh-ed25519", more: bytes = b"") -> str:
    """A line with any bytes for the key."""
    return "ssh-ed25519 " + base64.b64encode(string(kind) + string(raw) + more).decode()


@given(SEEDS, st.sampled_from(["", " ann@desk", " ", "  a comment of words ", "\n", " x\r\n"]))
def test_a_line_is_read_whatever_its_comment_is(seed: bytes, tail: str) -> None:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    key = public_of(f"  {line_of(private)}{tail}")
    assert key == PublicKey(
        line_of(private), private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    )


def test_the_fingerprint_is_that_of_ssh_keygen(tmp_path: Path) -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "k"], check=True
    )
    said = subprocess.run(
        ["ssh-keygen", "-l", "-f", tmp_path / "k.pub"], check=True, capture_output=True, text=True
    )
    assert public_of((tmp_path / "k.pub").read_text()).fingerprint == said.stdout.split()[1]


@pytest.mark.parametrize(("kind", "size"), [("rsa", "2048"), ("ecdsa", "256")])
def test_a_key_of_another_kind_is_refused(kind: str, size: str, tmp_path: Path) -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, "-b", size, "-N", "", "-f", tmp_path / "k"], check=True
    )
    with pytest.raises(OperatorKeyError, match="only `ssh-ed25519` is accepted: make one with"):
        public_of((tmp_path / "k.pub").read_text())


GOOD = line_of(Ed25519PrivateKey.from_private_bytes(bytes(32)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("ssh-ed25519", "ends after"),
        (f"{GOOD}\n{GOOD}", "more than one"),
        (f"{GOOD}\rssh-rsa AAAA", "more than one"),
        (GOOD + " " + "x" * 5000, "more than one"),
        ("sk-ssh-ed25519@openssh.com AAAA", "only `ssh-ed25519`"),
        (f'command="x" {GOOD}', "only `ssh-ed25519`"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "keep the private key to yourself"),
        (GOOD.replace("AAAA", "AA-A"), "not base64"),
        (GOOD[:-1], "not base64"),
        (GOOD.replace("AAAA", "ÄAAA"), "not base64"),
        (GOOD[:-4], "truncated or damaged"),
        (line_with(bytes(31)), "a weak key"),
        (line_with(bytes(33)), "a weak key"),
        (line_with(bytes(range(32)), more=b"x"), "truncated or damaged"),
        (line_with(bytes(range(32)), kind=b"ssh-rsa"), "of kind `ssh-rsa`"),
    ],
)
def test_anything_else_is_refused(text: str, says: str) -> None:
    with pytest.raises(OperatorKeyError, match=says):
        public_of(text)


@given(
    st.text()
    | st.text().map("ssh-ed25519 {}".format)
    | st.binary().map(base64.b64encode).map(bytes.decode)
)
def test_no_text_gives_another_error(text: str) -> None:
    try:
        key = public_of(text)
    except TicketError:
        return
    assert public_of(key.line) == key


def add(one: Point, two: Point) -> Point:
    """The sum of two points of the curve."""
    (x1, y1), (x2, y2) = one, two
    both = D * x1 * x2 * y1 * y2
    return (x1 * y2 + x2 * y1) * pow(1 + both, -1, P) % P, (y1 * y2 + x1 * x2) * pow(
        1 - both, -1, P
    ) % P


def times(count: int, point: Point) -> Point:
    """A point added to itself so many times."""
    total = (0, 1)
    while count:
        if count & 1:
            total = add(total, point)
        point, count = add(point, point), count >> 1
    return total


def point_at(y: int) -> Point | None:
    """A point of the curve at a height, where there is one."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    root = pow(square, (P + 3) // 8, P)
    if root * root % P != square:
        root = root * pow(2, (P - 1) // 4, P) % P
    return (root, y) if root * root % P == square else None


def written(point: Point, sign: int) -> bytes:
    """A point's 32 bytes."""
    return (point[1] | sign << 255).to_bytes(32, "little")


@given(st.integers(0, P - 1), st.integers(0, 1))
def test_a_key_of_small_order_is_refused_and_others_are_not(y: int, sign: int) -> None:
    point = point_at(y)
    if point is None:
        assert not proves(written((0, y), sign))
        return
    small = times(ORDER, point)
    assert times(8, small) == (0, 1)
    assert not proves(written(small, sign))
    with pytest.raises(OperatorKeyError, match="does not prove who signed"):
        public_of(line_with(written(small, sign)))
    assume(times(8, point) != (0, 1))
    assert proves(written(point, sign))


@given(st.integers(P, 2**255 - 1), st.integers(0, 1))
def test_a_height_beyond_the_field_is_refused(y: int, sign: int) -> None:
    assert not proves((y | sign << 255).to_bytes(32, "little"))


@given(SEEDS, st.binary(max_size=200), st.binary(max_size=200), st.integers(0, 511))
def test_a_signature_fits_its_key_and_message_alone(
    seed: bytes, message: bytes, other: bytes, bit: int
) -> None:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    key, signature = public_of(line_of(private)), private.sign(message)
    assert verify(key, message, signature)
    assert message == other or not verify(key, other, signature)
    flipped = int.from_bytes(signature, "big") ^ 1 << bit
    assert not verify(key, message, flipped.to_bytes(64, "big"))
    stranger = Ed25519PrivateKey.from_private_bytes(bytes([seed[0] ^ 1]) + seed[1:])
    assert not verify(public_of(line_of(stranger)), message, signature)


@given(st.binary(max_size=130))
def test_bytes_of_any_size_are_no_signature(signature: bytes) -> None:
    assert not verify(public_of(GOOD), b"pay", signature)


@given(st.integers(0, 1), st.binary(max_size=64))
def test_a_key_of_small_order_verifies_nothing_however_it_came(sign: int, message: bytes) -> None:
    neutral = (1 | sign << 255).to_bytes(32, "little")
    assert not verify(PublicKey("", neutral), message, neutral + bytes(32))


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def lacking(name: str, *rest: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(OperatorKeyError, match=r"pip install 'stanchion-guard\[signing\]'"):
        verify(public_of(GOOD), b"", bytes(64))
