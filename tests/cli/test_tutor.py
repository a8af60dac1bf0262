"""`stanchion tutor play`: a script plays a game in the terminal, and the evidence is written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.cli.main import main

USER = ["--user", "65534"] if os.getuid() == 0 else []
GAME = {
    "name": "count",
    "goal": "find out how long the notes are",
    "claims": [{"predicate": "lines", "subject": "notes.txt", "value": 2}],
}


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a game and the file that it is about."""
    with tempfile.TemporaryDirectory(prefix="stanchion-game-") as made:
        folder = Path(made).resolve()
        folder.chmod(0o755)
        (folder / "notes.txt").write_text("one\ntwo\n")
        (folder / "game.yaml").write_text(json.dumps(GAME))
        yield folder


def played(place: Path, *moves: object, more: tuple[str, ...] = ()) -> int:
    """Play some moves."""
    (place / "moves.jsonl").write_text("".join(f"{json.dumps(move)}\n" for move in moves))
    return main(
        [
            "tutor",
            "play",
            str(place / "game.yaml"),
            "--moves",
            str(place / "moves.jsonl"),
            *USER,
            *more,
        ]
    )


def written(place: Path, kind: str) -> list[dict[str, str]]:
    """The lines of a kind in the evidence that was written."""
    lines = map(json.loads, (place / "evidence.jsonl").read_text("utf-8").splitlines())
    return [line for line in lines if line["type"] == kind]


def test_a_game_is_won_by_what_is_proven(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = {"predicate": "lines", "subject": "notes.txt", "value": 2}
    status = played(
        place,
        {"action": "ASSERT", "claim": claim},
        {"action": "PROPOSE", "command": "rm -fr /"},
        {"action": "PROPOSE", "command": "true"},
        {"action": "PROPOSE", "command": "wc -l notes.txt"},
        more=("--graph", str(place / "evidence.jsonl")),
    )
    out = capsys.readouterr().out
    assert status == 0
    assert "1. legal: undecidable: an observation of `wc -l notes.txt`" in out
    assert "2. blocked: `rm` is not among the programs of this game" in out
    assert "| 2 notes.txt" in out
    assert "proven in turn 4" in out
    promoted = {one["target"] for one in written(place, "event.promote")}
    proven = [one["text"] for one in written(place, "node.T") if one["id"] in promoted]
    assert "lines(`notes.txt`, 2)" in proven
    assert (place / "notes.txt").exists()


def test_a_game_is_lost_where_the_moves_end(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = played(
        place,
        {"action": "PROPOSE", "command": "true"},
        "nonsense",
        more=("--graph", str(place / "e.svg")),
    )
    out = capsys.readouterr().out
    assert status == 3
    assert "2. illegal: no object" in out
    assert "not proven after turn 2, with -3 points; course: converging" in out
    assert (place / "e.svg").read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("name: [", "it is no YAML"),
        ("[" * 20_000, "it is no YAML that can be read"),
        ("name: " + "{a: " * 20_000, "it is no YAML that can be read"),
        ("a: &a [*a]", "it is no YAML that can be read"),
        ("name: x\nname: y", "appears here a second time"),
        (json.dumps({**GAME, "claims": []}), "`claims` is empty"),
        (json.dumps({**GAME, "claim": []}), "the key `claim` is not known: did you mean `claims`?"),
        (
            json.dumps({**GAME, "claims": [{"predicate": "lines", "subject": "a"}]}),
            "needs a whole number",
        ),
    ],
)
def test_a_broken_game_is_one_clear_line(
    place: Path, file: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "game.yaml").write_text(file)
    assert played(place) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_an_unknown_picture_is_refused_before_anything_runs(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert played(place, more=("--graph", "x.png")) == 2
    assert "has no known ending: write .svg" in capsys.readouterr().err


def claims(predicate: str, subject: str, value: object = None) -> dict[str, object]:
    """The move that claims something."""
    return {
        "action": "ASSERT",
        "claim": {"predicate": predicate, "subject": subject, "value": value},
    }


def test_whoever_repeats_a_command_is_given_advice(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert played(place, *[{"action": "PROPOSE", "command": "ls"}] * 3) == 3
    out = capsys.readouterr().out
    assert out.count("advice: ") == 1
    assert "   advice: Leave the loop. You have made the same move several times." in out


def test_every_verdict_can_be_reached_by_playing(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "game.yaml").write_text(
        json.dumps({**GAME, "claims": [{"predicate": "file", "subject": "never"}]})
    )
    status = played(
        place,
        claims("lines", "notes.txt", 2),
        {"action": "PROPOSE", "command": "wc -l notes.txt"},
        claims("exists", "notes.txt"),
        claims("lines", "notes.txt", 7),
        claims("lines", "notes.txt", "two"),
        {"action": "PROPOSE", "command": "touch x", "write": True},
        {"action": "PROPOSE", "command": "cat notes.txt | wc -l"},
        more=("--graph", str(place / "evidence.jsonl")),
    )
    out = capsys.readouterr().out
    assert status == 3
    told = [line for line in out.splitlines() if line[0].isdecimal()]
    assert [line.partition("`")[0] for line in told] == [
        "1. legal: undecidable: an observation of ",
        "2. legal",
        "3. legal: provable: exists(",
        "4. legal: refutable: what was seen speaks against lines(",
        "5. illegal: ill-typed: ",
        "6. blocked: nothing may be written in this game",
        "7. illegal: ",
    ]
    checks = [event["verdict"] for event in written(place, "event.check")]
    assert checks == ["undecidable", "provable", "refutable"]
    rejected = [event["verdict"] for event in written(place, "event.move_rejected")]
    assert rejected == ["illegal", "blocked", "illegal"]
    assert not (place / "x").exists()


RULES = """\
rules:
  - id: size
    command: [stat, -c, "%s", "{path}"]
    stdout: '^(?P<size>[0-9]+)'
    soundness: sound
    claim: {predicate: bytes, subject: "{path}", value: "{size}"}
"""


def test_what_a_rule_concludes_is_a_hint_and_wins_nothing(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "own.rules.yaml").write_text(RULES)
    goal = [{"predicate": "bytes", "subject": "notes.txt", "value": 8}]
    (place / "game.yaml").write_text(
        json.dumps({**GAME, "claims": goal, "rules": "own.rules.yaml"})
    )
    rule = {
        "id": "guess",
        "command": ["true"],
        "claim": {"predicate": "directory", "subject": "notes.txt"},
    }
    moves = [
        {"action": "PROPOSE", "command": "stat -c %s notes.txt"},
        {"action": "RULE", "rule": rule},
        {"action": "PROPOSE", "command": "true"},
        {"action": "PROPOSE", "command": "test -f notes.txt"},
    ]
    assert played(place, *moves, more=("--graph", str(place / "evidence.dot"))) == 3
    out = capsys.readouterr().out
    assert "bytes(`notes.txt`, 8) is hinted by `size`" in out
    assert "directory(`notes.txt`) is hinted by `guess`" in out
    assert '[label="hints"' in (place / "evidence.dot").read_text("utf-8")
    assert played(place, *moves, {"action": "PROPOSE", "command": "wc -c notes.txt"}) == 0


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ("rules: [", "it is no YAML"),
        (
            RULES.replace("claim:", "claims:"),
            "rule 1 (`size`): `claims` is not known: did you mean `claim`?",
        ),
        (RULES.replace("[0-9]+)", "[0-9]+"), "is no pattern of RE2"),
        (None, "No such file or directory"),
    ],
)
def test_a_broken_file_of_rules_is_one_clear_line_and_nothing_ran(
    place: Path, rules: str | None, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "game.yaml").write_text(json.dumps({**GAME, "rules": "own.rules.yaml"}))
    if rules is not None:
        (place / "own.rules.yaml").write_text(rules)
    assert played(place, {"action": "PROPOSE", "command": "wc -l notes.txt"}) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert says in err


