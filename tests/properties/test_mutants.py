"""The tests bite: seeded faults are noticed. `make mutants` tries all of them."""

import pytest

from model.mutants import attempt, main
from model.mutations import MUTATIONS, QUICK, Mutation
from model.seeding import check_place, seeded


@pytest.mark.parametrize("name", QUICK)
def test_a_seeded_fault_is_noticed(name: str) -> None:
    (mutation,) = [mutation for mutation in MUTATIONS if mutation.name == name]
    assert attempt(mutation, cases=60, first=True).noticed


def test_without_a_fault_nothing_is_noticed() -> None:
    assert not attempt(None, cases=20).noticed


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[mutation.name for mutation in MUTATIONS])
def test_each_fault_still_has_its_place(mutation: Mutation) -> None:
    check_place(mutation)
    assert mutation.old != mutation.new
    assert len({other.name for other in MUTATIONS}) == len(MUTATIONS)


def test_a_fault_whose_text_is_gone_is_an_error() -> None:
    gone = Mutation("gone", "kernel/engine.py", "no such text", "")
    with pytest.raises(SystemExit, match="0 times, not once"):
        seeded("", gone)


def test_a_fault_that_makes_no_python_is_an_error() -> None:
    (sound,) = [mutation for mutation in MUTATIONS if mutation.name == "patched content not judged"]
    with pytest.raises(SystemExit, match="is no Python at line"):
        check_place(sound._replace(new="(*readings)"))


def test_the_command_prints_a_row_for_each_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mildest finding"], cases=40) == 0
    head, row, last = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["mutant", "decisions"]
    assert row.startswith("mildest finding wins")
    assert last.startswith("1 of 1 faults noticed")
