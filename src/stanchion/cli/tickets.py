"""`stanchion tickets`: what waits for a person, and that person's answer."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Final

import msgspec

from stanchion.approvals.errors import TicketClosed, TicketError, UnknownTicket
from stanchion.approvals.ticket import GRANT_S, State, Ticket
from stanchion.audit.errors import TrailError
from stanchion.audit.journal import MemoryJournal
from stanchion.cli.operating import loaded
from stanchion.cli.parser import Parser, nearest
from stanchion.cli.stores import opened
from stanchion.cli.terminal import Terminal, json_line, put, say
from stanchion.cli.ticket_lines import listing, whole
from stanchion.cli.times import lasting_s, shown, span
from stanchion.cli.trouble import BadInput
from stanchion.cli.veiled import veiled
from stanchion.cli.whose import add_project, tenant_of, whose
from stanchion.kernel.state import StoreLost
from stanchion.runtime.tickets import Tickets
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import Store

REFUSED: Final = 1

USAGE: Final = """stanchion tickets list [--all | --state STATE] [--tenant NAME] [--store URL] [--json]
       stanchion tickets show ID [--store URL] [--json]
       stanchion tickets approve ID --by NAME [--for TIME] [--comment WORDS] [--role ROLE]
       stanchion tickets deny ID --by NAME --comment WHY [--role ROLE]"""

DESCRIPTION: Final = """\
list     what waits for a person, and what is approved and not used yet; the most urgent first
show     everything about one: what would be done, by whom, why it was stopped, until when
approve  let that very action start once, when the agent asks for it again
deny     refuse it; the agent reads the comment. It also takes back an unused approval"""

EPILOG: Final = """\
examples:
  stanchion tickets list
  stanchion tickets show 3f2a
  stanchion tickets approve 3f2a --by ann --for 5m --comment 'as agreed with finance'
  stanchion tickets deny 3f2a --by ann --comment 'wrong account'

ID is a ticket's id, or as much of it as is unique. An approval is bound to the agent, the
task, the tool, every argument and the policy, and it is used up when the action starts.
The store is that of the project (`stanchion state --where`), or where STANCHION_STORE says;
answers are written to the trail. A TIME is 90s, 15m, 2h, at most 1d.

