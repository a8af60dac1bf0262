"""Entities: each finds what it says it finds, leaves its near misses alone, and is written as the finder needs it."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from stanchion.guards.pii import Pii
from stanchion.guards.pii.entities import ENTITIES, FAMILIES
from stanchion.guards.pii.entity import Entity
from tests.guards.pii.reading import kinds, redacted

ALL = Pii(entities=("*",))
PAGE = Path(__file__).resolve().parents[3] / "docs/guards/pii.md"
HITS = [pytest.param(text, kind, id=f"{kind}: {text}") for family in FAMILIES for text, kind in family.HITS]
MISSES = [pytest.param(family, text, id=text) for family in FAMILIES for text in family.MISSES]


@pytest.mark.parametrize(("text", "kind"), HITS)
def test_a_hit_is_found(text: str, kind: str) -> None:
    assert kind in kinds(Pii(entities=(kind,)), text)
    assert redacted(ALL, text) != text


@pytest.mark.parametrize(("family", "text"), MISSES)
def test_a_near_miss_of_a_family_is_left_alone(family: ModuleType, text: str) -> None:
    guard = Pii(entities=tuple(entity.kind for entity in family.ENTITIES))
    assert kinds(guard, text) == []


@pytest.mark.parametrize(("text", "kind"), HITS)
def test_what_was_hidden_is_not_found_again(text: str, kind: str) -> None:
    for guard in (ALL, Pii(entities=("*",), pseudonyms=True), Pii(entities=(kind,), pseudonyms=True)):
        once = redacted(guard, text)
        assert redacted(guard, once) == once


@pytest.mark.parametrize("kind", ENTITIES)
def test_every_kind_has_a_hit(kind: str) -> None:
    assert kind in [named for family in FAMILIES for _, named in family.HITS]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind)


@pytest.mark.parametrize("entity", ENTITIES.values(), ids=list(ENTITIES))
def test_an_entity_is_written_as_the_finder_needs_it(entity: Entity) -> None:
    shapes = entity.shapes + entity.told
    assert bool(shapes) != bool(entity.sieve)
    assert bool(entity.words) or not entity.told
    assert all(shape[0] in "9A*" and shape[-1] in "9A*" and len(shape) <= entity.longest for shape in shapes)
    assert not entity.sieve or (entity.pattern and entity.reads is not None)
    assert entity.words == entity.words.lower()


@pytest.mark.parametrize("entity", ENTITIES.values(), ids=list(ENTITIES))
def test_every_entity_is_on_the_page(entity: Entity) -> None:
    alone = "yes" if entity.shapes or entity.sieve else "with a word"
    line = f"| `{entity.kind}` | {entity.title} | {alone} | {'yes' if entity.usual else 'no'} |"
    assert line in PAGE.read_text(encoding="utf-8")


def test_no_family_is_without_near_misses() -> None:
    assert all(len(family.MISSES) >= 3 for family in FAMILIES)
