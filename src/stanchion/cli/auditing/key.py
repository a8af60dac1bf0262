"""`stanchion audit key new`: make a ratcheting key, and what verifies with it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from stanchion.audit.errors import TrailError
from stanchion.audit.ratchet import make_key
from stanchion.cli.terminal import Terminal, put
from stanchion.cli.trouble import BadInput
from stanchion.cli.verdict import row
from stanchion.runtime.standing.places import KEY

MADE = 0


def key(args: argparse.Namespace) -> int:
    """Make a key in a file that was named, and say what belongs where."""
    if args.what != "new" or args.more is None:
        raise BadInput("`stanchion audit key` makes a key: write `stanchion audit key new FILE`")
    path = Path(args.more)
    try:
        other = make_key(path)
    except TrailError as error:
        raise BadInput(str(error)) from None
    terminal = Terminal.of(sys.stdout, os.environ)
    said = {
        "seals": (
            f"{path}: keep it on this machine, writable by the user who writes the trail; "
            f"each use replaces it"
        ),
        "verifies": (
            f"{other}: do not keep it on this machine. Move it to where you verify, and "
            f"delete it here"
        ),
        "next": f"export {KEY}={path.absolute()}",
    }
    for name, text in said.items():
        for line in row(name, text, terminal):
            put(sys.stdout, line)
    return MADE