exit status:
  0  it is shown or answered, or there is nothing yet
  1  it cannot be answered like that: it is answered already, or has expired, or you may not
  2  there is no such ticket, or the store cannot be used"""

TAKES: Final = {
    "list": frozenset({"all", "state", "tenant"}),
    "show": frozenset({"id"}),
    "approve": frozenset({"id", "by", "comment", "for_s", "role"}),
    "deny": frozenset({"id", "by", "comment", "role"}),
}
LIVE: Final = frozenset({State.OPEN, State.APPROVED})


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "list what waits for a person, and approve or deny it"
    parser: Parser = commands.add_parser("tickets", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("verb", metavar="list|show|approve|deny", help="what to do")
    parser.add_argument("id", metavar="ID", nargs="?", help="the ticket, or the beginning of its id")
    parser.add_argument("--store", metavar="URL", help="the store: a file, a URL, or `user:`")
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each ticket")
    choice = parser.add_argument_group("list")
    choice.add_argument("--all", action="store_true", default=None, help="also those that are over")
    choice.add_argument("--state", metavar="STATE", help=f"only those that are {', '.join(State)}")
    choice.add_argument(
        "--tenant", metavar="NAME", help="only those of this tenant (default: STANCHION_TENANT; `*` is all)"
    )
    answer = parser.add_argument_group("approve, deny")
    answer.add_argument("--by", metavar="NAME", help="who answers; never the agent that asks")
    answer.add_argument("--role", metavar="ROLE", help="as what, if that matters: one of the roles that are asked")
    answer.add_argument("--comment", metavar="WORDS", help="for the trail; for deny what the agent reads")
    answer.add_argument(
        "--for", metavar="TIME", dest="for_s", type=lasting_s, help="how long it can be used (default: 15m)"
    )


def run(args: argparse.Namespace) -> int:
    """Show tickets, or answer one."""
    taken = TAKES.get(args.verb)
    if taken is None:
        known = f"write {', '.join(f'`{name}`' for name in TAKES)}"
        raise BadInput(f"`stanchion tickets` cannot `{args.verb}`: {nearest(args.verb, TAKES, known)}")
    for name in sorted(frozenset().union(*TAKES.values()) - taken):
        if getattr(args, name) is not None:
            said = {"id": f"`{args.id}`", "for_s": "`--for`"}.get(name, f"`--{name}`")
            raise BadInput(f"`stanchion tickets {args.verb}` takes no {said}: see `stanchion tickets --help`")
    if "id" in taken and args.id is None:
        raise BadInput(f"which ticket? write `stanchion tickets {args.verb} ID`; `stanchion tickets list` shows them")
    if args.verb == "list":
        return _list(args)
    return _show(args) if args.verb == "show" else _answer(args)


def _list(args: argparse.Namespace) -> int:
    if args.state is not None and args.state not in list(State):
        known = f"give one of {', '.join(State)}"
        raise BadInput(f"`--state` is `{args.state}`: {nearest(args.state, list(State), known)}")
    with opened(args.store, whose(args.project, args.store)) as store:
        if store is None:
            return 0
        found = veiled(_desk(store).listed(tenant_of(args.tenant), args.state))
    if not args.all and args.state is None:
        found = [ticket for ticket in found if ticket.state in LIVE]
    if args.json:
        for ticket in found:
            _print(ticket)
    elif found:
        for line in listing(found, wall_ms(), Terminal.of(sys.stdout, os.environ)):
            put(sys.stdout, line)
    else:
        say(sys.stdout, "nothing waits for a person" if args.state is None else f"no ticket is {args.state}")
    return 0


def _show(args: argparse.Namespace) -> int:
    with opened(args.store, whose(args.project, args.store)) as store:
        ticket = veiled(_found(store, args.id))
    if args.json:
        _print(ticket)
        return 0
    for line in whole(ticket, wall_ms(), Terminal.of(sys.stdout, os.environ)):
        put(sys.stdout, line)
    return 0


def _answer(args: argparse.Namespace) -> int:
    needed = ["by", "comment"] if args.verb == "deny" else ["by"]
    for name in needed:
        if not getattr(args, name):
            why = "the agent reads why" if name == "comment" else "the trail says who answered"
            raise BadInput(f"`stanchion tickets {args.verb}` needs `--{name}`: {why}")
    with opened(args.store, whose(args.project, args.store)) as store:
        ticket = _found(store, args.id)
    comment, role = "" if args.comment is None else args.comment, "" if args.role is None else args.role
    try:
        # The policy has no say here: what counts of it is in the ticket.
        with loaded(args) as shield:
            if args.verb == "deny":
                ticket = shield.deny(ticket.id, by=args.by, comment=comment, role=role)
            else:
                for_s = GRANT_S if args.for_s is None else args.for_s
                ticket = shield.approve(ticket.id, by=args.by, comment=comment, for_s=for_s, role=role)
    except UnknownTicket as error:
        raise BadInput(str(error)) from None
    except (TicketClosed, TicketError) as error:
        say(sys.stderr, f"stanchion: {error}")
        return REFUSED
    except (StoreLost, TrailError) as error:
        raise BadInput(str(error)) from None
    if args.json:
        _print(veiled(ticket))
    else:
        say(sys.stdout, _said(veiled(ticket)))
    return 0


def _desk(store: Store) -> Tickets:
    return Tickets(store, MemoryJournal(1), wall_ms)


def _found(store: Store | None, ticket_id: str) -> Ticket:
    if store is None:
        raise BadInput(f"there is no ticket `{ticket_id}`: name the store of the process that waits, with `--store`")
    try:
        return _desk(store).find(ticket_id)
    except TicketError as error:
        raise BadInput(str(error)) from None


def _said(ticket: Ticket) -> str:
    about = f"ticket {ticket.id} ({ticket.about}, asked by {ticket.agent if ticket.agent else 'an agent'})"
    if ticket.state is State.APPROVED:
        lasts = span(ticket.grant_until - ticket.answered_at)
        return f"{about} is approved: the same call goes ahead once, until {shown(ticket.grant_until)} ({lasts})"
    return f"{about} is {ticket.state}: the agent is refused, and reads why"


def _print(ticket: Ticket) -> None:
    sys.stdout.buffer.write(json_line(msgspec.structs.asdict(ticket)))
    sys.stdout.buffer.flush()
