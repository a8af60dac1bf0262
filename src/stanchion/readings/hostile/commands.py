"""Commands: what a sentence wants of whoever reads it."""

from __future__ import annotations

import re
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.hostile.effects import GO, VISIT
from stanchion.readings.hostile.lexicon import COMMANDING, COMMANDS, NOMINAL, POLITE, SOFT, VERBS, Verbs
from stanchion.readings.hostile.sieve import compiled

TOKENS: Final = regex(r"[^\W\d_](?:[^\W\d_]|')*(?:-[^\W\d_]+)*|\d+[.)]?|[^\s\w]|_")
PLEASE: Final = frozenset({"please", "kindly"})
LABEL: Final = [":"]
"""What makes a verb the name of what follows."""
INSIDE: Final = frozenset("@_/$")
"""What stands before a word that is a part of something else."""


class Grammar:
    """The verbs by which a text may want something. It never changes."""

    def __init__(self, verbs: Verbs = COMMANDS) -> None:
        self.verbs = verbs
        self._engine: Any = None

    def may_command(self, text: str) -> bool:
        """Whether anything in a text in its normal form may be a command."""
        if self._engine is None:
            self._engine = compiled(_anywhere(self.verbs))
        return self._engine.search(text.encode("utf-8", "replace")) is not None

    def commands(self, text: str) -> int:
        """What a sentence in its normal form wants: effects of the verbs that stand where a command does, as bits."""
        tokens = TOKENS.findall(text.replace("set up", "setup"))
        found = 0
        before = ""
        for at, token in enumerate(tokens):
            effects = self.verbs.get(token, 0)
            if not effects and before in PLEASE and len(token) > 2 and token.isalpha() and token not in SOFT:
                effects = POLITE
            if effects and tokens[at + 1 : at + 2] != LABEL and _free(before):
                found |= effects
                if effects & VISIT and _alone(tokens[:at]):
                    found |= GO
            before = token
        if found:
            for token in tokens:
                if token in NOMINAL:
                    found |= VERBS[NOMINAL[token]]
        return found


def _free(before: str) -> bool:
    """Whether a command may stand behind a word."""
    return not before or before in COMMANDING or not (before[0].isalpha() or before in INSIDE)


def _anywhere(verbs: Verbs) -> str:
    """A pattern that is found wherever a command may be."""
    known = "|".join([re.escape(verb) for verb in sorted({*verbs, "set up"})])
    after = "|".join(sorted(COMMANDING))
    return rf"(?:^|[^a-z\s@_/$]\s*|[\n\t]\s*|\b(?:{after})\s+)(?:{known})\b|\b(?:please|kindly)\b"


def _alone(before: list[str]) -> bool:
    """Whether next to nothing stands before a verb, so that it is what the sentence is about."""
    return len([token for token in before if token[0].isalpha() and token not in COMMANDING and token != "todo"]) <= 1


GRAMMAR: Final = Grammar()
"""The grammar of languages alone, without verbs that only tools know."""
