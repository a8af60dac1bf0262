"""A process that starts loads what it uses, and compiles no expression before it is needed."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources import tree_of

SRC = Path(__file__).parents[2] / "src" / "stanchion"

AT_ONCE = ("audit/verifying", "lab", "locks")
"""Rooms that stand alone, or are no part of what a program starts with: they compile where they are
loaded."""

NEVER = (
    "asyncio",
    "jsonschema_rs",
    "re2",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "can_ada",
    "psycopg",
)
FOR_A_POLICY = ("argparse", "json", "logging", "platformdirs", "tempfile", "yaml")
ROOMS = (
    "stanchion.policy.conditions",
    "stanchion.policy.loosening",
    "stanchion.readings.scan",
    "stanchion.ops.broker",
)

WHEN_MADE = (
    "stanchion.approvals", "stanchion.audit.journal", "stanchion.policy", "stanchion.readings",
    "stanchion.runtime.operating", "stanchion.runtime.people", "stanchion.runtime.run",
    "stanchion.runtime.standing", "stanchion.telemetry",
)  # fmt: skip
"""What a shield is made of: loaded when one is."""
FOR_PEOPLE = (
    "stanchion.kernel.contract.checking", "stanchion.runtime.operating.acts",
    "stanchion.runtime.operating.commands", "stanchion.runtime.people.enrol",
    "stanchion.runtime.people.ticket_methods",
)  # fmt: skip
"""What only people do, or a program with guards of its own."""

STANDARD = (
    "ast", "bz2", "dataclasses", "inspect", "json", "platformdirs", "random", "shutil", "string",
    "tempfile", "typing_extensions",
)  # fmt: skip
"""What costs much to load, and no check of a plain call needs."""
OURS = 330
"""How many modules of ours a check with the guard `shell` loads. It may fall; whoever raises it
says why."""

LOADED = "found = sorted(set(sys.modules) - before); import json; print(json.dumps(found))"
CHECK = """
import contextlib, io
from stanchion.cli.main import main
with contextlib.redirect_stdout(io.StringIO()):
    status = main(["check", "--policy", "policy.yaml", "--tool", "bash", "--args", '{"command": "ls"}'])
