"""Keys that ratchet: one found later forges nothing that came before, and nothing behind the head
is adopted."""

from __future__ import annotations

import hmac
import json
import multiprocessing
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from threading import Barrier
from typing import Any

import msgspec
import pytest

from stanchion.audit.errors import TrailError
from stanchion.audit.keys import load_key, make_key, read_key
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.audit.verify import CannotVerify, Deed, verify
from stanchion.cli.main import main
from tests.audit.written import allowed, lines, moment, of_kind, records

SECRET = bytes(range(32))


def opened(folder: Path, key: Path, **more: Any) -> Trail:
    """A trail as a process opens it."""
    return Trail(folder, TrailOptions(key=load_key(key), **more))


def write(trail: Trail, *names: str) -> None:
    for name in names:
        about = moment(name)
        trail.write(about, allowed(about), 0)


def killed(folder: Path, key: Path, *names: str) -> Path:
    """The chain that a process wrote which was killed before its head had moved."""
    trail = opened(folder, key, head_ms=60_000, sync_ms=60_000)
    write(trail, *names)
    assert trail._chain is not None
    trail._chain.abandon()
    trail._chain = trail._live = None
    trail.close()
    return folder / trail.name


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A ratcheting key that seals."""
    make_key(tmp_path / "key")
    return tmp_path / "key"


def test_every_opening_uses_the_key_up(tmp_path: Path, key: Path) -> None:
    """The key that verifies derives all of them; no earlier one is left in the file."""
    folder, seen = tmp_path / "trail", []
    for number in range(4):
        seen.append(read_key(key).secret)
        trail = opened(folder, key)
        write(trail, f"e{number}")
        trail.close()
    assert len(set(seen)) == 4
    assert read_key(key).epoch == 4
    (chain,) = folder.iterdir()
    epochs = [record["epoch"] for record in records(chain) if "epoch" in record]
    assert epochs == [f"{read_key(key).id}:{number}" for number in range(4)]
    assert all('"mac"' in line.decode() for line in lines(chain))
    report = verify(folder, tmp_path / "key.verify")
    assert report.faults == ()
    assert (
        stat.S_IMODE(key.stat().st_mode)
        == stat.S_IMODE((tmp_path / "key.verify").stat().st_mode)
        == 0o600
    )
    assert not set(seen[:4]) & {key.read_text()}


def test_macs_are_as_the_page_says(tmp_path: Path, key: Path) -> None:
    """Worked out here once more, without a line of the library's."""
    secret = bytes.fromhex(json.loads((tmp_path / "key.verify").read_bytes())["secret"])
    trail = opened(tmp_path / "trail", key)
    write(trail, "e1", "e2")
    trail.close()
    chain = tmp_path / "trail" / trail.name
    mac_key = b""
    for line in map(json.loads, lines(chain)):
        body = line["body"]
        if "epoch" in body:
            number = int(body["epoch"].split(":")[1])
            of_epoch = secret
            for _ in range(number):
                of_epoch = sha256(b"stanchion-ratchet:" + of_epoch).digest()
            mac_key = hmac.digest(
                of_epoch, f"stanchion-epoch:{trail.name}:{body['seq']}".encode(), "sha256"
            )
        assert line["mac"] == hmac.digest(mac_key, line["hash"].encode(), "sha256").hex()
        mac_key = sha256(b"stanchion-next:" + mac_key).digest()


def forged(chain: Path, mac: str = "") -> None:
    """Append a record that fits the chain by its hashes, as somebody without the key does."""
    last = json.loads(lines(chain)[-1])
    body = {
        "v": 3,
        "prev": last["hash"],
        "seq": last["body"]["seq"] + 1,
        "chain": chain.name,
        "kind": "intent",
    }
    body |= {
        "at": last["body"]["at"],
        "id": "forged",
        "run": "r",
        "stage": "tool_call",
        "action": "ALLOW",
        "policy": "",
    }
    text = json.dumps(body, separators=(",", ":")).encode()
    proof = f'"mac":"{mac}",' if mac else ""
    with (chain / "00000001.jsonl").open("ab") as file:
        file.write(
            b'{"hash":"%b",%b"took":0,"body":%b}\n'
            % (sha256(text).hexdigest().encode(), proof.encode(), text)
        )


