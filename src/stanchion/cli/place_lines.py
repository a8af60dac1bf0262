"""Which state it is, and which there are, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal, visible
from stanchion.runtime.standing.state_places import SHARED
from stanchion.views.amounts import size
from stanchion.views.projects import ProjectView
from stanchion.views.times import shown
from stanchion.views.where import StatePlace


def place_lines(one: StatePlace, terminal: Terminal) -> Iterator[str]:
    """Which state it is: whose, where, how much is kept, and why that one."""
    rows = {"project": one.project, "folder": one.folder, "store": one.store, "trail": one.trail}
    rows |= {"keeps": one.keeps, "witness": one.witness, "because": one.why}
    for name, text in rows.items():
        if text:
            yield f"{terminal.paint(f'{name:<8}', 'dim')} {visible(text)}"


def project_lines(found: Sequence[ProjectView], terminal: Terminal) -> Iterator[str]:
    """The states of all projects."""
    rows = [(one.name, size(one.size_bytes), shown(one.last_used_ms), _root(one)) for one in found]
    styles = [{} if one.exists or not one.root else {"root": "mild"} for one in found]
    return table(("state", "size", "last used", "project"), rows, ("size",), terminal, styles)


def _root(one: ProjectView) -> str:
    if one.root:
        return one.root if one.exists else f"{one.root} (no longer exists)"
    return "shared by all projects" if one.name == SHARED else "owner unknown"
