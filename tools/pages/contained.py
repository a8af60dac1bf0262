"""What a hostile program reaches out of a contained run, as it was found behind each kind of
walls."""

from __future__ import annotations

from typing import Final

from stanchion.runtime.sandbox.sandbox import WallKind
from tests.runtime.contained.found import WHO, kept
from tests.runtime.contained.hostile import TRIES

PATH = "docs/reference/contained.md"

INTRODUCTION: Final = """\
# What gets out of a contained run

A hostile program ran inside [`stanchion run`](../how-to/contained.md) and tried everything below,
behind each kind of walls, started by root and by an ordinary user. Outside, a host answered at
every address that it tried. A test runs it again and holds this page to what it finds.

*held* is what it did not get, and *out* what it got. Landlock alone holds neither a network nor
what lies inside a folder that may be written: `stanchion run` says so, and with `--require` it
does not start there.
"""


def render() -> str:
    """The page."""
    found = kept()
    parts = [INTRODUCTION]
    for group, tries in TRIES.items():
        parts.append(f"## {group[0].upper()}{group[1:]}\n")
        parts.append(f"| tried | {' | '.join(f'`{kind}`' for kind in WallKind)} |\n|{'---|' * 4}")
        for name in tries:
            cells = [_cell([who for who in WHO if name in found[kind][who]]) for kind in WallKind]
            parts.append(f"| {name} | {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts).rstrip("\n") + "\n"


def _cell(out: list[str]) -> str:
    if not out:
        return "held"
    return "**out**" if len(out) == len(WHO) else f"**out** as {' and '.join(out)}"
