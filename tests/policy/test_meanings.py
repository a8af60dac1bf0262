"""Every key of a policy file has a meaning in words, and the pages of the guards have the same
words."""

import re
from pathlib import Path

import msgspec
import pytest

from stanchion.policy.meanings import FIELDS, meaning_of
from stanchion.policy.schema import ENTRIES, GUARDS, Placement, any_file, options_of

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


def keys() -> set[str]:
    """Every key of every struct that is part of a policy file and no entry of a guard."""
    _, definitions = msgspec.json.schema_components([any_file()])
    entries = {entry.__name__ for entry in ENTRIES.values()}
    return {
        f"{name}.{key}"
        for name, each in definitions.items()
        if name not in entries
        for key in each["properties"]
    }


def test_there_is_a_meaning_for_every_key_and_for_nothing_else() -> None:
    shared = {"*.use", *(f"*.{name}" for name in Placement.__struct_fields__)}
    assert set(FIELDS) == shared | keys()


@pytest.mark.parametrize("use", GUARDS)
def test_every_guard_declares_a_meaning_for_each_of_its_options(use: str) -> None:
    told = [f"{use}.{name}" for name in options_of(use)]
    assert told == [f"{use}.{name}" for name in GUARDS[use].__struct_fields__]


def test_a_key_without_a_meaning_is_an_error() -> None:
    with pytest.raises(KeyError):
        meaning_of("budget", "no_such_option")


def test_a_meaning_is_a_sentence() -> None:
    declared = {f"{use}.{field.name}": meaning_of(use, field.name) for use, field in options()}
    for key, said in sorted({**FIELDS, **declared}.items()):
        assert re.fullmatch(r"[A-Z`].*\.", said), key
        assert "  " not in said, key
        assert said.count("`") % 2 == 0, key


def test_an_option_says_its_unit_and_what_it_means_to_leave_it_out() -> None:
    longest_first = sorted(UNITS.items(), key=lambda pair: -len(pair[0]))
    for use, field in options():
        key = f"{use}.{field.name}"
        units = [unit for end, unit in longest_first if field.name.endswith(end)]
        if units:
            assert units[0] in options_of(use)[field.name].meaning, key
        if field.default is None and field.name not in FORMS:
            assert "f absent" in options_of(use)[field.name].meaning, key


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
    assert told == {name: meaning_of(use, name) for name in GUARDS[use].__struct_fields__}


@pytest.mark.parametrize("use", GUARDS)
def test_the_reference_of_policies_has_the_same_words(use: str) -> None:
    page = (PAGES.parent / "reference" / "policy.md").read_text(encoding="utf-8")
    section = page.partition(f"\n### `use: {use}`\n")[2].partition("\n### ")[0]
    told = {
        row[1]: row[2] for row in re.finditer(r"^\| `(\w+)` \|.*\| (.*) \|$", section, re.MULTILINE)
    }
    assert told == {name: meaning_of(use, name) for name in GUARDS[use].__struct_fields__}
    assert all(told.values())
