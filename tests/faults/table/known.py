"""Where a rule does not hold yet. Each is a fault of ours that is to be mended: then its lines are taken out here, and
the table is measured anew with `python -m tools.faults`."""

from __future__ import annotations

from typing import Final

from tests.faults.table.rules import Words

KNOWN: Final[tuple[Words, ...]] = ()
