"""What became of a bypass stays in the trail for good: neither retention nor erasure takes it
out."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion import Refused, Shield
from stanchion.audit import notes
from stanchion.audit.erasure import Meant, blank, meant_in
from stanchion.audit.layout import chains
from stanchion.audit.reader import TrailReader
from stanchion.audit.segment_scan import of_kind
from stanchion.kernel.names import names
from tests.approvals.bypassing import WHY, Deeds, policy


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A trail with a request, the yes to it and its use; and one that was denied."""
    folder, deeds = tmp_path / "trail", Deeds()
    with Shield.load(policy(), store="memory:", journal=folder) as shield, shield.run("bot") as run:
        for amount, yes in ((5, True), (6, False)):
            with pytest.raises(Refused):
                run.call(deeds.pay, amount)
            made = run.request_bypass("first", WHY)
            (shield.approve if yes else shield.deny)(made.ticket, by="kim", comment="as agreed")
            if yes:
                run.call(deeds.pay, amount)
    return folder


def kept(trail: Path) -> list[notes.FactNote]:
    """The records of bypasses, whole."""
    (chain,) = chains(trail)
    found = [one.note(notes.FactNote) for one in of_kind(trail / chain, 1, notes.BYPASS)]
    return sorted(found, key=lambda one: one.seq)


def test_each_step_is_a_record_that_retention_never_removes(trail: Path) -> None:
    steps = [one.what.removeprefix("bypass.") for one in kept(trail)]
    assert steps == ["requested", "granted", "used", "requested", "denied"]
    assert {one.data["reason"] for one in kept(trail)} == {WHY}


def test_erasing_an_agent_leaves_them_as_they_are(trail: Path) -> None:
    before = kept(trail)
    said = meant_in(TrailReader(trail), Meant(agent=names(["bot"])))
    assert blank(trail, said.rows) > 0, "what the agent said is erased"
    assert kept(trail) == before


def test_not_even_a_record_that_names_them_erases_them(trail: Path) -> None:
    before = kept(trail)
    (chain,) = chains(trail)
    assert blank(trail, {chain: ((0, 10_000),)}) > 0
    assert kept(trail) == before


def test_they_say_nothing_of_what_the_call_was_given(trail: Path) -> None:
    assert not [one for one in kept(trail) if {"content", "args", "amount"} & one.data.keys()]
