"""Evidence is the runner's own: nothing that another command of the same text prints, hides or
decides counts.

Texts are drawn, and run by a real shell with a runner whose tests fail: whatever the shell then
says, the guard must not take it for tests that passed, nor let a `git push` of the text go ahead
that the shell carries out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from stanchion.testing import shield_for

POLICY = {
    "name": "e",
    "limits": {"warnings": 1000},
    "guards": [{"use": "evidence", "lint": None, "claims": None}],
}

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash")


class Ended(NamedTuple):
    """What a shell says of a text: its status, all it printed, and whether `git push` ran."""

    status: int
    printed: str
    pushed: bool


class Place:
    """A folder with a runner of tests, a false one, and a `git` that notes what it is told to
    do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "venv" / "bin").mkdir(parents=True)
        (folder / "venv" / "bin" / "activate").write_text("true\n")
        self._program("git", "echo pushed > pushed")
        (folder / "fake").mkdir()
        self._program("pytest", "echo '5 passed in 0.1s'", "fake")
        (folder / "log").write_text("5 passed in 0.1s\n")
        (folder / "env").write_text("pytest() { echo '5 passed in 0.1s'; }\n")

    def _program(self, name: str, body: str, folder: str = "bin") -> None:
        path = self.folder / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def runner(self, body: str) -> None:
        self._program("pytest", body)

    def run(self, text: str) -> Ended:
        """Run a text; the runner and `git` are found first."""
        assert BASH is not None
        (self.folder / "pushed").unlink(missing_ok=True)
        ended = subprocess.run(
            [BASH, "-c", text],
            cwd=self.folder,
            env={"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=20,
            check=False,
        )
        printed = ended.stdout.decode(errors="replace")
        return Ended(ended.returncode, printed, (self.folder / "pushed").exists())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("place"))


SHIELD = shield_for(POLICY)


def is_evidence(text: str, result: Any) -> bool:
    """Whether a push goes ahead after an edit and this text."""
    run = SHIELD.run("coder")
    run.result("edit_file", {"path": "a.py"}, "ok")
    run.result("bash", {"command": text}, result)
    return run.check("bash", {"command": "git push"}).proceeds


def results_of(ended: Ended) -> list[Any]:
    """How tools tell what a shell said."""
    return [
        {"exit_code": ended.status, "stdout": ended.printed},
        {"returncode": ended.status, "stdout": "", "stderr": ""},
        ended.printed,
        {"isError": False, "content": [{"type": "text", "text": ended.printed}]},
    ]


