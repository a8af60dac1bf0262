"""`stanchion secrets`: what the secrets guard knows, and what it finds that is none, allowed by its
fingerprint."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion import Shield
from stanchion.approvals.errors import TicketError
from stanchion.cli.answerers import answerer, whoever
from stanchion.cli.operator_options import loaded
from stanchion.cli.options import ANSWERER, CHANGE, check_verb, option
from stanchion.cli.printing import put_json, put_table
from stanchion.cli.terminal import tell
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.kernel.state import StoreLost
from stanchion.ops.views.allowances import AllowanceView, allowance_view
from stanchion.ops.views.times import shown
from stanchion.runtime.operating.allowances import Allowances

NOTHING: Final = 1

USAGE: Final = """stanchion secrets allow FINGERPRINT [--once] [--tool NAME] [--why WORDS] [--by NAME]
       stanchion secrets allowed [--tenant NAME] [--store URL] [--json]
       stanchion secrets forget FINGERPRINT [--why WORDS] [--by NAME]
       stanchion secrets kinds"""  # noqa: E501

DESCRIPTION: Final = """\
allow    let a value pass that was mistaken for a secret: from now on, or once
allowed  what is allowed, the newest first
forget   take an allowance back
kinds    every kind of secret that is known"""

EPILOG: Final = """\
examples:
  stanchion secrets allow 3f0c22a19b1e --once --why 'a key from the documentation'
  stanchion secrets allow 3f0c22a19b1e --tool send_mail
  stanchion secrets allowed
  stanchion secrets forget 3f0c22a19b1e

FINGERPRINT is what a finding shows; it does not reveal the secret. With --once the
allowance is used up by the first action that starts with it. For a permanent allowance,
write `allow: [FINGERPRINT]` in the policy. The store is the project's (`stanchion state
--where`), or the one that STANCHION_STORE names; changes are written to the trail.

exit status:
  0  it is done, or shown
  1  there was nothing to forget
  2  not done: this is not a fingerprint, or the store cannot be used"""

COLUMNS: Final = ("fingerprint", "allowed", "by", "since", "why")
TAKES: Final = {
    "allow": frozenset({"fingerprint", "once", "tool", "why", "by"}),
    "allowed": frozenset({"json"}),
    "forget": frozenset({"fingerprint", "why", "by"}),
    "kinds": frozenset[str](),
}


OPTIONS: Final = (
    option("verb allow|allowed|forget|kinds", "what to do"),
    option("fingerprint FINGERPRINT", "the 12 digits that `stanchion explain` shows", nargs="?"),
    option("--once", "valid only for the first action that uses it"),
    option("--tool NAME", "only in calls and results of this tool", default=""),
    option("--json", "answer with JSON, one line for each allowance"),
    *CHANGE,
    ANSWERER,
)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    taken = check_verb("secrets", TAKES, args, "fingerprint")
    if "fingerprint" in taken and args.fingerprint is None:
        raise BadInput(
            f"which one? write `stanchion secrets {args.verb} FINGERPRINT`; findings show it"
        )
    if args.verb == "kinds":
        return _kinds()
    with AsBadInput(StoreLost, ValueError, TicketError), loaded(args) as shield:
        return _kept(args, shield, Allowances(shield, args.tenant))


def _kept(args: argparse.Namespace, shield: Shield, kept: Allowances) -> int:
    by = args.by if args.by else whoever()
    if args.verb == "allow":
        made = kept.allow(args.fingerprint, args.once, args.tool, args.why, answerer(args, shield))
        tell(f"{made.fingerprint} is allowed {_how(allowance_view(made))}")
        return 0
    if args.verb == "forget":
        if kept.forget(args.fingerprint, by, args.why):
            tell(f"{args.fingerprint} is no longer allowed")
            return 0
        tell(f"{args.fingerprint} was not allowed")
        return NOTHING
    listed = list(map(allowance_view, kept.listed()))
    if args.json:
        put_json(*listed)
    elif not listed:
        tell("nothing is allowed")
    else:
        put_table(COLUMNS, [_row(one) for one in listed], ())
    return 0


def _row(one: AllowanceView) -> tuple[str, ...]:
    return one.fingerprint, _how(one), one.by, shown(one.at_ms), one.why


def _how(one: AllowanceView) -> str:
    return ("once" if one.once else "always") + (f" for {one.tool}" if one.tool else "")


def _kinds() -> int:
    from stanchion.guards.secrets.index import indexed

    for rule, _ in indexed():
        tell(rule.kind)
    return 0
