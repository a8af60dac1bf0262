"""The picture of the rooms: who imports whom, drawn from the sources."""

from tools.drawings.house import SOURCES, Room, rooms, rows, steps
from tools.drawings.svg import INK, SOFT, Box, arrow, boxed, height_of, picture, text

PATH = "docs/assets/rooms.svg"

WIDTH, SIDE, GAP, RISE = 1080.0, 20.0, 14.0, 34.0
LEFT_OUT = frozenset({"folders", "locks", "testing"})
"""Rooms that say nothing about how a decision is made: small tools of the house, and of its users'
tests."""
LEGEND = (
    "An arrow leads from a room to one it imports; what follows from two arrows is left out. "
    "Dashed, it passes behind others. Green is pure: no I/O, no clock. Orange is the world's side."
)
WIDE = frozenset({"runtime", "kernel"})
COLOURS = {
    "kernel": "#d9f2e3",
    "readings": "#d9f2e3",
    "guards": "#d9f2e3",
    "tutor": "#d9f2e3",
    "experience": "#d9f2e3",
    "policy": "#e3ecfa",
}
WORLD = {"stores": "#fdebd2", "audit": "#fdebd2", "approvals": "#fdebd2", "telemetry": "#fdebd2"}


def render() -> str:
    """The picture as SVG: kernel at the bottom, commands at the top, an arrow from who imports to
    what is imported."""
    found = {room.name: without(room) for room in rooms().values() if room.name not in LEFT_OUT}
    below = steps(found)
    drawn: list[str] = []
    places: dict[str, Box] = {}
    top = 58.0
    for row in [[found[name] for name in _world_outside(names)] for names in rows(found)]:
        width = min(360.0, (WIDTH - 2 * SIDE - GAP * (len(row) - 1)) / len(row))
        if row[0].name in WIDE:
            width = WIDTH - 2 * SIDE
        left = (WIDTH - width * len(row) - GAP * (len(row) - 1)) / 2
        height = max(height_of(room.holds, width) for room in row)
        inner = _outermost_first() if row[0].name == "runtime" else []
        inside = _inner(inner, left, top + height, width) if inner else ([], 0.0)
        for place, room in enumerate(row):
            box = Box(
                left + place * (width + GAP), top, width, height + inside[1], _colour(room.name)
            )
            places[room.name] = box
            drawn += boxed(box, room.name, room.holds)
        drawn += inside[0]
        top += height + inside[1] + RISE
    lines = []
    for name, targets in sorted(below.items()):
        for target in sorted(targets):
            lines.append(_line(places[name], places[target], list(places.values())))
    legend = [
        text(SIDE, 26, "The rooms of Stanchion", 16, INK, bold=True),
        text(SIDE, 44, LEGEND, 11, SOFT),
    ]
    return picture(
        WIDTH,
        top - RISE + SIDE,
        "The rooms of Stanchion, and which imports which",
        legend + lines + drawn,
    )


def without(room: Room) -> Room:
    """A room as it is drawn: without those that are left out."""
    return room._replace(imports=room.imports - LEFT_OUT)


def _world_outside(names: list[str]) -> list[str]:
    """The rooms of a row, those of the world's side left and right of the others."""
    world = [name for name in names if name in WORLD]
    return world[::2] + [name for name in names if name not in WORLD] + world[1::2]


def _outermost_first() -> list[Room]:
    """The rooms of the runtime, importers before what they import."""
    found = rooms(SOURCES / "runtime", "stanchion.runtime")
    return [found[name] for row in rows(found) for name in row]


def _inner(inner: list[Room], left: float, top: float, width: float) -> tuple[list[str], float]:
    """The rooms of the runtime inside it, five a row, and how much height they take."""
    each = (width - 6 * 10) / 5
    drawn: list[str] = []
    y = top
    for start in range(0, len(inner), 5):
        row = inner[start : start + 5]
        height = max(height_of(room.holds, each) for room in row)
        for place, room in enumerate(row):
            box = Box(left + 10 + place * (each + 10), y, each, height, "#ffffff")
            drawn += boxed(box, room.name, room.holds)
        y += height + 10
    return drawn, y - top


def _line(high: Box, low: Box, boxes: list[Box]) -> str:
    """From one box down to another: straight down where one of them reaches over the other, dashed
    where it passes behind a third."""
    inside = low.x <= high.middle <= low.x + low.width
    over = high.x <= low.middle <= high.x + high.width
    from_x = low.middle if over and high.width > low.width else high.middle
    to_x = high.middle if inside and low.width > high.width else low.middle
    between = [box for box in boxes if high.y < box.y < low.y]
    behind = any(box.x <= x <= box.x + box.width for box in between for x in (from_x, to_x))
    return arrow(from_x, high.y + high.height, to_x, low.y, dashed=behind)


def _colour(name: str) -> str:
    return COLOURS.get(name, WORLD.get(name, "#f0f4f8"))
