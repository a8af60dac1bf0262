"""No file imports another that imports it, and the rooms of the runtime stand in an order."""

from pathlib import Path

import pytest

from tests.architecture.circles import (
    ABOVE,
    BELOW,
    BESIDE,
    ORDER,
    RUNTIME,
    against_the_order,
    circles,
    graph_of,
)

SRC = Path(__file__).resolve().parents[2] / "src"


def test_no_files_import_each_other() -> None:
    found = circles(graph_of(SRC))
    assert not found, "\n" + "\n".join(" <-> ".join(circle) for circle in found)


def test_the_rooms_of_the_runtime_stand_in_an_order() -> None:
    found = list(against_the_order(graph_of(SRC)))
    assert not found, "\n" + "\n".join(found)


def test_every_room_of_the_runtime_is_in_the_order() -> None:
    inside = SRC.joinpath(*RUNTIME.split("."))
    rooms = {path.name for path in inside.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert rooms == set(ORDER)
    assert {path.stem for path in inside.glob("*.py")} == {"__init__", *BELOW, *BESIDE, *ABOVE}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A package in which nothing is wrong."""
    for path, source in {
        "stanchion/kernel/a.py": "from stanchion.kernel.b import one",
        "stanchion/kernel/b.py": "",
        "stanchion/runtime/values/a.py": "from stanchion.runtime.errors import Refused",
        "stanchion/runtime/driving/a.py": "from stanchion.runtime.values import a",
        "stanchion/runtime/errors.py": "",
        "stanchion/runtime/shield.py": (
            "from stanchion.runtime.driving.a import drive\nfrom stanchion.kernel import a"
        ),
    }.items():
        _write(tmp_path / path, source)
    return tmp_path


def test_a_house_in_order_has_no_circle(house: Path) -> None:
    graph = graph_of(house)
    assert graph["stanchion.runtime.driving.a"] == {"stanchion.runtime.values.a"}
    assert circles(graph) == []
    assert list(against_the_order(graph)) == []


@pytest.mark.parametrize(
    "source",
    [
        "from stanchion.kernel.a import two",
        "from stanchion.kernel import a",
        "import stanchion.kernel.a",
        "def f():\n    from stanchion.kernel.a import two",
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from stanchion.kernel.a "
            "import two"
        ),
        "from stanchion.kernel.c import three",
    ],
)
def test_a_circle_is_found(source: str, house: Path) -> None:
    _write(house / "stanchion/kernel/b.py", source)
    _write(house / "stanchion/kernel/c.py", "def f():\n    from .a import two")
    (found,) = circles(graph_of(house))
    assert {"stanchion.kernel.a", "stanchion.kernel.b"} <= set(found)
    assert ("stanchion.kernel.c" in found) == ("kernel.c" in source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("values/b.py", "from stanchion.runtime.driving.a import drive"),
        ("values/b.py", "def f():\n    import stanchion.runtime.driving.a"),
        ("values/b.py", "from stanchion.runtime.shield import Shield"),
        ("values/b.py", "if TYPE_CHECKING:\n    from stanchion.runtime.driving.a import drive"),
        ("errors.py", "from stanchion.runtime.values.a import one"),
    ],
)
def test_an_import_against_the_order_is_found(path: str, source: str, house: Path) -> None:
    _write(house / "stanchion/runtime" / path, source)
    (found,) = against_the_order(graph_of(house))
    assert "which stands above it" in found


def test_whoever_is_handed_the_shield_may_name_its_class(house: Path) -> None:
    source = "if TYPE_CHECKING:\n    from stanchion.runtime.shield import Shield"
    _write(house / "stanchion/runtime/driving/a.py", source)
    graph = graph_of(house)
    assert circles(graph) == []
    assert list(against_the_order(graph)) == []


def _write(file: Path, source: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source + "\n", encoding="utf-8")
