"""Every kind of place finds what a trail cannot show by itself: cut, put back, replaced,
deleted."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.audit.verify import Deed, verify
from stanchion.audit.verifying.rewritable import owner_of
from stanchion.audit.witnessing.files import FilePlace
from stanchion.audit.witnessing.git import GitPlace
from stanchion.audit.witnessing.place import WitnessPlace
from stanchion.audit.witnessing.rounds import Writer
from stanchion.runtime.remote.witness import BrokerPlace
from stanchion.stores.memory import wall_ms
from tests.audit import stamping
from tests.audit.forging import ONE, THREE, TWO, Draft, Drafts
from tests.ops.broker import brokers


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> stamping.Service:
    """A timestamp service; making its keys takes a moment."""
    pytest.importorskip("rfc3161_client", reason="the extra `timestamp` is not installed")
    if stamping.OPENSSL is None:
        pytest.skip("there is no `openssl` to be a timestamp service")
    return stamping.Service(tmp_path_factory.mktemp("service"))


@pytest.fixture(params=["file", "git", "stamps", "broker"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WitnessPlace]:
    """A place of each kind."""
    match request.param:
        case "file":
            yield FilePlace(tmp_path / "w.jsonl")
        case "git":
            repository = tmp_path / "w.git"
            subprocess.run(["git", "init", "--quiet", "--bare", repository], check=True)
            found = GitPlace(str(repository))
            yield found
            found.close()
        case "stamps":
            from stanchion.audit.witnessing.stamps import StampedPlace

            service = request.getfixturevalue("service")
            with stamping.serving(service) as url:
                yield StampedPlace(url, tmp_path / "tokens.jsonl", service.root)
        case _:
            with Shield.load("default") as shield, brokers.serving(shield) as socket:
                yield BrokerPlace(str(socket))


def heads(drafts: Drafts) -> Mapping[str, bytes]:
    """The heads of a trail as they are."""
    return {name: draft.head or b"" for name, draft in drafts.chains.items()}


def writer(place: WitnessPlace, drafts: Drafts, every_s: int = 3600) -> Writer:
    """A writer of the heads of a trail in the making."""
    return Writer(lambda: heads(drafts), place, every_s, wall_ms)


def two_chains() -> Drafts:
    """A trail of two chains."""
    return Drafts({name: Draft(name).begin().work(4).mark() for name in (ONE, TWO)})


def cut(now: Drafts, _before: Drafts) -> Drafts:
    draft = Draft(TWO).begin().work(5).mark()
    assert now[TWO].seq > draft.seq
    return Drafts({**now.chains, TWO: draft})


def put_back(_now: Drafts, before: Drafts) -> Drafts:
    return before


def replaced(_now: Drafts, _before: Drafts) -> Drafts:
    return Drafts({THREE: Draft(THREE).begin().work(20).mark()})


def rewritten(now: Drafts, _before: Drafts) -> Drafts:
    forged = {name: Draft(name, salt="forged").begin().work(30).mark() for name in now.chains}
    return Drafts(forged)


def deleted(now: Drafts, _before: Drafts) -> Drafts:
    return Drafts({ONE: now[ONE]})


TAMPERING: list[tuple[Callable[[Drafts, Drafts], Drafts], set[tuple[str, Deed]]]] = [
    (cut, {(TWO, Deed.TRUNCATED)}),
    (put_back, {(ONE, Deed.TRUNCATED), (TWO, Deed.TRUNCATED)}),
    (replaced, {(ONE, Deed.DELETED), (TWO, Deed.DELETED)}),
    (rewritten, {(ONE, Deed.REWRITTEN), (TWO, Deed.REWRITTEN)}),
    (deleted, {(TWO, Deed.DELETED)}),
]


def test_what_was_done_to_a_trail_is_found(place: WitnessPlace, tmp_path: Path) -> None:
    drafts = two_chains()
    before = drafts.copy()
    writes = writer(place, drafts)
    writes.write()
    for draft in drafts.chains.values():
        draft.work(6).mark()
    writes.write()
    folder = drafts.write(tmp_path / "trail")
    witness = place.witness(owner_of(folder))
    report = verify(folder, witness=witness)
    assert report.whole
    assert [one.lines for one in report.witnesses] == [2]
    for tamper, found in TAMPERING:
        shutil.rmtree(folder)
        forged = tamper(drafts, before).write(folder)
        assert verify(forged).whole, "only a witness knows"
        report = verify(forged, witness=witness)
        assert {(fault.chain, fault.deed) for fault in report.faults} == found, tamper.__name__


def test_each_line_is_bound_to_the_one_before_and_says_only_what_is_new(
    place: WitnessPlace,
) -> None:
    drafts = two_chains()
    writes = writer(place, drafts, 60)
    rounds = [writes.write()]
    drafts[ONE].work(3).mark()
    rounds += [writes.write(), writes.write()]
    assert [(one.chains, one.changed, one.odd) for one in rounds] == [
        (2, 2, ()),
        (2, 1, ()),
        (2, 0, ()),
    ]
    again = writer(place, drafts, 60)
    assert again.write().changed == 2, "who begins knows nothing, and says everything"
    found = place.witness(0)
    assert found.broken == ()
    assert [len(line.heads) for line in found.lines] == [2, 1, 0, 2]
    assert {line.every_s for line in found.lines} == {60}


def test_another_writer_is_told_and_breaks_nothing(place: WitnessPlace) -> None:
    drafts = two_chains()
    first, second = writer(place, drafts), writer(place, drafts)
    first.write()
    second.write()
    assert "another witness writes there" in " ".join(first.write().odd)
    found = place.witness(0)
    assert (len(found.lines), found.broken) == (3, ())


def test_a_trail_that_goes_back_while_it_is_watched_is_told_at_once(place: WitnessPlace) -> None:
    drafts = two_chains()
    writes = writer(place, drafts)
    writes.write()
    drafts.chains[ONE] = Draft(ONE).begin().work(1).mark()
    del drafts.chains[TWO]
    odd = "\n".join(writes.write().odd)
    assert f"chain {ONE} was put back: it was at record 4 and is now at 1" in odd
    assert f"chain {TWO} no longer has a head" in odd


def test_a_place_that_is_empty_is_no_witness(place: WitnessPlace) -> None:
    from stanchion.audit.verify import CannotVerify
    from stanchion.audit.witnessing.place import Unreachable

    with pytest.raises((CannotVerify, Unreachable), match="witness"):
        place.witness(0)


def test_root_is_shown_that_it_is_a_copy(place: WitnessPlace) -> None:
    drafts = two_chains()
    writer(place, drafts).write()
    assert place.witness(0).copy
