"""`stanchion audit erase` takes everything that is ours, wherever it lies, and names what it
leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stanchion import Refused, Shield
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from stanchion.cli.main import main
from tests.cli.signing import Signing

ADDRESS = "ann@example.org"
POLICY = {"name": "p", "guards": [{"use": "tool_denylist", "tools": ["pay"], "action": "escalate"}]}
LEFT = 3


class Place:
    """A state folder, and an operator who may erase what is in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trail = folder / "trail"
        self._ann = Signing(folder).enrolled(folder / "state.db")

    def shield(self, **options: object) -> Shield:
        """A shield of the project."""
        return Shield.load(
            POLICY, store=str(self.folder / "state.db"), journal=self.journal(**options)
        )

    def journal(self, **options: object) -> Trail:
        """A process that writes the trail."""
        return Trail(self.trail, TrailOptions(head_ms=1e12), **options)  # type: ignore[arg-type] # as a test gives them

    def torn(self, name: str) -> None:
        """A chain whose process was killed in the middle of its last record."""
        # A store would have seen what the chain is to lose.
        with Shield.load(
            POLICY, store="memory:", journal=self.journal(names=lambda: name)
        ) as shield:
            shield.run("ann", "t1", id=f"run-{name[0]}").check(
                "send", {"to": f"mail {ADDRESS}, now"}
            )
            chain = self.trail / name
            head = (chain / "head").read_bytes()
            (segment,) = chain.glob("*.jsonl")
            data = segment.read_bytes()
        segment.write_bytes(data[:-5])
        (chain / "head").write_bytes(head)

    def erase(self, *words: str) -> int:
        """Erase as an operator."""
        return main(["audit", "erase", *words, *self._ann.words()])

    def holding(self, text: str = ADDRESS) -> list[str]:
        """The files in which a text stands."""
        each = (
            path for path in self.folder.rglob("*") if path.is_file() and ".db" not in path.name
        )
        return sorted(
            path.relative_to(self.folder).as_posix()
            for path in each
            if text.encode() in path.read_bytes()
        )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """An empty state folder that commands are about."""
    monkeypatch.delenv("STANCHION_STORE", raising=False)
    monkeypatch.delenv("STANCHION_AUDIT", raising=False)
    folder = Path(os.environ["STANCHION_STATE_DIR"])
    folder.mkdir(exist_ok=True)
    return Place(folder)


def test_what_a_crash_tore_goes_in_every_chain(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """Opening the trail makes a file of one of them; nobody opens the others."""
    held = place.journal(names=lambda: "f" * 16)
    for name in ("a" * 16, "b" * 16, "c" * 16):
        place.torn(name)
        (place.trail / name).rename(place.folder / name)
    held.close()
    for name in ("a" * 16, "b" * 16, "c" * 16):
        (place.folder / name).rename(place.trail / name)
    assert len(place.holding()) == 3
    assert main(["audit", "erase", "--containing", ADDRESS, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.count("the beginning of a record, cut off by a crash") == 3
    assert len(place.holding()) == 3
    assert place.erase("--containing", ADDRESS) == 0
    assert place.holding() == []
    assert verify(place.trail).faults == ()


def test_what_was_checked_goes_too(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    with place.shield() as shield, shield.run("bob", "t1") as run:
        run.check("ls", {})
    assert main(["check", "--tool", "bash", "--args", f'{{"command": "ls {ADDRESS}"}}']) == 0
    (held,) = place.holding()
    assert held.startswith("checks/")
    capsys.readouterr()
    assert main(["audit", "erase", "--containing", ADDRESS, "--dry-run"]) == 0
    assert "of `stanchion check`, 1 record" in capsys.readouterr().out
    assert place.holding() == [held]
    assert place.erase("--containing", ADDRESS, "--why", "asked for") == 0
    assert place.holding() == []
    assert verify(place.folder / "checks").faults == verify(place.trail).faults == ()


def test_a_run_that_is_still_open_is_named(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """It writes what it produced when it ends."""
    shield = place.shield()
    run = shield.run("ann", "t1", id="at-work")
    run.check("send", {"to": ADDRESS})
    run.keep(f"a letter to {ADDRESS}")
    shield.run("ann", "t1", id="elsewhere").check("ls", {})
    for words in (["--containing", ADDRESS], ["--run", "at-*"]):
        assert main(["audit", "erase", *words, "--dry-run"]) == LEFT
        out = capsys.readouterr().out
        assert "not all of it would be removed" in out
        assert "run at-work: still open" in out
        assert "elsewhere" not in out
    assert place.erase("--containing", ADDRESS) == LEFT
    assert (
        "run at-work: still open, and records what it produced when it ends: close it first"
        in capsys.readouterr().out
    )
    assert place.holding() == []
    run.close()
    shield.close()
    assert len(place.holding()) == 1
    assert place.erase("--containing", ADDRESS) == 0
    assert place.holding() == []


@pytest.mark.parametrize("answer", ["", "approve", "deny"])
def test_tickets_are_named_answered_or_not(
    place: Place, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with place.shield() as shield, shield.run("billing-1", "t1", id="r1") as run:
        with pytest.raises(Refused):
            run.call(shield.tool(name="pay")(lambda to: to), to=ADDRESS)
        (ticket,) = shield.tickets()
    if answer:
        assert (
            main(["tickets", answer, ticket.id, "--comment", "so be it", *place._ann.words()]) == 0
        )
    state = {"": "open", "approve": "approved", "deny": "denied"}[answer]
    for words in (
        ["--containing", ADDRESS],
        ["--run", "r1"],
        ["--agent", "billing-*"],
        ["--task", "t1"],
    ):
        capsys.readouterr()
        assert main(["audit", "erase", *words, "--dry-run"]) == LEFT
        assert (
            f"ticket / {ticket.id}, {state}: in the store until it expires"
            in capsys.readouterr().out
        )
    capsys.readouterr()
    assert main(["audit", "erase", "--run", "another", "--dry-run"]) == 0


def test_a_damaged_line_and_a_file_of_somebody_are_named(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    with place.shield(names=lambda: "a" * 16) as shield, shield.run("ann", "t1", id="r1") as run:
        run.check("send", {"to": ADDRESS})
        run.check("send", {"to": ADDRESS})
    (segment,) = place.trail.rglob("*.jsonl")
    whole = segment.read_bytes()
    segment.with_name("00000001.jsonl.bak").write_bytes(whole)
    at = whole.index(ADDRESS.encode()) - 3
    segment.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
    byte = whole.rindex(b"\n", 0, at) + 1
    assert place.erase("--containing", ADDRESS) == LEFT
    out = capsys.readouterr().out
    assert "the content of 1 record is erased" in out
    assert f"  {'a' * 16}/00000001.jsonl from byte {byte}: a line that cannot be read" in out
    assert f"  {'a' * 16}/00000001.jsonl.bak: not part of a trail, so it was left alone" in out
    segment.with_name("00000001.jsonl.bak").unlink()
    assert place.erase("--run", "r1") == LEFT
    assert "from byte" in capsys.readouterr().out


def test_several_agents_by_name_and_by_pattern(place: Place) -> None:
    with place.shield() as shield:
        for agent in ("ann", "builder-1", "builder-2", "bob"):
            with shield.run(agent, "t1") as run:
                run.check("send", {"to": f"{agent}@example.org"})
    assert place.erase("--agent", "ann", "--agent", "builder-*") == 0
    assert [
        bool(place.holding(f"{agent}@")) for agent in ("ann", "builder-1", "builder-2", "bob")
    ] == [0, 0, 0, 1]
