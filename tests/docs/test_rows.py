"""Every done row of the feature table has a fault that its tests are to notice. `make mutants`
tries them."""

from pathlib import Path

import pytest

from model.rows import (
    FOLDER,
    Fault,
    Mutant,
    Seen,
    attempt,
    complaints,
    faults,
    main,
    node,
    select,
    sound,
)
from tools.features import DOCUMENTS, Document, Done, Open, read

ROOT = Path(__file__).parents[2]
VERDICT = "readings/claims/claim.py"
ROW = Done(
    id="x-001",
    lines="1",
    says="words",
    module=f"src/stanchion/{VERDICT}",
    test="tests/readings/claims/test_verdict.py::test_verdicts_have_their_values",
)
OLD = 'PROVABLE = "provable"'


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_done_row_has_a_fault_that_has_its_place(name: str) -> None:
    assert list(complaints(read(name), faults(name))) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_deviates_is_said_at_the_top_of_the_page_of_its_document(name: str) -> None:
    page = (ROOT / "docs" / "how-to" / f"from-{name}.md").read_text("utf-8")
    top = " ".join(page.partition("```")[0].split())
    for row in read(name).rows:
        if isinstance(row, Done) and row.deviates:
            assert f"{row.deviates}." in top, row.id


def test_no_file_of_faults_is_left_over() -> None:
    assert {file.stem for file in FOLDER.iterdir()} <= {*DOCUMENTS}


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, "`x-001` is done and has no mutant"),
        (
            {"x-001": Fault(VERDICT, OLD, ""), "x-002": Fault(VERDICT, OLD, "")},
            "`x-002` has a mutant and is no done",
        ),
        (
            {"x-001": Fault("readings/texts.py", OLD, "")},
            "`readings/texts.py`, which is no module of the row",
        ),
        ({"x-001": Fault(VERDICT, "PROVABLES", "")}, "0 times, not once: `PROVABLES`"),
        ({"x-001": Fault(VERDICT, "= ", "")}, "times, not once"),
        ({"x-001": Fault(VERDICT, OLD, OLD)}, "a mutant that changes nothing"),
    ],
)
def test_what_is_wrong_with_a_fault_is_said(known: dict[str, Fault], said: str) -> None:
    document = Document("X", [ROW, Open(id="x-002", lines="2", says="more")])
    (complaint,) = complaints(document, known)
    assert said in complaint


def test_faults_stand_in_order() -> None:
    second = Done(id="x-002", lines="2", says="more", module=ROW.module, test=ROW.test)
    known = {"x-002": Fault(VERDICT, OLD, ""), "x-001": Fault(VERDICT, OLD, "")}
    assert list(complaints(Document("X", [ROW, second]), known)) == [
        "mutants do not stand in the order of their ids; sort them"
    ]


def test_a_file_that_lists_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("x-001: {file: a.py, old: b}\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"`x\.yaml` does not list faults of rows: .*`new`"):
        faults("x", tmp_path)


@pytest.mark.parametrize(
    ("new", "seen", "by"),
    [
        ('PROVABLE = "proven"', Seen.NOTICED, "test_verdicts_have_their_values"),
        (f"{OLD}  # as it was", Seen.UNNOTICED, ""),
        ("PROVABLE =", Seen.BROKEN, "tests/"),
    ],
)
def test_a_row_is_closed_only_if_its_tests_fail(new: str, seen: Seen, by: str) -> None:
    verdict = attempt(Mutant(ROW, Fault(VERDICT, OLD, new)))
    assert verdict.seen is seen
    assert by in verdict.by


def test_a_test_that_is_not_there_does_not_pass() -> None:
    gone = Done(
        id="x-001",
        lines="1",
        says="words",
        module=ROW.module,
        test="tests/docs/test_rows.py::test_gone",
    )
    assert sound([gone]) != []


def test_a_case_of_a_table_is_played_by_the_test_of_the_tables() -> None:
    assert node("tests/tables/egress.yaml::an allowlist denies all else") == (
        "tests/test_tables.py::test_case[egress: an allowlist denies all else]"
    )
    assert node("tests/tables/x.yaml::a – b").endswith(r"[x: a \u2013 b]")
    assert node("tests/a/test_b.py::C::test_d") == "tests/a/test_b.py::C::test_d"


def test_rows_are_chosen_by_words() -> None:
    assert [mutant.row.id for mutant in select(["ragix-289", "ragix-290"])] == [
        "ragix-289",
        "ragix-290",
    ]


def test_words_that_are_in_no_id_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no such row"]) == 1
    assert "no done row has one of these words in its id: no such row" in capsys.readouterr().out
