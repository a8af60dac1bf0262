"""Where an agent speaks for itself, and where it shows what something else says."""

from __future__ import annotations

import pytest

from stanchion.guards.evidence.claims import claims
from stanchion.readings.claims.clauses import own_words

SPOKEN = [
    "{}",
    "Done:\n- {}",
    "- Done:\n    - {}",
    "1. I looked.\n\n   {}",
    "Done.\n    {}",
    "```\nx\n```\n{}",
    "> Is it done?\n{}",
    "    $ make\n\n{}",
    "I ran ```make``` first.\n{}",
    "```make``` went first.\n{}",
]
SHOWN = [
    "```\n{}\n```",
    "```text\n{}",
    "````\n```\n{}\n```\n````",
    "~~~\n{}\n~~~",
    "- It printed:\n  ```\n  {}\n  ```",
    "- ```\n  {}\n  ```",
    "> {}",
    "  > {}",
    "- > {}",
    "    {}",
    "\t{}",
    "It printed:\n\n    $ make\n\n    {}",
    "- It printed:\n\n      {}",
]
SAYS = ["All tests pass.", "ruff is clean."]


def says(text: str) -> bool:
    return bool(claims(text))


@pytest.mark.parametrize("said", SAYS)
@pytest.mark.parametrize("around", SPOKEN)
def test_an_agent_speaks(around: str, said: str) -> None:
    assert says(around.format(said))


@pytest.mark.parametrize("said", SAYS)
@pytest.mark.parametrize(
    "around", [*SHOWN, '"{}" is what the ticket says.', "\u201c{}\u201d is what you wrote."]
)
def test_an_agent_shows(around: str, said: str) -> None:
    assert not says(around.format(said))


def test_lines_stay_where_they_are() -> None:
    assert own_words("a\n```\nb\n```\nc\n> d") == "a\n\n\n\nc\n"
