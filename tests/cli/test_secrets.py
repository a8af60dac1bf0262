"""`stanchion secrets`: a false alarm is allowed from a shell, and the next decision knows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.cli.main import main
from stanchion.guards.secrets.told import fingerprint
from tests.cli.signing import Signing

KEY = "AKIAQ3EGRXYZ5ABCD7WQ"
CALLED = fingerprint("aws-access-token", KEY)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store of its own, and a trail beside it."""
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path))
    monkeypatch.delenv("STANCHION_STORE", raising=False)
    return str(tmp_path / "state.db")


def passes(store: str) -> bool:
    """Whether a call with the key goes ahead."""
    policy = {"name": "p", "guards": [{"use": "secrets", "action": "block"}]}
    with Shield.load(policy, store=store, journal="memory:") as shield:
        return shield.run("a").check("send", {"k": KEY}).proceeds


def test_allow_list_and_forget(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not passes(store)
    ann = Signing(Path(store).parent).enrolled(store)
    assert main(["secrets", "allow", CALLED, "--why", "docs"]) == 2
    assert "operators have keys here" in capsys.readouterr().err
    assert not passes(store)
    assert main(["secrets", "allow", CALLED, "--why", "docs", *ann.words()]) == 0
    assert capsys.readouterr().out == f"{CALLED} is allowed always\n"
    assert passes(store)
    assert passes(store)
    assert main(["secrets", "allowed"]) == 0
    listed = capsys.readouterr().out
    assert listed.splitlines()[0].split() == ["fingerprint", "allowed", "by", "since", "why"]
    assert listed.splitlines()[1].split()[:3] == [CALLED, "always", "ann"]
    assert listed.endswith("docs\n")
    assert main(["secrets", "forget", CALLED]) == 0
    assert main(["secrets", "forget", CALLED]) == 1
    assert main(["secrets", "allowed"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing is allowed"
    assert not passes(store)


def test_once_and_for_one_tool(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    ann = Signing(Path(store).parent).enrolled(store)
    assert main(["secrets", "allow", CALLED, "--once", "--tool", "send", *ann.words()]) == 0
    assert capsys.readouterr().out == f"{CALLED} is allowed once for send\n"
    assert passes(store)
    assert not passes(store)


def test_kinds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["secrets", "kinds"]) == 0
    kinds = capsys.readouterr().out.split()
    assert "aws-access-token" in kinds
    assert len(kinds) >= 200


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["alow"], "did you mean `allow"),
        (["allow"], "which one?"),
        (["allow", "nope"], "`nope` is not a fingerprint"),
        (["allowed", "3f0c22a19b1e"], "takes no `3f0c22a19b1e`"),
        (["forget", CALLED, "--once"], "takes no `--once`"),
        (["kinds", "--why", "x"], "takes no `--why`"),
    ],
)
def test_mistakes_are_said_in_one_line(
    words: list[str], says: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["secrets", *words]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
