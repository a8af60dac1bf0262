"""The how-to page of the kit is true: its tables hold, and it names everything that is public."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
import yaml

import stanchion.testing
from stanchion.testing import Case, Driver, Expect, RunSpec, Step, Table, run_table
from tests.docs.markdown import blocks

PAGE = (Path(__file__).resolve().parents[2] / "docs/how-to/test-your-policy.md").read_text(
    encoding="utf-8"
)
TABLES = [yaml.safe_load(block.text) for block in blocks(PAGE) if block.language == "yaml"]


@pytest.mark.parametrize("driver", ["sync", "async"])
def test_the_tables_on_the_page_hold(driver: Driver) -> None:
    assert [len(run_table(table, driver=driver)) for table in TABLES] == [4]


@pytest.mark.parametrize("name", stanchion.testing.__all__)
def test_every_public_name_is_on_the_page(name: str) -> None:
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", PAGE)


@pytest.mark.parametrize(
    "struct", [Table, Case, RunSpec, Step, Expect], ids=lambda struct: struct.__name__
)
def test_every_key_of_a_table_is_on_the_page(struct: type[msgspec.Struct]) -> None:
    for field in msgspec.structs.fields(struct):
        assert f"`{field.encode_name}`" in PAGE or (struct is Step and field.name == "fields"), (
            field.name
        )