NO_NAMESPACES = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'


def test_a_kernel_without_namespaces_is_one_clear_line_and_nothing_ran(place: Path) -> None:
    (place / "game.yaml").write_text(json.dumps({**GAME, "programs": ["touch"], "writes": True}))
    (place / "moves.jsonl").write_text(
        '{"action": "PROPOSE", "command": "touch x", "write": true}\n'
    )
    play = [sys.executable, "-m", "stanchion", "tutor", "play", str(place / "game.yaml")]
    inside = [
        "unshare",
        "-U",
        "-r",
        "sh",
        "-c",
        NO_NAMESPACES,
        "sh",
        *play,
        "--moves",
        str(place / "moves.jsonl"),
    ]
    done = subprocess.run(inside, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (done.stderr.count("\n"), "nothing ran" in done.stderr) == (1, True)
    assert not (place / "x").exists()


PAGES = Path(__file__).resolve().parents[2] / "docs/how-to"


def shown(page: str) -> tuple[list[str], list[str]]:
    """The moves that a page shows in a game, and what is printed for them."""
    text = (PAGES / page).read_text("utf-8")
    block = next(one for one in text.split("```console\n")[1:] if "\n> {" in f"\n{one}").split(
        "\n```"
    )[0]
    lines = [line for line in block.splitlines() if not line.startswith("$ ")]
    return [line[2:] for line in lines if line.startswith("> ")], [
        line for line in lines if not line.startswith("> ")
    ]


@pytest.mark.parametrize("page", ["tutor.md", "tutor-rules.md"])
def test_the_game_of_a_page_is_played_as_it_is_shown(
    place: Path, page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "notes.txt").write_text("buy milk\ncall Ada\n")
    rules = (PAGES / "tutor-rules.md").read_text("utf-8").split("```yaml\n")[1].split("```")[0]
    (place / "own.rules.yaml").write_text(rules)
    (place / "game.yaml").write_text(json.dumps({**GAME, "rules": "own.rules.yaml"}))
    moves, printed = shown(page)
    assert moves
    played(place, *[json.loads(move) for move in moves])
    assert "\n".join(printed) in capsys.readouterr().out
