"""Keys: heads and checkpoints are sealed, and nobody goes on with what another key has sealed."""

from __future__ import annotations

import builtins
import hmac
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from stanchion.audit.errors import TrailError
from stanchion.audit.keys import TrailKey, load_key
from stanchion.audit.open_trail import open_trail
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from tests.audit.written import allowed, lines, moment, of_kind, records, whole

SECRET = bytes(range(32))
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def pem(private: Any, encryption: Any = None) -> bytes:
    """A private key as a PEM file."""
    how = NoEncryption() if encryption is None else encryption
    data: bytes = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)
    return data


def shared_fits(seal: str, text: str) -> bool:
    """Whether a seal is the one that the page of the format describes, for the shared key."""
    name = sha256(b"stanchion-audit-key:" + SECRET).hexdigest()[:16]
    return seal == f"hmac-sha256:{name}:{hmac.new(SECRET, text.encode(), 'sha256').hexdigest()}"


def pair_fits(seal: str, text: str) -> bool:
    """The same for the pair, with its public half alone."""
    public = PRIVATE.public_key()
    name = sha256(
        b"stanchion-audit-key:" + public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    ).hexdigest()[:16]
    algorithm, key_id, signature = seal.split(":")
    try:
        public.verify(bytes.fromhex(signature), text.encode())
    except InvalidSignature:
        return False
    return (algorithm, key_id) == ("ed25519", name)


FILES: dict[str, tuple[bytes, Callable[[str, str], bool]]] = {
    "bytes": (SECRET, shared_fits),
    "hex": (SECRET.hex().encode(), shared_fits),
    "hex with a line feed": (SECRET.hex().upper().encode() + b"\n", shared_fits),
    "pem": (pem(PRIVATE), pair_fits),
}


@pytest.mark.parametrize(("data", "fits"), FILES.values(), ids=FILES.keys())
def test_every_checkpoint_and_the_head_are_sealed(
    tmp_path: Path, data: bytes, fits: Callable[[str, str], bool]
) -> None:
    """As the page of the format says, so that others can check it."""
    file = tmp_path / "key"
    file.write_bytes(data)
    folder = tmp_path / "trail"
    trail = Trail(
        folder,
        TrailOptions(key=load_key(file), checkpoint_records=5, segment_bytes=3_000, sync_ms=0.1),
    )
    for number in range(20):
        about = moment(f"e{number}")
        trail.sync(trail.write(about, allowed(about), 0))
    trail.close()
    chain = folder / trail.name
    outer = [json.loads(line) for line in lines(chain)]
    sealed = [line for line in outer if line["body"]["kind"] == "checkpoint"]
    assert len(sealed) >= 4
    assert all(fits(line["seal"], f"checkpoint:{trail.name}:{line['hash']}") for line in sealed)
    assert not any("seal" in line for line in outer if line["body"]["kind"] != "checkpoint")
    head = json.loads((chain / "head").read_bytes())
    told = f"{trail.name}:{head['segment']}:{head['offset']}:{head['seq']}:{head['hash']}"
    since = f":{head['since']}" if "since" in head else ""
    assert fits(head["seal"], f"head:{told}:1{since}")
    assert not fits(head["seal"], f"head:{told}:0{since}")
    assert verify(folder, file).faults == ()
    assert SECRET not in b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def written(folder: Path, key: TrailKey | None) -> str:
    """The chain that a process with that key writes to."""
    trail = Trail(folder, TrailOptions(key=key))
    about = moment("e")
    trail.write(about, allowed(about), 0)
    trail.close()
    return trail.name


def test_a_chain_is_gone_on_with_by_its_own_key_only(tmp_path: Path) -> None:
    """Not by another one, not without one, and one without a seal not with a key."""
    (tmp_path / "one").write_bytes(SECRET)
    (tmp_path / "two").write_bytes(SECRET[::-1])
    (tmp_path / "pem").write_bytes(pem(PRIVATE))
    keys: list[TrailKey | None] = [
        None,
        *[load_key(tmp_path / name) for name in ("one", "two", "pem")],
    ]
    folder = tmp_path / "trail"
    first = [written(folder, key) for key in keys]
    assert len(set(first)) == 4
    assert [written(folder, key) for key in keys] == first
    found = whole_chains(folder)
    *others, last = sorted(first)
    assert set(of_kind(found[last], "open")[-1]["unfit"]) == set(others)


def whole_chains(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """All chains, each by itself: no one key can verify them all."""
    return {path.name: records(path) for path in folder.iterdir()}


def test_a_head_moved_back_is_not_gone_on_with(tmp_path: Path) -> None:
    """Its seal does not fit what it says, so that a cut-off end cannot be hidden by writing on."""
    (tmp_path / "key").write_bytes(SECRET)
    folder = tmp_path / "trail"
    name = written(folder, load_key(tmp_path / "key"))
    head = folder / name / "head"
    head.write_bytes(head.read_bytes().replace(b'"closed":true', b'"closed":false'))
    assert written(folder, load_key(tmp_path / "key")) != name


BAD = {
    "short": (b"x" * 31, "a key of 31 bytes is too short: give at least 32 random bytes"),
    "short hex": (b"ab" * 15, "a key of 15 bytes is too short"),
    "empty": (b"", "a key of 0 bytes is too short"),
    "no PEM": (b"-----BEGIN NONSENSE-----\n", "cannot be used"),
    "encrypted": (pem(PRIVATE, BestAvailableEncryption(b"x")), "cannot be used"),
    "RSA": (
        pem(generate_private_key(65537, 1024)),
        "is not an Ed25519 private key: make one with `openssl genpkey`",
    ),
    "public": (
        PRIVATE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        "cannot be used",
    ),
}


@pytest.mark.parametrize(("data", "says"), BAD.values(), ids=BAD.keys())
def test_a_key_that_cannot_be_used_is_a_clear_error(tmp_path: Path, data: bytes, says: str) -> None:
    """It names the file, and nothing of what is in it; no trail is begun."""
    file = tmp_path / "key"
    file.write_bytes(data)
    with pytest.raises(TrailError) as raised:
        open_trail(tmp_path / "trail", file)
    assert says in str(raised.value)
    assert f"the audit key `{file}`" in str(raised.value)
    assert not (tmp_path / "trail").exists()


def test_a_key_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    """It says which, and what to do."""
    with pytest.raises(
        TrailError,
        match=(
            r"`.*gone` cannot be read: No such file or directory; give the path of a readable "
            r"key file"
        ),
    ):
        load_key(tmp_path / "gone")


def test_a_pair_without_its_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shared key needs none."""
    found = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return found(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    (tmp_path / "pem").write_bytes(FILES["pem"][0])
    (tmp_path / "shared").write_bytes(SECRET)
    with pytest.raises(TrailError, match=r"needs a package: install the extra `signing`"):
        load_key(tmp_path / "pem")
    shared = load_key(tmp_path / "shared")
    assert shared.fits(shared.begin("c", 0).seal("x"), "x")


def test_a_trail_without_a_key_has_no_seals(tmp_path: Path) -> None:
    """And verifies by its hashes alone."""
    name = written(tmp_path, None)
    assert b'"seal"' not in b"".join(path.read_bytes() for path in (tmp_path / name).iterdir())
    assert list(whole(tmp_path)) == [name]
