"""What is known of a claim is found by what it is about: looking does not take longer because more
is known."""

from __future__ import annotations

from stanchion.readings.claims.claim import CheckVerdict, Claim, Predicate
from stanchion.readings.claims.evidence import Evidence
from stanchion.readings.claims.facts import Ran


def seen(*commands: tuple[tuple[str, ...], int, str]) -> Evidence:
    evidence = Evidence()
    for number, (argv, rc, out) in enumerate(commands):
        evidence.take(f"Obs{number}", Ran(argv, rc, out), changes=False)
    return evidence


def test_facts_about_other_things_are_not_looked_at() -> None:
    evidence = seen(*[(("wc", "-l", f"f{n}"), 0, f"{n} f{n}\n") for n in range(500)])
    assert [one.observation for one in evidence.known(Claim(Predicate.LINES, "./f7", 7))] == [
        "Obs7"
    ]
    assert evidence.judge(Claim(Predicate.LINES, "f499", 498)).verdict is CheckVerdict.REFUTABLE


def test_of_many_texts_only_the_one_in_question_is_looked_at() -> None:
    evidence = seen(*[(("grep", "-F", "--", f"t{n}", "a"), n % 2, "") for n in range(500)])
    assert len(list(evidence.known(Claim(Predicate.CONTAINS, "a", "t3")))) == 1
    assert evidence.judge(Claim(Predicate.CONTAINS, "a", "t3")).verdict is CheckVerdict.REFUTABLE
    assert evidence.judge(Claim(Predicate.CONTAINS, "a", "t4")).verdict is CheckVerdict.PROVABLE
    assert evidence.judge(Claim(Predicate.EXISTS, "a", polarity=False)).proof == ("Obs498",)


def test_what_is_seen_again_is_not_new_and_not_kept_twice() -> None:
    evidence = Evidence()
    cat = Ran(("cat", "a"), 0, "x\n")
    assert len(evidence.take("Obs1", cat, changes=False)) == 2
    assert [evidence.take(f"Obs{n}", cat, changes=False) for n in range(2, 50)] == [()] * 48
    assert len(list(evidence.known(Claim(Predicate.LINES, "a", 1)))) == 1


def test_what_speaks_for_and_against_is_kept_both() -> None:
    evidence = seen((("wc", "-l", "a"), 0, "1 a\n"), (("wc", "-l", "a"), 0, "2 a\n"))
    assert evidence.judge(Claim(Predicate.LINES, "a", 1)).verdict is CheckVerdict.REFUTABLE


def test_a_change_makes_the_world_old_and_no_run() -> None:
    evidence = seen((("cat", "a"), 0, "x\n"))
    evidence.take("Obs9", Ran(("touch", "b"), 0), changes=True)
    assert evidence.judge(Claim(Predicate.EXISTS, "a")).verdict is CheckVerdict.UNDECIDABLE
    assert evidence.judge(Claim(Predicate.SUCCEEDED, "cat a")).verdict is CheckVerdict.PROVABLE
