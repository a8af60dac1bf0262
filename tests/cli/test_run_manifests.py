"""`stanchion runs manifest` makes a manifest of what a trail has, and `verify` holds it against
that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.manifest_check import hash_faults
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.cli.main import main
from stanchion.ops.views.runs import run_manifest
from stanchion.testing import FakeClock, shield_for
from stanchion.tutor.bundles.canonical import digest
from stanchion.tutor.manifests.manifest import field_hashes, manifest_in

POLICY = "name: p\nguards:\n  - {use: tool_denylist, tools: [rm]}\n"


class Ticking(FakeClock):
    """A clock that goes on whenever somebody looks at it."""

    def __call__(self) -> int:
        return self.advance(1)


@pytest.fixture
def trail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trail with two runs, one of which was refused something."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text(POLICY)
    with Shield.load(
        "policy.yaml", store=tmp_path / "state.db", journal=tmp_path / "trail"
    ) as shield:
        for name in ("one", "two"):
            with shield.run("ann", "tidy", id=name) as run:
                run.check("ls", {"path": "."})
                run.check("rm", {"path": "."})
    return tmp_path / "trail"


def answered(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """How a command ended, and what it printed."""
    capsys.readouterr()
    status = main(["runs", *words])
    said = capsys.readouterr()
    return status, said.out + said.err


def written(trail: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The file with the manifest of a run."""
    status, _ = answered(capsys, "manifest", "one", "--trail", str(trail), "--out", "m.json")
    assert status == 0
    return Path("m.json")


def test_a_manifest_says_what_the_trail_has(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(answered(capsys, "manifest", "one", "--trail", str(trail), "--json")[1])
    manifest = manifest_in(data)
    assert hash_faults(data) == []
    assert manifest.run is not None
    assert manifest.trail is not None
    assert (manifest.run.agent, manifest.run.task, manifest.run.state) == ("ann", "tidy", "ended")
    assert manifest.run.decided == {"ALLOW": 1, "BLOCK": 1}
    assert manifest.run.refused == 1
    assert manifest.trail.records == 4
    assert manifest.environment.hostname is None
    assert manifest.repository is None
    newest = json.loads(answered(capsys, "manifest", "last", "--trail", str(trail))[1])
    assert newest["run_id"] == "two"


def test_a_decision_from_before_its_runs_beginning_was_written_is_counted(tmp_path: Path) -> None:
    clock = Ticking()
    trail = Trail(tmp_path / "trail", clock=clock)
    shield = shield_for({"name": "p"}, clock=clock, journal=trail)
    for _ in range(2):
        with shield.run("ann", id="again") as run:
            for path in "abc":
                run.check("ls", {"path": path})
    trail.close()
    made = run_manifest(TrailReader(tmp_path / "trail"), "again")
    assert made is not None
    assert made["run"]["decided"] == {"ALLOW": 3}
    assert made["trail"]["records"] == 5


def test_the_same_trail_gives_the_same_manifest(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("manifest", "one", "--trail", str(trail))
    assert answered(capsys, *asked) == answered(capsys, *asked)


def test_a_manifest_that_was_not_touched_is_whole(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(trail, capsys)
    assert answered(capsys, "verify", str(path), "--trail", str(trail)) == (0, "whole\n")
    status, said = answered(capsys, "manifest", "one", "--trail", str(trail), "--out", str(path))
    assert status == 2
    assert "already exists" in said


def edited(path: Path, section: str, name: str, value: Any, forge: bool) -> None:
    """Change a field, and where it is forged the hashes as well."""
    data = json.loads(path.read_text())
    data[section][name] = value
    if forge:
        bare = {
            key: one for key, one in data.items() if key not in ("field_hashes", "manifest_hash")
        }
        data["field_hashes"] = field_hashes(bare)
        data["manifest_hash"] = digest(data["field_hashes"])
        assert hash_faults(data) == []
    path.write_text(json.dumps(data))


@pytest.mark.parametrize("forge", [False, True], ids=["edited", "forged"])
@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("run", "refused", 0),
        ("run", "agent", "bob"),
        ("trail", "records", 3),
        ("environment", "hostname", "here"),
    ],
)
def test_a_field_that_was_changed_is_named(
    trail: Path,
    section: str,
    name: str,
    value: Any,
    forge: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written(trail, capsys)
    edited(path, section, name, value, forge)
    status, said = answered(capsys, "verify", str(path), "--trail", str(trail))
    assert status == 1
    assert said.startswith(f"{section}.{name}: it was changed")
    assert "not whole: " in said
    told = json.loads(answered(capsys, "verify", str(path), "--trail", str(trail), "--json")[1])
    assert not told["whole"]
    assert told["wrong"][0]["field"] == f"{section}.{name}"


def test_a_manifest_of_a_run_that_nobody_knows_is_said(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(trail, capsys)
    with Shield.load("policy.yaml", store="memory:", journal=trail.parent / "other") as shield:
        shield.run("eve", id="three").close()
    status, said = answered(capsys, "verify", str(path), "--trail", str(trail.parent / "other"))
    assert (status, said.splitlines()[-1]) == (0, "whole")
    assert "the trail does not know it" in said


def test_without_a_trail_its_own_hashes_alone_are_checked(
    trail: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(trail, capsys)
    monkeypatch.setenv("STANCHION_STATE_DIR", str(trail.parent / "empty"))
    monkeypatch.delenv("STANCHION_AUDIT", raising=False)
    status, said = answered(capsys, "verify", str(path))
    assert status == 0
    assert "no trail" in said
    edited(path, "run", "refused", 0, forge=False)
    assert answered(capsys, "verify", str(path))[0] == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("manifest",), "give the run"),
        (("verify",), "give the manifest"),
        (("manifest", "none"), "there is no run `none`"),
        (("verify", "missing.json"), "cannot be read"),
        (("verify", "policy.yaml"), "it is no JSON"),
        (("manifest", "one", "--all"), "takes no `--all`"),
        (("manifest", "one", "--store", "x"), "takes no `--store`"),
        (("show", "one", "--out", "x"), "takes no `--out`"),
        (("--out", "x"), "takes no `--out`"),
        (("manifset", "one"), "did you mean `manifest`?"),
    ],
)
def test_mistakes_are_one_line(
    trail: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = answered(capsys, *words, "--trail", str(trail))
    assert status == 2
    assert says in said
    assert said.count("\n") == 1