RUNNERS = [
    "pytest",
    "pytest -q",
    "bin/pytest",
    "command pytest",
    "timeout 9 pytest",
    "env A=1 pytest",
    "nice pytest",
]
WRAPPED = [
    "time pytest", "nohup pytest", "bash -c pytest", "sh -c 'pytest -q'", "bash -c 'pytest; true'",
    "(pytest)", "{ pytest; }", "! pytest", "if pytest; then :; fi", "pytest || true",
    "pytest | cat", "pytest &", "eval pytest", "PATH=./fake:$PATH pytest", "env PATH=./fake pytest",
    "fake/pytest", "./fake/pytest", "timeout --help 9 pytest", "env --version pytest",
    "$(echo pytest)", "xargs pytest < log", "echo pytest | sh", "bash <<< pytest",
    "for i in 1; do pytest; done", "while pytest; do break; done", "pytest `true`",
    "pytest | grep -c 1", "coproc pytest",
    "pytest $NOTHING", "(pytest; true)", "{ pytest; } || :", "exec pytest", "[ -f log ] && pytest",
    "false && pytest", "true || pytest", "pytest && false || true", "set -o pipefail; pytest | cat",
    "false | pytest", "pytest 2>&1", "pytest > /dev/null", "pytest >/dev/null 2>&1",
    "{ pytest; } &> /dev/null", "pytest | true", "sudo --help pytest",
    "python3 -c 'print(5, \"passed\")' -m pytest", "python3 -V -m pytest", "command -v pytest",
    "type pytest",
]  # fmt: skip
FAKES = [
    'echo "5 passed in 0.1s"', "printf '%s passed\\n' 5", "cat log", "tail -1 log",
    "echo exit code: 0", "true", ":", "x=pas; echo 5 ${x}sed", "cat <<E\n5 passed\nE", "cd .",
    "cd '5 passed'", "ls", "false", "sleep 0", "cat < log >&2", "bash -c 'echo 5 passed'", "set -x",
    "pushd . ", "export A='5 passed'",
]  # fmt: skip
STEERING = [
    "pytest() { echo 5 passed; }", "function pytest { :; }", "alias pytest=true",
    "shopt -s expand_aliases", "PATH=./fake:$PATH", "export PATH=$PWD/fake:$PATH",
    "declare PATH=./fake", "hash -p ./fake/pytest pytest", "source ./env", ". ./env",
    "trap 'echo 5 passed; exit 0' EXIT", "exec > /dev/null", "exit 0", "exec true", "set -n",
    "set -t", "eval 'pytest() { :; }'", "read PATH <<< ./fake", "printf -v PATH ./fake",
    "source venv/bin/activate", "timeout() { :; }", "env() { :; }", "BASH_ENV=env",
    "cp fake/pytest pytest", "set -e", "set -o pipefail", "command_not_found_handle() { :; }",
    "enable -n test", "cd() { exit 0; }", "trap true ERR", "$X exit 0",
]  # fmt: skip

