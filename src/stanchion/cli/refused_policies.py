"""Policies that processes could not load, for whoever looks at a state or a policy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from stanchion.cli.terminal import Terminal, visible
from stanchion.ops.views.times import shown
from stanchion.runtime.operating.reload import RefusedPolicy, refused_policies


def refused(files: Sequence[Path] | None = None) -> list[RefusedPolicy]:
    """Those of this user's processes on this host; of some files only, where they are given."""
    named = None if files is None else {str(file.absolute()) for file in files}
    return [one for one in refused_policies(os.environ) if named is None or one.origin in named]


def refused_lines(found: Sequence[RefusedPolicy], terminal: Terminal) -> Iterator[str]:
    """The same for people."""
    for one in found:
        head = (
            f"process {one.process.pid} could not load `{visible(one.origin)}` since "
            f"{shown(one.since)}"
        )
        yield terminal.paint(f"{head}, and continues with the previous policy:", "bad")
        yield from (f"  {visible(line)}" for line in one.error.splitlines())
