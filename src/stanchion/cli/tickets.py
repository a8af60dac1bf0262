"""`stanchion tickets`: what waits for a person, and that person's answer."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from stanchion import Shield, StanchionError, typed
from stanchion.approvals.act import LARGEST
from stanchion.approvals.answerers import By, Signer, Wish
from stanchion.approvals.errors import TicketError
from stanchion.approvals.grants import checked_edits
from stanchion.approvals.operators import Roster
from stanchion.approvals.overrides import check_approvable
from stanchion.approvals.scope import Scope, checked_pattern, edits_of as changed_by, said
from stanchion.approvals.ticket import Kind, State, Ticket, wish_of
from stanchion.cli.answerers import WAYS, answerer, signer, whoever
from stanchion.cli.operator_options import REFUSED, answered
from stanchion.cli.options import ANSWERER, PROJECT, STORE, check_verb, group, option
from stanchion.cli.printing import put_json
from stanchion.cli.stores import in_memory, opened
from stanchion.cli.terminal import Terminal, put, put_line, put_lines, say, tell, visible
from stanchion.cli.ticket_lines import holding, listing, outcome, pairs, whole
from stanchion.cli.ticket_values import (
    comment_of,
    edits_of,
    for_s_of,
    kind_of,
    pattern_of,
    reason_of,
    scope_of,
    state_of,
)
from stanchion.cli.times import lasting_s
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import tenant_of, whose
from stanchion.ops.views.tickets import TicketView, grant_view, ticket_in_full, ticket_view
from stanchion.runtime.people.tickets import FIRST
from stanchion.runtime.standing.places import broker_for
from stanchion.stores.memory import wall_ms

USAGE: Final = """stanchion tickets list [--all | --state STATE] [--kind KIND] [--tenant NAME] [--json]
       stanchion tickets watch [--kind KIND] [--tenant NAME] [--store URL] [--json]
       stanchion tickets show ID [--store URL] [--json]
       stanchion tickets approve ID [--scope SCOPE | --set ARG=VALUE | --pick ARG=VALUE]
           [--for TIME] [--key FILE]
       stanchion tickets deny ID --comment WHY [--key FILE]
       stanchion tickets revoke GRANT [--comment WHY]
       stanchion tickets bypass [--all] [--tenant NAME] [--json]
       stanchion tickets review ID --comment WORDS [--wrong] [--key FILE]
       stanchion tickets request ID > FILE
       stanchion tickets sign FILE --as NAME --key FILE [--deny] > ANSWER
       stanchion tickets answer ANSWER"""  # noqa: E501

DESCRIPTION: Final = """\
list     open tickets, and approvals that are still valid
watch    the same, and a line for everything that changes, until Ctrl-C
show     one ticket in full: what would be done, by whom, why it was stopped, until when
approve  let exactly this action start once, with what --set changes, or as often as --scope says
deny     refuse it; the agent reads the comment. It also withdraws an unused approval
revoke   withdraw an approval that covers more than one call
bypass   requests to go past a guardrail, what each would lift, and reviews that are owed
review   end the review of an emergency that nobody had answered, right or --wrong
request  write a ticket out, to be signed on another machine
sign     show such a file in full, and sign an answer to it; needs no store
answer   hand in an answer that was signed elsewhere"""

EPILOG: Final = f"""\
examples:
  stanchion tickets list
  stanchion tickets show 3f2a
  stanchion tickets approve 3f2a --key ~/.config/stanchion/keys/ann --for 5m
  stanchion tickets approve 3f2a --ssh-agent --scope pattern --pattern 'command=git push *'
  stanchion tickets approve 3f2a --ssh-agent --set amount=5 --set 'to="ACME"'
  stanchion tickets approve 3f2a --ssh-agent --pick recipient=DE89370400440532013000
  stanchion tickets deny 3f2a --comment 'wrong account'

