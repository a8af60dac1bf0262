"""`stanchion state --break-lock`: release what an agent has locked and does not release."""

from __future__ import annotations

import argparse

from stanchion import Shield
from stanchion.cli.answerers import answerer
from stanchion.cli.operator_options import answered
from stanchion.cli.terminal import tell
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import told
from stanchion.ops.views.veiled import veiled


def break_lock(args: argparse.Namespace) -> int:
    """Break the locks of a name, as an operator, and say so."""
    if args.prefix or args.where:
        raise BadInput(
            "`--break-lock` names what is released, and shows nothing: leave out what else is "
            "asked for"
        )
    return answered(args, lambda shield: _broken(args, shield))


def _broken(args: argparse.Namespace, shield: Shield) -> int:
    name = args.break_lock
    if not shield.break_lock(name, args.tenant, args.why, answerer(args, shield)):
        raise BadInput(
            f"nobody has locked `{veiled(name)}`: `stanchion state locks` shows what is locked"
        )
    tell(f"{veiled(name)} is free{veiled(told(args))}")
    return 0
