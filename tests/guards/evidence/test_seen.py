"""What is kept of what was observed: sound where calls overlap, small whatever the run does, and no
secret in it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stanchion import Shield
from stanchion.guards.evidence.seen import GISTS, RUNS, SUBJECTS, About, Changes, Learnt, SeenState
from stanchion.policy.load import load_policy
from stanchion.readings.claims.claim import CheckVerdict, Claim, Predicate
from stanchion.readings.claims.facts import Content
from stanchion.readings.claims.gist import gist_of

PROVABLE, REFUTABLE, UNDECIDABLE = (
    CheckVerdict.PROVABLE,
    CheckVerdict.REFUTABLE,
    CheckVerdict.UNDECIDABLE,
)
LINES = Claim(Predicate.LINES, "a.txt", 2)


def learnt(*facts: Claim | Content, own: frozenset[str] = frozenset()) -> Learnt:
    return Learnt(facts, own)


def verdict(seen: SeenState, claim: Claim) -> CheckVerdict:
    return seen.judge(claim).verdict


def test_what_is_seen_while_another_call_writes_is_no_evidence() -> None:
    seen = SeenState().began("look", Changes(), True, ())
    seen = seen.began("write", Changes(paths=("a.txt",)), True, ())
    seen = seen.ended("write", Changes(paths=("a.txt",)), Learnt())
    assert verdict(seen.ended("look", Changes(), learnt(LINES)), LINES) is UNDECIDABLE


def test_what_is_seen_before_a_write_ends_is_no_evidence() -> None:
    seen = SeenState().began("write", Changes(paths=("a.txt",)), True, ())
    seen = seen.began("look", Changes(), True, ())
    assert verdict(seen.ended("look", Changes(), learnt(LINES)), LINES) is UNDECIDABLE


def test_of_two_writes_at_once_neither_tells_what_is_there() -> None:
    both = Changes(paths=("a.txt",))
    seen = SeenState().began("one", both, True, ()).began("other", both, True, ())
    seen = seen.ended("one", both, learnt(LINES)).ended("other", both, learnt(LINES))
    assert verdict(seen, LINES) is UNDECIDABLE


def test_looks_at_once_are_evidence() -> None:
    seen = SeenState().began("one", Changes(), True, ()).began("other", Changes(), True, ())
    seen = seen.ended("other", Changes(), learnt(Claim(Predicate.EXISTS, "b"))).ended(
        "one", Changes(), learnt(LINES)
    )
    assert verdict(seen, LINES) is PROVABLE
    assert seen.looking == seen.writing == ()


@pytest.mark.parametrize("path", ["a.txt", "/work/a.txt", "./a.txt"])
def test_a_write_makes_what_was_known_of_that_file_stale(path: str) -> None:
    seen = SeenState().ended("", Changes(), learnt(LINES, Claim(Predicate.EXISTS, "b.txt")))
    seen = seen.began("w", Changes(paths=(path,)), True, ())
    assert verdict(seen, LINES) is UNDECIDABLE
    assert verdict(seen, Claim(Predicate.EXISTS, "b.txt")) is PROVABLE


def test_a_folder_takes_what_is_in_it_along() -> None:
    seen = SeenState().ended("", Changes(), learnt(Claim(Predicate.EXISTS, "out/a.txt")))
    assert (
        verdict(
            seen.began("w", Changes(paths=("out",)), True, ()), Claim(Predicate.EXISTS, "out/a.txt")
        )
        is UNDECIDABLE
    )


def test_of_two_files_of_one_name_both_have_to_speak_against_it() -> None:
    one, other = Claim(Predicate.LINES, "x/a.txt", 3), Claim(Predicate.LINES, "y/a.txt", 4)
    seen = SeenState().ended("", Changes(), learnt(one, other))
    assert verdict(seen, Claim(Predicate.LINES, "a.txt", 5)) is REFUTABLE
    assert verdict(seen, Claim(Predicate.LINES, "a.txt", 4)) is UNDECIDABLE
    assert verdict(seen, Claim(Predicate.LINES, "y/a.txt", 3)) is REFUTABLE


def test_that_a_file_is_not_elsewhere_says_nothing_of_one_of_its_name() -> None:
    seen = SeenState().ended(
        "", Changes(), learnt(Claim(Predicate.EXISTS, "old/a.txt", polarity=False))
    )
    assert verdict(seen, Claim(Predicate.EXISTS, "a.txt")) is UNDECIDABLE
    assert verdict(seen, Claim(Predicate.EXISTS, "old/a.txt")) is REFUTABLE
    assert verdict(seen, Claim(Predicate.EXISTS, "/srv/old/a.txt")) is UNDECIDABLE


def test_commands_of_one_name_that_ended_differently_say_nothing() -> None:
    ran = [
        Claim(Predicate.SUCCEEDED, "npm run build"),
        Claim(Predicate.SUCCEEDED, "docker build .", polarity=False),
    ]
    seen = SeenState().ended("", Changes(), learnt(*ran))
    assert verdict(seen, Claim(Predicate.SUCCEEDED, "build")) is UNDECIDABLE
    assert verdict(seen, Claim(Predicate.SUCCEEDED, "npm  run build")) is PROVABLE
    seen = seen.began("again", Changes(all=True), True, ("npm run build",))
    assert verdict(seen, Claim(Predicate.SUCCEEDED, "npm run build")) is UNDECIDABLE
    assert verdict(seen, Claim(Predicate.SUCCEEDED, "build")) is REFUTABLE


def test_a_last_line_without_an_end_counts_or_not() -> None:
    wrote = learnt(Content("a.txt", "one\ntwo", whole=True), own=frozenset({"a.txt"}))
    seen = SeenState().ended("", Changes(), wrote)
    found = [verdict(seen, Claim(Predicate.LINES, "a.txt", count)) for count in (0, 1, 2, 3)]
    assert found == [REFUTABLE, PROVABLE, PROVABLE, REFUTABLE]


def test_the_record_stays_small_and_holds_no_text() -> None:
    seen = SeenState()
    for number in range(300):
        held = Content(f"d/f{number}.txt", f"password = hunter{number}\n" * 40, whole=True)
        ran = Claim(Predicate.SUCCEEDED, f"curl -H token-{number} build")
        seen = seen.began(f"c{number}", Changes(paths=(held.path,)), True, ())
        seen = seen.ended(f"c{number}", Changes(paths=(held.path,)), learnt(held, ran))
    assert len(seen.about) == SUBJECTS
    assert len(seen.runs) == RUNS
    assert sum(one.gist is not None for one in seen.about.values()) == GISTS
    written = msgspec.json.encode(seen)
    assert len(written) < 20_000
    assert b"hunter" not in written
    assert b"token-" not in written


def test_a_gist_knows_what_is_there_and_what_is_not() -> None:
    text = "[core]\ntimeout = 30\nname = über\n"
    gist = gist_of(text, whole=True)
    assert [gist.has(one) for one in ("timeout = 30", "[core]", "30", "timeout", "über")] == [
        True
    ] * 5
    assert gist.has("timeout = 31") is False
    assert gist.has("out = 3") is None  # it is there, and no line or word
    assert gist_of(text, whole=False).has("timeout = 31") is None


def test_a_gist_never_denies_what_is_there() -> None:
    text = "".join(f"key_{n}: value {n * 7919}\n" for n in range(120))
    gist = gist_of(text, whole=True)
    assert all(gist.has(text[at : at + 9]) is not False for at in range(len(text) - 9))


def test_a_record_of_before_is_read() -> None:
    assert msgspec.convert(
        msgspec.to_builtins(SeenState(about={"a": About()})), SeenState
    ) == SeenState(about={"a": About()})


def judged(*calls: tuple[str, dict[str, Any], Any], text: str) -> str:
    kinds = ["tests", "lint", "files", "contents", "commands", "versions"]
    guard = {"use": "evidence", "tests": None, "lint": None, "proven": kinds}
    run = Shield(load_policy({"name": "x", "guards": [guard]}), safe_mode=False).run()
    for tool, args, result in calls:
        begun = run.check(tool, args)
        if isinstance(result, Exception):
            run.error(tool, type(result).__name__, args=args, call=begun.id)
        else:
            run.result(tool, args, result, call=begun.id)
    return run.model_reply(text, final=True).code


def shell(
    command: str, stdout: str = "", status: int | None = 0, **more: Any
) -> tuple[str, dict[str, Any], Any]:
    result = {"stdout": stdout, **({} if status is None else {"exit_code": status}), **more}
    return "bash", {"command": command}, result


REFUTED, UNPROVEN, FINE = "evidence.refuted", "evidence.unproven", ""


@pytest.mark.parametrize(
    ("call", "text", "code"),
    [
        (shell("wc -l a.txt", "3 a.txt\n"), "a.txt has 3 lines.", FINE),
        (shell("wc -l a.txt", "3 a.txt", None), "a.txt has 4 lines.", REFUTED),
        (shell("cd /srv && wc -l a.txt", "3 a.txt\n"), "/srv/a.txt has 4 lines.", REFUTED),
        (shell("wc -l a.txt | tail -1", "3 a.txt\n"), "a.txt has 4 lines.", UNPROVEN),
        (shell("cat a.txt", "x\n", truncated=True), "a.txt has 1 lines.", UNPROVEN),
        (shell("cat a.txt", "x\n[output truncated]\n"), "a.txt does not contain `yy`.", UNPROVEN),
        (shell("cat a.txt", "x\n", 124), "a.txt has 1 lines.", UNPROVEN),
        (shell("cat a.txt", "cat: a.txt: No such file\n", 1), "a.txt exists.", UNPROVEN),
        (shell("cat a.txt", "cat: a.txt: No such file\n", None), "a.txt exists.", UNPROVEN),
        (shell("make all", "", 1, timed_out=True), "`make all` failed.", UNPROVEN),
        (("bash", {"command": "make all"}, TimeoutError()), "`make all` succeeded.", UNPROVEN),
        (shell("touch a.txt; false", "", 1), "a.txt exists.", UNPROVEN),
        (shell("touch a.txt && true"), "a.txt exists.", FINE),
        (shell("rm *.txt"), "I removed a.txt.", UNPROVEN),
        (shell("rm $F"), "I removed a.txt.", UNPROVEN),
        (
            ("write_file", {"path": "a.txt", "content": "x\n"}, "Failed to write"),
            "I created a.txt.",
            UNPROVEN,
        ),
        (
            ("write_file", {"path": "a.txt", "content": "x\n"}, OSError()),
            "I created a.txt.",
            UNPROVEN,
        ),
        (
            ("append_file", {"path": "a.txt", "content": "x\n"}, "ok"),
            "a.txt has 9 lines.",
            UNPROVEN,
        ),
        (
            ("move_file", {"source": "a.txt", "destination": "b.txt"}, "ok"),
            "a.txt exists.",
            UNPROVEN,
        ),
    ],
)
def test_what_one_call_shows(call: tuple[str, dict[str, Any], Any], text: str, code: str) -> None:
    assert judged(call, text=text) == code


@pytest.mark.parametrize(
    ("between", "code"),
    [
        (shell("ls"), FINE),
        (shell("git status"), FINE),
        (shell("pytest -q", "3 passed"), FINE),
        (shell("ruff check ."), FINE),
        (shell("ruff check --fix ."), UNPROVEN),
        (shell("python fix.py"), UNPROVEN),
        (shell("git checkout main"), UNPROVEN),
        (shell("echo x >> a.txt"), UNPROVEN),
        (shell("echo x > b.txt"), FINE),
        (("python", {"code": "open('a.txt', 'w')"}, ""), UNPROVEN),
        (("web_search", {"query": "a.txt"}, "none"), FINE),
        (
            ("edit_file", {"path": "a.txt", "old_string": "a", "new_string": "b"}, OSError()),
            UNPROVEN,
        ),
    ],
)
def test_what_makes_it_stale(between: tuple[str, dict[str, Any], Any], code: str) -> None:
    assert judged(shell("wc -l a.txt", "3 a.txt\n"), between, text="a.txt has 3 lines.") == code


@pytest.mark.parametrize(("priority", "code"), [(1, "evidence.unproven"), (9_999, "")])
def test_what_a_guard_behind_withholds_counts_as_it_came(priority: int, code: str) -> None:
    withholds = {
        "use": "rule",
        "stages": ["tool_result"],
        "when": "event.tool == 'bash'",
        "action": "block",
        "priority": priority,
    }
    guards = [{"use": "evidence", "proven": ["contents"]}, withholds]
    run = Shield.load({"name": "withholds", "guards": guards}).run("coder")
    look = {"command": "wc -l notes.txt"}
    run.check("bash", look)
    assert not run.result("bash", look, {"exit_code": 0, "stdout": "12 notes.txt\n"}).proceeds
    assert run.model_reply("`notes.txt` has 12 lines.", final=True).code == code
