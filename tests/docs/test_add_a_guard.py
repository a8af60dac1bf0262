"""The three files of the page on adding a guard are all it takes: in a copy of the house every
check finds it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from tests.architecture.import_rules import violations
from tests.docs.markdown import ROOT, blocks

PAGE = ROOT / "docs/how-to/add-a-guard.md"
FILES = {
    "python": "src/stanchion/guards/recipients.py",
    "markdown": "docs/guards/recipients.md",
    "yaml": "tests/tables/recipients.yaml",
}
CHECKS = (
    "tests/guards/test_pages.py",
    "tests/test_tables.py",
    "tests/docs/test_snippets.py",
    "tests/architecture/test_contract.py",
)
BETWEEN = "-----\n"
FINISH = f"""
from tools import docs, guard_files

guard_files.main(["recipients"])
print({BETWEEN!r}, end="")
docs.main([])
print({BETWEEN!r}, end="")
print(guard_files.main([]))
"""
"""Both tools, one after the other in one process: each loads the whole house to make its pages."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the house, without the guard; compiled files come with it."""
    copy = tmp_path_factory.mktemp("house")
    for folder in ("src", "docs", "tools", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("corpora"))
    for file in ("pyproject.toml", "README.md", "Makefile", "CHANGELOG.md"):
        shutil.copy(ROOT / file, copy / file)
    (copy / "finish.py").write_text(FINISH, "utf-8")
    return copy


def ran(house: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run something of the copy."""
    places = {"PYTHONPATH": str(house / "src"), "PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=house,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
    )


def test_the_three_files_are_all_it_takes(house: Path) -> None:
    page = blocks(PAGE.read_text("utf-8"))
    written = {FILES[block.language]: block.text for block in page if block.language in FILES}
    assert len(written) == len(page) == len(FILES)

    (house / FILES["python"]).write_text(written[FILES["python"]], "utf-8")
    said = ran(house, "tools.guard_files", "recipients").stdout
    assert "guard `recipients` has no table; write `tests/tables/recipients.yaml`" in said
    assert "guard `recipients` has no page; write `docs/guards/recipients.md`" in said

    (house / FILES["yaml"]).write_text("policy: {name: few}\ncases: []\n", "utf-8")
    text = written[FILES["markdown"]]
    (house / FILES["markdown"]).write_text(
        "\n".join([line for line in text.splitlines() if "| `" not in line]), "utf-8"
    )
    said = ran(house, "tools.guard_files", "recipients").stdout
    assert (
        "write `| `most` | type | `10` | The most people that a call may name. |` below `## "
        "Options`"
    ) in said
    assert (
        "write `| `recipients.many` | this message goes to … people, and … are the most |" in said
    )
    assert (
        "write one with `expect: {code: recipients.many}` into `tests/tables/recipients.yaml`"
        in said
    )

    undeclared = written[FILES["python"]].replace('    """The arguments that name people."""\n', "")
    (house / FILES["python"]).write_text(undeclared, "utf-8")
    said = ran(house, "tools.guard_files", "recipients").stdout
    assert "guard `recipients` has no meaning of option `arguments`; write a sentence" in said

    for file, content in written.items():
        (house / file).write_text(content, "utf-8")
    lacks, wrote, done = ran(house, "finish").stdout.split(BETWEEN)
    assert lacks
    assert all(line.endswith("is stale; run `make pages`") for line in lacks.splitlines()), lacks
    assert "wrote docs/guards/index.md\n" in wrote
    assert done == "nothing is missing\n0\n"
    checked = ran(house, "pytest", "-q", "-p", "no:cacheprovider", "-k", "recipients", *CHECKS)
    assert checked.returncode == 0, checked.stdout[-2_000:]
    assert (
        violations(PurePosixPath("stanchion/guards/recipients.py"), written[FILES["python"]]) == []
    )
    assert "| [`recipients`](recipients.md) | A message goes to so many people and no more |" in (
        house / "docs/guards/index.md"
    ).read_text("utf-8")
    said_of_it(house)


def said_of_it(house: Path) -> None:
    """What the guard declares is in the schema, and in what is said of changes and refusals."""
    schema = json.loads(ran(house, "stanchion", "policy", "schema", "--json").stdout)
    entry = schema["$defs"]["RecipientsEntry"]["properties"]
    assert entry["most"]["description"] == "The most people that a call may name."

    for most in (2, 3):
        policy = f"name: few\nguards: [{{use: recipients, most: {most}}}]\n"
        (house / f"{most}.yaml").write_text(policy, "utf-8")
    stricter = ran(house, "stanchion", "policy", "loosens", "3.yaml", "2.yaml")
    assert stricter.returncode == 0, stricter.stdout
    looser = ran(house, "stanchion", "policy", "loosens", "2.yaml", "3.yaml")
    assert "guard `recipients`: most 2 → 3" in looser.stdout

    called = ("--tool", "send", "--args", '{"to": ["ann", "bob", "eve"]}')
    assert ran(house, "stanchion", "check", "--policy", "2.yaml", *called).returncode == 3
    told = ran(house, "stanchion", "explain", "last").stdout
    assert "at most 2 people in `to`, `cc`, `bcc` (`most`)" in told
