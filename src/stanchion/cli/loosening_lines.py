"""What one policy loosens of another, as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stanchion.cli.terminal import Terminal, visible
from stanchion.policy.loosening.directions import Loosening


def loosening_lines(found: Iterable[Loosening], terminal: Terminal) -> Iterator[str]:
    """What loosens, a line each; or that nothing does."""
    some = False
    for each in found:
        some = True
        yield (
            f"{terminal.paint('loosens' if each.sure else 'may loosen', 'bad')}  "
            f"{visible(str(each))}"
        )
    if not some:
        yield "nothing loosens: whatever the old policy refuses, the new one refuses"
