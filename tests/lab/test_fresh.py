"""Fresh rows: a seed draws the same rows again, another one others, and no generator knows a
guard."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from stanchion_lab import fresh
from stanchion_lab.fresh import DRAWN, drawn
from stanchion_lab.fresh.programs import programs
from stanchion_lab.fresh.secrets import ALPHABETS, makers
from stanchion_lab.measuring import MEASURES, loops
from stanchion_lab.measuring.beside import beside
from stanchion_lab.measuring.show import lines, plain
from tests.architecture.import_rules import imports
from tests.lab.test_measuring import written

FOLDER = Path(fresh.__file__).parent
LABELS = {
    "shell": {"dangerous", "benign", "safe_hard_negative"},
    "paths": {"sensitive_absolute", "traversal", "benign"},
    "secrets": {"secret", "not_secret"},
    "sql": {
        "read", "write", "write_unbounded", "ddl", "ddl_destructive", "destructive", "privilege",
        "work", "sqli_fragment", "not_sqli",
    },
    "injection": {"attack", "benign"},
    "loops": {"loop", "no_loop"},
}  # fmt: skip


@pytest.mark.parametrize("what", DRAWN)
def test_a_seed_draws_the_same_rows_and_another_one_others(what: str) -> None:
    assert what in MEASURES
    first, again, other = drawn(what, 1), drawn(what, 1), drawn(what, 2)
    assert first == again
    texts = [
        {json.dumps(row, sort_keys=True) for row in _without_ids(one)} for one in (first, other)
    ]
    assert len(texts[0] & texts[1]) < len(texts[0]) / 2


@pytest.mark.parametrize("what", DRAWN)
def test_both_sides_are_drawn_and_nothing_twice(what: str) -> None:
    rows = [row for found in drawn(what, 3).values() for row in found]
    assert {row["label"] for row in rows} == LABELS[what]
    payloads = [json.dumps(row.get("payload", row.get("payload_b64"))) for row in rows]
    assert len(set(payloads)) == len(payloads)
    assert len({row["id"] for row in rows}) == len(rows)
    assert min(sum(row["label"] == label for row in rows) for label in LABELS[what]) >= 50


def _without_ids(rows: fresh.Rows) -> list[dict[str, object]]:
    return [
        {key: value for key, value in row.items() if key != "id"}
        for found in rows.values()
        for row in found
    ]


def test_no_generator_imports_anything_of_stanchion() -> None:
    for file in sorted(FOLDER.rglob("*.py")):
        path = PurePosixPath("stanchion_lab", "fresh", file.relative_to(FOLDER).as_posix())
        for each in imports(path, ast.parse(file.read_text("utf-8"))):
            inside = each.full.startswith("stanchion_lab.fresh")
            assert inside or not each.full.startswith("stanchion"), (
                f"{path}:{each.line}: imports {each.full}"
            )


def test_shell_texts_are_such(tmp_path: Path) -> None:
    """What no shell can read shows nothing about what it would run."""
    rows = drawn("shell", 4)["shell.jsonl"]
    wrong = []
    for row in rows[::17]:
        script = tmp_path / "text.sh"
        script.write_text(row["payload"] + "\n", encoding="utf-8")
        done = subprocess.run(
            ["bash", "-n", str(script)], capture_output=True, text=True, check=False
        )
        wrong += [(row["payload"], done.stderr)] if done.returncode else []
    assert wrong == []


def test_programs_come_with_options_and_with_what_runs_commands() -> None:
    known = {one.name: one for one in programs()}
    assert len(known) > 1500
    assert "--checkpoint-action" in known["tar"].runs or "--to-command" in known["tar"].runs
    assert sum(bool(one.flags) for one in known.values()) > 300


def test_makers_differ_and_every_part_is_a_text_or_of_a_known_alphabet() -> None:
    names = [one.maker for one in makers()]
    assert len(set(names)) == len(names) >= 90
    for maker in makers():
        for part in maker.parts:
            alphabet, _, length = part.rpartition(":")
            assert alphabet in ALPHABETS or not (alphabet.isalnum() and length.isdigit()), (
                f"{maker.maker}: {part}"
            )
            assert alphabet not in ALPHABETS or int(length) > 0


def test_fresh_rows_stand_beside_the_others(tmp_path: Path) -> None:
    call = {"tool": "run", "args": {"command": "ls"}, "exit": 0, "result": "a"}
    row = {"id": "a", "kind": "oas", "label": "loop", "payload": {"calls": [call] * 3}}
    folder = written(tmp_path, "loops.jsonl", row)
    report = beside("loops", loops.measure, folder, (5, 6))
    found = next(one for one in report.beside if one.name == "loops found")
    assert found.rows is not None
    assert (found.rows.hits, [seed for seed, _ in found.seeds]) == (1, [5, 6])
    assert found.apart == pytest.approx(found.mean - 1)
    pooled = next(figure for figure in report.figures if figure.name == "fresh: loops found")
    assert pooled.of == sum(figure.of for _, figure in found.seeds)
    assert sum(family.of for family in pooled.families) == pooled.of
    shown = list(lines(report, 0))
    assert "Fresh rows beside the others:" in shown
    assert any(line.startswith("  fresh rows are drawn by the seeds 5, 6") for line in shown)
    assert list(plain(report)["beside"][0]["seeds"]) == ["5", "6"]


def test_without_other_rows_the_fresh_ones_stand_alone() -> None:
    report = beside("loops", loops.measure, None, (5,))
    assert all(one.rows is None and one.apart is None for one in report.beside)
    assert {figure.name.partition(":")[0] for figure in report.figures} == {"fresh"}