@pytest.mark.parametrize("mac", ["", "0" * 64])
def test_a_record_forged_behind_the_head_is_found_after_others_went_on(
    tmp_path: Path, key: Path, mac: str
) -> None:
    """Also when the next process, which cannot check it, has gone on, sealed a checkpoint and
    closed the chain."""
    folder = tmp_path / "trail"
    chain = killed(folder, key, "e1", "e2")
    genuine = len(lines(chain))
    forged(chain, mac)
    trail = opened(folder, key)
    write(trail, "e3")
    trail.close()
    assert trail.name == chain.name
    opens = of_kind(records(chain), "open")
    assert opens[-1]["found"][:2] == [1, genuine]
    (fault,) = verify(folder, tmp_path / "key.verify").faults
    assert (fault.deed, fault.seq, fault.line) == (Deed.FORGED, genuine, genuine + 1)
    assert verify(folder).whole


def test_with_a_shared_secret_nobody_goes_on_from_it(tmp_path: Path) -> None:
    """The next process can check the macs: it goes on after those that fit, and leaves a forged
    chain as evidence."""
    (tmp_path / "key").write_bytes(SECRET)
    folder = tmp_path / "trail"
    chain = killed(folder, tmp_path / "key", "e1", "e2")
    trail = opened(folder, tmp_path / "key")
    write(trail, "e3")
    trail.close()
    assert trail.name == chain.name
    assert "found" not in of_kind(records(chain), "open")[-1]
    assert verify(folder, tmp_path / "key").faults == ()
    chain = killed(folder, tmp_path / "key", "e4")
    genuine = len(lines(chain))
    forged(chain)
    trail = opened(folder, tmp_path / "key")
    write(trail, "e5")
    trail.close()
    assert trail.name != chain.name
    assert of_kind(records(folder / trail.name), "open")[0]["unfit"] == [chain.name]
    (fault,) = verify(folder, tmp_path / "key").faults
    assert (fault.chain, fault.deed, fault.seq) == (chain.name, Deed.FORGED, genuine)
    said = [remark.sentence for remark in verify(folder, tmp_path / "key").remarks]
    assert "the key is a shared secret: whoever has this key can forge all of it" in said


