"""Stacks: whose code is about to do something. Stanchion's own work and what it calls is told from
what the program does by itself, and the place in the program is named."""

from __future__ import annotations

import os
from types import FrameType
from typing import Any, Final

from stanchion.kernel.tuples import NamedTuple

MOST_FRAMES: Final = 500
MOST_NAMES: Final = 4
MOST_FILES: Final = 20_000

PROGRAM, STANDARD, IMPORTING, OURS, DRIVING, THROUGH = "", ".", "import", "=", "driving", "~"
"""What a file is: the program's, Python's, the import system, Stanchion's own work, its drivers, or
what of Stanchion only passes calls on. Any other text is the name of an installed package."""

_ROOT: Final = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), ""
)
_PYTHON: Final = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")
_INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_PASSES_ON: Final = (
    "runtime/calling/bound.py",
    "runtime/calling/thread_pool.py",
    "runtime/coverage/",
    "telemetry/otel/",
    "hosts/",
    "testing/",
    "ops/demo/",
    "cli/",
)
"""Where Stanchion calls code that nobody has judged."""
_SENDS: Final = ("hosts/http/", "hosts/clients/", "hosts/mcp/")
"""Hosts that send by themselves what was judged."""

_files: dict[str, str] = {}


class Seen(NamedTuple):
    """What a stack tells. `covered`: it is Stanchion's `own` work, or what Stanchion has called for
    this run. `alone`: no frame of Stanchion is on it, so this thread holds none of its locks.
    `place` and `within` are where in the program it is, `through` the package that the program
    called, `packages` all that are at work, the innermost first.
    """

    covered: bool
    alone: bool
    place: str = ""
    within: tuple[str, ...] = ()
    through: str = ""
    packages: tuple[str, ...] = ()
    own: bool = False


def look(frame: FrameType | None, desk: Any) -> Seen:
    """Walk a stack from the inside out. What a driver calls for `desk` is covered; for another
    run's desk it is not, because the run has begun inside of that. Without a desk every driver
    covers."""
    if frame is not None and kind_of(frame.f_code.co_filename) == IMPORTING:
        return Seen(True, False)
    packages: list[str] = []
    within: list[str] = []
    place, outside, alone, elsewhere = "", "", True, False
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        kind = kind_of(frame.f_code.co_filename)
        if kind == PROGRAM:
            place = place if place else _place(frame)
            if len(within) < MOST_NAMES:
                within.append(frame.f_code.co_name)
        elif kind == OURS and not elsewhere:
            where = (place if place else outside, tuple(within), "", tuple(packages))
            return Seen(True, False, *where, own=not within)
        elif kind == DRIVING:
            alone = False
            world = frame.f_locals.get("world")
            if world is not None:
                if desk is None or world is desk:
                    return Seen(
                        True,
                        False,
                        place if place else outside,
                        tuple(within),
                        packages=tuple(packages),
                    )
                elsewhere = True
        elif kind not in (STANDARD, IMPORTING, THROUGH, OURS):
            outside = outside if outside else _place(frame)
            if not place and kind not in packages:
                packages.append(kind)
        frame = frame.f_back
    through = packages[-1 if place else 0] if packages else ""
    return Seen(False, alone, place if place else outside, tuple(within), through, tuple(packages))


def kind_of(file: str) -> str:
    """Whose file it is."""
    known = _files.get(file)
    if known is None:
        known = _kind(file)
        if len(_files) < MOST_FILES:
            _files[file] = known
    return known


def _kind(file: str) -> str:
    if file.startswith("<"):
        if file.startswith("<frozen importlib"):
            return IMPORTING
        return PROGRAM if file in ("<string>", "<stdin>") else STANDARD
    if file.startswith(_ROOT):
        return _ours(file[len(_ROOT) :].replace(os.sep, "/"))
    for mark in _INSTALLED:
        if mark in file:
            return _package(file.rpartition(mark)[2].split(os.sep))
    return STANDARD if file.startswith(_PYTHON) else PROGRAM


def _package(parts: list[str]) -> str:
    """The package that an installed file belongs to; of those that many share, the part of it."""
    shared = parts[0] == "google" and len(parts) > 1
    return ".".join(parts[:2] if shared else parts[:1]).removesuffix(".py")


def _ours(file: str) -> str:
    if file.startswith("runtime/driving/"):
        return DRIVING
    return THROUGH if file.startswith(_PASSES_ON) and not file.startswith(_SENDS) else OURS


def _place(frame: FrameType) -> str:
    file = frame.f_code.co_filename
    here = os.path.join(os.getcwd(), "")
    return f"{file.removeprefix(here)}:{frame.f_lineno}"
