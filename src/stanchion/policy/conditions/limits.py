"""How large a condition may be and how much one evaluation may cost."""

from __future__ import annotations

from typing import Final

TEXT: Final = 10_000
"""Characters of a condition."""

NESTING: Final = 40
"""Brackets, calls and branches inside each other."""

DEPTH: Final = 64
"""Height of the tree, chains of operators included."""

NODES: Final = 2_000
"""Parts of a condition: literals, names, operators, calls."""

ITEMS: Final = 1_000
"""Elements of one list or map that is written out."""

STEPS: Final = 10_000
"""Steps of one evaluation: elements visited, elements compared, and what is charged for long
texts."""

PATTERN: Final = 1_000
"""Characters of a regular expression."""

PROGRAM: Final = 2_000
"""Instructions of a compiled regular expression, repetitions written out."""

GLOB: Final = 500
"""Characters of a glob."""

PATH: Final = 8_192
"""Characters of a text that is matched as a path."""

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
UINT_MAX: Final = 2**64 - 1
