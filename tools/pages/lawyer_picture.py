"""The picture of the law and its lawyer: one turn of a weak player, as it was really played."""

from stanchion.tutor.envelope.envelope import TutorEnvelope
from stanchion.tutor.law.v2 import TutorV2
from tools.drawings.lawyer_case import GAME, TURN, Said, turned
from tools.drawings.svg import EDGE, INK, SOFT, Box, boxed, height_of, picture, text

PATH = "docs/assets/lawyer.svg"

WIDTH, SIDE, GAP, TOP, LOW = 1080.0, 20.0, 44.0, 66.0, 26.0
COLUMN = (WIDTH - 2 * SIDE - 2 * GAP) / 3
MODEL, LAWYER, LAW = "#f0f4f8", "#e3ecfa", "#d9f2e3"
PLACES = tuple(SIDE + at * (COLUMN + GAP) for at in range(3))


def render() -> str:
    """The picture as SVG: the model on the left, the envelope between, the law on the right."""
    played = turned()
    heads = (
        ("The model", "Says what it likes, as models do.", MODEL),
        ("The lawyer: the envelope", _first(TutorEnvelope), LAWYER),
        ("The law: the Tutor", _first(TutorV2), LAW),
    )
    drawn, y = _row(heads, TOP)
    for number, one in enumerate(played.said):
        cells = [_reply(number, one), _counsel(one)]
        if number == played.taken:
            proven = f" Now proven: {'; '.join(played.proven)}." if played.proven else ""
            cells.append(
                (f"One move: {played.verdict}", f"{played.move}.{proven}".replace("`", ""), LAW)
            )
        row, below = _row(cells, y + LOW)
        middle = y + LOW + 22
        drawn += [*row, _line(PLACES[0] + COLUMN, PLACES[1], middle)]
        if one.told:
            drawn.append(_line(PLACES[1], PLACES[0] + COLUMN, middle + 16))
        if number == played.taken:
            drawn.append(_line(PLACES[1] + COLUMN, PLACES[2], middle))
        y = below
    title = (
        f"Turn {TURN} of a weak player in the game {GAME}, with the layers schema and repair, "
        f"as it was played."
    )
    told = [
        text(SIDE, 26, "The law and its lawyer", 16, INK, bold=True),
        text(SIDE, 44, title, 11, SOFT),
    ]
    return picture(
        WIDTH,
        y + SIDE,
        "A turn of a game: what the model says, its lawyer, and the law",
        told + drawn,
    )


def _first(thing: type) -> str:
    """The first paragraph of what a class says of itself."""
    return " ".join(str(thing.__doc__).split("\n\n")[0].split()).replace("`", "")


def _reply(number: int, one: Said) -> tuple[str, str, str]:
    return (
        "It replies" if number == 0 else "Asked again, it replies",
        " ".join(one.reply.split()),
        MODEL,
    )


def _counsel(one: Said) -> tuple[str, str, str]:
    title = "Not yet: ask again" if one.told else "This can be said"
    told = f" The model is told: {one.told}".replace("`", "") if one.told else ""
    return title, f"Layer 1 reads it: {one.read}. Layer 2 looks ahead: {one.ahead}.{told}", LAWYER


def _row(
    cells: list[tuple[str, str, str]] | tuple[tuple[str, str, str], ...], y: float
) -> tuple[list[str], float]:
    """Boxes beside each other, all as high as the highest, and where they end."""
    height = max(height_of(words, COLUMN) for _, words, _ in cells)
    drawn: list[str] = []
    for x, (title, words, fill) in zip(PLACES, cells, strict=False):
        drawn += boxed(Box(x, y, COLUMN, height, fill), title, words)
    return drawn, y + height


def _line(x1: float, x2: float, y: float) -> str:
    """An arrow from one column to the next, or back."""
    return (
        f'<path d="M{x1:g},{y:g} L{x2:g},{y:g}" stroke="{EDGE}" stroke-width="1.4" '
        f'marker-end="url(#to)"/>'
    )
