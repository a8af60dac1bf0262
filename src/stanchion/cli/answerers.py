"""Who acts at the command line: an operator with a key, or somebody at this terminal; and what they
change."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from stanchion import Shield
from stanchion.approvals.act import Way
from stanchion.approvals.answerers import By, Person, Signer, Wish
from stanchion.approvals.errors import OperatorKeyError, TicketError, UnknownTicket
from stanchion.approvals.keys import KeyFile, KeyOwner
from stanchion.approvals.operators import Roster
from stanchion.approvals.public_key import PublicKey, public_of
from stanchion.approvals.ssh_agent import AgentKey, identities
from stanchion.approvals.terminal import from_fd, passphrase
from stanchion.cli.command import Args, AsBadInput, BadInput
from stanchion.cli.terminal import tell, warn
from stanchion.cli.whose import named_project, told
from stanchion.kernel.state import FOREVER
from stanchion.kernel.states import Mark
from stanchion.ops.views.amounts import shown
from stanchion.ops.views.standing import NOW
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.driving.sync import drive
from stanchion.telemetry.kinds import Kind
from stanchion.telemetry.loggers import leave_out

Page = Callable[[Wish], Iterable[str]]

WAYS: Final = """\
With --key or --ssh-agent you sign your answer as an operator. Without them you type a code
at this terminal. Such an answer is recorded as unproven; it counts only while no operator
is enrolled, and never for actions of high risk or critical ones."""


def answerer(args: Args, shield: Shield, page: Page | None = None) -> By:
    """Whoever is at the command line, by its options."""
    if args.key is None and not args.ssh_agent:
        name = args.by if getattr(args, "by", "") else whoever()
        return Person(name, page)
    return signer(args, _everybody(shield), is_own(shield))


def _everybody(shield: Shield) -> Roster:
    """Everybody whose key can be meant: the store's operators, and those whom the policy names."""
    kept, named = (
        drive(flow, shield) for flow in (shield.authority.keepers(), shield.authority.roster())
    )
    return Roster({**kept.operators, **named.operators})


def signer(args: Args, roster: Roster, own: bool) -> Signer:
    """The operator whose key is named; `BadInput` where it is not clear who that is."""
    if args.key is not None and args.ssh_agent:
        raise BadInput("`--key` and `--ssh-agent` cannot be combined: give one of them")
    if args.ssh_agent:
        public = _in_agent(args, roster)
        return Signer(_name(args, roster, public), AgentKey(public), args.role, Way.SSH_AGENT)
    key = key_file(args, own)
    return Signer(_name(args, roster, key.public), key, args.role, Way.KEY)


def key_file(args: Args, own: bool) -> KeyFile:
    """The key that is named, whose passphrase is typed or read when it signs."""
    path = Path(args.key).expanduser()
    fd = args.passphrase_fd
    asked = (lambda: passphrase(f"Passphrase of {path}")) if fd is None else (lambda: from_fd(fd))
    return KeyFile(path, asked, KeyOwner(own))


def is_own(shield: Shield) -> bool:
    """Whether this user is the one that the shield's state belongs to: then whatever they can read
    agents can, too."""
    place = getattr(shield.store, "place", "")
    path = place.removeprefix("sqlite:")
    if path == place:
        return True
    try:
        return os.stat(path).st_uid == os.geteuid()
    except (OSError, AttributeError):
        return True


def whoever() -> str:
    """What the user at the command line is called."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def _name(args: Args, roster: Roster, public: PublicKey) -> str:
    if args.as_name:
        return str(args.as_name)
    found = [one.name for one in roster.operators.values() if one.key == public.line]
    if found:
        return found[0]
    raise BadInput(
        f"no operator of this store has the key {public.fingerprint}: say who you are with `--as "
        f"NAME`, and give the "
        "policy that pins your key with `--policy FILE`"
    )


def _in_agent(args: Args, roster: Roster) -> PublicKey:
    """The key in the ssh-agent that is an operator's."""
    wanted = roster.operators.get(args.as_name)
    if wanted is not None:
        return public_of(wanted.key)
    known = {one.key for one in roster.operators.values()}
    found = [one.key for one in identities() if one.key.line in known]
    if len(found) == 1:
        return found[0]
    many = "several operators' keys are" if found else "no operator's key is"
    raise BadInput(
        f"{many} in your ssh-agent: say who you are with `--as NAME` (`ssh-add -c FILE` adds a key)"
    )


APPLIES: Final = """\
Every process that uses the store applies it from its next decision on. The store is the
project's (`stanchion state --where`), or the one that STANCHION_STORE names; the change is
written to the trail."""

SCOPES: Final = f"""\
SCOPE is `tool:NAME`, `agent:NAME`, `run:ID` or `fleet`; without it the whole tenant is meant.
{APPLIES}"""

ANSWERED: Final = (
    Kind.HALTED, Kind.QUARANTINED, Kind.SAFE_MODE, Kind.NORMAL, Kind.TICKET_ANSWERED,
    Kind.ANSWER_REFUSED,
)  # fmt: skip
"""What a command says itself, where it does it or may not."""

REFUSED: Final = 1
"""The exit status where somebody may not answer like that."""

EXIT: Final = """\
exit status:
  0  it is done
  2  not done: you are not allowed to, a halt prevents it, or the store cannot be used"""


def loaded(args: Args) -> Shield:
    """A shield on the store that is named; one that cannot be opened is bad input."""
    leave_out(ANSWERED)
    policy = getattr(args, "policy", None)
    shield: Shield = args.load(
        "default" if policy is None else policy, store=args.store, **named_project(args)
    )
    return shield


def answered(work: Callable[[Args, Shield], int], args: Args) -> int:
    """Do something on the store that is named, as whoever answers; say so where they may not. Gives
    the status."""
    try:
        with loaded(args) as shield:
            return work(args, shield)
    except (UnknownTicket, OperatorKeyError) as error:
        raise BadInput(str(error)) from None
    except TicketError as error:
        warn(f"{error}")
        return REFUSED


def operate(args: Args, change: Callable[[Shield, Any], Any], loosens: bool = False) -> int:
    """Change a state in the store, as somebody, and say what it is now. What `loosens` is an
    operator's."""
    with loaded(args) as shield, AsBadInput(ValueError):
        change(shield, answerer(args, shield) if loosens else args.by if args.by else whoever())
        tenant, name = (
            ("*", "") if args.scope == "fleet" else (shield.tenancy.of(args.tenant), args.scope)
        )
        standing = shield.standing(tenant)
    mark = standing.marks.get(name, Mark()) if name else standing.own
    about = veiled(args.scope if args.scope else f"tenant {tenant}")
    until = f" until {shown(mark.until)}" if 0 < mark.until < FOREVER else ""
    tell(f"{about} is {NOW[mark.state]}{until}{veiled(told(args))}")
    return 0
