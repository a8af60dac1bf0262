"""Verbs of a command: which there are, and what each of them takes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from stanchion.cli.parser import nearest
from stanchion.cli.trouble import BadInput

Takes = Mapping[str, frozenset[str]]
"""What each verb of a command takes, of all that only some of them take."""

NOT_GIVEN = (None, False, "")


def check_verb(command: str, takes: Takes, args: argparse.Namespace, word: str) -> frozenset[str]:
    """What the verb takes that was asked for; an unknown verb, and what it does not take, is bad
    input. `word` is the argument that has no option's name."""
    taken = takes.get(args.verb)
    if taken is None:
        known = f"write {', '.join(f'`{name}`' for name in takes)}"
        raise BadInput(
            f"`stanchion {command}` cannot `{args.verb}`: {nearest(args.verb, takes, known)}"
        )
    for name in sorted(frozenset().union(*takes.values()) - taken):
        given = getattr(args, name)
        if given not in NOT_GIVEN:
            said = f"`{given}`" if name == word else f"`--{name.removesuffix('_s')}`"
            raise BadInput(
                f"`stanchion {command} {args.verb}` takes no {said}: see `stanchion {command} "
                f"--help`"
            )
    return taken