def test_with_a_pair_what_stood_behind_the_head_is_not_proven(tmp_path: Path) -> None:
    """Records bear no mac there: the next process names what it found, and verifying says so."""
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    private = Ed25519PrivateKey.from_private_bytes(SECRET)
    (tmp_path / "key").write_bytes(
        private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    folder = tmp_path / "trail"
    chain = killed(folder, tmp_path / "key", "e1", "e2")
    behind = len(lines(chain)) - 1
    said = [remark.sentence for remark in verify(folder, tmp_path / "key").remarks]
    assert f"not proven: records 1 to {behind} come after the last seal" in said
    trail = opened(folder, tmp_path / "key")
    write(trail, "e3")
    trail.close()
    report = verify(folder, tmp_path / "key")
    assert report.whole
    expected = (
        f"not proven: records 1 to {behind} came after the head when the next process "
        f"continued from them"
    )
    assert expected in [remark.sentence for remark in report.remarks]


def test_a_key_found_later_forges_nothing_earlier(tmp_path: Path, key: Path) -> None:
    """Whoever reads the file by now can seal what is written from now on; a rewritten past does not
    fit."""
    folder = tmp_path / "trail"
    trail = opened(folder, key)
    write(trail, "e1", "e2", "e3")
    trail.close()
    found = bytes.fromhex(read_key(key).secret)
    chain = folder / trail.name
    path = chain / "00000001.jsonl"
    made, prev, mac_key = [], "0" * 64, b""
    for line in map(json.loads, lines(chain)):
        body = {**line["body"], "prev": prev, "at": 1}
        if "epoch" in body:
            mac_key = hmac.digest(
                found, f"stanchion-epoch:{chain.name}:{body['seq']}".encode(), "sha256"
            )
        text = json.dumps(body, separators=(",", ":")).encode()
        prev = sha256(text).hexdigest()
        mac = hmac.digest(mac_key, prev.encode(), "sha256").hex()
        mac_key = sha256(b"stanchion-next:" + mac_key).digest()
        made.append(
            b'{"hash":"%b","mac":"%b","took":0,"body":%b}\n' % (prev.encode(), mac.encode(), text)
        )
    path.write_bytes(b"".join(made))
    assert verify(folder, tmp_path / "key.verify").faults[0].deed is Deed.FORGED


def test_the_key_that_seals_verifies_only_what_comes_later(tmp_path: Path, key: Path) -> None:
    """It says so, and does not call whole what it could not check."""
    folder = tmp_path / "trail"
    for name in ("e1", "e2"):
        trail = opened(folder, key)
        write(trail, name)
        trail.close()
    report = verify(folder, key)
    assert report.faults == ()
    said = [remark.sentence for remark in report.remarks]
    assert any(
        sentence.startswith("not proven: ") and "epochs before the key's" in sentence
        for sentence in said
    )


def use(path: Path, times: int) -> list[str]:
    """Use a key up, several times, and say which epochs those were."""
    key = load_key(path)
    return [key.begin("c" * 16, 0).name for _ in range(times)]


def test_processes_that_share_a_key_never_get_the_same_epoch(tmp_path: Path, key: Path) -> None:
    """Nor is one skipped."""
    with multiprocessing.get_context("fork").Pool(4) as pool:
        names = [name for each in pool.starmap(use, [(key, 25)] * 4) for name in each]
    assert sorted(int(name.split(":")[1]) for name in names) == list(range(100))
    assert read_key(key).epoch == 100


def test_a_key_that_is_used_while_it_is_opened_is_read_once_more(
    key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there before is overwritten, and is taken for no key."""
    other, at_path = load_key(key), Path.open
    asked: list[Path] = []

    def used(path: Path, *how: Any, **more: Any) -> Any:
        file = at_path(path, *how, **more)
        if len(asked) < 3:
            asked.append(path)
            other.begin("c" * 16, 0)
        return file

    monkeypatch.setattr(Path, "open", used)
    load_key(key)
    assert asked == [key] * 3
    assert read_key(key).epoch == 3


def test_several_who_make_one_key_at_once_get_one(tmp_path: Path) -> None:
    """The others are told that it is there, and what verifies belongs to what seals."""
    for number in range(20):
        path, ready = tmp_path / str(number), Barrier(4)

        def make(path: Path = path, ready: Barrier = ready) -> bool:
            ready.wait()
            try:
                return make_key(path).exists()
            except TrailError:
                return False

        with ThreadPoolExecutor(4) as pool:
            assert sum([one.result() for one in [pool.submit(make) for _ in range(4)]]) == 1
        verifies = msgspec.json.decode(path.with_name(f"{path.name}.verify").read_bytes())
        assert read_key(path).secret == verifies["secret"]


def test_a_key_that_cannot_be_replaced_seals_nothing(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one is on the disk before the first record is written with the one before."""

    def fails(_source: Any, _target: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(TrailError, match="the disk is read-only"):
        opened(tmp_path / "trail", key)
    assert read_key(key).epoch == 0
    assert list((tmp_path / "trail").iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"{}",
        b'{"stanchion":"x","id":"a","epoch":0,"secret":"00"}',
        b'{"secret":5,"id":"a","epoch":0}',
    ],
)
def test_a_file_that_is_no_key(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(
        TrailError, match="is not a key: make one with `stanchion audit key new FILE`"
    ):
        load_key(tmp_path / "key")
    (tmp_path / "trail" / ("a" * 16)).mkdir(parents=True)
    with pytest.raises(CannotVerify, match="is not a key"):
        verify(tmp_path / "trail", tmp_path / "key")


def test_the_key_that_verifies_seals_nothing(tmp_path: Path, key: Path) -> None:
    with pytest.raises(TrailError, match="can only verify: give the file that seals"):
        load_key(tmp_path / "key.verify")


def test_the_command_makes_both_and_says_what_belongs_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It never writes over a key."""
    assert main(["audit", "key", "new", str(tmp_path / "mine")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "do not keep it on this machine" in said
    before = (tmp_path / "mine").read_bytes()
    assert main(["audit", "key", "new", str(tmp_path / "mine")]) == 2
    assert "already exists" in capsys.readouterr().err
    assert (tmp_path / "mine").read_bytes() == before
    assert main(["audit", "key"]) == 2
    assert "write `stanchion audit key new FILE`" in capsys.readouterr().err
    assert read_key(tmp_path / "mine").secret not in said
