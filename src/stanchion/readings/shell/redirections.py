"""Redirections: which operators of a shell write into a file, and which read one."""

from __future__ import annotations

from typing import Final

WRITES: Final = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
READS: Final = frozenset({"<", "<>"})
