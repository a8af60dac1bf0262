"""`stanchion retention`: say what may be removed from the trail; an operator's, once there are
operators."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.cli.answerers import answerer
from stanchion.cli.operator_options import answered
from stanchion.cli.options import ANSWERER, BY, PROJECT, STORE, WHY, option
from stanchion.cli.terminal import tell
from stanchion.kernel.scopes import FLEET
from stanchion.runtime.operating.retention import SUBJECT

USAGE: Final = """stanchion retention [--days N] [--megabytes N] [--why WORDS] --key FILE | --ssh-agent
       [--store URL]"""  # noqa: E501

DESCRIPTION: Final = """\
Set which records may be removed from the trail: those older than a number of days, or
beyond a number of megabytes. If operators are enrolled, STANCHION_AUDIT_KEEP_DAYS and
STANCHION_AUDIT_KEEP_MB remove no more than this allows, and nothing if it was never set.
Without either option everything is kept."""

EPILOG: Final = """\
examples:
  stanchion retention --days 90 --key ~/.config/stanchion/keys/ann
  stanchion retention --why 'the auditors are here' --ssh-agent

It applies to shields that start from now on.

exit status:
  0  it is done
  1  you are not allowed to: nothing has changed
  2  the store or the key cannot be used"""


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"is `{text}`: give a positive number")
    return number


OPTIONS: Final = (
    option("--days N", "records older than this may be removed", type=_positive),
    option("--megabytes N", "records above this size may be removed, oldest first", type=_positive),
    WHY,
    BY,
    STORE,
    PROJECT,
    ANSWERER,
)


def run(args: argparse.Namespace) -> int:
    """Say it."""
    said = {"days": args.days, "megabytes": args.megabytes, "why": args.why}
    request = Request(purpose=Purpose.RETENTION, tenant=FLEET, subject=SUBJECT, said=said)

    bounds = [f"older than {args.days:g} days"] if args.days is not None else []
    bounds += [f"more than {args.megabytes:g} MB"] if args.megabytes is not None else []
    leaves = " or ".join(bounds)

    def said_so(shield: Shield) -> int:
        shield.act(request, answerer(args, shield))
        tell(
            f"what is {leaves} may be removed from the trail"
            if leaves
            else "nothing is removed from the trail",
        )
        return 0

    return answered(args, said_so)
