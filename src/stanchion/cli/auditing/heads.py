"""`stanchion audit heads`: how far every chain has come, to be kept elsewhere as a witness."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stanchion.audit.layout import chains
from stanchion.audit.reading import Reader
from stanchion.audit.verifying.heads import head_file
from stanchion.cli.terminal import say
from stanchion.cli.trails import records_in
from stanchion.cli.whose import whose

if TYPE_CHECKING:
    from stanchion.audit.postgres.reading import DatabaseReader

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
        say(sys.stderr, f"stanchion: chain {name} has no head that can be read: see `stanchion audit verify`")
    return SOME if without else ALL


def heads_of(reader: Reader | DatabaseReader) -> Iterator[tuple[str, bytes]]:
    """Each chain and its head as it was written; nothing where it has none that can be read."""
    if not isinstance(reader, Reader):
        yield from ((name, head.encode()) for name, head in reader.heads().items())
        return
    for name in chains(reader.folder):
        # Whoever watches may be another user: no link is followed, and nothing is waited for.
        found = head_file(reader.folder / name)
        yield name, b"" if found.raw is None or found.head is None else found.raw.rstrip(b"\n")
