"""Every block of the five documents is there as it was written, has a class, and a test that plays
it."""

import hashlib
from pathlib import Path

import pytest

from tests.dialects.listed import DOCUMENTS, FOLDER, Block, blocks, text
from tests.docs.test_features import names_in

ROOT = Path(__file__).resolve().parents[2]
COUNTS = {"veronica": 4, "agent33": 32, "ragix": 7, "penguiflow": 2, "guardian": 21 - 2}
"""How many blocks each document has; the two tables of GuardianLayer are rows of the feature
table."""
ALL = [(name, block) for name in DOCUMENTS for block in blocks(name)]


def test_there_are_sixty_four() -> None:
    assert {name: len(blocks(name)) for name in DOCUMENTS} == COUNTS
    assert sum(COUNTS.values()) == 64


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_file_is_listed(name: str) -> None:
    assert sorted(file.stem for file in (FOLDER / name).iterdir()) == [
        f"{each.line:03d}" for each in blocks(name)
    ]


@pytest.mark.parametrize(
    ("name", "block"), ALL, ids=lambda value: value if isinstance(value, str) else str(value.line)
)
def test_a_block_stands_as_it_was_written_and_has_its_test(name: str, block: Block) -> None:
    assert hashlib.sha256(text(name, block.line).encode()).hexdigest() == block.sha256
    if block.test is None:
        assert block.kind == "illustration"
        assert block.reason, "a block that no test plays says why"
        return
    path, *names = block.test.split("::")
    assert names, f"write `path::name`, not `{block.test}`"
    assert not set(names) - names_in(ROOT / path), f"`{block.test}` is not there"
