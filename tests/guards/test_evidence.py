"""Evidence: what is claimed, what runs tests, what came of them, and in which order things
happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stanchion.guards._own import OwnPlaces
from stanchion.guards.evidence import Evidence
from stanchion.guards.evidence.claims import claims
from stanchion.guards.evidence.outcome import FAILED, PASSED, UNCLEAR, outcome
from stanchion.guards.evidence.steps import KnownSteps, WorkStep, steps_by
from stanchion.guards.evidence.work import KEPT, WorkState
from stanchion.kernel.events import RunInfo, ToolCall, ToolResult
from stanchion.readings import read
from stanchion.testing import shield_for
from tests.guards.steps import steps_of

TESTS_CLAIMED = [
    "All tests pass.",
    "all tests are passing now",
    "The tests pass.",
    "I fixed the login bug. All tests passed successfully!",
    "Fixed. The test suite is green.",
    "The full test suite passes.",
    "- ✅ All 42 tests pass",
    "42 tests passed",
    "**Tests:** 12 passed",
    "===== 5 passed in 0.12s =====",
    "The change passes all existing unit tests.",
    "Everything works and all unit tests are green.",
    "The existing tests still pass, and I added two new ones.",
    "I could not reproduce the issue at first, but all tests pass now.",
    "I did not change the public interface. The tests all pass.",
    "This makes all tests pass.",
    "Tests in `tests/test_login.py` pass.",
    "Tests: passing",
    "There are no failing tests.",
    "CI is green.",
    "10/10 tests pass",
    "After the fix, all tests pass.",
    "I ran the test suite and all tests pass.",
    "If you need anything else let me know. All tests pass.",
    "The build is now passing.",
    "I've run the full suite and everything is passing.",
    "pytest: all green",
    "Verified: pytest passes with 34 tests.",
    "The new tests pass as well as the old ones.",
    "5 tests failed before the fix; now all tests pass.",
    "All checks pass.",
]
LINT_CLAIMED = [
    "Lint is clean.",
    "The linter reports no errors.",
    "ruff and mypy are clean",
    "ruff passes",
    "There are no linting errors.",
    "The code is lint-free.",
    "Type checks pass.",
    "mypy found no issues",
    "eslint shows no warnings",
    "It passes the linter.",
    "Linting passed.",
]
NOT_CLAIMED = [
    "",
    "I have not run the tests.",
    "The tests do not pass.",
    "The tests don't pass yet.",
    "Two tests fail.",
    "Please make sure that all tests pass.",
    "If all tests pass, merge it.",
    "Once the tests pass, I will open a pull request.",
    "Do all tests pass?",
    "Run the tests and check that they pass.",
    "The tests should pass now.",
    "The tests would pass if the database were up.",
    "Some tests pass, others fail.",
    "Most tests pass.",
    "All tests pass except `test_login`.",
    "I could not get the tests to pass.",
    "I was unable to run the linter.",
    "The linter is not clean.",
    "I have not checked whether lint passes.",
    "The tests passed to the function are strings.",
    "She passed the test of time.",
    "You asked me to make all tests pass.",
    "Your goal is to make the tests pass.",
    "I wrote tests for the parser.",
    "Ensure the test suite is green before you deploy.",
    "To verify that the tests pass, run `pytest`.",
    "No tests pass at the moment.",
    "I expect that all tests pass, but I have not run them.",
    "The password reset passes a token.",
    "The light is green.",
    "Please run ruff; it may find errors.",
    "You should lint the code.",
    "None of the tests passed.",
    "Without a database the tests never pass.",
    "3 of 5 tests failed",
    "I ran the tests and 2 of them failed; 10 passed.",
    "The test passes a string to the parser.",
    "Students who passed all tests get a certificate.",
    "Everything passes through the proxy.",
    "I haven't been able to run the tests, so I can't say whether they pass.",
]


@pytest.mark.parametrize("text", TESTS_CLAIMED)
def test_a_claim_about_tests_is_found(text: str) -> None:
    assert "tests" in claims(text)


@pytest.mark.parametrize("text", LINT_CLAIMED)
def test_a_claim_about_linters_is_found(text: str) -> None:
    assert "lint" in claims(text)


@pytest.mark.parametrize("text", NOT_CLAIMED)
def test_what_is_no_claim_is_let_be(text: str) -> None:
    assert claims(text) == frozenset()


def done_by(tool: str, args: dict[str, Any], traits: tuple[str, ...] = ()) -> list[WorkStep]:
    return steps_by(KnownSteps())(
        read(ToolCall(id="c1", run=RunInfo("r1"), at=0, tool=tool, args=args, traits=traits))
    )


def kinds(command: object, tool: str = "bash") -> list[str]:
    return [step.what for step in done_by(tool, {"command": command})]


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        ".venv/bin/pytest -q tests",
        "python -m pytest -x",
        "python3.12 -W error -m unittest discover",
        "uv run --with hypothesis pytest",
        "poetry run python -m pytest",
        "cd repo && PYTHONPATH=. timeout 60 pytest -q 2>&1 | tail -5",
        "tox -e py312",
        "nox -s tests",
        "npm test",
        "npm --prefix web run test:unit",
        "yarn test --watch=false",
        "pnpm run test",
        "npx --yes jest --ci",
        "npx vitest run",
        "go test ./...",
        "cargo +nightly test",
        "cargo nextest run",
        "mvn -q test",
        "./gradlew clean test",
        "make -j4 test",
        "make -C lib check",
        "ctest --output-on-failure",
        "bundle exec rspec",
        "vendor/bin/phpunit",
        "dotnet test",
        "python manage.py test",
        "./run_tests.sh",
        ["bash", "-lc", "pytest -q"],
        ["pytest", "-q"],
        "coverage run -m pytest",
        "python3 test_a.py",
        "uv run python -u tests/test_a.py -v",
        "uv run tests/a_test.py",
        "bash run_tests.sh",
        "sh ./scripts/test.sh",
        "node a.test.mjs",
        "npx tsx src/a.spec.ts",
        "deno run -A a_test.ts",
        "ruby -Itest test/a_test.rb",
        "perl t/a.t",
        "make unit-test",
        "npm run check",
        "npm run unit:test",
        "yarn workspace web test",
        "./gradlew :app:test",
        "task api:test",
        "deno task test",
    ],
)
def test_tests_are_recognised(command: object) -> None:
    assert "test" in kinds(command)


@pytest.mark.parametrize(
    "command",
    [
        "ruff check .",
        "uv run ruff check src",
        "flake8",
        "python -m mypy src",
        "npx eslint .",
        "tsc --noEmit",
        "npm run lint",
        "golangci-lint run",
        "go vet ./...",
        "cargo clippy -- -D warnings",
        "rubocop",
        "shellcheck x.sh",
        "make lint",
        "nox -s lint",
        "pre-commit run --all-files",
    ],
)
def test_linters_are_recognised(command: str) -> None:
    assert kinds(command) == ["lint"]


@pytest.mark.parametrize(
    ("folder", "tool", "args", "what"),
    [
        ("/tmp/work", "write_file", {"path": "/tmp/work/a.py"}, ["change"]),
        ("/tmp/work", "bash", {"command": "echo x > /tmp/work/src/a.py"}, ["change"]),
        ("/tmp/work", "bash", {"command": "/tmp/work/.venv/bin/pytest -q"}, ["test"]),
        ("/tmp/work", "bash", {"command": "make -C /tmp/work test"}, ["test"]),
        ("/tmp/work", "bash", {"command": "python3 /tmp/work/test_a.py"}, ["test"]),
        ("/tmp/work", "write_file", {"path": "/tmp/workers/a.py"}, []),
        ("/tmp/work", "write_file", {"path": "/tmp/a.py"}, []),
        ("/tmp/work", "bash", {"command": "/tmp/.venv/bin/pytest -q"}, []),
        ("/tmp", "write_file", {"path": "/tmp/a.py"}, []),
        ("/srv/work", "write_file", {"path": "/tmp/work/a.py"}, []),
    ],
)
def test_a_project_may_be_where_others_have_scratch(
    folder: str, tool: str, args: dict[str, Any], what: list[str]
) -> None:
    known = Evidence().told(OwnPlaces(here=folder))._known
    call = ToolCall(id="c1", run=RunInfo("r1"), at=0, tool=tool, args=args)
    assert [step.what for step in steps_by(known)(read(call))] == what


@pytest.mark.parametrize(
    ("options", "path", "command"),
    [
        ({}, "a.py", "pytest"),
        ({}, "web/a.test.tsx", "npm test"),
        ({}, "a.sh", "make test"),
        ({"test_commands": ["just verify*"]}, "a.py", "just verify"),
        ({"test_commands": [], "test_tools": ["ci"]}, "a.py", "ci"),
    ],
)
def test_the_refusal_says_what_would_satisfy_it(
    options: dict[str, Any], path: str, command: str
) -> None:
    run = shield_for({"name": "e", "guards": [{"use": "evidence", **options}]}).run("coder")
    run.result("edit_file", {"path": path}, "ok")
    assert f"such as `{command}`," in run.check("bash", {"command": "git push"}).advice


@pytest.mark.parametrize(
    "command",
    [
        "echo pytest",
        "grep -r pytest .",
        "pip install pytest",
        "npm install test",
        "npm run build",
        "pytest --version",
        "pytest --collect-only",
        "go test -h",
        "cat test.py",
        "git log --grep test",
        "# pytest",
        "make",
        "ruff format .",
        "git commit --dry-run",
        "git status",
        "docker build .",
        "which pytest",
        "python latest.py",
        "python -c 'import a' test_a.py",
        "python3 /tmp/test_a.py",
        "bash -n test.sh",
        "bash -s test.sh",
        "sh -c true test.sh",
        "node --check a.test.js",
        "perl -c t/a.t",
        "cat test_a.py | python3",
        "npm run latest",
        "yarn check",
    ],
)
def test_what_only_looks_like_it_is_nothing(command: str) -> None:
    assert kinds(command) == []


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m x",
        "git -C repo commit -am x",
        "git push origin main",
        "gh pr create --fill",
        "npm publish",
        "twine upload dist/*",
        "kubectl apply -f x.yaml",
        "make deploy-production",
    ],
)
def test_handing_on_is_recognised(command: str) -> None:
    assert kinds(command) == ["commit"]


@pytest.mark.parametrize(
    ("tool", "args", "what"),
    [
        ("write_file", {"path": "src/a.py"}, ["change"]),
        ("Edit", {"file_path": "a.ts", "old_string": "x"}, ["change"]),
        ("multiEdit", {"edits": [{"path": "a.go"}]}, ["change"]),
        ("str_replace_based_edit_tool", {"command": "create", "path": "a.rs"}, ["change"]),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a.rs"}, []),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/a.py\n@@"}, ["change"]),
        ("apply_patch", {"diff": "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@"}, ["change"]),
        ("delete_file", {"path": "src/a.py"}, ["change"]),
        ("write_file", {"path": "notes.md"}, []),
        ("write_file", {"path": "/tmp/scratch.py"}, []),
        ("read_file", {"path": "src/a.py"}, []),
        ("git_commit", {"message": "x", "files": ["a.py"]}, ["commit"]),
        ("create_pull_request", {"title": "x"}, ["commit"]),
        ("get_commit", {"sha": "x"}, []),
        ("list_commits", {}, []),
        ("attempt_completion", {"result": "x"}, ["commit"]),
        ("mcp__github__push_files", {"files": [{"path": "a.py"}]}, ["commit"]),
        ("run_tests", {}, ["test"]),
        ("pytest", {}, ["test"]),
        ("get_test_results", {}, []),
        ("create_test", {"name": "x"}, []),
        ("ruff_check", {}, ["lint"]),
        ("run_linter", {}, ["lint"]),
        ("send_message", {"text": "x"}, ["say"]),
        ("bash", {"command": "cat > src/new.py <<'E'\nx\nE"}, ["change"]),
        ("bash", {"command": "git apply fix.diff"}, ["change"]),
        ("bash", {"command": "sed -i s/a/b/ a.py && pytest"}, ["change", "test"]),
        ("bash", {"command": 3}, []),
    ],
)
def test_what_a_tool_does_is_told_by_its_name_and_arguments(
    tool: str, args: dict[str, Any], what: list[str]
) -> None:
    assert [step.what for step in done_by(tool, args)] == what


def test_a_tool_that_only_reads_changes_nothing() -> None:
    assert done_by("update_view", {"path": "a.py"}, ("read",)) == []


def test_guards_that_look_for_the_same_read_a_call_once() -> None:
    args = {"command": "cd once && uv run pytest -q tests/once.py && git commit -m 'only once'"}
    one, other = Evidence(lint=None), Evidence(tests=None)
    call = read(ToolCall(id="c1", run=RunInfo("r1"), at=0, tool="bash", args=args))
    alone = steps_of(lambda: one.judge(call, None, 0))
    assert steps_of(lambda: other.judge(call, None, 0)) < alone / 3
    came = read(
        ToolResult(
            id="e2", run=RunInfo("r1"), at=0, tool="bash", args=args, result="1 passed", call="c1"
        )
    )
    assert steps_of(lambda: other._steps(came)) < alone / 3


def test_guards_that_look_for_something_else_read_it_for_themselves() -> None:
    call = read(
        ToolCall(id="c1", run=RunInfo("r1"), at=0, tool="bash", args={"command": "verify all"})
    )
    assert steps_by(KnownSteps())(call) == []
    assert Evidence(test_commands=("verify",))._steps(call) != []


@pytest.mark.parametrize(
    ("command", "counts"),
    [
        ("pytest", True),
        ("cd a && pytest", True),
        ("cd a; pytest", True),
        ("pytest 2>&1", True),
        ("pytest -k 'a; b | c'", True),
        ("pytest \\\n  -q", True),
        ("timeout 9 pytest;", True),
        ("pytest; true", False),
        ("pytest || true", False),
        ("pytest | tee log", False),
        ("pytest &", False),
        ("! pytest", False),
        ("pytest\necho done", False),
        ("(pytest; true)", False),
        ("if pytest; then echo; fi", False),
        ("for x in 1 2; do pytest; done", False),
        ("bash -c 'pytest; true'", False),
        ("echo a | xargs pytest", False),
    ],
)
def test_whose_status_a_call_ends_with(command: str, counts: bool) -> None:
    steps = done_by("bash", {"command": command})
    assert {step.last for step in steps if step.what == "test"} == {counts}


@pytest.mark.parametrize(
    ("result", "came"),
    [
        ({"exit_code": 0}, PASSED),
        ({"exit_code": 1}, FAILED),
        ({"output": "", "metadata": {"returncode": 0}}, PASSED),
        ({"exit_code": 0, "stdout": "== 1 failed, 2 passed in 1s =="}, FAILED),
        ({"exit_code": 0, "stdout": "error: logged by the program\n3 passed"}, PASSED),
        ({"exit_code": 5, "stdout": "no tests ran in 0.1s"}, FAILED),
        ({"exit_code": 0, "stdout": "?   pkg [no test files]"}, UNCLEAR),
        ({"isError": True, "content": [{"type": "text", "text": "boom"}]}, FAILED),
        ({"success": True}, PASSED),
        ("exit code: 0", PASSED),
        ("Process exited with code 2", FAILED),
        ("===== 5 passed, 1 xfailed in 0.12s =====", PASSED),
        ("===== 1 failed, 4 passed in 0.12s =====", FAILED),
        ("2 errors in 0.3s", FAILED),
        ("Ran 3 tests in 0.001s\n\nOK (skipped=1)", PASSED),
        ("Ran 3 tests in 0.001s\n\nFAILED (failures=1)", FAILED),
        ("ok  \texample.com/a\t0.2s", PASSED),
        ("ok  \ta\t0.2s\nFAIL\tb [build failed]", FAILED),
        ("test result: ok. 5 passed; 0 failed; 0 ignored", PASSED),
        ("test result: FAILED. 4 passed; 1 failed", FAILED),
        ("Tests:       1 failed, 5 passed, 6 total", FAILED),
        ("Tests:       6 passed, 6 total", PASSED),
        ("  12 passing (30ms)", PASSED),
        ("  12 passing (30ms)\n  2 failing", FAILED),
        ("[INFO] BUILD SUCCESS", PASSED),
        ("[ERROR] BUILD FAILURE", FAILED),
        ("100% tests passed, 0 tests failed out of 9", PASSED),
        ("10 examples, 0 failures", PASSED),
        ("10 examples, 2 failures", FAILED),
        ("OK (5 tests, 9 assertions)", PASSED),
        ("Tests: 5, Assertions: 9, Failures: 1.", FAILED),
        ("Passed!  - Failed:     0, Passed:     5", PASSED),
        ("Failed!  - Failed:     1, Passed:     4", FAILED),
        ("ok 1 - a\nnot ok 2 - b", FAILED),
        ("collected 0 items", UNCLEAR),
        ("Ran 0 tests in 0.000s\n\nOK", UNCLEAR),
        ({"exit_code": 0, "stdout": "Ran 0 tests in 0.000s\n\nOK"}, UNCLEAR),
        ("Ran 10 tests in 0.1s\n\nOK", PASSED),
        ("test result: ok. 0 passed; 0 failed; 0 ignored", UNCLEAR),
        (
            {"exit_code": 0, "stdout": "running 0 tests\ntest result: ok. 0 passed; 0 failed"},
            UNCLEAR,
        ),
        ("test result: ok. 0 passed; 0 failed\ntest result: ok. 5 passed; 0 failed", PASSED),
        ("ok  \ta\t0.2s [no tests to run]", UNCLEAR),
        ({"exit_code": 0, "stdout": "ok  \ta\t0.2s [no tests to run]"}, UNCLEAR),
        ("ok  \ta\t0.2s [no tests to run]\nok  \tb\t0.2s", PASSED),
        ({"exit_code": 0, "stdout": "2 tests collected in 0.01s"}, UNCLEAR),
        ("Tests run: 0, Failures: 0\nBUILD SUCCESS", UNCLEAR),
        ("0 examples, 0 failures", UNCLEAR),
        ("Tests:       6 passed, 6 total\nSnapshots:   0 total", PASSED),
        ("", UNCLEAR),
        (None, UNCLEAR),
        ("sh: 1: pytest: not found", FAILED),
        ("done", UNCLEAR),
    ],
)
def test_what_came_of_tests(result: Any, came: int) -> None:
    assert outcome(result, lint=False, counts=True, alone=True) == came


@pytest.mark.parametrize(
    ("result", "came"),
    [
        ("All checks passed!", PASSED),
        ("Found 2 errors.", FAILED),
        ("Found 3 errors (3 fixed, 0 remaining).", UNCLEAR),
        ("Success: no issues found in 9 source files", PASSED),
        ("a.py:1: error: x", FAILED),
        ("", PASSED),
        ("3 files inspected, no offenses detected", PASSED),
        ("src/a.ts(1,2): error TS2304: x", FAILED),
        ("Your code has been rated at 10.00/10", PASSED),
        ({"exit_code": 0, "stdout": "1 warning"}, PASSED),
        ({"exit_code": 1, "stdout": ""}, FAILED),
        ("anything", UNCLEAR),
    ],
)
def test_what_came_of_linters(result: Any, came: int) -> None:
    assert outcome(result, lint=True, counts=True, alone=True) == came


def test_silence_that_went_elsewhere_is_no_evidence() -> None:
    assert outcome("", lint=True, counts=True, alone=True, heard=False) == UNCLEAR
    assert outcome("", lint=False, counts=True, alone=True) == UNCLEAR


def test_a_chain_that_failed_says_neither_that_tests_passed_nor_that_they_failed() -> None:
    result = {"exit_code": 1, "stdout": "5 passed\nfatal: no upstream"}
    assert outcome(result, lint=False, counts=True, alone=False) == UNCLEAR
    assert outcome(result, lint=False, counts=True, alone=True) == FAILED


def test_words_of_others_are_no_evidence() -> None:
    assert outcome("5 passed", lint=False, counts=True, alone=True, heard=False) == UNCLEAR
    assert outcome("exit code: 0", lint=False, counts=True, alone=True, heard=False) == UNCLEAR
    assert outcome("2 failed", lint=False, counts=False, alone=False, heard=False) == FAILED
    parts = {
        "exit_code": 0,
        "stdout": "test result: ok. 5 passed; 0 failed\ntest result: ok. 0 passed; 0 failed",
    }
    assert outcome(parts, lint=False, counts=True, alone=True, heard=False) == PASSED
    zero = {"exit_code": 0, "stdout": "test result: ok. 0 passed; 0 failed"}
    assert outcome(zero, lint=False, counts=True, alone=True, heard=False) == UNCLEAR
    none = {"exit_code": 0, "stdout": "? pkg [no test files]\nok pkg 0.1s"}
    assert outcome(none, lint=False, counts=True, alone=True, heard=False) == UNCLEAR
    assert outcome(none, lint=False, counts=True, alone=True, heard=True) == PASSED


class Acting:
    """A run under the guard, whose calls may overlap."""

    def __init__(self) -> None:
        shield = shield_for(
            {
                "name": "e",
                "limits": {"warnings": 1000},
                "guards": [{"use": "evidence", "lint": None}],
            }
        )
        self.run = shield.run("coder")

    def begin(self, tool: str, **args: Any) -> Callable[[Any], None]:
        call = self.run.check(tool, args).id

        def end(result: Any) -> None:
            self.run.result(tool, args, result, call=call)

        return end

    def ready(self) -> bool:
        return self.run.model_reply("done", final=True).proceeds


def test_tests_that_began_before_a_change_show_nothing_of_it() -> None:
    acting = Acting()
    acting.begin("write_file", path="a.py")("ok")
    tests = acting.begin("bash", command="pytest")
    acting.begin("write_file", path="b.py")("ok")
    tests("5 passed")
    assert not acting.ready()
    acting.begin("bash", command="pytest")("5 passed")
    assert acting.ready()


def test_a_change_that_lands_after_the_tests_wants_new_ones() -> None:
    acting = Acting()
    change = acting.begin("write_file", path="a.py")
    acting.begin("bash", command="pytest")("5 passed")
    assert acting.ready()
    change("ok")
    assert not acting.ready()


def test_a_change_of_which_nothing_was_heard_counts_until_tests_pass() -> None:
    acting = Acting()
    acting.begin("write_file", path="a.py")
    assert not acting.ready()
    acting.begin("bash", command="pytest")("5 passed")
    assert acting.ready()


def test_what_a_child_has_tested_is_tested() -> None:
    acting = Acting()
    acting.begin("write_file", path="a.py")("ok")
    child = acting.run.spawn("tester")
    child.result("run_tests", {}, "5 passed")
    assert acting.ready()
    child.result("write_file", {"path": "b.py"}, "ok")
    assert not acting.ready()


def test_the_record_stays_small() -> None:
    work = WorkState()
    steps = [WorkStep("change", "a.py"), WorkStep("test", "pytest")]
    for number in range(200):
        work = work.began(f"call-{number}", steps)
    assert [len(calls) for calls in (work.pending, work.spoilt)] == [KEPT, KEPT]
    assert len(work.running) <= KEPT
    assert work.what == "a.py"
    assert WorkState.of(work.data()) == work


def test_a_record_that_cannot_be_read_counts_as_a_change() -> None:
    assert WorkState.of({"not": "ours"}).what
    assert WorkState.of(None).what == ""


def test_a_model_is_asked_again_until_it_says_what_is_so() -> None:
    acting = Acting()
    replies = iter(["All tests pass.", "I have not run the tests."])
    heard: list[Any] = []

    def model(messages: list[Any]) -> str:
        heard.append(list(messages))
        return next(replies)

    answer = acting.run.model(model, [{"role": "user", "content": "do they pass?"}], final=True)
    assert answer == "I have not run the tests."
    assert "say plainly that you did not" in heard[1][-1]["content"]
