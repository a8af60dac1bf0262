"""Which walls stand: one is chosen, named, and refused where it is needed and missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import (
    HOLDS,
    NOBODY,
    REQUIRED,
    Sandbox,
    SandboxError,
    Wall,
    WallKind,
)
from tests.runtime.sandbox.conftest import USER, lacking

AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")


def test_commands_are_confined_on_this_machine(root: Path) -> None:
    """Never skipped: a run of the tests in which nothing was confined has shown nothing."""
    with Sandbox(root, user=USER, required=()) as made:
        came = made.run(["cat", "a.txt"])
    assert came.stdout == b"hello\n"
    assert came.kind is not None
    assert HOLDS[came.kind] <= set(came.walls)


def test_the_strongest_kind_is_taken(root: Path) -> None:
    standing = [kind for kind in WallKind if not lacking(kind)]
    with Sandbox(root, user=USER, required=()) as made:
        assert made.run(["true"]).kind is standing[0]


def test_the_next_kind_is_taken_where_one_does_not_stand(root: Path) -> None:
    if lacking(WallKind.LANDLOCK):
        pytest.skip(lacking(WallKind.LANDLOCK))
    with Sandbox(root, user=USER, required=HOLDS[WallKind.LANDLOCK]) as made:
        made._kinds = [WallKind.BUBBLEWRAP, WallKind.LANDLOCK]  # bubblewrap has no Landlock in it
        first, second = made.run(["true"]), made.run(["cat", "a.txt"])
    assert (first.kind, second.kind, second.stdout) == (
        WallKind.LANDLOCK,
        WallKind.LANDLOCK,
        b"hello\n",
    )


@pytest.mark.parametrize(
    ("kind", "wall"),
    [
        (WallKind.BUBBLEWRAP, Wall.LANDLOCK),
        (WallKind.LANDLOCK, Wall.UNSEEN),
        (WallKind.LANDLOCK, Wall.USER),
        (WallKind.LANDLOCK, Wall.TMP),
    ],
)
def test_a_wall_that_a_kind_does_not_hold_is_refused(
    root: Path, kind: WallKind, wall: Wall
) -> None:
    if lacking(kind):
        pytest.skip(lacking(kind))
    with Sandbox(root, user=USER, kind=kind, required={wall}) as made:
        with pytest.raises(SandboxError) as caught:
            made.run(["touch", "ran"], write=True)
        assert str(caught.value) == f"nothing ran: {kind}: it has no wall `{wall}` here"
    assert not (root / "ran").exists()


@AS_ROOT
def test_commands_of_root_run_as_somebody_else(root: Path, kind: WallKind) -> None:
    with Sandbox(root, kind=kind) as made:
        came = made.run(["touch", "ran"], write=True)
    assert Wall.CHILDREN in came.walls, "of root the kernel counts no processes"
    assert (root / "ran").stat().st_uid == NOBODY


@AS_ROOT
@pytest.mark.parametrize("user", [0, -1, (1 << 32) - 1, 1 << 32])
def test_nothing_runs_as_root(root: Path, user: int) -> None:
    """The kernel takes -1, and what wraps to it, for "as before"."""
    with pytest.raises(SandboxError, match=f"commands do not run as user `{user}`"):
        Sandbox(root, user=user)


@AS_ROOT
def test_a_folder_that_the_user_cannot_use_is_named(root: Path, kind: WallKind) -> None:
    root.chmod(0o755)
    with Sandbox(root, kind=kind) as made:
        assert made.run(["cat", "a.txt"]).stdout == b"hello\n"
        with pytest.raises(
            SandboxError, match=f"user {NOBODY}, who commands run as, cannot write `{root}`"
        ):
            made.run(["touch", "ran"], write=True)
    root.parent.chmod(0o700)
    with (
        Sandbox(root, kind=kind) as made,
        pytest.raises(SandboxError, match=f"cannot read `{root}`"),
    ):
        made.run(["true"])


def test_each_kind_says_why_it_does_not_stand(root: Path) -> None:
    root.chmod(0)
    with Sandbox(root) as made, pytest.raises(SandboxError) as caught:
        made.run(["touch", "ran"], write=True)
    told = str(caught.value)
    assert "\n" not in told
    assert [told.index(f"{kind}: ") for kind in WallKind] == sorted(
        told.index(f"{kind}: ") for kind in WallKind
    )
    root.chmod(0o755)
    assert not (root / "ran").exists()


def test_what_is_missing_is_said_in_one_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with Sandbox(root, user=USER, kind="bubblewrap") as made, pytest.raises(SandboxError) as caught:
        made.run(["touch", "ran"], write=True)
    assert (
        str(caught.value)
        == "nothing ran: bubblewrap: there is no `bwrap`: install the package `bubblewrap`"
    )
    assert not (root / "ran").exists()


def test_walls_that_no_kind_needs_are_not_required_by_chance() -> None:
    assert HOLDS[WallKind.NAMESPACES] & HOLDS[WallKind.BUBBLEWRAP] == REQUIRED


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"root": "/nowhere"}, "no folder"),
        ({"root": "/"}, "no folder"),
        ({"required": ["moat"]}, "`moat` is no wall"),
        (
            {"kind": "moat"},
            "`moat` is no kind of walls: there are bubblewrap, landlock, namespaces",
        ),
    ],
)
def test_what_makes_no_sandbox_is_refused(root: Path, wrong: dict[str, object], says: str) -> None:
    with pytest.raises((SandboxError, ValueError), match=says):
        Sandbox(**{"root": root, **wrong})  # type: ignore[arg-type]  # that is what is tried


@pytest.mark.parametrize(
    ("name", "usual", "least", "most"),
    [
        ("timeout_s", 30, 1, 600),
        ("memory_mb", 512, 64, 4_096),
        ("cores", 1, 1, 4),
        ("children", 10, 0, 100),
    ],
)
def test_limits_are_those_of_the_execution_contract(
    name: str, usual: int, least: int, most: int
) -> None:
    assert getattr(Limits(), name) == usual
    for value in (least, most):
        Limits(**{name: value})
    for value in (least - 1, most + 1):
        with pytest.raises(ValueError, match=f"`{name}` is `{value}`"):
            Limits(**{name: value})


def test_a_megabyte_of_output_and_a_quarter_of_errors_are_kept() -> None:
    assert (Limits().stdout_bytes, Limits().stderr_bytes) == (1 << 20, 256 << 10)
