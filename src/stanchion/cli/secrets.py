"""`stanchion secrets`: what the secrets guard knows, and what it finds that is none, allowed by its
fingerprint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stanchion import Shield
from stanchion.cli.answerers import answerer, loaded, whoever
from stanchion.cli.command import (
    ANSWERER,
    CHANGE,
    Args,
    AsBadInput,
    DeclaredCommand,
    Verb,
    Work,
    option,
)
from stanchion.cli.printing import Layout, put_found
from stanchion.cli.terminal import tell
from stanchion.guards.secrets.index import indexed
from stanchion.ops.views.amounts import shown
from stanchion.ops.views.people import AllowanceView, allowance_view
from stanchion.runtime.operating.allowances import Allowances

NOTHING: Final = 1


def _allow(args: Args, kept: Allowances, shield: Shield) -> int:
    made = kept.allow(args.fingerprint, args.once, args.tool, args.why, answerer(args, shield))
    tell(f"{made.fingerprint} is allowed {_how(allowance_view(made))}")
    return 0


def _forget(args: Args, kept: Allowances, _shield: Shield) -> int:
    forgotten = kept.forget(args.fingerprint, args.by if args.by else whoever(), args.why)
    tell(f"{args.fingerprint} {'is no longer' if forgotten else 'was not'} allowed")
    return 0 if forgotten else NOTHING


def _allowed(args: Args, kept: Allowances, _shield: Shield) -> int:
    listed = list(map(allowance_view, kept.listed()))
    put_found(listed, ALLOWED, args.json)
    return 0


def _kept(work: Callable[[Args, Allowances, Shield], int]) -> Work:
    """Work on what is allowed in the store that is named."""

    def done(args: Args) -> int:
        with AsBadInput(ValueError), loaded(args) as shield:
            return work(args, Allowances(shield, args.tenant), shield)

    return done


def _row(one: AllowanceView) -> tuple[str, ...]:
    return one.fingerprint, _how(one), one.by, shown(one.at_ms), one.why


def _how(one: AllowanceView) -> str:
    return ("once" if one.once else "always") + (f" for {one.tool}" if one.tool else "")


def _kinds(_args: Args) -> int:
    for rule, _ in indexed():
        tell(rule.kind)
    return 0


ALLOWED: Final = Layout(
    ("fingerprint", "allowed", "by", "since", "why"), _row, nothing="nothing is allowed"
)
WHICH: Final = "which one? write `stanchion secrets {} FINGERPRINT`; findings show it"


SECRETS_COMMAND: Final = DeclaredCommand(
    usage="""stanchion secrets allow FINGERPRINT [--once] [--tool NAME] [--why WORDS] [--by NAME]
       stanchion secrets allowed [--tenant NAME] [--store URL] [--json]
       stanchion secrets forget FINGERPRINT [--why WORDS] [--by NAME]
       stanchion secrets kinds""",
    description="""\
allow    let a value pass that was mistaken for a secret: from now on, or once
allowed  what is allowed, the newest first
forget   take an allowance back
kinds    every kind of secret that is known""",
    epilog="""\
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
  2  not done: this is not a fingerprint, or the store cannot be used""",
    options=(
        option("verb allow|allowed|forget|kinds", "what to do"),
        option(
            "fingerprint FINGERPRINT", "the 12 digits that `stanchion explain` shows", nargs="?"
        ),
        option("--once", "valid only for the first action that uses it"),
        option("--tool NAME", "only in calls and results of this tool", default=""),
        option("--json", "answer with JSON, one line for each allowance"),
        *CHANGE,
        ANSWERER,
    ),
    work={
        "allow": Verb(_kept(_allow), "fingerprint once tool why by", WHICH.format("allow")),
        "allowed": Verb(_kept(_allowed), "json"),
        "forget": Verb(_kept(_forget), "fingerprint why by", WHICH.format("forget")),
        "kinds": Verb(_kinds),
    },
)