assert status == 0
"""  # noqa: E501


def loaded(code: str, home: Path) -> list[str]:
    """The modules that some code loads in a fresh interpreter, beside those it starts with."""
    environment = {**os.environ, "HOME": str(home), "STANCHION_STATE_DIR": str(home / "state")}
    command = [sys.executable, "-c", f"import sys; before = set(sys.modules)\n{code}\n{LOADED}"]
    done = subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(done.stdout)
    return found


def within(names: list[str], heavy: tuple[str, ...]) -> list[str]:
    """Which of these modules are among the heavy ones, or parts of them."""
    return [
        name for name in names if any(name == one or name.startswith(f"{one}.") for one in heavy)
    ]


def guards_in(names: list[str]) -> set[str]:
    """The guards that were loaded, by name."""
    parts = [name.split(".") for name in names if name.startswith("stanchion.guards.")]
    return {part[2] for part in parts if not part[2].startswith("_")}


def test_the_package_alone_loads_nothing(tmp_path: Path) -> None:
    found = loaded("import stanchion", tmp_path)
    assert [name for name in found if name.startswith("stanchion")] == ["stanchion"]
    assert within(found, ("msgspec", "re", "typing")) == []


def test_every_public_name_is_found(tmp_path: Path) -> None:
    code = (
        "import stanchion\nfor name in stanchion.__all__:\n    assert name in dir(stanchion), "
        "name\n"
    )
    code += "    getattr(stanchion, name)\n"
    assert "stanchion.runtime.shield" in loaded(code, tmp_path)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    import stanchion

    with pytest.raises(AttributeError, match="has no attribute `Sheild`"):
        _ = stanchion.Sheild  # type: ignore[attr-defined]


def test_a_shield_is_there_without_what_only_some_policies_need(tmp_path: Path) -> None:
    found = loaded("from stanchion import Shield", tmp_path)
    assert within(found, (*NEVER, *FOR_A_POLICY, *ROOMS)) == []
    assert within(found, WHEN_MADE) == []
    assert guards_in(found) == set()


def test_a_shield_that_judges_loads_nothing_of_what_people_do(tmp_path: Path) -> None:
    code = "from stanchion import Shield\n"
    code += (
        "with Shield.load({'name': 'none'}, store='memory:', journal='memory:') as shield, "
        "shield.run() as run:\n"
    )
    code += "    run.check('ls', {})\n"
    found = loaded(code, tmp_path)
    assert "stanchion.runtime.deciding.desk" in found
    assert within(found, FOR_PEOPLE) == []


def test_the_version_needs_no_shield(tmp_path: Path) -> None:
    code = "from stanchion.cli.main import main\nimport contextlib, io\n"
    code += "with contextlib.redirect_stdout(io.StringIO()):\n    main(['--version'])\n"
    assert within(loaded(code, tmp_path), ("stanchion.runtime", "stanchion.policy")) == []


def test_a_check_loads_the_guard_it_uses(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(
        "name: one\nguards:\n  - use: tool_denylist\n    tools: [rm]\n", "utf-8"
    )
    (tmp_path / "state").mkdir(mode=0o700)
    first, second = [loaded(CHECK, tmp_path) for _ in range(2)]
    assert "yaml" in first
    assert within(second, (*NEVER, *ROOMS, *FOR_PEOPLE, "yaml", "logging", "stanchion.lab")) == []
    assert guards_in(second) <= {"budget", "safe_mode", "schema", "tool_denylist"}


def test_a_check_loads_no_more_than_it_did(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("name: one\nguards:\n  - use: shell\n", "utf-8")
    (tmp_path / "state").mkdir(mode=0o700)
    found = [loaded(CHECK, tmp_path) for _ in range(2)][1]
    assert within(found, STANDARD) == []
    ours = [name for name in found if name.partition(".")[0] == "stanchion"]
    assert len(ours) <= OURS, (
        f"{len(ours)} modules: load what only some checks need where they need it"
    )


def test_a_check_of_one_event_compiles_no_patterns(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(
        "name: two\nguards:\n  - use: secrets\n  - use: pii\n", "utf-8"
    )
    (tmp_path / "state").mkdir(mode=0o700)
    short = [loaded(CHECK, tmp_path) for _ in range(2)][1]
    assert within(short, ("re2",)) == []


def test_no_protocol_is_asked_by_isinstance() -> None:
    """Since Python 3.12 that loads `inspect`, and does not see what an object passes on to
    another."""
    found = [
        path
        for path in SRC.rglob("*.py")
        if "@runtime_checkable" in path.read_text(encoding="utf-8")
    ]
    assert [path.relative_to(SRC).as_posix() for path in found] == [
        "dialects/veronica/shield.py"
    ]  # for its users


def at_import(tree: ast.AST) -> Iterator[ast.Call]:
    """Every call that is made when a module is loaded."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Call):
            yield node
        yield from at_import(node)


def compiles(source: str) -> list[int]:
    """The lines on which a module compiles expressions when it is loaded: at once, or by asking a
    lazy one."""
    called = [(call.lineno, ast.unparse(call.func)) for call in at_import(tree_of(source))]
    return [line for line, name in called if name == "re.compile" or name.startswith("regex(")]


def test_no_module_compiles_an_expression_when_it_is_loaded() -> None:
    found = [
        f"{path.relative_to(SRC)}:{line}"
        for path in sorted(SRC.rglob("*.py"))
        if not path.relative_to(SRC).as_posix().startswith(AT_ONCE)
        for line in compiles(path.read_text(encoding="utf-8"))
    ]
    assert not found, (
        f"{found} compile when they are loaded: write `regex(...)` of `stanchion.kernel.regex`"
    )


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import re\nA = re.compile('a')\n", [2]),
        ("import re\nclass A:\n    B = {'x': re.compile('a')}\n", [3]),
        ("import re\ndef a():\n    return re.compile('a')\n", []),
        ("A = regex('a').match('b')\n", [1]),
        ("A = regex('a')\n", []),
    ],
)
def test_the_judge_sees_it(source: str, lines: list[int]) -> None:
    assert compiles(source) == lines
