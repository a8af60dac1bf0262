"""`stanchion tools experience` shows what was learnt, and has old incidents leave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.cli.main import main
from stanchion.stores.experience.sqlite import beside

POLICY = {"name": "x", "experience": {"tier": "persistent"}}


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store beside which experience of two tenants is kept."""
    path = str(tmp_path / "state.db")
    with Shield.load(POLICY, store=path, journal="memory:") as shield:
        run = shield.run("ann", id="run-1")
        for _ in range(3):
            run.result("search", {"for": "cats"}, 1)
        run.error("search", TimeoutError("too slow\x1b[2J"), args={"for": "dogs"})
        shield.run("bob", tenant="acme").result("pay", {}, 1)
    return path


def test_every_tool_of_a_tenant_is_listed(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "experience", "--store", store]) == 0
    heading, line = capsys.readouterr().out.splitlines()
    assert heading.split() == ["tool", "worked", "failed", "rate", "lately", "likely", "between"]
    assert line.split()[:5] == ["search", "3", "1", "75%", "75%"]
    assert main(["tools", "experience", "--store", store, "--tenant", "acme"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["pay", "1", "0"]


def test_one_tool_is_shown_with_its_calls_and_its_outcomes(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools", "experience", "show", "search", "--store", store]) == 0
    said = capsys.readouterr().out
    assert '{"for": "cats"}' in said
    assert "TimeoutError: too slow" in said
    assert "\x1b" not in said


def test_json_has_everything(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "experience", "show", "search", "--store", store, "--json"]) == 0
    (found,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (found["successes"], found["failures"], found["rate"]) == (3, 1, 0.75)
    assert found["practices"][0]["last_success_data"] == {"for": "cats"}
    assert len(found["incidents"]) == 4


def test_prune_and_archive_remove_what_is_too_many(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "old.jsonl"
    assert main(["tools", "experience", "archive", str(file), "--rows", "3", "--store", store]) == 0
    assert capsys.readouterr().out.startswith(
        f"2 incidents removed after they were written to `{file}`"
    )
    assert len(file.read_text("utf-8").splitlines()) == 2
    assert main(["tools", "experience", "prune", "--rows", "1", "--store", store]) == 0
    assert (
        capsys.readouterr().out == "2 incidents removed; 0 calls that worked long ago forgotten\n"
    )


def test_days_and_rows_come_from_the_policy(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "policy.yaml").write_text(
        "name: x\nexperience:\n  tier: persistent\n  rows: 1\n", "utf-8"
    )
    assert (
        main(
            [
                "tools",
                "experience",
                "prune",
                "--policy",
                str(tmp_path / "policy.yaml"),
                "--store",
                store,
            ]
        )
        == 0
    )
    assert capsys.readouterr().out.startswith("4 incidents removed;")


def test_where_nothing_is_kept_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Shield.load({"name": "x"}, store=str(tmp_path / "state.db"), journal="memory:") as shield:
        shield.run("a").result("pay", {}, 1)
    assert main(["tools", "experience", "--store", str(tmp_path / "state.db")]) == 0
    assert "no experience is kept there" in capsys.readouterr().err
    assert not (tmp_path / "state.db-experience").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tools", "experience", "archive"], "into which file"),
        (["tools", "experience", "prume"], "did you mean `prune`"),
        (["tools", "experience", "prune", "x"], "takes no `x`"),
        (["tools", "experience", "prune", "--rows", "0"], "give a number from 1"),
    ],
)
def test_what_is_wrong_is_said(
    words: list[str], says: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--store", store]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("where", ["nowhere/old.jsonl", "", "state.db/old.jsonl"])
def test_an_archive_that_cannot_be_written_is_named_and_nothing_leaves(
    where: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / where)
    assert main(["tools", "experience", "archive", file, "--rows", "1", "--store", store]) == 2
    assert f"`{file}` cannot be written" in capsys.readouterr().err
    assert main(["tools", "experience", "show", "search", "--store", store, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["incidents"]) == 4


def test_erasing_in_the_trail_names_experience_that_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, trail = str(tmp_path / "state.db"), str(tmp_path / "trail")
    monkeypatch.setenv("STANCHION_AUDIT", trail)
    with Shield.load(POLICY, store=store, journal=trail) as shield, shield.run("ann") as run:
        run.result("search", {"for": "cats"}, 1)
    main(["audit", "erase", "--agent", "ann", "--store", store, "--why", "asked to", "--dry-run"])
    assert "experience, 1 incidents: beside the store" in capsys.readouterr().out


def test_erasing_in_the_trail_says_that_experience_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, trail = tmp_path / "state.db", str(tmp_path / "trail")
    monkeypatch.setenv("STANCHION_AUDIT", trail)
    with Shield.load(POLICY, store=str(store), journal=trail) as shield, shield.run("ann") as run:
        run.result("search", {"for": "cats"}, 1)
    erase = [
        "audit",
        "erase",
        "--agent",
        "ann",
        "--store",
        str(store),
        "--why",
        "asked to",
        "--dry-run",
    ]
    beside(store).write_bytes(b"x" * 8_192)
    main(erase)
    assert "experience: cannot be read: " in capsys.readouterr().out
    beside(store).unlink()
    main(erase)
    assert "experience" not in capsys.readouterr().out
