"""`stanchion audit heads`: how far every chain has come, to be kept elsewhere as a witness."""

from __future__ import annotations

import argparse
import sys

from stanchion.cli.terminal import say
from stanchion.cli.trails import records_in
from stanchion.cli.whose import whose
from stanchion.views.trails import heads_of

ALL = 0
SOME = 1


def heads(args: argparse.Namespace) -> int:
    """Print the heads as they stand, one a line; a chain without one is named."""
    without = []
    with records_in(args.trail, whose(args.project), args.schema) as reader:
        for name, head in heads_of(reader):
            # What is printed is what is there: a witness with a seal has to keep it byte for byte.
            if head:
                sys.stdout.buffer.write(head + b"\n")
            else:
                without.append(name)
    for name in without:
        say(
            sys.stderr,
            f"stanchion: chain {name} has no readable head: see `stanchion audit verify`",
        )
    return SOME if without else ALL
