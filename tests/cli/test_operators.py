"""`stanchion operators`: the first is added at a terminal while nothing runs, every other change is
signed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest

from stanchion import Shield
from stanchion.approvals.operators import RECORD
from stanchion.cli.main import main
from tests.approvals.homes import Home
from tests.approvals.test_taken_back import put
from tests.cli.signing import Signing


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that commands use."""
    monkeypatch.setenv("STANCHION_STORE", str(tmp_path / "state.db"))
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    return tmp_path / "state.db"


@pytest.fixture
def ann(file: Path, tmp_path: Path) -> Signing:
    """The first operator."""
    return Signing(tmp_path).enrolled(file)


def public(folder: Path, name: str) -> str:
    """The public key of somebody, in a file."""
    path = folder / f"{name}.pub"
    path.write_text(Signing(folder, name).public.line, encoding="utf-8")
    return str(path)


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """Who is an operator, and as what."""
    capsys.readouterr()
    assert main(["operators", "list", "--json"]) == 0
    return {
        one["name"]: one["roles"] for one in map(json.loads, capsys.readouterr().out.splitlines())
    }


def test_the_first_is_added_at_a_terminal(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    key = public(tmp_path, "ann")
    piped = home.runs("operators", "add", "ann", "--public", key)
    assert piped.status == 1
    assert "no terminal to ask a person in" in piped.err
    with home.shield() as shield, shield.run("bot"):
        beside = home.at_terminal("operators", "add", "ann", "--public", key)
        assert beside.status == 1
        assert "runs are open" in beside.err
    assert "there are no operators yet" in home.runs("operators", "list").out
    came = home.at_terminal("operators", "add", "ann", "--public", key)
    assert came.status == 0, came
    assert '"name": "ann"' in came.err, "it is shown before the code is asked for"
    line = home.runs("operators", "list").out.splitlines()[1].split()
    assert (line[0], line[1], line[3]) == ("ann", "human_operator", "unproven")
    again = home.at_terminal("operators", "add", "bob", "--public", public(tmp_path, "bob"))
    assert again.status == 1
    assert "an operator has to sign every change" in again.err


def test_changes_are_signed_and_shown(
    file: Path, ann: Signing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add = [
        "operators",
        "add",
        "bob",
        "--public",
        public(tmp_path, "bob"),
        "--roles",
        "reviewer",
        "--agents",
        "bot, kid",
    ]
    assert main([*add, *ann.words()]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "bob is an operator now\nto pin it in a policy:  operators: {bob: {key: ssh-ed25519 "
    )
    assert main(["operators", "list"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["operator", "roles", "agents", "key", "added", "by", "since"]
    assert rows[2][:4] == ["bob", "reviewer", "bot,", "kid"]
    assert rows[2][5] == "ann"
    assert (
        main(["operators", "rotate", "bob", "--public", public(tmp_path, "bob-2"), *ann.words()])
        == 0
    )
    assert listed(capsys) == {"ann": ["human_operator"], "bob": ["reviewer"]}
    assert main(["operators", "revoke", "bob", *ann.words()]) == 0
    assert listed(capsys) == {"ann": ["human_operator"]}
    assert main(["audit", "tail"]) == 0
    trail = capsys.readouterr().out
    assert [
        what
        for what in ("added", "rotated", "revoked")
        if f"operator.{what} operator:bob by ann" not in trail
    ] == []


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (
            ["add", "ann", "--public", "NEW"],
            1,
            "`ann` is already an operator: `stanchion operators rotate`",
        ),
        (["add", "Bob", "--public", "NEW"], 1, "`Bob` is not a name for an operator"),
        (["add", "-bob", "--public", "NEW"], 2, "stanchion"),
        (["add", "b" * 65, "--public", "NEW"], 1, "is not a name for an operator"),
        (["add", "аnn", "--public", "NEW"], 1, "is not a name for an operator"),
        (["add", "bob", "--public", "OWN"], 1, "this key already belongs to `ann`"),
        (["add", "bob", "--public", "nowhere"], 2, "`nowhere` cannot be read"),
        (["add", "bob", "--public", "BAD"], 2, "key"),
        (["rotate", "bob", "--public", "NEW"], 1, "`bob` is not an operator"),
        (["rotate", "ann", "--public", "OWN"], 1, "this key already belongs to `ann`"),
        (["revoke", "bob"], 1, "`bob` is not an operator"),
        (["revoke", "ann"], 1, "`ann` is the last operator"),
        (["revoke"], 2, "who? write `stanchion operators revoke NAME`"),
        (["list", "ann"], 2, "takes no `ann`"),
        (["revoke", "ann", "--public", "NEW"], 2, "takes no `--public`"),
        (["revok", "ann"], 2, "did you mean `revoke`?"),
    ],
)
def test_what_is_not_done_says_why(
    words: list[str],
    status: int,
    says: str,
    ann: Signing,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own, bad = tmp_path / "own.pub", tmp_path / "bad.pub"
    own.write_text(ann.public.line, encoding="utf-8")
    bad.write_text("ssh-rsa AAAA", encoding="utf-8")
    files = {"NEW": public(tmp_path, "new"), "OWN": str(own), "BAD": str(bad)}
    signs = ann.words() if words[0] != "list" else []
    assert main(["operators", *[files.get(word, word) for word in words], *signs]) == status
    assert says in capsys.readouterr().err
    assert listed(capsys) == {"ann": ["human_operator"]}


def test_another_key_signs_nothing(
    file: Path, ann: Signing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mallory = Signing(tmp_path, "mallory")
    add = ["operators", "add", "mallory", "--public", public(tmp_path, "m2")]
    assert main([*add, *mallory.words()]) == 2
    assert "no operator of this store has the key SHA256:" in capsys.readouterr().err
    assert main([*add, *mallory.words(), "--as", "ann"]) == 1
    assert "this is not the key of `ann`" in capsys.readouterr().err
    assert main(add) == 1
    assert "an operator has to sign every change" in capsys.readouterr().err
    assert listed(capsys) == {"ann": ["human_operator"]}


def test_who_has_no_such_role_changes_nobody(
    file: Path, ann: Signing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bob = Signing(tmp_path, "bob")
    key = tmp_path / "bob.pub"
    key.write_text(bob.public.line, encoding="utf-8")
    assert (
        main(["operators", "add", "bob", "--public", str(key), "--roles", "reviewer", *ann.words()])
        == 0
    )
    assert main(["operators", "revoke", "ann", *bob.words()]) == 1
    assert "somebody with the role `human_operator` can" in capsys.readouterr().err
    assert listed(capsys) == {"ann": ["human_operator"], "bob": ["reviewer"]}


@pytest.mark.parametrize("broken", ["operator", "at", "signature", "before", "by"])
def test_a_chain_that_was_changed_counts_no_further(
    broken: str, file: Path, ann: Signing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["operators", "add", "bob", "--public", public(tmp_path, "bob"), *ann.words()]) == 0
    with Shield.load({"name": "bare"}, store=file, journal="memory:") as shield:
        changes = msgspec.json.decode(msgspec.json.encode(shield.store.read(RECORD)[1]))
        other = {
            "operator": {**changes[1]["operator"], "name": "mallory"},
            "at": 7,
            "signature": "00" * 64,
        }
        changes[1][broken] = {**other, "before": "0" * 64, "by": ""}[broken]
        put(shield.store, RECORD, changes)
    capsys.readouterr()
    assert main(["operators", "list"]) == 0
    out, err = capsys.readouterr()
    assert "change 2 of the operators " in err
    assert "what comes after that does not count" in err
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["ann"]


def test_what_is_missing_is_said_before_a_passphrase_is_asked_for(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "bcrypt", None)
    assert main(["operators", "add", "ann"]) == 2
    assert capsys.readouterr().err.startswith("stanchion: operators' keys need the extra `signing`")
