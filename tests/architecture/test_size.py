"""The house gets no heavier: what `python -m tools.size` measures may only fall."""

from __future__ import annotations

from tools.size.__main__ import FILE
from tools.size.areas import BOUNDED, read_areas, tabulate
from tools.size.bounds import complain
from tools.size.table import Sheet, Table, parse
from tools.size.warm import ROOT, count_warm_checks


def assert_no_heavier(*found: Table) -> None:
    titles = [table.title for table in found]
    kept = parse(FILE.read_text("utf-8")).tables
    checked_in = Sheet(tuple([table for table in kept if table.title in titles]))
    complaints = list(complain(checked_in, Sheet(found)))
    assert not complaints, "\n" + "\n".join(complaints)


def test_there_is_no_more_code_than_is_checked_in() -> None:
    assert_no_heavier(*tabulate(read_areas(ROOT, BOUNDED)))


def test_a_warm_check_goes_no_longer_way() -> None:
    assert_no_heavier(count_warm_checks())
