"""Entities: each finds what it says it finds, leaves its near misses alone, and is written as the
finder needs it."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from stanchion.guards.pii import Pii
from stanchion.guards.pii.entities import ENTITIES, FAMILIES
from stanchion.guards.pii.entity import PersonalEntity
from tests.guards.pii.reading import kinds, redacted

ALL = Pii(entities=("*",))
PAGE = Path(__file__).resolve().parents[3] / "docs/guards/pii.md"
HITS = [(text, kind) for family in FAMILIES for text, kind in family.HITS]


def test_a_hit_is_found() -> None:
    for text, kind in HITS:
        assert kind in kinds(Pii(entities=(kind,)), text), text
        assert redacted(ALL, text) != text


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_a_near_miss_of_a_family_is_left_alone(family: ModuleType) -> None:
    guard = Pii(entities=tuple(entity.kind for entity in family.ENTITIES))
    assert [text for text in family.MISSES if kinds(guard, text)] == []


def test_what_was_hidden_is_not_found_again() -> None:
    named = Pii(entities=("*",), pseudonyms=True)
    for text, kind in HITS:
        for guard in (ALL, named, Pii(entities=(kind,), pseudonyms=True)):
            once = redacted(guard, text)
            assert redacted(guard, once) == once, text


def test_every_kind_has_a_hit() -> None:
    assert set(ENTITIES) == {kind for _, kind in HITS}
    assert [kind for kind in ENTITIES if not re.fullmatch(r"[a-z]+(-[a-z]+)*", kind)] == []


@pytest.mark.parametrize("entity", ENTITIES.values(), ids=list(ENTITIES))
def test_an_entity_is_written_as_the_finder_needs_it(entity: PersonalEntity) -> None:
    shapes = entity.shapes + entity.told
    assert bool(shapes) != bool(entity.sieve)
    assert bool(entity.words) or not entity.told
    assert all(
        shape[0] in "9A*" and shape[-1] in "9A*" and len(shape) <= entity.longest
        for shape in shapes
    )
    assert not entity.sieve or (entity.pattern and entity.reads is not None)
    assert entity.words == entity.words.lower()


def test_every_entity_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8").splitlines()
    for entity in ENTITIES.values():
        alone = "yes" if entity.shapes or entity.sieve else "with a word"
        line = f"| `{entity.kind}` | {entity.title} | {alone} | {'yes' if entity.usual else 'no'} |"
        assert line in page, entity.kind


def test_no_family_is_without_near_misses() -> None:
    assert all(len(family.MISSES) >= 3 for family in FAMILIES)
