"""What sentences claim: the tables of claims are about something, and what claims nothing is read
as nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.readings.claims.forms import stem
from stanchion.readings.claims.sentences import MOST, SpokenClaim, said_in
from stanchion.testing import Case, read_table

TABLES = Path(__file__).parents[2] / "tables"
CASES = [
    case for name in ("claims", "claims_more") for case in read_table(TABLES / f"{name}.yaml").cases
]
CHECKED = ("checks", "failing", "blank")
"""Cases about tests and linters, which the guard reads itself."""


def replies(case: Case) -> list[str]:
    return [str(step.fields["text"]) for step in case.steps() if step.stage == "model_reply"]


def names(case: Case) -> set[str]:
    """The last words of what was run, which are names."""
    told = [step.fields.get("args", {}) for step in case.steps() if step.stage == "tool_result"]
    return {str(args["command"]).split()[-1] for args in told if "command" in args}


def test_the_tables_have_enough_rows() -> None:
    assert sum(len(replies(case)) for case in CASES) >= 200


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if not case.name.startswith(CHECKED)],
    ids=lambda case: case.name,
)
def test_rows_are_read_as_what_they_are(case: Case) -> None:
    known = names(case)
    for text in replies(case):
        found = said_in(text, known.__contains__)
        assert bool(found) is not case.name.endswith("nothing"), text


def only(text: str) -> Claim:
    (one,) = said_in(text)
    return one.claim


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (
            "`a b.txt` is text, but notes.txt has 1,204 lines",
            Claim(Predicate.LINES, "notes.txt", 1204),
        ),
        ("**notes.txt** has three lines", Claim(Predicate.LINES, "notes.txt", 3)),
        ("I removed the unused file `old.py`.", Claim(Predicate.EXISTS, "old.py", polarity=False)),
        ("I wrote the results to ./out/r.json", Claim(Predicate.EXISTS, "./out/r.json")),
        ("conf.ini includes the line 'a=1'.", Claim(Predicate.CONTAINS, "conf.ini", "a=1")),
        ("conf.ini doesn't contain `A=1`.", Claim(Predicate.CONTAINS, "conf.ini", "A=1", False)),
        ("I ran `make -j4 all` without errors.", Claim(Predicate.SUCCEEDED, "make -j4 all")),
        ("The project uses node v20.1.0 now", Claim(Predicate.VERSION, "node", "20.1.0")),
    ],
)
def test_one_claim(text: str, claim: Claim) -> None:
    assert only(text) == claim


def test_several_files_are_several_claims() -> None:
    found = said_in("I created a.py, b.py and src/c.py.")
    assert [one.claim.subject for one in found] == ["a.py", "b.py", "src/c.py"]


def test_a_moved_file_is_there_and_no_longer_here() -> None:
    found = {one.claim for one in said_in("I renamed a.py to b.py.")}
    assert found == {
        Claim(Predicate.EXISTS, "a.py", polarity=False),
        Claim(Predicate.EXISTS, "b.py"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "I removed the bug in a.py.",
        "I added 3 lines to a.py.",
        "I created a script that reads data.csv.",
        "I changed 12 lines in a.py.",
        "a.py has about 12 lines.",
        "The tests for a.py pass.",
        "See https://example.com/a.py exists.",
        "example.com exists.",
        "I/O is slow, and/or broken.",
        "~~~\na.py exists\n~~~",
        "a.py is missing a semicolon.",
        "This fails on Python 3.12.1.",
        "The ratio of runs is 1.5 times as high.",
        "`f()` succeeded.",
        "a.py is 3 lines longer.",
    ],
)
def test_what_claims_nothing_of_this_kind(text: str) -> None:
    assert said_in(text) == ()


def test_a_number_may_be_a_version_or_not() -> None:
    assert said_in("Accuracy is 0.95.") == (
        SpokenClaim(Claim(Predicate.VERSION, "accuracy", "0.95"), firm=False),
    )


def test_a_verb_and_its_noun_have_one_stem() -> None:
    pairs = [
        ("migrate", "migration"),
        ("install", "installation"),
        ("deploy", "deployment"),
        ("compile", "compilation"),
    ]
    assert all(stem(verb) == stem(noun) for verb, noun in pairs)


def test_only_so_many_claims_are_read() -> None:
    text = "\n".join(f"- f{n}.py exists" for n in range(2 * MOST))
    assert len(said_in(text)) == MOST


def test_long_texts_are_read_quickly() -> None:
    for text in (
        "a.py and " * 5_000,
        "‹p0› " * 5_000,
        "`" * 20_000,
        "created " * 6_000 + "a.py",
        "1,1" * 15_000,
    ):
        assert len(said_in(text)) <= MOST
