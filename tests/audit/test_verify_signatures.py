"""Seals that are signatures: checked with the public key alone, and never taken for checked where
they cannot be."""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from stanchion.audit.verify import CannotVerify, Deed, as_text, verify
from tests.audit.forging import KEY, ONE, Draft, Drafts, body_of, dumped, hash_of, line_of, single

SECRET = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = SECRET.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
PRIVATE = SECRET.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))


def signed(draft: Draft, secret: Ed25519PrivateKey = SECRET) -> Drafts:
    """A chain with a signature at every checkpoint and at its head."""
    raw = secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    prefix = f"ed25519:{sha256(b'stanchion-audit-key:' + raw).hexdigest()[:16]}:"
    for seq in draft.checkpoints():
        number, index = draft.at(seq)
        text = f"checkpoint:{draft.id}:{hash_of(draft.line(seq))}"
        draft.segments[number][index] = line_of(
            body_of(draft.line(seq)), prefix + secret.sign(text.encode()).hex()
        )
    said = draft.mark(closed=True).said_head()
    text = "head:{chain}:{segment}:{offset}:{seq}:{hash}:1".format(**said)
    draft.head = dumped({**said, "seal": prefix + secret.sign(text.encode()).hex()})
    return Drafts({ONE: draft})


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A signed trail."""
    return signed(single()[ONE]).write(tmp_path / "trail")


@pytest.mark.parametrize("key", [PUBLIC, PRIVATE], ids=["public", "private"])
def test_signatures_are_checked(key: bytes, trail: Path) -> None:
    report = verify(trail, key)
    assert report.whole
    assert report.chains[0].sealed == 2


def test_a_signature_of_another_key(tmp_path: Path) -> None:
    (fault,) = verify(signed(single()[ONE], OTHER).write(tmp_path / "trail"), PUBLIC).faults
    assert (fault.deed, fault.seq) == (Deed.REWRITTEN, 6)


def test_a_changed_signature(trail: Path) -> None:
    path = trail / ONE / "00000001.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    at = lines[6].index(b'","body"') - 1
    lines[6] = (
        lines[6][:at] + (b"0" if lines[6][at : at + 1] != b"0" else b"1") + lines[6][at + 1 :]
    )
    path.write_bytes(b"".join(lines))
    (fault,) = verify(trail, PUBLIC).faults
    assert (fault.deed, fault.seq) == (Deed.RESEALED, 6)


def test_a_secret_in_place_of_a_public_key(trail: Path) -> None:
    (fault,) = verify(trail, KEY).faults
    assert fault.deed is Deed.REWRITTEN
    assert "another key" in fault.sentence


@pytest.fixture
def without_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    """A world in which the optional package is not installed."""
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)


@pytest.mark.usefixtures("without_cryptography")
def test_what_cannot_be_checked_is_not_whole(trail: Path) -> None:
    report = verify(trail, PUBLIC)
    (fault,) = report.faults
    assert (fault.deed, fault.seq) == (Deed.UNVERIFIED, 6)
    assert "install the extra `signing`" in fault.sentence
    assert as_text(report).splitlines()[-1].startswith("not verified: ")


@pytest.mark.usefixtures("without_cryptography")
def test_a_head_that_cannot_be_checked_is_not_whole(tmp_path: Path) -> None:
    draft = Draft(ONE).begin().work(3)
    (fault,) = verify(signed(draft).write(tmp_path / "trail"), PUBLIC).faults
    assert (fault.deed, fault.file) == (Deed.UNVERIFIED, "head")


@pytest.mark.usefixtures("without_cryptography")
def test_nothing_is_needed_for_other_seals(tmp_path: Path) -> None:
    assert verify(single(KEY).write(tmp_path / "trail"), KEY).whole


@pytest.mark.usefixtures("without_cryptography")
def test_a_private_key_cannot_be_read_without_it(trail: Path) -> None:
    with pytest.raises(CannotVerify, match="signing"):
        verify(trail, PRIVATE)


@pytest.mark.parametrize(
    "content",
    [
        b"-----BEGIN PUBLIC KEY-----\n",
        b"-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----\n",
        b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
        PUBLIC.replace(b"MCow", b"MCox"),
    ],
)
def test_a_pem_file_without_such_a_key(content: bytes, trail: Path) -> None:
    with pytest.raises(CannotVerify, match="ed25519"):
        verify(trail, content)
