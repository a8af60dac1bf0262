"""The picture of an event's way: a tool call from the agent to its result, in the words of the code
that does it."""

from tools.drawings.svg import INK, SOFT, Box, arrow, boxed, height_of, picture, text
from tools.drawings.told import phases, returning, sentence

PATH = "docs/assets/event.svg"

WIDTH, SIDE, GAP, COLUMN = 1080.0, 20.0, 16.0, 500.0
CALL, WORLD, ROUND, ENGINE = "#f0f4f8", "#fdebd2", "#e3ecfa", "#d9f2e3"

BEGIN, COURSE = "runtime/calling/begin.py:begin", "runtime/deciding/judging.py:follow"
DECIDE, DELIVER = "kernel/engine.py:decide", "runtime/calling/outcome.py:deliver"

LEGEND = (
    "A tool call, from the agent to its result, in the words of the code. Dashed: the engine is "
    "asked, and a decision comes back from the phase that has one."
)


def render() -> str:
    """The picture as SVG: what surrounds the decision on the left, the engine's phases on the
    right."""
    left = [
        ("The agent calls a tool", sentence(BEGIN), CALL),
        *[(*_titled(at, words), ROUND) for at, words in enumerate(phases(COURSE), 1)],
        (
            "The tool runs",
            "Only now: in the caller's thread, in one of its own, or on the event loop.",
            WORLD,
        ),
        ("The result is an event, too", sentence(DELIVER), CALL),
    ]
    right = [(*_titled(at, words), ENGINE) for at, words in enumerate(phases(DECIDE), 1)]
    drawn: list[str] = []
    bottoms = []
    places: list[list[Box]] = [[], []]
    for column, (boxes, x) in enumerate(((left, SIDE), (right, WIDTH - SIDE - COLUMN))):
        y = 92.0
        for title, words, fill in boxes:
            box = Box(x, y, COLUMN, height_of(words, COLUMN), fill)
            places[column].append(box)
            drawn += boxed(box, title, words)
            y += box.height + GAP
        bottoms.append(y)
        for upper, lower in zip(places[column], places[column][1:], strict=False):
            drawn.append(arrow(upper.middle, upper.y + upper.height, lower.middle, lower.y))
    decided = places[0][2]
    drawn.append(_across(decided, places[1][0]))
    drawn += [_back(places[1][at - 1], decided) for at in sorted(returning(DECIDE))]
    heads = [
        text(SIDE, 26, "An event's way", 16, INK, bold=True),
        text(SIDE, 44, LEGEND, 11, SOFT),
        text(SIDE, 76, "The runtime: calling, and deciding/judging.py", 13, INK, bold=True),
        text(WIDTH - SIDE - COLUMN, 76, "The engine, pure: kernel/engine.py", 13, INK, bold=True),
    ]
    return picture(
        WIDTH,
        max(bottoms) - GAP + SIDE,
        "An event's way from the agent to a decision and back",
        heads + drawn,
    )


def _titled(at: int, phase: str) -> tuple[str, str]:
    """The title of a phase and its words: `Gates: states stand before every chain.`"""
    title, colon, words = phase.partition(": ")
    if not colon:
        raise ValueError(f"phase {at} has no title: write `{at}. Title: what happens`")
    return f"{at}. {title}", words[:1].upper() + words[1:]


def _across(left: Box, right: Box) -> str:
    """From what asks for a decision to the engine's first phase."""
    return _line(
        left.x + left.width, left.y + left.height / 2 - 8, right.x, right.y + right.height / 2
    )


def _back(right: Box, left: Box) -> str:
    """From a phase in which the engine has decided back to what asked for the decision."""
    return _line(
        right.x, right.y + right.height / 2, left.x + left.width, left.y + left.height / 2 + 8
    )


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    bend = (x1 + x2) / 2
    return (
        f'<path d="M{x1:g},{y1:g} C{bend:g},{y1:g} {bend:g},{y2:g} {x2:g},{y2:g}" fill="none" '
        f'stroke="{SOFT}" '
        'stroke-width="1.4" stroke-dasharray="4 4" marker-end="url(#to)"/>'
    )
