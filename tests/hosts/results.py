"""What the suite has found of each adapter: written by `make test-adapters`, kept beside the
adapter's tests."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

ROOT: Final = Path(__file__).resolve().parents[2]
HERE: Final = Path("tests/hosts")
SOURCES: Final = Path("src/stanchion/hosts")
PACKAGE: Final = "stanchion.hosts."
CONTRACT: Final = "stanchion.hosts.contract"
NOT_HOSTS: Final = frozenset({"coding", "http", "mcp"})
"""Adapters with no agent in them to play a scene: they guard requests, the messages of a protocol,
and programs, which `make test-agents` runs."""


class Cell(msgspec.Struct, frozen=True, omit_defaults=True):
    """One behaviour of one adapter: the ways in which it was shown, or the probe that shows it is
    out of reach."""

    ways: tuple[str, ...] = ()
    probe: str = ""


class Result(msgspec.Struct, frozen=True):
    """What was found of one adapter, with what it was tested with, and for which source of it.
    `oldest` are the versions that its own tests have passed with as well."""

    adapter: str
    versions: dict[str, str]
    source: str
    pause: str
    stream: str
    cells: dict[str, Cell]
    oldest: dict[str, str] = {}


def adapters(root: Path = ROOT) -> list[str]:
    """The adapters that put an agent's host under a shield: the modules that make a `Host`."""
    found = {
        one.stem
        for one in (root / SOURCES).iterdir()
        if one.stem.isidentifier() and not one.stem.startswith("_")
    }
    return sorted(
        [name for name in found - NOT_HOSTS if any(map(_makes_a_host, files_of(name, root)))]
    )


@cache
def _makes_a_host(file: Path) -> bool:
    calls = [
        node
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    return any(isinstance(call.func, ast.Name) and call.func.id == "Host" for call in calls)


def files_of(adapter: str, root: Path = ROOT) -> list[Path]:
    """An adapter's own sources."""
    place = root / SOURCES / adapter
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def parts_of(adapter: str, root: Path = ROOT) -> list[Path]:
    """An adapter's own sources, and all sources of adapters that they import, and those in turn."""
    found, waiting = set[Path](), files_of(adapter, root)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += [one for module in _imported_by(file) for one in _modules(module, root)]
    return sorted(found)


def _imported_by(file: Path) -> Iterator[str]:
    """The modules of adapters that a file imports, wherever it does; a name that it imports may be
    a module as well."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from [one.name for one in names]
            case ast.ImportFrom(module=str(module), names=names):
                yield from [module, *[f"{module}.{one.name}" for one in names]]


def _modules(module: str, root: Path) -> list[Path]:
    """The files that Python runs for a module of the adapters: its own, and those of the packages
    that it is in."""
    if not module.startswith(PACKAGE) or module.startswith(CONTRACT):
        return []
    names = module.removeprefix(PACKAGE).split(".")
    places = [(root / SOURCES).joinpath(*names[: depth + 1]) for depth in range(len(names))]
    return [
        file
        for one in places
        for file in (one.with_suffix(".py"), one / "__init__.py")
        if file.is_file()
    ]


def pins(age: str = "newest", root: Path = ROOT) -> dict[str, list[str]]:
    """What each adapter is tested with, the newest or the oldest."""
    text = (root / HERE / "pins.toml").read_text(encoding="utf-8")
    return {name: section[age] for name, section in tomllib.loads(text).items() if age in section}


def source_of(adapter: str, root: Path = ROOT) -> str:
    """A digest of an adapter's source, with all of other adapters that it is made of: results hold
    for this alone."""
    digest = sha256()
    for file in parts_of(adapter, root):
        digest.update(
            file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0"
        )
    return digest.hexdigest()[:32]


def file_of(adapter: str, root: Path = ROOT) -> Path:
    """Where an adapter's results are kept."""
    return root / HERE / adapter / "results.json"


def kept(adapter: str, root: Path = ROOT) -> Result:
    """An adapter's results."""
    return msgspec.json.decode(file_of(adapter, root).read_bytes(), type=Result)


def keep(result: Result, root: Path = ROOT) -> None:
    """Write an adapter's results down."""
    text = msgspec.json.format(msgspec.json.encode(result, order="sorted"), indent=2)
    file_of(result.adapter, root).write_bytes(text + b"\n")
