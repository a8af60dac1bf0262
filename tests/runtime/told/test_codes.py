"""Every code that is declared says to the agent nothing that it may not read, and every one of them
is provoked."""

import re
from pathlib import Path
from typing import Final

from stanchion.kernel.words import PLACE, Words, advice_of, declared, detail_of, message_of
from stanchion.policy import rules
from stanchion.policy.sequences import guard as sequences
from tests.runtime.told import life
from tests.runtime.told.shapes import shapes_in
from tools.pages import codes as page

TABLES: Final = Path(__file__).parents[2] / "tables"
ELSEWHERE: Final = {
    "approval.edited": "tests/approvals/test_edits.py",
    "client": "tests/hosts/openai",
    "door": "tests/runtime/door",
    "http": "tests/hosts/http",
    "kernel.bad_event": "tests/runtime/values",
    "kernel.broker_busy": "tests/ops/broker",
    "kernel.broker_lost": "tests/ops/broker",
    "kernel.contention": "tests/kernel",
    "kernel.crowded": "tests/stores",
    "kernel.late_answer": "tests/runtime",
    "kernel.lookup_expired": "tests/runtime",
    "kernel.lookup_late": "tests/runtime",
    "kernel.too_dense": "tests/guards/secrets",
    "kernel.patch_failed": "tests/kernel",
    "kernel.no_form": "tests/runtime/values",
    "people": "tests/approvals/test_value_questions.py",
    "strikes.reached": "tests/runtime/test_strikes.py",
}
"""Codes with arguments, or whole areas of them, that neither a table nor the agent's life provokes,
and where they are
tested: their arguments are what the agent has sent, counts, and the ids of guards."""


def takes(words: Words) -> bool:
    """Whether the agent reads any argument of a code."""
    return PLACE.search(words.message + words.advice) is not None


def shipped() -> dict[str, Words]:
    assert rules.CODES
    assert sequences.CODES
    areas = page._areas()
    return {code: words for code, words in declared().items() if code.split(".")[0] in areas}


def test_what_a_code_says_to_the_agent_has_none_of_it() -> None:
    args = tuple(f"arg{at}" for at in range(10))
    for code in sorted(shipped()):
        said = (
            message_of(code, args),
            advice_of(code, args),
            message_of(code, ()),
            advice_of(code, ()),
        )
        for text in (*said, advice_of(code, args, asked=True)):
            assert shapes_in(text) == [], code


def test_what_is_for_people_alone_is_not_said_to_the_agent() -> None:
    """What stands in the detail and not in the message is kept from the agent whatever it is; and
    it is told."""
    args = tuple(f"kept-{at}-kept" for at in range(10))
    for code, words in sorted(shipped().items()):
        if words.detail:
            for_people, for_agents = (
                detail_of(code, args),
                f"{message_of(code, args)} {advice_of(code, args)}",
            )
            hidden = [arg for arg in args if arg in for_people and arg not in for_agents]
            said = f"the detail of `{code}` only repeats its message, and is none"
            assert hidden or not PLACE.search(words.detail), said


def test_every_code_with_arguments_is_provoked_where_what_it_says_is_read() -> None:
    """A new code stands in a table or in the agent's life: there its words are read with real
    arguments."""
    tables = "".join(file.read_text(encoding="utf-8") for file in sorted(TABLES.glob("*.yaml")))
    named = {
        *re.findall(r"(?<![a-z_.])[a-z_]+(?:\.[a-z_]+)+(?![a-z_])", tables),
        *life.CODES,
        *ELSEWHERE,
    }
    for code in sorted(code for code, words in shipped().items() if takes(words)):
        assert code in named or code.split(".")[0] in ELSEWHERE, (
            f"nothing provokes `{code}`: give it a case in tests/tables, or a step in "
            f"tests/runtime/told/life.py"
        )
