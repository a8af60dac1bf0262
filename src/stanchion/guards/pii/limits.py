"""How far what a number is taken for depends on what stands before it."""

from __future__ import annotations

from typing import Final

REACH: Final = 64
"""How many characters before a number are read for words."""
TABLE: Final = 1_024
"""Numbers behind so many characters of nothing but numbers and short words are a table: they are
looked at one by one, not joined by blanks. That keeps what a number can depend on near."""
