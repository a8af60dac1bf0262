"""What only a person may do with Stanchion's command is refused under every spelling; honest work
with it is not."""

from __future__ import annotations

from shlex import quote

import pytest
from hypothesis import given

from stanchion.guards.shell import Shell
from stanchion.guards.shell.rules.own import written
from stanchion.guards.shell.verdict import Verdict
from stanchion.kernel.actions import Action, Risk
from tests.guards.shell.spellings import codes, found, found_to_read, honest, unreadable, wrapped

VERDICT = Verdict(Shell())


def action(text: str) -> Action:
    """What is said of a text."""
    found = VERDICT.of(text, Risk.MEDIUM)
    return Action.ALLOW if found is None else found.action


@given(wrapped())
def test_a_loosening_is_never_let_through(text: str) -> None:
    assert action(text) >= Action.ESCALATE, text


@given(found())
def test_a_loosening_by_a_name_that_a_program_prints_is_never_let_through(text: str) -> None:
    assert action(text) >= Action.ESCALATE, text


@given(found_to_read())
def test_what_reads_by_a_name_that_a_program_prints_goes_on(text: str) -> None:
    assert action(text) <= Action.WARN, text


@given(unreadable())
def test_code_whose_names_cannot_be_read_is_for_a_person_to_see_where_it_has_our_words(
    code: str,
) -> None:
    assert action(f"python3 -c {quote(code)}") >= Action.ESCALATE, code
    assert action(f"python3 - <<'END'\n{code}\nEND") >= Action.ESCALATE, code


@given(codes())
def test_code_that_loosens_is_refused_where_it_runs_and_held_where_it_is_written(code: str) -> None:
    assert action(f"python3 -c {quote(code)}") is Action.BLOCK, code
    assert action(f"python3 - <<'END'\n{code}\nEND") is Action.BLOCK, code
    assert written("tool.py", code), code


@given(honest())
def test_honest_work_with_stanchion_goes_on(text: str) -> None:
    assert action(text) <= Action.WARN, text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Makefile", "S := stanchion\ngo:\n\t@$(S) resume\n"),
        ("Makefile", "go:\n\t-python -m stan''chion tickets approve $$ID\n"),
        ("justfile", 's := "stanchion"\ngo:\n    {{s}} resume\n'),
        ("package.json", '{"scripts": {"go": "stanchion safe-mode off"}}'),
        (".github/workflows/x.yml", "steps:\n  - run: stanchion tickets approve 1\n"),
        ("go.sh", "#!/bin/sh\nX=stan; Y=chion\n$X$Y resume\n"),
        ("bin/go", "#!/usr/bin/env bash\nexec uvx stanchion resume\n"),
        ("go.py", "import subprocess\nsubprocess.run(['stanchion', 'tickets', 'approve', '1'])\n"),
        (
            "go.py",
            (
                "from pathlib import Path\np = Path.home() / '.local' / 'state' / 'stanchion' / "
                "'state.db'\n"
            ),
        ),
        ("go.js", "require('child_process').execSync('stanchion resume')\n"),
        (
            ".vscode/tasks.json",
            '{"tasks": [{"command": "stanchion", "args": ["safe-mode", "off"]}]}',
        ),
        (
            "Taskfile.yml",
            "vars:\n  S: stanchion\ntasks:\n  go:\n    cmds:\n      - '{{.S}} resume'\n",
        ),
        ("x.yaml", "env:\n  S: stanchion\nsteps:\n  - run: ${{ env.S }} tickets approve 1\n"),
        ("notes.md", "#!/bin/sh\nstanchion resume\n"),
        ("conftest.py", "import os\nos.system('python -m stanchion resume')\n"),
    ],
)
def test_a_file_that_would_loosen_is_refused(path: str, text: str) -> None:
    assert written(path, text) == "danger"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app.py", "from stanchion import Shield\nshield = Shield.load('policy.yaml')\n"),
        (
            "app.py",
            '"""Run `stanchion tickets approve ID` to go on."""\nfrom stanchion import Shield\n',
        ),
        ("README.md", "Run `stanchion resume` after a halt.\n"),
        ("Makefile", "lint:\n\tstanchion lint policy.yaml\n"),
        ("package.json", '{"name": "stanchion", "keywords": ["resume"]}'),
        (
            "Taskfile.yml",
            "vars:\n  S: stanchion\ntasks:\n  go:\n    cmds:\n      - '{{.S}} lint p.yaml'\n",
        ),
        ("pyproject.toml", '[project]\ndependencies = ["stanchion"]\n'),
        (".github/workflows/x.yml", "steps:\n  - run: uv run stanchion lint policy.yaml\n"),
        ("player.py", "player.resume()\nstate.approve(1)\n"),
        ("go.sh", "# stanchion resume is for people\nstanchion tickets list\n"),
        (
            "src/stanchion/cli/main.py",
            "from stanchion.cli import tickets\nfrom stanchion.stores import memory\n",
        ),
    ],
)
def test_a_file_of_honest_work_is_written(path: str, text: str) -> None:
    assert written(path, text) == ""


def test_a_script_that_looks_our_program_up_is_for_a_person_to_see() -> None:
    assert written("go.sh", "S=$(command -v stanchion)\n$S resume\n") == "doubt"
    assert written("go.sh", "S=$(command -v stanchion)\n$S lint policy.yaml\n") == ""


def test_a_program_that_uses_the_api_of_operators_is_for_a_person_to_see() -> None:
    assert (
        written(
            "console.py", "from stanchion import Shield\nShield.load().approve('x', by='ann')\n"
        )
        == "doubt"
    )