ID is a ticket's id, or at least four digits of it. An approval is bound to the agents that
asked, the task, the tool, every argument, the guards and the policy. SCOPE is `once`, or
for the same call `run`, `task` or `time`, or `pattern`; critical or irreversible actions
are approved once, and critical ones by as many operators as the policy says. With --set the
call goes ahead once with other arguments (values are JSON; with --pick they are text, or
one of those that `show` offers), judged again. A yes to a `value` is for all calls of this
tool in this task that ask about these values. KIND is
{", ".join(Kind)}: nothing starts on a yes to a run, a review or an
effect. A review is ended with `review`, not with `approve`. A yes to an effect says that it
has happened, with `--set happened=false` that it has not. A TIME is 90s, 15m, 2h, at most
1d. The store is the project's (`stanchion state --where`), or the one that STANCHION_STORE
names; answers are in the trail.

{WAYS}

exit status:
  0  it is shown or answered, or there is nothing yet
  1  not answered: the ticket is already answered or expired, or you are not allowed to
  2  there is no such ticket, or the store cannot be used"""

TAKES: Final = {
    "list": frozenset({"all", "kind", "state", "tenant"}),
    "watch": frozenset({"kind", "tenant"}),
    "show": frozenset({"id", "tenant"}),
    "approve": frozenset(
        {"id", "by", "comment", "for_s", "scope", "pattern", "pick", "set", "tenant"}
    ),
    "deny": frozenset({"id", "by", "comment", "tenant"}),
    "bypass": frozenset({"all", "tenant"}),
    "review": frozenset({"id", "by", "comment", "wrong", "tenant"}),
    "revoke": frozenset({"id", "by", "comment", "tenant"}),
    "request": frozenset({"id", "tenant"}),
    "sign": frozenset({"id", "comment", "for_s", "scope", "pattern", "pick", "set", "deny"}),
    "answer": frozenset({"id"}),
}
FILES: Final = frozenset({"sign", "answer"})
MOST: Final = 1_000
"""How many tickets are looked through for those of a kind."""


OPTIONS: Final = (
    option("verb VERB", "what to do (default: list)", nargs="?", default="list"),
    option("id ID", "the ticket, the beginning of its id, or a file", nargs="?"),
    STORE,
    PROJECT,
    option("--tenant NAME", "only tickets of this tenant (default: STANCHION_TENANT; `*` is all)"),
    option("--json", "answer with JSON, one line for each ticket"),
    group(
        "list",
        option("--all", "also tickets that are closed", default=None),
        option("--state STATE", "only those in this state: " + ", ".join(State)),
        option("--kind KIND", "only those that ask this: " + ", ".join(Kind)),
    ),
    group(
        "approve, deny, sign",
        option("--comment WORDS", "a comment for the trail; for deny, the agent reads it"),
        option("--by NAME", "your name, if no key proves it"),
        option(
            "--for TIME",
            "how long the approval is valid (default: 15m)",
            dest="for_s",
            type=lasting_s,
        ),
        option("--scope SCOPE", "what it covers: " + ", ".join(Scope) + " (default: once)"),
        option("--pattern ARG=GLOB", "the values an argument may have, with `*`", action="append"),
        option(
            "--set ARG=VALUE",
            "another value for an argument, as JSON; may be repeated",
            action="append",
        ),
        option(
            "--pick ARG=VALUE",
            "the value to use instead: one that was read, or another; may be repeated",
            action="append",
        ),
        option("--wrong", "review: it should not have gone ahead", default=None),
        option("--deny", "sign a refusal", default=None),
    ),
    ANSWERER,
)


def run(args: argparse.Namespace) -> int:
    """Show tickets, or answer one."""
    taken = check_verb("tickets", TAKES, args, "id")
    if "id" in taken and args.id is None:
        what = "FILE" if args.verb in FILES else "ID"
        raise BadInput(
            f"which one? write `stanchion tickets {args.verb} {what}`; `stanchion tickets list` "
            f"shows them"
        )
    if args.verb == "sign":
        return _sign(args)
    broker = broker_for(None, args.store, os.environ) if args.verb == "answer" else ""
    if broker:
        return _carry(args, broker)
    with opened(args.store, whose(args.project, args.store)) as store:
        # Whoever watches may begin first: the shield that is opened makes the store. One in memory
        # is never seen.
        if store is None and (
            args.verb != "watch" or in_memory(args.store, whose(args.project, args.store))
        ):
            if args.verb in ("list", "bypass"):
                return 0
            if args.verb == "watch":
                raise BadInput(
                    "there is nothing to watch: give the store of another process with `--store`"
                )
            raise BadInput(
                f"there is no ticket `{args.id}`: give the store of the process that waits, with "
                f"`--store`"
            )
    return answered(args, lambda shield: VERBS[args.verb](args, shield))


def _list(args: argparse.Namespace, shield: Shield) -> int:
    state, kind = state_of(args), kind_of(args)
    most, roster = FIRST if kind is None else MOST, shield.authority.known()
    kept = shield.tickets(args.tenant, state, most=most)
    found = [ticket_view(one, roster) for one in kept if kind in (None, one.kind)]
    if args.json:
        put_json(*found)
        return 0
    terminal, now = Terminal.of_stdout(), wall_ms()
    grants = (
        [grant_view(*each) for each in shield.grants(args.tenant)]
        if state is None and kind is None
        else []
    )
    put_lines(
        [*(listing(found, now, terminal) if found else ()), *([""] if found and grants else ())]
    )
    put_lines(holding(grants, now, terminal) if grants else ())
    filed = shield.ticketing().count(tenant_of(args.tenant))
    if state is None and kind is None and filed > len(found) >= FIRST:
        tell(f"{len(found):,} of about {filed:,}: the most urgent ones")
    if not found and not grants:
        tell(
            "nothing waits for a person" if args.state is None else f"no ticket is {args.state}",
        )
    return 0


def _show(args: argparse.Namespace, shield: Shield) -> int:
    ticket = ticket_view(shield.ticket(args.id, args.tenant), shield.authority.known())
    if args.json:
        put_json(ticket)
        return 0
    put_lines(whole(ticket, wall_ms(), Terminal.of_stdout()))
    return 0


def _approve(args: argparse.Namespace, shield: Shield) -> int:
    ticket = shield.ticket(args.id, args.tenant)
    check_approvable(ticket)
    ticket = shield.approve(
        ticket.id,
        by=_by(args, shield),
        comment=comment_of(args),
        for_s=for_s_of(args),
        scope=scope_of(args),
        pattern=pattern_of(args),
        edits=edits_of(args, ticket),
        tenant=ticket.tenant,
        generation=ticket.generation,
    )
    return _answered(args, ticket, shield)


def _deny(args: argparse.Namespace, shield: Shield) -> int:
    comment = reason_of(args)
    ticket = shield.ticket(args.id, args.tenant)
    signs = args.key is not None or args.ssh_agent
    name = args.by if args.by else whoever()
    by = _by(args, shield) if signs else name
    return _answered(
        args, shield.deny(ticket.id, by=by, comment=comment, tenant=ticket.tenant), shield
    )


def _revoke(args: argparse.Namespace, shield: Shield) -> int:
    tenants = (
        [args.tenant] if args.tenant is not None else [tenant for tenant, _ in shield.grants()]
    )
    who = args.by if args.by else whoever()
    for tenant in dict.fromkeys(tenants):
        if shield.revoke(args.id, by=who, why=comment_of(args), tenant=tenant):
            tell(f"grant {args.id} is no longer valid")
            return 0
    raise TicketError(
        f"no grant `{args.id}` is valid: `stanchion tickets list` shows those that are"
    )


def _bypass(args: argparse.Namespace, shield: Shield) -> int:
    from stanchion.cli.bypasses import listed

    return listed(args, shield)


def _review(args: argparse.Namespace, shield: Shield) -> int:
    from stanchion.cli.bypasses import reviewed

    return reviewed(args, shield, _by(args, shield))


def _request(args: argparse.Namespace, shield: Shield) -> int:
    ticket = shield.ticket(args.id, args.tenant)
    sys.stdout.buffer.write(msgspec.json.encode(ticket, order="deterministic") + b"\n")
    sys.stdout.buffer.flush()
    return 0


def _sign(args: argparse.Namespace) -> int:
    """Sign an answer to a ticket that was written out, on a machine that has nothing else of it."""
    from stanchion.audit.layout import state_folder

    try:
        ticket = typed.decode(_content(args.id, 4 * LARGEST), Ticket)
    except msgspec.MsgspecError as error:
        raise BadInput(
            f"`{args.id}` is not a ticket: {error}; write it with `stanchion tickets request`"
        ) from None
    if not args.as_name or (args.key is None and not args.ssh_agent):
        raise BadInput(
            "say who signs, and with which key: `--as NAME`, and `--key FILE` or `--ssh-agent`"
        )
    comment = reason_of(args) if args.deny else comment_of(args)
    roster, own = Roster(), os.path.lexists(state_folder(os.environ))
    try:
        one = signer(args, roster, own)
        scope = Scope(scope_of(args))
        pattern = (
            checked_pattern(pattern_of(args) or {}, ticket.content, ticket.deed.sinks)
            if scope is Scope.PATTERN
            else {}
        )
        if not args.deny and not ticket.whole:
            raise TicketError("it can only be denied: it is not shown in full, or was changed")
        for line in whole(ticket_in_full(ticket), wall_ms(), Terminal.of(sys.stderr, os.environ)):
            put(sys.stderr, line)
        edits = checked_edits(ticket, edits_of(args, ticket), scope)
        if edits:
            put(sys.stderr, f"signed with other arguments: {visible(pairs(edits))}")
        wish = wish_of(ticket, said(scope, ticket.run, pattern, edits))
        role = one.role if one.role else ticket.roles[-1]
        until = wall_ms() + int(for_s_of(args) * 1000)
        answer = one.signed(wish.act(one.name, role, until, not args.deny, comment))
    except TicketError as error:
        say(sys.stderr, f"stanchion: {error}")
        return REFUSED
    sys.stdout.buffer.write(answer.bytes)
    sys.stdout.buffer.flush()
    return 0


def _carry(args: argparse.Namespace, broker: str) -> int:
    """Hand an answer to a broker, which says whether it counts, and nothing of the ticket."""
    from stanchion.runtime.remote.shield import RemoteShield

    with RemoteShield(broker) as shield:
        try:
            shield.answer(_content(args.id, LARGEST))
        except (StanchionError, ValueError) as error:
            say(sys.stderr, f"stanchion: {error}")
            return REFUSED
    tell("the broker has accepted the answer")
    return 0


def _answer(args: argparse.Namespace, shield: Shield) -> int:
    return _answered(args, shield.answer(_content(args.id, LARGEST)), shield)


def _watch(args: argparse.Namespace, shield: Shield) -> int:
    from stanchion.cli.ticket_watch import line, watch

    terminal = Terminal.of_stdout()

    def show(word: str, ticket: TicketView) -> None:
        if args.json:
            put_json(ticket)
        else:
            put_line(line(word, ticket, wall_ms(), terminal))
            sys.stdout.flush()

    watch(shield, args.tenant, kind_of(args), show)
    return 0


VERBS: Final = {
    "list": _list,
    "watch": _watch,
    "show": _show,
    "approve": _approve,
    "deny": _deny,
    "revoke": _revoke,
    "bypass": _bypass,
    "review": _review,
    "request": _request,
    "answer": _answer,
}


def _by(args: argparse.Namespace, shield: Shield) -> By:
    by = answerer(args, shield, lambda wish: _page(wish, Terminal()))
    return msgspec.structs.replace(by, shows=_shows) if isinstance(by, Signer) else by


def _page(wish: Wish, terminal: Terminal) -> Iterable[str]:
    """What is answered, as it is read in that moment: a ticket may have changed since it was looked
    up."""
    yield from whole(ticket_in_full(wish.said), wall_ms(), terminal)
    values = wish.said.kind is Kind.VALUE and wish.scope == Scope.ONCE
    yield f"a yes covers: {'these values in this task' if values else visible(wish.scope)}"
    changed = changed_by(wish.scope)
    if changed:
        yield f"the call goes ahead with other arguments: {visible(pairs(changed))}"


def _shows(wish: Wish) -> None:
    for line in _page(wish, Terminal.of(sys.stderr, os.environ)):
        put(sys.stderr, line)


def _content(name: str, most: int) -> bytes:
    try:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            return file.read(most + 1)
    except OSError as error:
        raise BadInput(f"`{name}` cannot be read: {error.strerror}") from None


def _answered(args: argparse.Namespace, ticket: Ticket, shield: Shield) -> int:
    view = ticket_view(ticket, shield.authority.known())
    if args.json:
        put_json(view)
    else:
        tell(outcome(view))
    return 0
