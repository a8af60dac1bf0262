"""Every key of a policy file has a meaning in words, and the pages of the guards have the same
words."""

import re
from pathlib import Path

import msgspec
import pytest

from stanchion.policy.json_schema import meanings, structs_in
from stanchion.policy.schema import ENTRIES, GUARDS, any_file

PAGES = Path(__file__).parents[2] / "docs" / "guards"
UNITS = {
    "_ms": "millisecond",
    "_s": "second",
    "_usd": "dollar",
    "_usd_per_mtok": "dollars per million",
    "_at": "percent",
}
FORMS = {
    "after",
    "refuse",
    "unless",
    "before",
    "need",
    "since",
    "count",
    "at_most",
    "distinct",
    "only",
    "argument",
    "seen_in",
}
"""Options of `sequence` that belong to one of its forms: the form is absent with them."""


def options() -> list[tuple[str, msgspec.structs.FieldInfo]]:
    """Every option of every guard."""
    return [
        (use, field) for use, guard in GUARDS.items() for field in msgspec.structs.fields(guard)
    ]


def said() -> dict[str, str]:
    """What every key of every struct of a policy file means."""
    return {
        f"{struct.__name__}.{key}": text
        for struct in structs_in(any_file())
        for key, text in meanings(struct).items()
    }


def test_every_key_has_a_meaning() -> None:
    _, definitions = msgspec.json.schema_components([any_file()])
    assert set(said()) == {
        f"{name}.{key}" for name, each in definitions.items() for key in each["properties"]
    }


def test_a_key_without_a_text_under_it_has_no_meaning() -> None:
    class Silent(msgspec.Struct):
        key: int = 0

    assert meanings(Silent) == {}
    assert "no_such_option" not in meanings(ENTRIES["budget"])


def test_a_meaning_is_a_sentence() -> None:
    for key, text in sorted(said().items()):
        assert re.fullmatch(r"[A-Z`].*\.", text), key
        assert "  " not in text, key
        assert text.count("`") % 2 == 0, key


def test_an_option_says_its_unit_and_what_it_means_to_leave_it_out() -> None:
    longest_first = sorted(UNITS.items(), key=lambda pair: -len(pair[0]))
    for use, field in options():
        key = f"{use}.{field.name}"
        units = [unit for end, unit in longest_first if field.name.endswith(end)]
        if units:
            assert units[0] in meanings(GUARDS[use])[field.name], key
        if field.default is None and field.name not in FORMS:
            assert "f absent" in meanings(GUARDS[use])[field.name], key


@pytest.mark.parametrize("use", GUARDS)
def test_the_page_of_a_guard_has_the_same_words(use: str) -> None:
    section = (
        (PAGES / f"{use}.md")
        .read_text(encoding="utf-8")
        .partition("\n## Options\n")[2]
        .partition("\n## ")[0]
    )
    told = {
        row[1]: row[2] for row in re.finditer(r"^\| `(\w+)` \|.*\| (.*) \|$", section, re.MULTILINE)
    }
    assert told == meanings(GUARDS[use])


@pytest.mark.parametrize("use", GUARDS)
def test_the_reference_of_policies_has_the_same_words(use: str) -> None:
    page = (PAGES.parent / "reference" / "policy.md").read_text(encoding="utf-8")
    section = page.partition(f"\n### `use: {use}`\n")[2].partition("\n### ")[0]
    told = {
        row[1]: row[2] for row in re.finditer(r"^\| `(\w+)` \|.*\| (.*) \|$", section, re.MULTILINE)
    }
    assert told == meanings(GUARDS[use])
    assert all(told.values())
