"""SQL: whether a text is SQL, in which dialect, and what each of its statements does."""

from typing import Final

from stanchion.readings.word_lists import sections

WORDS: Final = sections("stanchion.readings.sql", "words.txt")
"""The words that readings of SQL ask for, by the titles above them."""
