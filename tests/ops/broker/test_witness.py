"""The witness that a broker keeps: its own time, one user's lines for that user alone, and
limits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.audit.witnessing.place import Unreachable, WitnessEntry
from stanchion.ops.broker import witnesses
from stanchion.ops.broker.witnesses import Unkept, Witnesses
from stanchion.runtime.remote import messages as m
from stanchion.runtime.remote.witness import BrokerPlace
from stanchion.stores.memory import wall_ms
from tests.audit.forging import ONE, Draft
from tests.ops.broker.brokers import AGENT_UID, BROKER_UID, interpreter, python_as, running, serving

HEAD = Draft(ONE).begin().work(3).mark().head or b""
LONG_AGO = 1_700_000_000_000


@pytest.fixture
def place() -> Iterator[BrokerPlace]:
    """A witness at a broker of this user."""
    with Shield.load("default") as shield, serving(shield) as socket:
        yield BrokerPlace(str(socket))


@pytest.fixture
def kept(tmp_path: Path) -> Witnesses:
    """What a broker keeps."""
    return Witnesses(tmp_path / "witnesses", lambda: LONG_AGO)


def asked(name: str = "trail", *heads: bytes, every_s: int = 60) -> m.Witness:
    """Heads for a witness."""
    return m.Witness("1", name, heads, every_s)


def test_the_time_is_the_brokers(place: BrokerPlace) -> None:
    before = wall_ms()
    place.append(WitnessEntry((HEAD,), LONG_AGO, 60))
    (line,) = place.witness(0).lines
    assert before <= line.at <= wall_ms()


def test_a_broker_of_the_trails_own_user_keeps_a_copy(place: BrokerPlace) -> None:
    place.append(WitnessEntry((HEAD,), LONG_AGO, 60))
    assert place.witness(os.geteuid()).copy
    assert place.witness(AGENT_UID).copy == ""


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"{}",
        b"nothing",
        HEAD + b"\n",
        HEAD.replace(b",", b",\n"),
        HEAD[:-1],
        b"[" + HEAD + b"]",
    ],
)
def test_what_is_no_head_is_not_written(place: BrokerPlace, head: bytes) -> None:
    with pytest.raises(Unreachable, match="is not a head"):
        place.append(WitnessEntry((head,), LONG_AGO, 60))


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a.b", "x" * 65, "\0"])
def test_a_name_that_leads_elsewhere_is_refused(
    place: BrokerPlace, kept: Witnesses, name: str
) -> None:
    with pytest.raises(Unkept, match="is not a witness name"):
        kept.write(1, asked(name, HEAD))
    with pytest.raises(Unkept, match="is not a witness name"):
        kept.piece(1, name, 0)


def test_each_user_has_its_own(kept: Witnesses) -> None:
    mine, other = kept.write(1, asked("trail", HEAD)), kept.write(2, asked("trail"))
    assert kept.piece(1, "trail", 0) == mine + b"\n"
    assert kept.piece(2, "trail", 0) == other + b"\n"
    assert kept.piece(3, "trail", 0) == b""
    assert kept.piece(1, "trail", 1 << 40) == b""


def test_it_comes_back_in_pieces(kept: Witnesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witnesses, "PIECE", 100)
    lines = b"".join(kept.write(1, asked("trail", HEAD)) + b"\n" for _ in range(3))
    found = b""
    while piece := kept.piece(1, "trail", len(found)):
        assert len(piece) <= 100
        found += piece
    assert found == lines


def test_nobody_fills_the_disk(kept: Witnesses, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unkept, match="at most"):
        kept.write(1, asked("trail", *([HEAD] * (witnesses.LONGEST // len(HEAD) + 1))))
    for number in range(witnesses.MOST):
        kept.write(1, asked(f"w{number}"))
    with pytest.raises(Unkept, match=f"has {witnesses.MOST} witnesses"):
        kept.write(1, asked("more"))
    kept.write(2, asked("more"))
    monkeypatch.setattr(witnesses, "LARGEST", 100)
    with pytest.raises(Unkept, match="is full"):
        kept.write(1, asked("w0"))


def test_a_broker_without_a_folder_says_so() -> None:
    with pytest.raises(Unkept, match="keeps no witnesses"):
        Witnesses(None).write(1, asked("trail"))


def test_a_broker_that_is_away_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="no answer"):
        BrokerPlace(str(tmp_path / "none.sock")).append(WitnessEntry((HEAD,), LONG_AGO, 60))


WRITES = """
import os, sys
from stanchion.audit.witnessing.place import WitnessEntry
from stanchion.runtime.remote.witness import BrokerPlace
place = BrokerPlace(sys.argv[1])
for _ in range(2):
    place.append(WitnessEntry((sys.argv[2].encode(),), 1_700_000_000_000, 60))
found = place.witness(os.geteuid())
print(len(found.lines), bool(found.copy), len(found.broken))
"""


@pytest.mark.skipif(interpreter(AGENT_UID) is None, reason="only root can be other users")
def test_a_broker_of_another_user_keeps_it_from_the_agent() -> None:
    with running("default", f"{AGENT_UID}", uid=BROKER_UID) as broker:
        said, trouble = python_as(
            AGENT_UID, "-c", WRITES, str(broker.socket), HEAD.decode()
        ).communicate()
        assert said == "2 False 0\n", trouble
        file = broker.state / "witnesses" / str(AGENT_UID) / "trail.jsonl"
        assert file.stat().st_uid == BROKER_UID
        assert len(file.read_bytes().splitlines()) == 2