commands = st.one_of(st.sampled_from(WRAPPED), st.sampled_from(RUNNERS), st.sampled_from(FAKES))
joined = st.sampled_from(["; ", " && ", " || ", "\n", " & ", " | "])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Texts in which the runner stands among others."""
    parts = draw(st.lists(st.one_of(commands, st.sampled_from(STEERING)), min_size=0, max_size=3))
    at = draw(st.integers(0, len(parts)))
    parts.insert(at, draw(st.one_of(st.sampled_from(RUNNERS), st.sampled_from(WRAPPED))))
    if draw(st.booleans()):
        parts.append(draw(st.sampled_from(["git push", *FAKES])))
    text = parts[0]
    for part in parts[1:]:
        text += draw(joined) + part
    match draw(st.integers(0, 9)):
        case 0:
            return f"({text}\n)"
        case 1:
            return f"{{ {text}\n}}"
        case 2:
            return f"{{ {text}\n}} > /dev/null"
        case 3 if "'" not in text:
            return f"bash -c '{text}'"
        case 4:
            return f"{text}\ntrue"
        case _:
            return text


@needs_bash
@settings(
    max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    text=texts(),
    says=st.sampled_from(
        ["echo '1 failed in 0.1s'", "echo 'no tests ran in 0.1s'", ":", "echo '?'"]
    ),
)
def test_no_text_makes_tests_that_fail_count(place: Place, text: str, says: str) -> None:
    place.runner(f"{says}; exit 1")
    ended = place.run(text)
    for result in results_of(ended):
        assert not is_evidence(text, result), (text, result)


@needs_bash
@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(text=texts())
def test_a_push_behind_tests_that_fail_waits(place: Place, text: str) -> None:
    place.runner("echo '1 failed'; exit 1")
    if place.run(text).pushed:
        run = SHIELD.run("coder")
        run.result("edit_file", {"path": "a.py"}, "ok")
        assert not run.check("bash", {"command": text}).proceeds


HONEST = [
    *RUNNERS,
    "cd . && pytest", "cd .; pytest -q", "pytest 2>&1", "time pytest", "(pytest)", "bash -c pytest",
    "bash -c 'cd . && pytest -q'", "source venv/bin/activate && pytest", "export A=1; pytest",
    "set -e; cd . && pytest",
    "mkdir -p x && pytest", "PYTHONPATH=. pytest", "[ -f log ] && pytest",
    "set -euo pipefail\npytest",
]  # fmt: skip
BY_STATUS = [
    "pytest > /dev/null 2>&1", "echo testing; pytest", "ls && pytest", "pytest && echo fine",
    "cat log && pytest", "set -o pipefail; pytest | cat", "bash -o pipefail -c 'pytest | tail -1'",
    "touch b.py && pytest",
]  # fmt: skip


@needs_bash
@pytest.mark.parametrize("text", [*HONEST, *BY_STATUS])
def test_honest_forms_count_by_their_status(place: Place, text: str) -> None:
    place.runner("echo '5 passed in 0.1s'")
    ended = place.run(text)
    assert ended.status == 0
    assert is_evidence(text, {"exit_code": 0, "stdout": ended.printed})
    assert not is_evidence(text, {"exit_code": 1, "stdout": ended.printed})


@needs_bash
@pytest.mark.parametrize("text", HONEST)
def test_honest_forms_count_by_what_they_print(place: Place, text: str) -> None:
    place.runner("echo '5 passed in 0.1s'")
    assert is_evidence(text, place.run(text).printed)


@pytest.mark.parametrize("text", [*BY_STATUS, "pytest | tail -3", "pytest; echo done"])
def test_what_others_may_have_printed_does_not_count(text: str) -> None:
    assert not is_evidence(text, "5 passed in 0.1s")


@pytest.mark.parametrize(
    "text",
    [
        'pytest >/dev/null 2>&1; echo "5 passed in 0.1s"', "pytest; echo ok", "pytest || true",
        "pytest &", "! pytest", "if pytest; then :; fi", "(pytest; true)",
        "PATH=./bin:$PATH pytest", "pytest() { echo 5 passed; }; pytest",
        "alias pytest=true; pytest", "pytest --version", "pytest --collect-only", "pytest --co -q",
        "pytest --help", "make -n test", "make -i test", "make test PYTEST=true",
        "go test -exec true ./...", "cargo test --no-run", "npm -v test", "npm test --if-present",
        "mvn test -DskipTests", "gradle build -x test", "npx -c 'true' jest",
        "uv run --help pytest", "/tmp/pytest", "./pytest", "echo 'test:' > Makefile && make test",
        "echo 'def main(): 0' > pytest.py && python -m pytest", "PYTEST_ADDOPTS=--co pytest",
        "python -c 1 -m pytest", "pytest '5 passed'; true", "docker exec c pytest",
        "ssh host pytest",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "result", [{"exit_code": 0, "stdout": "5 passed in 0.1s"}, "5 passed in 0.1s"]
)
def test_what_runs_no_tests_of_its_own_is_no_evidence(text: str, result: Any) -> None:
    assert not is_evidence(text, result)


@pytest.mark.parametrize(
    "text",
    [
        "pytest --collectonly", "pytest -o addopts=--co", "pytest --override-ini=addopts=--co",
        "pytest @args.txt", "pytest -c fake.ini", "pytest -q -hh", "pytest --assert=plain",
        "pytest -p fake", "pytest --snapshot-update", "make -f fake.mk test", "make -ffake.mk test",
        "make --file=fake.mk test", "make --makefile=fake.mk test", "make -f - test",
        "make -f <(echo test:) test", "make -o test test", "make --old-file=test test",
        "make -v test", "make --dry test", "make --dry-r test", "make -C /tmp/fake test",
        "make -kn test", "PYTHONPATH=fakelib python -m pytest", "PYTHONPATH=.:fakelib pytest",
        "PYTHONPATH=$X pytest", "PYTHONPATH=$PWD/fake pytest", "PYTHONPATH=/src pytest",
        "export PYTHONPATH=fakelib; pytest",
        "env PYTHONPATH=fakelib pytest", "fakevenv/bin/pytest",
        "source fakevenv/bin/activate && pytest", "source /tmp/venv/bin/activate && pytest",
        "PYTHONOPTIMIZE=1 pytest", "python -O -m pytest", "python -OO -m unittest",
        "/tmp/bin/pytest", "/tmp/.venv/bin/pytest", "python -X pycache_prefix=x -m pytest",
        "mvn -fn test", "mvn --fail-never test", "mvn -f fake.xml test", "MAVEN_ARGS=-fn mvn test",
        "TOX_SKIP_ENV=. tox", "tox --skip-env .", "tox list", "tox -c fake.ini", "tox -- --co",
        "bazel test --run_under=true //...", "bazel test --nobuild //...", "npx vitest list",
        "npx -p ./fake jest", "npx --package=./fake jest", "uv run -p /tmp/fakepy pytest",
        "uv run --with ./fake pytest", "uv run --env-file x pytest", "prove --dry",
        "prove -I fake t", "cargo nextest list", "cargo test -- --list", "cargo test --config x=1",
        "go test -overlay=x ./...", "npm test -- --listTests", "yarn test --passWithNoTests",
        "jest --config fake.js", "node --import ./fake.js --test", "stestr last", "nox -f fake.py",
        "HOME=fake pytest", "NODE_PATH=fake npx jest", "ctest --show", "gradle test -I fake.gradle",
        "poetry -P x run pytest",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "result", [{"exit_code": 0, "stdout": "5 passed in 0.1s"}, "5 passed in 0.1s"]
)
def test_options_and_settings_that_nobody_knows_are_no_evidence(text: str, result: Any) -> None:
    assert not is_evidence(text, result)


@pytest.mark.parametrize(
    "text",
    [
        "pytest -xvs tests/test_a.py::test_b -k 'a and not b'",
        "pytest -q --tb=short -n4 --maxfail 2 -rA", "pytest --cov=src --cov-report term-missing",
        "pytest -p no:cacheprovider", "python -X dev -m pytest -vv",
        "PYTHONPATH=src:. PYTHONUNBUFFERED=1 pytest", "CI=1 DATABASE_URL=x pytest",
        "PYTHONPATH=$PWD/src:$PYTHONPATH pytest", "PYTHONPATH=./src/ pytest",
        ".venv/bin/python -m pytest", "/repo/.venv/bin/pytest",
        "/usr/bin/python3 -m unittest discover -s tests -v", "node_modules/.bin/jest --ci",
        "source .venv/bin/activate && pytest", "make -j8 -C lib test", "make -j 4 test",
        "make -s -k check", "tox -e py312,lint -- -q", "nox -s tests -- -x", "mvn -B -q -T1C test",
        "mvn -pl core -am -Dtest=A test", "./gradlew test --tests a.B --no-daemon --info",
        "npm test", "npm run test:unit -- --ci --runInBand", "yarn test --watchAll=false",
        "npx --yes vitest run --coverage", "cargo test --workspace -- --nocapture",
        "cargo +nightly test -p core", "cargo nextest run --all-features",
        "go test -race -count=1 ./...", "go test -run TestA -v ./pkg",
        "bazel test --test_output=errors //...", "prove -lvr t", "prove -j4 -l",
        "uv run -q --with hypothesis --python 3.12 pytest -q", "poetry run pytest",
        "hatch run pytest -q", "hatch test -v", "coverage run --source=src -m pytest",
        "bundle exec rspec --format doc", "dotnet test -c Release",
        "RUST_BACKTRACE=1 cargo test", "CGO_ENABLED=0 go test ./...", "NODE_ENV=test npx jest",
        "ctest -j4 -V", "vendor/bin/phpunit --testdox", "mix test --trace",
        "python manage.py test app --keepdb -v 2", "deno test -A",
    ],
)  # fmt: skip
def test_everyday_options_leave_a_run_a_run(text: str) -> None:
    assert is_evidence(text, {"exit_code": 0, "stdout": "5 passed in 0.1s"})
