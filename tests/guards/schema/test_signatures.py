"""Signatures as schemas: what a hint is certain about is held to, and nothing else."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypedDict

import pytest

from stanchion.guards._jsonschema.checker import SchemaChecker
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.calling.tool_formats import defined, schema_of


class Colour(enum.Enum):
    """Words."""

    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    """Numbers."""

    x: int
    y: float = 0.0


class Options(TypedDict, total=False):
    """A dictionary of known keys."""

    deep: bool


class Model:
    """What pydantic models offer."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Its schema."""
        return {"type": "object", "required": ["id"]}


def plain(a: int, b: str = "x", *, c: float | None = None, d: bool = False) -> None: ...
def typed(
    a: list[int], b: dict[str, int], c: tuple[int, str], d: Sequence[str], e: Mapping[str, bool]
) -> None: ...
def chosen(a: Literal["x", 1], b: Colour, c: Optional[int], d: Annotated[int, "doc"]) -> None: ...  # noqa: UP045
def shaped(a: Point, b: Options, c: Model) -> None: ...
def open_(a: Any, b: Path, c: date, d: Callable[[], int], e, *args: int, **more: int) -> None: ...  # type: ignore[no-untyped-def]
def wrong(a: int = None, b: str = 5, c: Nowhere = 1) -> None: ...  # type: ignore[assignment,name-defined]  # noqa: F821, RUF013


@pytest.mark.parametrize(
    ("fn", "args", "fits"),
    [
        (plain, {"a": 1}, True),
        (plain, {"a": 1, "b": "x", "c": None, "d": True}, True),
        (plain, {"a": 1, "c": 2}, True),
        (plain, {}, False),
        (plain, {"a": "1"}, False),
        (plain, {"a": 1, "z": 1}, False),
        (plain, {"a": 1, "d": 1}, False),
        (typed, {"a": [1], "b": {"x": 1}, "c": [1, "x"], "d": ["x"], "e": {}}, True),
        (typed, {"a": ["1"], "b": {}, "c": [1, "x"], "d": [], "e": {}}, False),
        (typed, {"a": [], "b": {"x": "y"}, "c": [1, "x"], "d": [], "e": {}}, False),
        (typed, {"a": [], "b": {}, "c": [1], "d": [], "e": {}}, False),
        (chosen, {"a": "x", "b": "red", "c": None, "d": 1}, True),
        (chosen, {"a": "y", "b": "red", "c": None, "d": 1}, False),
        (chosen, {"a": 1, "b": "green", "c": 1, "d": 1}, False),
        (shaped, {"a": {"x": 1}, "b": {}, "c": {"id": 1}}, True),
        (shaped, {"a": {"x": "1"}, "b": {}, "c": {"id": 1}}, False),
        (shaped, {"a": {}, "b": {"deep": 1}, "c": {"id": 1}}, False),
        (shaped, {"a": {}, "b": {}, "c": {}}, False),
        (
            open_,
            {"a": None, "b": "x", "c": "2024-01-01", "d": {}, "e": 5, "args": [1], "z": 1},
            True,
        ),
        (open_, {"a": None}, False),
        (wrong, {"a": None, "b": 5, "c": 1}, True),
    ],
)
def test_hints_are_held_to_where_they_are_certain(
    fn: Callable[..., Any], args: dict[str, Any], fits: bool
) -> None:
    assert SchemaChecker(schema_of(Tool(fn))).fits(args) is fits


def test_calls_as_they_are_seen_fit_the_signature_they_are_made_by() -> None:
    class Shop:
        def buy(self, what: str, *, price: Point | None = None) -> None: ...

    for fn, given, named in (
        (plain, (1, "x"), {}),
        (Shop.buy, (Shop(), "tea"), {"price": None}),
        (Shop().buy, ("tea",), {}),
        (open_, (1, Path("x"), date(2024, 1, 1), print, 2, 3, 4), {"z": 1}),
    ):
        from stanchion.runtime.values import project

        tool = Tool(fn)
        assert SchemaChecker(schema_of(tool)).fits(project(tool.values(given, named)))


def test_what_has_no_signature_has_no_schema() -> None:
    assert defined(Tool(dict)).schema is None
    assert defined(Tool(plain)).source == "python"
