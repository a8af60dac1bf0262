"""The picture of where values come from: three calls that the flow guard stops, and three that it
lets through."""

from typing import NamedTuple

from tools.drawings.flow_cases import PASSES, STOPS, USER, Case, Origin, Played, played, written
from tools.drawings.svg import EDGE, INK, SOFT, Box, boxed, height_of, picture, text, wrapped

PATH = "docs/assets/flow.svg"

WIDTH, SIDE, GAP, PANEL = 1080.0, 20.0, 12.0, 510.0
TEXTS, CALL = 285.0, 180.0
TOP, ROW = 92.0, 24.0
SAID, READ, CALLED = "#e3ecfa", "#f0f4f8", "#fdf6e3"
ASKED, GIVEN = "#c0392b", "#1e8449"


class Drawn(NamedTuple):
    """A drawn panel and how high it is."""

    pieces: list[str]
    height: float


def render() -> str:
    """The picture as SVG: stops on the left, passes on the right, in the order of the page."""
    pieces = _heads()
    y = TOP
    for row, (stop, passed) in enumerate(zip(STOPS, PASSES, strict=True), 1):
        panels = [
            _panel(f"Stop {row}", stop, SIDE, y),
            _panel(f"Pass {row}", passed, WIDTH - SIDE - PANEL, y),
        ]
        pieces += [piece for panel in panels for piece in panel.pieces]
        y += max(panel.height for panel in panels) + 2 * GAP
    return picture(
        WIDTH,
        y,
        "Where the values of six calls come from, and which of the calls are stopped",
        pieces,
    )


def _heads() -> list[str]:
    return [
        text(SIDE, 26, "Where values come from", 16, INK, bold=True),
        text(
            SIDE,
            44,
            "Six calls as the guard's own rules judge them, in the setting firm.",
            11,
            SOFT,
        ),
        _line((SIDE, 62), (SIDE + 40, 62), True),
        text(
            SIDE + 48,
            66,
            "a text that somebody else wrote asks for it (the text in red)",
            11,
            ASKED,
        ),
        _line((WIDTH / 2, 62), (WIDTH / 2 + 40, 62), False),
        text(
            WIDTH / 2 + 48, 66, "from the user, or read where nothing speaks against it", 11, GIVEN
        ),
    ]


def _panel(name: str, case: Case, x: float, y: float) -> Drawn:
    """One case: what the user says and what is read, one below the other, and beside them the
    call."""
    found = played(case)
    end = f"stopped: {found.code}" if found.code else "goes ahead"
    pieces = [
        text(x, y + 12, f"{name}. {case.title}", 13, INK, bold=True),
        text(x + PANEL, y + 12, end, 12, ASKED if found.code else GIVEN, anchor="end", bold=True),
    ]
    boxes: dict[int, Box] = {}
    top = y + 24
    texts = [("The user", [case.prompt], SAID)]
    texts += [
        (f"Result {at} of {read.tool}", written(read.result), READ)
        for at, read in enumerate(case.reads, 1)
    ]
    for at, (title, lines, fill) in enumerate(texts):
        box, drawn = _text_box(x, top, title, lines, fill, found.text if at != USER else "")
        boxes[at] = box
        pieces += drawn
        top += box.height + GAP
    return Drawn(pieces + _call(case, found, x + PANEL - CALL, boxes), top - y)


def _text_box(
    x: float, y: float, title: str, lines: list[str], fill: str, asking: str
) -> tuple[Box, list[str]]:
    """A box with what somebody wrote; a record with the text that asks is red."""
    rows = [
        (row, bool(asking) and asking in line) for line in lines for row in wrapped(line, TEXTS)
    ]
    box = Box(x, y, TEXTS, 40 + 14 * len(rows), fill)
    drawn = boxed(box, title)
    for at, (row, red) in enumerate(rows):
        drawn.append(text(x + 10, y + 37 + 14 * at, row, 11, ASKED if red else SOFT))
    return box, drawn


def _call(case: Case, found: Played, x: float, boxes: dict[int, Box]) -> list[str]:
    """The call, and a line to each of its parameters from where that comes from."""
    rows = {name: 44 + ROW * at for at, name in enumerate(case.args)}
    box = Box(x, boxes[USER].y, CALL, height_of("", CALL) + ROW * len(rows), CALLED)
    pieces = boxed(box, case.tool)
    pieces += [text(x + 10, box.y + at + 4, name, 11, SOFT) for name, at in rows.items()]
    return pieces + [
        _from(boxes[origin.source], box, box.y + rows.get(origin.parameter, 16), origin)
        for origin in found.origins
    ]


def _from(source: Box, call: Box, y: float, origin: Origin) -> str:
    middle = source.y + source.height / 2 + (6 if origin.asked else -6)
    return _line((source.x + source.width, middle), (call.x, y), origin.asked)


def _line(start: tuple[float, float], end: tuple[float, float], asked: bool) -> str:
    """A line to a parameter; dashed, too, where a text asks for it, so that colour is not
    needed."""
    (x1, y1), (x2, y2) = start, end
    bend = (x1 + x2) / 2
    dash = ' stroke-dasharray="5 4"' if asked else ""
    return (
        f'<path d="M{x1:g},{y1:g} C{bend:g},{y1:g} {bend:g},{y2:g} {x2:g},{y2:g}" fill="none" '
        f'stroke="{ASKED if asked else GIVEN}" stroke-width="1.6"{dash}/>'
        f'<circle cx="{x2:g}" cy="{y2:g}" r="3" fill="{ASKED if asked else GIVEN}" '
        f'stroke="{EDGE}"/>'
    )
