"""`stanchion tools sandbox` says which walls stand here."""

from __future__ import annotations

import json
import os

import pytest

from stanchion.cli import sandbox as command
from stanchion.cli.main import main
from stanchion.runtime.sandbox.sandbox import Wall, WallKind, WallStanding


def test_every_kind_is_tried(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["tools", "sandbox", "--json"]) == 0
    found = json.loads(capsysbinary.readouterr().out)
    assert [one["kind"] for one in found] == list(WallKind)
    for one in found:
        assert sorted([*one["walls"], *one["missing"]]) == sorted(Wall)
        assert bool(one["why"]) is not bool(one["walls"])


@pytest.mark.parametrize(
    ("found", "status", "says"),
    [
        (
            WallStanding(WallKind.BUBBLEWRAP, (Wall.FILES,), (Wall.TMP, Wall.USER)),
            0,
            "bubblewrap  yes     tmp, user",
        ),
        (
            WallStanding(WallKind.NAMESPACES, why="unshare: Operation not permitted"),
            1,
            "namespaces  no      unshare: Oper",
        ),
    ],
)
def test_what_a_kind_lacks_and_why_it_does_not_stand(
    found: WallStanding,
    status: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "standing", lambda _user: (found,))
    assert main(["tools", "sandbox"]) == status
    assert says in capsys.readouterr().out


@pytest.mark.parametrize("user", ["0", "-1"])
def test_walls_are_not_tried_as_root(user: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "sandbox", f"--user={user}"]) == 2
    assert ("do not run as user" if os.getuid() == 0 else "only root") in capsys.readouterr().err
