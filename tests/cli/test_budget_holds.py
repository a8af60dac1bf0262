"""`stanchion budget holds`, `release` and `top-up`: what is held of budgets, and what an operator
does about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit import notes
from stanchion.audit.reader import TrailReader
from stanchion.cli.main import main
from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line
from stanchion.stores.leasing import LeasingStore
from stanchion.stores.memory import wall_ms
from stanchion.stores.sqlite import SqliteStore
from tests.cli.signing import Signing

POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [
        {"use": "budget", "id": "spend", "tokens": 1000, "reserve_tokens": 1},
        {
            "use": "budget",
            "id": "hourly",
            "per": "agent",
            "tokens": 5000,
            "window_s": 3600,
            "reserve_tokens": 1,
        },
    ],
}
EARLIER_MS = 600_000
FLEET = "{*}budget:all:tokens:fleet"


def earlier() -> Callable[[], int]:
    """The clock of somebody who died ten minutes ago; no two times of it are the same."""
    times = count(wall_ms() - 2 * EARLIER_MS)
    return lambda: next(times)


@pytest.fixture
def store(tmp_path: Path) -> tuple[str, str]:
    """A store in which a call is open, and a slice of a fleet's budget; gives its path and the
    call."""
    kept = SqliteStore(tmp_path / "state.db", earlier())
    call = (
        Shield.load(POLICY, store=kept, journal="memory:")
        .run("ann", id="r1")
        .check("write", {}, tokens=900)
        .id
    )
    leasing = LeasingStore(kept, keep_s=3_600)
    lines = (Line(FLEET, ((10_000, Action.BLOCK),), 1, hold_ms=60_000),)
    assert leasing.carry(Batch("b", "default", lines=lines, amounts=(1, 50, 0, 0, 0))).go
    kept.close()
    return str(tmp_path / "state.db"), call


def held(path: str, capsysbinary: pytest.CaptureFixture[bytes], *name: str) -> list[dict[str, Any]]:
    """What is held, as programs read it."""
    assert main(["budget", "holds", *name, "--store", path, "--json"]) == 0
    return [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]


def test_holds_are_listed(
    store: tuple[str, str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path, call = store
    first, second = held(path, capsysbinary)
    assert (first["call"], first["run"], first["slice"]) == (call, "r1", False)
    assert [
        (part["budget"], part["per"], part["whose"], part["amount"]) for part in first["parts"]
    ] == [
        ("hourly", "agent", "ann", 900),
        ("spend", "run", "r1", 900),
    ]
    assert (second["run"], second["slice"], second["heard_ms"] <= wall_ms() - EARLIER_MS) == (
        "",
        True,
        True,
    )
    assert [(part["budget"], part["per"], part["amount"]) for part in second["parts"]] == [
        ("all", "fleet", 50)
    ]
    assert held(path, capsysbinary, "r1") == [first]
    assert held(path, capsysbinary, "all") == [second]
    assert main(["budget", "holds", "--store", path]) == 0
    words = [line.split() for line in capsysbinary.readouterr().out.decode().splitlines()]
    assert words[0][:3] == ["since", "held", "by"]
    assert words[1][2:] == ["r1", call, "900", "tokens", "hourly", "agent", "ann"]
    assert words[3][-5:-2] == ["tokens", "all", "fleet"]


def test_nothing_is_held(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SqliteStore(tmp_path / "state.db").close()
    assert main(["budget", "holds", "--store", str(tmp_path / "state.db")]) == 0
    assert capsys.readouterr().out.startswith("nothing is held")


def test_an_operator_releases_and_tops_up(
    store: tuple[str, str],
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    path, call = store
    ann = Signing(tmp_path).enrolled(path)
    release = ["budget", "release", call, "--used", "tokens=300", "--store", path, "--why", "gone"]
    top_up = ["budget", "top-up", "spend/run:r1", "tokens=200", "--store", path, "--why", "more"]
    for words in (release, top_up):
        assert main(words) == 2
        assert b"operators have keys here" in capsysbinary.readouterr().err
    assert main([*release, *ann.words()]) == 0
    assert (
        capsysbinary.readouterr().out.decode()
        == f"{call} is released: 300 tokens of it is charged, as used\n"
    )
    assert main([*top_up, *ann.words()]) == 0
    assert capsysbinary.readouterr().out == b"spend/run:r1 is topped up by 200 tokens\n"
    assert (
        main(
            [
                "budget",
                "release",
                held(path, capsysbinary)[0]["call"],
                "--store",
                path,
                *ann.words(),
            ]
        )
        == 0
    )
    assert b"nothing of it is charged" in capsysbinary.readouterr().out
    assert held(path, capsysbinary) == []
    with closing(SqliteStore(path)) as kept:
        found = {seen.key: seen.number for seen in kept.look() if "budget:" in seen.key}
    assert sorted(found.values()) == [0, 100, 300]
    facts = [
        one.note(notes.FactNote)
        for one in TrailReader(tmp_path / "trail").backwards()
        if one.stub.kind == notes.FACT
    ]
    assert [
        (fact.what, fact.by, fact.why) for fact in facts if fact.what.startswith("budget.")
    ] == [
        ("budget.released", "ann", ""),
        ("budget.topped_up", "ann", "more"),
        ("budget.released", "ann", "gone"),
    ]
    assert main([*release, *ann.words()]) == 2
    assert b"nothing is held by" in capsysbinary.readouterr().err


EVERY: dict[str, Any] = {
    "name": "p",
    "guards": [
        {"use": "budget", "id": "spend", "calls": 100, "tokens": 1000, "cost_usd": 9.0, "api_calls": 50,  # noqa: E501
         "duration_s": 900, "reserve_tokens": 10, "reserve_cost_usd": 0.5,
         "reserve_duration_s": 3},
    ],
}  # fmt: skip


def open_call(path: str) -> str:
    """A call that reserves of every measure, and was left ten minutes ago."""
    kept = SqliteStore(Path(path), earlier())
    run = Shield.load(EVERY, store=kept, journal="memory:").run("ann", id="r1")
    call = run.check("write", {}, tokens=900, cost_usd=0.37, api_calls=3).id
    kept.close()
    return call


def counted(path: str) -> dict[str, int]:
    """What is used of each measure."""
    with closing(SqliteStore(Path(path))) as kept:
        return {
            seen.key.split(":")[2]: seen.number for seen in kept.look() if "budget:" in seen.key
        }


def test_every_measure_that_holds_shows_is_taken_as_it_is_shown(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    path = str(tmp_path / "state.db")
    call = open_call(path)
    ann = Signing(tmp_path).enrolled(path)
    shown = {part["measure"]: part["amount"] for part in held(path, capsysbinary)[0]["parts"]}
    assert {"tokens", "cost_microusd", "api_calls", "duration_ms"} <= shown.keys()
    all_of_it = ",".join(f"{measure}={amount}" for measure, amount in shown.items())
    assert (
        main(["budget", "release", call, "--used", all_of_it, *ann.words(), "--store", path]) == 0
    )
    assert {measure: counted(path)[measure] for measure in shown} == shown
    assert main(["budget", "top-up", "spend/run:r1", all_of_it, *ann.words(), "--store", path]) == 0
    assert not any(counted(path)[measure] for measure in shown)


@pytest.mark.parametrize("used", ["cost_usd=0.12", "cost_microusd=120000"])
def test_both_names_of_a_measure_mean_the_same(
    used: str,
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    path = str(tmp_path / "state.db")
    call = open_call(path)
    ann = Signing(tmp_path).enrolled(path)
    assert main(["budget", "release", call, "--used", used, *ann.words(), "--store", path]) == 0
    assert (counted(path)["cost_microusd"], counted(path)["tokens"]) == (120_000, 900)
    assert main(["budget", "top-up", "spend/run:r1", used, *ann.words(), "--store", path]) == 0
    assert counted(path)["cost_microusd"] == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["release", "r1.x.1", "--used", "cost_microusd=0.5"], "which is not an amount"),
        (
            ["release", "r1.x.1", "--used", "cost_usd=1,cost_microusd=5"],
            "`cost_microusd` is given twice",
        ),
        (
            ["release", "r1.x.1", "--used", "words=5"],
            "tokens, cost_usd, api_calls, duration_s, one, cost_microusd",
        ),
        (
            ["top-up", "spend/run:r1", "words=5"],
            "tokens, cost_usd, api_calls, duration_s, one, cost_microusd",
        ),
        (["release"], "which call?"),
        (["release", "r1.x.1", "tokens=5"], "takes no `tokens=5`"),
        (["release", "r1.x.1", "--used", "tokens"], "`--used` is `tokens`, which is not an amount"),
        (["release", "r1.x.1", "--used", "tokens=many"], "which is not an amount"),
        (["release", "r1.x.1", "--used", "words=5"], "`words` is not a measure"),
        (["release", "r1.x.1", "--used", "tokens=-5"], "tokens is `-5`"),
        (["top-up", "spend/run:r1"], "by how much?"),
        (["top-up", "spend", "tokens=5"], "`spend` does not name a budget"),
        (["top-up", "spend/run:r1", "tokens=0"], "top-up is empty"),
        (["top-up", "spend/run:r1", "words=5"], "`words` is not a measure"),
        (["holds", "r1", "r2"], "takes no `r2`"),
    ],
)
def test_mistakes_are_said(
    words: list[str], says: str, store: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["budget", *words, "--store", store[0]]) == 2
    assert says in capsys.readouterr().err
