"""SVG by hand: boxes with words in them, and lines between them, readable on a light page and on a
dark one."""

import textwrap
from html import escape
from typing import NamedTuple

FONT = "font-family=\"-apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\""
INK, SOFT, EDGE, PAPER = "#1f2933", "#52606d", "#9aa5b1", "#ffffff"
CHAR = 6.1
"""How wide a letter of 11 pixels is, and rather more."""


class Box(NamedTuple):
    """A box: where it is, how large, and of which colour."""

    x: float
    y: float
    width: float
    height: float
    fill: str = "#f0f4f8"

    @property
    def middle(self) -> float:
        """Its horizontal middle."""
        return self.x + self.width / 2


def boxed(box: Box, title: str, words: str = "") -> list[str]:
    """A box with a title and words below it."""
    lines = wrapped(words, box.width)
    said = [
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="7" '
        f'fill="{box.fill}" stroke="{EDGE}"/>',
        text(box.x + 10, box.y + 20, title, 13, INK, bold=True),
    ]
    return said + [
        text(box.x + 10, box.y + 37 + 14 * row, line, 11, SOFT) for row, line in enumerate(lines)
    ]


def wrapped(words: str, width: float) -> list[str]:
    """Words in lines that fit into a box of that width."""
    return textwrap.wrap(words, max(8, int((width - 20) / CHAR)))


def height_of(words: str, width: float) -> float:
    """How high a box is that holds a title and those words."""
    return 32 + 14 * len(wrapped(words, width)) + 8


def text(
    x: float, y: float, words: str, size: int, fill: str, anchor: str = "start", bold: bool = False
) -> str:
    """One line of text."""
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" text-anchor="{anchor}"{weight}'
    return f"<text {place}>{escape(words)}</text>"


def arrow(x1: float, y1: float, x2: float, y2: float, dashed: bool = False) -> str:
    """An arrow that leaves and arrives vertically."""
    bend = (y1 + y2) / 2
    dash = ' stroke-dasharray="4 4"' if dashed else ""
    return (
        f'<path d="M{x1:g},{y1:g} C{x1:g},{bend:g} {x2:g},{bend:g} {x2:g},{y2:g}" fill="none" '
        f'stroke="{EDGE}" stroke-width="1.4" marker-end="url(#to)"{dash}/>'
    )


def picture(width: float, height: float, title: str, drawn: list[str]) -> str:
    """The whole picture; its title is what is read out instead of it."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" role="img" {FONT}>',
            f"<title>{escape(title)}</title>",
            '<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto">'
            f'<path d="M0,0 L8,4 L0,8 z" fill="{EDGE}"/></marker></defs>',
            f'<rect width="{width:g}" height="{height:g}" rx="10" fill="{PAPER}"/>',
            *drawn,
            "</svg>",
            "",
        ]
    )
