"""`stanchion policy loosens`: say by what one policy may let more through than another."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion.cli.found_policy import given
from stanchion.cli.loosening_lines import loosening_lines
from stanchion.cli.printing import put_json
from stanchion.cli.terminal import Terminal, put_line, put_lines
from stanchion.policy.loosening import loosenings

NOTHING: Final = 0
LOOSENS: Final = 1


def loosens(args: argparse.Namespace, envs: tuple[str | None, str | None]) -> int:
    """Compare two policies and say what loosens."""
    old, new = (given(name, env).policy for name, env in zip(args.policies, envs, strict=True))
    found = loosenings(old, new)
    if args.json:
        shown = {
            "loosens": bool(found),
            "old": old.hash,
            "new": new.hash,
            "loosenings": [str(each) for each in found],
        }
        put_json(shown)
    else:
        terminal = Terminal.of_stdout()
        put_lines(loosening_lines(found, terminal))
        put_line(terminal.paint(f"hash {old.hash[:12]} → {new.hash[:12]}", "dim"))
    return LOOSENS if found else NOTHING
