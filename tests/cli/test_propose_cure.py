"""`stanchion policy propose` for a refusal: the line that cures it becomes part of the policy, with
a test beside it, and only for somebody who may say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.cli.main import main
from stanchion.testing import run_table
from tests.cli.signing import Signing

POLICY = """\
# What our agent may do.
name: ours

guards:
  # Our wiki is inside.
  - use: egress
    internal_hosts: [wiki.internal]   # see INFRA-7
tools:
  pay: {ask: {by: [treasurer]}}   # money
"""
CASES = "policy.cases.yaml"


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy, and a trail in which a request and a payment were refused."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text(POLICY)
    store = tmp_path / "state.db"
    with (
        Shield.load("policy.yaml", store=store, journal=tmp_path / "trail") as shield,
        shield.run("ann", "work") as run,
    ):
        run.check("pay", {"to": "shop", "amount": 5})
        run.check("pay", {"to": "shop", "amount": 6})
        run.check("fetch", {"url": "http://10.3.0.7/x"})
    return tmp_path


def propose(*words: str) -> int:
    return main(["policy", "propose", *words, "--trail", "trail", "--store", "state.db"])


def test_it_is_shown_first_and_nothing_is_changed(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert propose("last") == 0
    said = capsys.readouterr()
    assert "+    internal_hosts: [wiki.internal, 10.3.0.7]   # see INFRA-7" in said.out.splitlines()
    assert "nothing is written" in said.out
    assert (at_home / "policy.yaml").read_text() == POLICY
    assert not (at_home / CASES).exists()
    assert propose("last", "--json") == 0
    assert json.loads(capsys.readouterr().out)["line"]["kept"] == 5


def test_an_operator_has_it_written_and_trusted_with_a_test(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = Signing(at_home).enrolled("state.db")
    assert propose("last", "--write", "policy.yaml") != 0  # nobody says so
    assert (at_home / "policy.yaml").read_text() == POLICY
    assert propose("last", "--write", "policy.yaml", *ann.words()) == 0, capsys.readouterr().err
    cured = POLICY.replace("[wiki.internal]", "[wiki.internal, 10.3.0.7]")
    assert (at_home / "policy.yaml").read_text() == cured
    ran = run_table(at_home / CASES)
    assert [len(one.outcomes) for one in ran] == [1, 5]
    with Shield.load("policy.yaml", store="state.db", journal="memory:") as shield:
        assert shield.trust.trusts(shield.policy.hash, shield.policy)
    assert propose("last", "--write", "policy.yaml", *ann.words()) == 2
    assert "comes out otherwise now" in capsys.readouterr().err


def test_a_test_of_what_was_cured_fails_where_the_line_is_gone(at_home: Path) -> None:
    ann = Signing(at_home).enrolled("state.db")
    assert propose("last", "--write", "policy.yaml", *ann.words()) == 0
    (at_home / "policy.yaml").write_text(POLICY)
    with pytest.raises(AssertionError, match="proceeds is `False`, expected `True`"):
        run_table(at_home / CASES)
    (at_home / "policy.yaml").write_text(POLICY.replace("wiki.internal", "10.0.0.0/8"))
    with pytest.raises(AssertionError, match="proceeds is `True`, expected `False`"):
        run_table(at_home / CASES)


def test_a_ticket_names_its_call_and_another_role_may_not(
    at_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Shield.load("policy.yaml", store="state.db", journal="memory:") as shield:
        ticket = next(one for one in shield.tickets() if one.content["amount"] == 5)
    ann = Signing(at_home).enrolled("state.db")
    monkeypatch.setenv("STANCHION_AUDIT", str(at_home / "trail"))
    assert main(["tickets", "show", ticket.id, "--store", "state.db"]) == 0
    shown = capsys.readouterr().out
    assert "args: {amount: 5, to: shop}" in shown
    assert f"`stanchion policy propose {ticket.id}` puts the first into the policy" in shown
    assert propose(ticket.id) == 0
    said = capsys.readouterr().out.splitlines()
    assert "+    args: {amount: 5, to: shop}" in said
    assert "+    guards: [tools.pay.ask]" in said
    assert propose(ticket.id, "--write", "policy.yaml", *ann.words()) == 1
    assert "only treasurer may say yes" in capsys.readouterr().err
    assert (at_home / "policy.yaml").read_text() == POLICY


def test_what_is_not_there_is_said(at_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert propose("nothing-of-that-name") == 2
    assert "there is no decision `nothing-of-that-name`" in capsys.readouterr().err
    assert propose("last", "--line", "7") == 2
    assert "there is no line 7" in capsys.readouterr().err
    (at_home / "other.yaml").write_text("name: other\n")
    assert propose("last", "--write", "other.yaml") == 2
    assert "is there already, and is not the policy" in capsys.readouterr().err
    for broken in ("- a list", "a: [", "a: b: c"):
        (at_home / CASES).write_text(broken)
        assert propose("last") == 2
        assert "nothing can be put into" in capsys.readouterr().err
    assert (
        propose("last", "--write", "new.yaml", *Signing(at_home).enrolled("state.db").words()) == 0
    )
    with Shield.load("new.yaml", store="memory:", journal="memory:") as shield:
        assert shield.run("ann").check("fetch", {"url": "http://10.3.0.7/x"}).proceeds
