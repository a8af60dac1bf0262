"""`holdfast audit heads`: how far every chain has come, to be kept elsewhere as a witness."""

from __future__ import annotations

import argparse
import sys

from holdfast.audit.heads import read_head
from holdfast.audit.layout import HEAD, chains
from holdfast.cli.terminal import say
from holdfast.cli.trails import reader_of

ALL = 0
SOME = 1


def heads(args: argparse.Namespace) -> int:
    """Print the heads as they stand, one a line; a chain without one is named."""
    folder = reader_of(args.trail).folder
    without = []
    for name in chains(folder):
        # What is printed is what is there: a witness with a seal has to keep it byte for byte.
        if read_head(folder / name) is None:
            without.append(name)
        else:
            sys.stdout.buffer.write((folder / name / HEAD).read_bytes().rstrip(b"\n") + b"\n")
    for name in without:
        say(sys.stderr, f"holdfast: chain {name} has no head that can be read: see `holdfast audit verify`")
    return SOME if without else ALL
