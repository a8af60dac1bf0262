"""Every option and every code of a shipped guard is on its page, as the code has them, and nothing
else is."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion.guards import SHIPPED
from stanchion.kernel.words import Words
from stanchion.policy.sequences import Sequence
from stanchion.testing import read_table

ROOT = Path(__file__).resolve().parents[2]
MADE: dict[str, type[Any]] = {**SHIPPED, Sequence.name: Sequence}
GUARDS = sorted(MADE)


def section(name: str, heading: str) -> str:
    """The text under one heading of a guard's page."""
    text = (ROOT / f"docs/guards/{name}.md").read_text(encoding="utf-8")
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(name: str, heading: str) -> dict[str, list[str]]:
    """The rows of the table under a heading, by what stands in backticks in the first cell."""
    found = re.findall(r"^\| `([^`]+)` \| (.+) \|$", section(name, heading), re.MULTILINE)
    return {first: [cell.strip() for cell in rest.split(" | ")] for first, rest in found}


def codes(name: str) -> dict[str, Words]:
    """The codes a guard declares."""
    module = (
        "stanchion.policy.sequences.guard" if name == Sequence.name else f"stanchion.guards.{name}"
    )
    declared: dict[str, Words] = import_module(module).CODES
    return dict(declared)


def written(field: Any) -> str:
    """A field's default as a policy file writes it."""
    if field.required:
        return "required"
    return "absent" if field.default is None else f"`{json.dumps(field.default).strip(chr(34))}`"


@pytest.mark.parametrize("name", GUARDS)
def test_every_option_is_on_the_page_with_its_default(name: str) -> None:
    fields = {field.name: field for field in msgspec.structs.fields(MADE[name])}
    listed = rows(name, "Options")
    assert list(listed) == list(fields)
    for option, (kind, default, meaning) in listed.items():
        assert default == written(fields[option]), (
            f"the default of `{option}` is {written(fields[option])}"
        )
        assert kind
        assert meaning


@pytest.mark.parametrize("name", GUARDS)
def test_every_code_is_on_the_page_with_what_the_agent_reads(name: str) -> None:
    listed = rows(name, "Codes")
    assert list(listed) == list(codes(name))
    for code, words in codes(name).items():
        message, advice = (text.replace("{}", "…") for text in (words.message, words.advice))
        assert listed[code] == [message, advice if advice else "–"]


@pytest.mark.parametrize("name", GUARDS)
def test_every_code_is_expected_by_a_case_of_the_table(name: str) -> None:
    expected: set[str | None] = set()
    for case in read_table(ROOT / f"tests/tables/{name}.yaml").cases:
        for step in case.steps():
            if step.expect.action not in (None, "allow") or step.expect.code:
                expected.add(step.expect.code)
    assert set(codes(name)) <= expected


@pytest.mark.parametrize("name", GUARDS)
def test_the_index_leads_to_the_page(name: str) -> None:
    assert f"({name}.md)" in (ROOT / "docs/guards/index.md").read_text(encoding="utf-8")
