"""No text makes the guard slow, deep or fail: cost grows with length, and what is too much is said
to be unclear."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from shlex import quote

import pytest
from hypothesis import given, strategies as st

from stanchion.guards.shell import Shell
from stanchion.guards.shell.verdict import ShellJudge
from stanchion.kernel.actions import Risk
from stanchion.kernel.sizes import LIMITS
from stanchion.readings.shell.analysis import Analysis, _kept, analysed
from stanchion.readings.shell.tree import STEPS_A_COMMAND
from tests.guards.steps import steps_of
from tests.properties.examples import sample

VERDICT = ShellJudge(Shell())
MAX_COMMANDS = LIMITS.command_steps // STEPS_A_COMMAND
PIECES = [
    "$", "${", "}", "$(", ")", "((", "))", "`", '"', "'", "\\", "|", "||", "&", "&&", ";", ";;",
    "\n", "<", ">", "<<E\n", "<<<", "E\n", "{", "[[", "]]", "if ", "then ", "fi ", "for i in ",
    "do ", "done ", "case x in ", "esac ", "f(){ ",
    "a=", "a=(", "$a", "${a", "[@]", "#", "%", "/", "*", "?", "~", "eval ", "sh -c ", "xargs ",
    "find . -exec ", "rm -rf ", "{a,b}", "{1..9}", "1+", "2#", "python -c ", "base64 -d ",
    "printf ", "echo ", " ", "x", "ä", "\0",
]  # fmt: skip

SHAPES: dict[str, Callable[[int], str]] = {
    "words": lambda n: "ls " + "a " * n,
    "pipes": lambda n: "cat x" + " | grep a" * n,
    "lists": lambda n: "true; " * n,
    "quotes": lambda n: "echo " + '"a$b"' * n,
    "substitutions": lambda n: "echo " + "$(echo a) " * n,
    "open substitutions": lambda n: "$(" * n,
    "open sums": lambda n: "$((" * n,
    "parentheses": lambda n: "((" * n,
    "braces": lambda n: "echo " + "{a,b}" * n,
    "open braces": lambda n: "echo " + "{" * n,
    "here-documents": lambda n: "cat <<E\n" * n,
    "doubling": lambda n: "a=x; " + "a=$a$a; " * n,
    "replacing": lambda n: "a=" + "a" * n + "; echo ${a//a*b/c}",
    "cutting": lambda n: "a=" + "a" * n + "; echo ${a##*b}",
    "backquotes": lambda n: "`" * n,
    "loops in loops": lambda n: "for i in {1..99}; do " * n,
    "functions": lambda n: "f(){ f; f; }; " * n + "f",
    "eval": lambda n: "eval " * n + "ls",
    "sudo": lambda n: "sudo " * n + "ls",
    "defaults": lambda n: "echo " + "${a:-" * n,
    "sum": lambda n: "echo $((" + "1+" * n + "1))",
    "python": lambda n: "python -c '" + 'os.system("ls");' * n + "'",
    "redirections": lambda n: "echo " + "> a " * n,
    "find": lambda n: "find . " + "-exec rm {} ; " * n,
}


def test_a_text_with_too_many_commands_is_unclear_and_those_before_are_read() -> None:
    assert not analysed("a\n" * MAX_COMMANDS).unclear
    more = analysed("a\n" * (MAX_COMMANDS + 1))
    assert more.unclear == f"it runs more than {MAX_COMMANDS} commands"
    assert len(more.commands) == MAX_COMMANDS


def fresh(text: str) -> Analysis:
    """An analysis that nobody has made before."""
    return _kept.__wrapped__(text, LIMITS)


def nested(text: str, times: int) -> str:
    """A text that so many programs of unknown names are given, each by another."""
    for n in range(times):
        text = f"runner{n} {quote(text)}"
    return text


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_takes_at_most_twice_the_steps(shape: str) -> None:
    few, many = (steps_of(partial(fresh, SHAPES[shape](n))) for n in (150, 600))
    assert many <= 4.6 * few + 2_000


@pytest.mark.parametrize("shape", SHAPES)
def test_the_counted_steps_are_bounded_by_the_length(shape: str) -> None:
    text = SHAPES[shape](2_000)
    assert fresh(text).steps <= LIMITS.command_steps + len(text) + 1_000


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a" * (LIMITS.command_chars + 1), "longer than"),
        ("$(" * 40, "nested too deeply"),
        ("cat " + "<~" * 1_000, "too many steps"),
        ("a=xx; " + "a=$a$a; " * 40, "too long"),
        ("a=" + "a" * 900 + "; echo ${a//a*b/c}", "too many steps"),
        ("runner '" + "$(" * 40 + "rm -rf x'", "nested too deeply"),
        ("runner " + " ".join([f"'rm -rf /srv/{n}'" for n in range(60)]), "too many texts"),
        ("runner 'other \"" + "$(" * 40 + "rm -rf x\"'", "nested too deeply"),
        ("runner " + "a " * 130 + "'rm -rf /srv/x'", "too many words"),
        ("runner " + "a " * 130 + "rm -rf /srv/x", "too many words"),
        (nested("rm -rf /srv/x", 5), "too deeply"),
    ],
)
def test_what_is_too_much_is_unclear(text: str, why: str) -> None:
    assert why in analysed(text).unclear


@pytest.mark.parametrize(
    "text",
    [
        "prettier " + "src/a.ts " * 200,
        "echo " + "rm " * 200,
        nested("say hello", 5),
        nested("rm -rf build", 2),
    ],
)
def test_what_is_much_but_no_command_is_clear(text: str) -> None:
    assert analysed(text).unclear == ""


def test_what_was_found_before_the_limit_still_counts() -> None:
    found = VERDICT.of("rm -rf /; " + "$(" * 40, Risk.LOW)
    assert found is not None
    assert found.code == "shell.destructive"


@sample(75)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text_is_judged(text: str) -> None:
    VERDICT.of(text, Risk.MEDIUM)


@sample(25)
@given(st.text(max_size=60))
def test_any_characters_are_judged(text: str) -> None:
    VERDICT.of(text, Risk.MEDIUM)


@sample(25)
@given(st.text(alphabet="abc $'\"\\|;&()<>", max_size=12))
def test_a_danger_behind_any_plain_list_is_found(text: str) -> None:
    before = analysed(text)
    if (
        before.broken
        or before.unclear
        or "<<" in text
        or text.rstrip().endswith(("|", "&", ";", "\\", "("))
    ):
        return
    found = VERDICT.of(f"{text}\nrm -rf /", Risk.MEDIUM)
    assert found is not None
