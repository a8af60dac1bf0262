"""A task's files: programs, code and arguments by other names write no others."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.testing import shield_for

POLICY = {
    "name": "scope",
    "tasks": {"t": {"files": {"write": ["src/login/**", "*.md"]}}},
    "guards": [{"use": "files", "shipped": False, "root": ["/"]}],
}


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("bash", {"command": "python3 -c \"open('/x', 'w')\""}),
        ("bash", {"command": "python3 -c \"import sys; open(sys.argv[1], 'w')\" src/login/a.py"}),
        ("bash", {"command": "git checkout main -- src/pay"}),
        ("bash", {"command": "git reset --hard"}),
        ("bash", {"command": 'echo x > "$OUT"'}),
        ("bash", {"command": "black src"}),
        ("python", {"code": "open('src/pay/a.py', 'w')"}),
        ("render", {"template": "a", "dest": "src/pay/a.py"}),
        ("download", {"url": "https://example.com/x", "destination": "x.bin"}),
        ("generate_code", {"output": "lib/a.py"}),
        ("build", {"out_dir": "lib"}),
        ("convert", {"input": "src/login/a.py", "to": "lib/a.py"}),
    ],
)
def test_what_is_not_listed_is_not_written(tool: str, args: dict[str, Any]) -> None:
    decision = shield_for(POLICY).run("a", "t").check(tool, args)
    assert decision.code == "files.denied"
    assert shield_for(POLICY).run("a", "other").check(tool, args).proceeds


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("bash", {"command": "python3 -c \"open('src/login/a.py', 'w')\""}),
        ("bash", {"command": "python3 -c \"print(open('/x').read())\""}),
        ("bash", {"command": "git checkout main -- src/login"}),
        ("bash", {"command": "git checkout main && git pull && make test"}),
        ("render", {"template": "a", "dest": "src/login/a.py"}),
        ("send_mail", {"to": "bob@example.com", "body": "x"}),
        ("send_message", {"to": "/general", "output": "lib/a.py"}),
        ("translate", {"text": "a", "target": "de"}),
        ("deploy", {"target": "staging/eu"}),
        ("search", {"query": "x", "output": "json"}),
        ("navigate", {"to": "/settings"}),
    ],
)
def test_the_rest_passes(tool: str, args: dict[str, Any]) -> None:
    assert shield_for(POLICY).run("a", "t").check(tool, args).proceeds


def test_what_nobody_can_tell_is_said_so() -> None:
    decision = (
        shield_for(POLICY).run("a", "t").check("bash", {"command": "python3 -c 'exec(text)'"})
    )
    assert decision.message == (
        "`python3: exec` may not be run: nobody can tell which files it changes, and only some may "
        "be changed"
    )
