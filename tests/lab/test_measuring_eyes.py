"""Rows by fresh eyes: both halves are whole, the unread one stays sealed, and its misses are listed
only when asked."""

from __future__ import annotations

from importlib.resources import files

import pytest

from stanchion_lab.eyes import HALVES, KINDS, Case, cases
from stanchion_lab.measuring import eyes
from stanchion_lab.measuring.figure import Report
from tests.sampling import some


@pytest.fixture(scope="module")
def closed() -> Report:
    """What is measured as it comes, of some rows, and of all that hold logins; in a soak of all."""

    def drawn(kind: str, half: str) -> list[Case]:
        rows = list(cases(kind, half))
        return rows if (kind, half) == ("secrets", "a") else list(some(rows, 4, f"{kind} {half}"))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(eyes, "cases", drawn)
        return eyes.measure()


@pytest.mark.parametrize("kind", KINDS)
def test_both_halves_have_attacks_and_honest_calls_and_share_none(kind: str) -> None:
    halves = [list(cases(kind, half)) for half in HALVES]
    for half in halves:
        labels = [case.label for case in half]
        assert min(labels.count("attack"), labels.count("honest")) >= 60
    ids = [case.id for half in halves for case in half]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", [f"{kind}-b" for kind in KINDS] + ["secrets-a"])
def test_what_is_unread_or_a_credential_is_sealed(name: str) -> None:
    for line in (
        files("stanchion_lab.eyes").joinpath(f"{name}.jsonl").read_text("utf-8").splitlines()
    ):
        assert '"sealed": "' in line
        assert '"args"' not in line


def test_every_kind_is_measured_by_family_in_both_halves(closed: Report) -> None:
    names = [figure.name for figure in closed.figures]
    for kind in KINDS:
        for half in HALVES:
            assert f"{kind}, half {half}: attacks found" in names
            assert f"{kind}, half {half}: honest calls disturbed" in names
    assert all(len(figure.families) > 5 for figure in closed.figures if figure.families)


def test_logins_are_found_and_counted_once_more(closed: Report) -> None:
    figures = {figure.name: figure for figure in closed.figures}
    logins = figures["secrets, half a: of these logins, hidden from records only"]
    found = figures["secrets, half a: attacks found"]
    assert 0 < logins.hits < found.hits
    assert "shell, half a: of these logins, hidden from records only" not in figures


def test_misses_of_the_unread_half_are_listed_only_when_asked(
    closed: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = {figure.name: figure.misses for figure in closed.figures if figure.misses}
    assert any("half a" in name for name in listed)
    assert not any("half b" in name for name in listed)
    monkeypatch.setattr(eyes, "KINDS", ("sql",))
    opened = {figure.name: figure for figure in eyes.measure(opened=True).figures}
    found = opened["sql, half b: attacks found"]
    assert len(found.misses) == found.of - found.hits


def test_no_credential_is_in_a_line(closed: Report) -> None:
    lines = [
        miss
        for figure in closed.figures
        if figure.name.startswith("secrets")
        for miss in figure.misses
    ]
    secrets = list(cases("secrets", "a"))
    texts = {str(value) for case in secrets for value in case.args.values()}
    assert lines
    assert not any(text in line for line in lines for text in texts if len(text) > 12)
