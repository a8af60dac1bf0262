"""Commands say whose state they are about, and find it from the current folder or by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.cli.main import main
from tests.cli.signing import Signing
from tests.stores import redis_server

BARE: dict[str, Any] = {"name": "bare"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home with two projects; the current folder is in the first."""
    made = tmp_path / "home"
    for name in ("one", "two"):
        (made / name / "src").mkdir(parents=True)
        (made / name / ".git").mkdir()
    for name in ("STANCHION_STATE_DIR", "STANCHION_STORE", "STANCHION_AUDIT"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.setenv("XDG_STATE_HOME", str(made / ".state"))
    monkeypatch.chdir(made / "one" / "src")
    return made


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command and gives what it says."""

    def run(*words: str, status: int = 0, err: bool = False) -> str:
        capsys.readouterr()
        assert main(words) == status
        captured = capsys.readouterr()
        return captured.err if err else captured.out

    return run


def where(said: Any, *words: str) -> dict[str, Any]:
    """Which state a command is about."""
    found: dict[str, Any] = json.loads(said("state", "--where", "--json", *words))
    return found


def test_it_says_which_state_it_is_before_and_after_it_begins(home: Path, said: Any) -> None:
    before = where(said)
    assert before["project"] == str(home / "one")
    assert before["folder"].startswith(str(home / ".state/stanchion/projects/one-"))
    assert (before["store"], before["trail"]) == (
        f"{before['folder']}/state.db",
        f"{before['folder']}/trail",
    )
    assert (before["why"], before["kept"]) == ("the current folder is in this project", False)
    assert said("state", "--where").endswith("nothing is kept in the folder yet\n")
    assert not (home / ".state").exists(), "looking makes nothing"
    with Shield.load(BARE) as shield:
        shield.halt("drill")
    assert where(said) == {**before, "kept": True}
    shown = said("state")
    assert shown.startswith(f"project  {home / 'one'}\nfolder   {before['folder']}\n")
    assert "HALTED: drill" in shown
    assert [json.loads(line)["kind"] for line in said("state", "--json").splitlines()] == ["shield"]


def test_an_operator_reaches_the_project_of_the_folder_or_the_named_one(
    home: Path, said: Any
) -> None:
    two = str(home / "two" / "src")
    assert said("state", "halt", "--project", two, "--why", "drill") == (
        f"tenant default is halted in the project `{home / 'two'}`\n"
    )
    with Shield.load(BARE) as one, Shield.load(BARE, project=two) as other:
        assert one.run("ann").check("t", {}).proceeds
        assert other.run("ann").check("t", {}).code == "kernel.halted"
    assert "HALTED" in said("state", "--project", two)
    assert "HALTED" not in said("state")
    with Shield.load(BARE, project=two) as other:
        place = other.store.place
    ann = Signing(home).enrolled(place)
    said("state", "resume", "--project", two, *ann.words())
    with Shield.load(BARE, project=two) as other:
        assert other.run("ann").check("t", {}).proceeds


def test_every_command_that_reads_takes_the_project(home: Path, said: Any) -> None:
    two = str(home / "two")
    policy = home / "two" / "policy.yaml"
    policy.write_text(
        "name: p\nguards: [{use: budget, tokens: 100, per: task}]\n", encoding="utf-8"
    )
    with Shield.load(policy) as shield, shield.run("ann", "task-of-two", id="run-of-two") as run:
        run.check("t", {}, tokens=7)
    for words in (["runs"], ["audit", "tail"], ["explain"], ["budget", "show"]):
        missing = said(*words, status=2 if words[0] in ("runs", "audit") else 0)
        assert "of-two" not in missing
        assert said(*words, "--project", two) != missing
    assert "run-of-two" in said("runs", "--project", two)
    assert "run-of-two" in said("runs", "show", "last", "--project", two)
    assert "task-of-two" in said("budget", "show", "--policy", str(policy))
    assert "whole" in said("audit", "verify", "--project", two)
    said("check", "--tool", "bash", "--project", two)
    assert "check." in said("explain", "--project", two)
    assert "check." not in said("explain")


def test_the_shared_state_is_asked_for_by_name(home: Path, said: Any) -> None:
    shared = where(said, "--store", "user:")
    assert (shared["project"], shared["folder"]) == ("", str(home / ".state/stanchion/shared"))
    assert shared["trail"] == f"{shared['folder']}/trail"
    assert (
        said("state", "halt", "--store", "user:")
        == "tenant default is halted for all projects that share the user's state\n"
    )
    assert "HALTED" in said("state", "--store", "user:")
    with Shield.load(BARE) as shield:
        assert shield.run("ann").check("t", {}).proceeds
    assert "halt" in said("audit", "tail", "--trail", "user:")


def test_what_cannot_be_meant_together_is_said(
    home: Path, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "give one of them" in said(
        "state", "halt", "--store", "user:", "--project", ".", status=2, err=True
    )
    assert "is not a folder: give its root" in said(
        "state", "halt", "--project", "nowhere", status=2, err=True
    )
    assert "leave one of them out" in said("state", "steps", "--where", status=2, err=True)
    assert "takes no `--store`" in said("state", "--projects", "--store", "x", status=2, err=True)
    monkeypatch.setenv("STANCHION_STATE_DIR", str(home / "named"))
    assert "leave `--project .` out" in said("state", "--project", ".", status=2, err=True)
    found = where(said)
    assert (found["project"], found["folder"]) == ("", str(home / "named"))
    assert found["why"] == "STANCHION_STATE_DIR names its folder"


def test_a_named_store_is_said_without_its_password(
    home: Path, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = where(said, "--store", "redis://ann:s3cr3t@host/0")
    assert found["store"] == "redis://host:6379/0"
    assert where(said, "--store", "redis://ann:s3cr3t@host/s3cr3t")["store"] == "redis://…"
    url = "postgresql://ann:s3cr3t@host/db?sslpassword=s3cr3t"
    assert where(said, "--store", url)["store"] == "postgresql://host:5432/db"
    assert found["why"].endswith("; --store names the store")
    monkeypatch.setenv("STANCHION_STORE", "state.db")
    assert where(said)["store"] == str(home / "one" / "src" / "state.db")
    monkeypatch.setenv("STANCHION_AUDIT", "postgresql://ann:s3cr3t@host/db")
    assert where(said)["trail"].endswith("/trail, copied to postgresql://…")


def test_all_projects_are_listed_and_whether_they_are_there(home: Path, said: Any) -> None:
    assert said("state", "--projects") == "no project keeps a state yet\n"
    for options in ({"project": home / "one"}, {"project": home / "two"}, {"store": "user:"}):
        Shield.load(BARE, **options).close()
    (home / "two").rename(home / "moved")
    found = {
        one["root"]: one
        for one in map(json.loads, said("state", "--projects", "--json").splitlines())
    }
    assert {root: one["exists"] for root, one in found.items()} == {
        str(home / "one"): True,
        str(home / "two"): False,
        "": False,
    }
    assert all(one["size_bytes"] > 0 and one["last_used_ms"] > 0 for one in found.values())
    shown = said("state", "--projects")
    assert f"{home / 'two'} (no longer exists)" in shown
    assert "shared by all projects" in shown


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("tickets",), 0),
        (("state",), 0),
        (("explain",), 0),
        (("explain", "last"), 2),
        (("audit", "tail"), 2),
        (("runs",), 2),
    ],
)
def test_where_nothing_is_kept_it_is_said_where_something_is(
    home: Path,
    words: tuple[str, ...],
    status: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def told() -> str:
        capsys.readouterr()
        assert main(words) == status
        return "".join(capsys.readouterr())

    assert "something is kept" not in told()
    with Shield.load(BARE, project=home / "two").run("ann") as run:
        run.check("ls", {})
    names = f"something is kept of `{home / 'two'}`: go there, or give one with `--project DIR`"
    assert names in told()
    monkeypatch.setenv("STANCHION_STATE_DIR", str(home / "all"))
    assert "something is kept" not in told()


def test_a_fleet_has_to_be_told_whose(
    home: Path, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = redis_server.shared()
    server.ask("FLUSHALL")
    monkeypatch.setenv("STANCHION_STORE", server.url)
    for words in (["state", "halt"], ["tools", "reset", "t"], ["secrets", "allow", "0" * 12]):
        assert "give the tenant" in said(*words, status=2, err=True)
    assert said("state", "halt", "fleet") == "fleet is halted\n"
    ann = Signing(home).enrolled(server.url, tenant="a")
    said("state", "resume", "fleet", *ann.words())
    assert said("state", "halt", "--tenant", "a") == "tenant a is halted\n"
    monkeypatch.setenv("STANCHION_TENANT", "a")
    assert said("state", "resume", *ann.words()) == "tenant a is normal\n"
