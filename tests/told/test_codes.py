"""Every code that is declared says to the agent nothing that it may not read, and every one of them is provoked."""

import re
from pathlib import Path
from typing import Final

import pytest

from stanchion.kernel.words import PLACE, Words, advice_of, declared, detail_of, message_of
from stanchion.policy import rules
from stanchion.policy.sequences import guard as sequences
from tests.told import life
from tests.told.shapes import shapes_in
from tools.pages import codes as page

TABLES: Final = Path(__file__).parents[1] / "tables"
ELSEWHERE: Final = {
    "approval.edited": "tests/approvals/test_edits.py",
    "client": "tests/adapters/openai",
    "http": "tests/adapters/http",
    "kernel.bad_event": "tests/runtime/values",
    "kernel.broker_lost": "tests/service",
    "kernel.contention": "tests/kernel",
    "kernel.crowded": "tests/stores",
    "kernel.late_answer": "tests/runtime",
    "kernel.lookup_expired": "tests/runtime",
    "kernel.lookup_late": "tests/runtime",
    "kernel.patch_failed": "tests/kernel",
    "kernel.no_form": "tests/runtime/values",
    "strikes.reached": "tests/runtime/test_strikes.py",
}
"""Codes with arguments, or whole areas of them, that neither a table nor the agent's life provokes, and where they are
tested: their arguments are what the agent has sent, counts, and the ids of guards."""


def takes(words: Words) -> bool:
    """Whether the agent reads any argument of a code."""
    return PLACE.search(words.message + words.advice) is not None


def shipped() -> dict[str, Words]:
    assert rules.CODES
    assert sequences.CODES
    areas = page._areas()
    return {code: words for code, words in declared().items() if code.split(".")[0] in areas}


@pytest.mark.parametrize("code", sorted(shipped()))
def test_what_a_code_says_to_the_agent_has_none_of_it(code: str) -> None:
    args = tuple(f"arg{at}" for at in range(10))
    said = (message_of(code, args), advice_of(code, args), message_of(code, ()), advice_of(code, ()))
    for text in (*said, advice_of(code, args, asked=True)):
        assert shapes_in(text) == []


@pytest.mark.parametrize("code", sorted(code for code, words in shipped().items() if words.detail))
def test_what_is_for_people_alone_is_not_said_to_the_agent(code: str) -> None:
    """What stands in the detail and not in the message is kept from the agent whatever it is; and it is told."""
    words = shipped()[code]
    args = tuple(f"kept-{at}-kept" for at in range(10))
    for_people, for_agents = detail_of(code, args), f"{message_of(code, args)} {advice_of(code, args)}"
    hidden = [arg for arg in args if arg in for_people and arg not in for_agents]
    assert hidden or not PLACE.search(words.detail), "a detail that only repeats the message is none"


@pytest.mark.parametrize("code", sorted(code for code, words in shipped().items() if takes(words)))
def test_every_code_with_arguments_is_provoked_where_what_it_says_is_read(code: str) -> None:
    """A new code stands in a table or in the agent's life: there its words are read with real arguments."""
    tables = "".join(file.read_text(encoding="utf-8") for file in sorted(TABLES.glob("*.yaml")))
    area = code.split(".")[0]
    named = re.search(rf"(?<![a-z_.]){re.escape(code)}(?![a-z_])", tables)
    assert named or code in life.CODES or code in ELSEWHERE or area in ELSEWHERE, (
        f"nothing provokes `{code}`: give it a case in tests/tables, or a step in tests/told/life.py"
    )
