"""`stanchion tickets`: what waits for a person, and that person's answer."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import DecodeError, MsgspecError
from msgspec.structs import replace

from stanchion import Shield, StanchionError, typed
from stanchion.approvals.act import GRANT_S, LARGEST
from stanchion.approvals.answerers import By, Signer, Wish
from stanchion.approvals.errors import TicketError
from stanchion.approvals.grant_reach import Scope, checked_pattern, edits_of as changed_by, said
from stanchion.approvals.grants import checked_edits
from stanchion.approvals.operators import Roster
from stanchion.approvals.overrides import check_approvable
from stanchion.approvals.questions import CHOICES
from stanchion.approvals.ticket import Kind, State, Ticket, wish_of
from stanchion.approvals.words import says_something
from stanchion.audit.layout import state_folder
from stanchion.cli.answerers import REFUSED, WAYS, answered, answerer, signer, whoever
from stanchion.cli.answers import link_lines
from stanchion.cli.command import (
    ANSWERER,
    PROJECT,
    STORE,
    Args,
    BadInput,
    DeclaredCommand,
    Verb,
    Work,
    group,
    lasting_s,
    option,
    word_of,
)
from stanchion.cli.curing import asked_lines
from stanchion.cli.printing import put_json, put_view, sections
from stanchion.cli.terminal import Terminal, put, put_line, put_lines, tell, visible, warn
from stanchion.cli.ticket_lines import (
    bypass_table,
    change_line,
    grant_table,
    review_table,
    ticket_table,
    whole,
)
from stanchion.cli.whose import in_memory, opened, tenant_of, whose
from stanchion.ops.views.people import TicketView, grant_view, ticket_in_full, ticket_view, watch
from stanchion.ops.views.ticket_rows import covered, outcome, pairs
from stanchion.runtime.people.tickets import FIRST
from stanchion.runtime.remote.shield import RemoteShield
from stanchion.runtime.standing.places import broker_for
from stanchion.stores.memory import wall_ms


def _reason(args: Args) -> str:
    """The comment that a no needs."""
    if not says_something(args.comment):
        deny = "deny" if args.verb == "deny" else f"{args.verb} --deny"
        raise BadInput(
            f"`stanchion tickets {deny}` needs `--comment` with a reason in words: the agent reads "
            f"it"
        )
    return str(args.comment)


def _assigned(option: str, form: str) -> Callable[[str], tuple[str, str]]:
    """The type of an option that is given as `NAME=VALUE`."""

    def parsed(text: str) -> tuple[str, str]:
        name, sign, value = text.partition("=")
        if not name or not sign:
            raise BadInput(f"`{option}` is `{text}`: write {form}")
        return name, value

    return parsed


def _scope(args: Args) -> Scope:
    """How far a yes reaches."""
    return Scope(args.scope or ("pattern" if args.pattern else "once"))


def _edits(args: Args, ticket: Ticket) -> dict[str, Any]:
    """The arguments that a yes changes, and to what: one that was read, or what is typed."""
    found: dict[str, Any] = {}
    for name, value in args.pick:
        known = ticket.evidence.get(CHOICES, {}).get(name, [])
        choices = known if isinstance(known, list) else [known]
        found[name] = next((one for one in choices if str(one) == value), value)
    for name, value in args.set:
        try:
            found[name] = msgspec.json.decode(value)
        except DecodeError:
            shell = shlex.quote(f"{name}={msgspec.json.encode(value).decode()}")
            raise BadInput(
                f"`--set` is `{name}={value}`: the value is not JSON; for a text write `--set "
                f"{shell}`"
            ) from None
    return found


MOST: Final = 1_000
"""How many tickets are looked through for those of a kind."""


def _opened(work: Callable[[Args, Shield], int], without: str = "") -> Work:
    """Work on the tickets of the store that is named. Where it keeps nothing yet, there is nothing
    to do (`without` is "nothing"), or no such ticket; whoever watches may `begin` first, unless the
    store is one in memory, of which nobody sees another's."""

    def done(args: Args) -> int:
        state = whose(args.project, args.store)
        with opened(args.store, state) as store:
            if store is None and (without != "begin" or in_memory(args.store, state)):
                if without == "nothing":
                    return 0
                raise BadInput(
                    "there is nothing to watch: give the store of another process with `--store`"
                    if without
                    else f"there is no ticket `{args.id}`: give the store of the process that "
                    f"waits, with `--store`"
                )
        return answered(work, args)

    return done


def _list(args: Args, shield: Shield) -> int:
    state, kind = "all" if args.all else args.state, args.kind
    most, roster = FIRST if kind is None else MOST, shield.authority.known()
    kept = shield.tickets(args.tenant, state, most=most)
    found = [ticket_view(one, roster) for one in kept if kind in (None, one.kind)]
    if args.json:
        put_json(*found)
        return 0
    now, plain = wall_ms(), state is None and kind is None
    grants = [grant_view(*each) for each in shield.grants(args.tenant)] if plain else []
    put_lines(sections((found, ticket_table(now)), (grants, grant_table(now))))
    filed = shield.ticketing().count(tenant_of(args.tenant))
    if plain and filed > len(found) >= FIRST:
        tell(f"{len(found):,} of about {filed:,}: the most urgent ones")
    if not found and not grants:
        tell("nothing waits for a person" if args.state is None else f"no ticket is {args.state}")
    return 0


def _bypasses(args: Args, shield: Shield) -> int:
    """List what asks to go past a guardrail, or has and is to be reviewed, and say what each would
    lift."""
    kept = shield.tickets(args.tenant, "all" if args.all else None, most=MOST)
    found = [ticket_view(one) for one in kept if one.kind in (Kind.BYPASS, Kind.REVIEW)]
    if args.json:
        put_json(*found)
        return 0
    asks = [one for one in found if one.bypass is not None]
    owed = [one for one in found if one.review is not None]
    now = wall_ms()
    put_lines(sections((asks, bypass_table(now)), (owed, review_table(now))))
    if not found:
        tell("nobody asks for a bypass, and nothing is to be reviewed")
    return 0


def _show(args: Args, shield: Shield) -> int:
    ticket = shield.ticket(args.id, args.tenant)
    view, state = ticket_view(ticket, shield.authority.known()), whose(args.project, args.store)

    def lines(one: TicketView, at: Terminal) -> Iterable[str]:
        about = *link_lines(ticket, at), *asked_lines(ticket, state, at)
        return *whole(one, wall_ms(), at), *about

    return put_view(view, lines, args.json)


def _approve(args: Args, shield: Shield) -> int:
    ticket = shield.ticket(args.id, args.tenant)
    check_approvable(ticket)
    ticket = shield.approve(
        ticket.id,
        by=_by(args, shield),
        comment=args.comment,
        for_s=args.for_s or GRANT_S,
        scope=_scope(args),
        pattern=dict(args.pattern) or None,
        edits=_edits(args, ticket),
        tenant=ticket.tenant,
        generation=ticket.generation,
    )
    return _answered(args, ticket, shield)


def _deny(args: Args, shield: Shield) -> int:
    comment = _reason(args)
    ticket = shield.ticket(args.id, args.tenant)
    signs = args.key is not None or args.ssh_agent
    name = args.by if args.by else whoever()
    by = _by(args, shield) if signs else name
    return _answered(
        args, shield.deny(ticket.id, by=by, comment=comment, tenant=ticket.tenant), shield
    )


def _revoke(args: Args, shield: Shield) -> int:
    tenants = (
        [args.tenant] if args.tenant is not None else [tenant for tenant, _ in shield.grants()]
    )
    who = args.by if args.by else whoever()
    for tenant in dict.fromkeys(tenants):
        if shield.revoke(args.id, by=who, why=args.comment, tenant=tenant):
            tell(f"grant {args.id} is no longer valid")
            return 0
    raise TicketError(
        f"no grant `{args.id}` is valid: `stanchion tickets list` shows those that are"
    )


def _review(args: Args, shield: Shield) -> int:
    """End the review of what went past a guardrail unanswered."""
    if not args.comment:
        raise BadInput("`stanchion tickets review` needs `--comment`: say what you found")
    known, by = shield.ticket(args.id, args.tenant), _by(args, shield)
    right = not args.wrong
    ended = ticket_view(
        shield.review(known.id, by=by, comment=args.comment, right=right, tenant=known.tenant)
    )
    said = f"review {ended.id} ({ended.about}) is ended: {ended.comment}"
    return put_view(ended, lambda _, __: [visible(said)], args.json)


def _request(args: Args, shield: Shield) -> int:
    ticket = shield.ticket(args.id, args.tenant)
    sys.stdout.buffer.write(msgspec.json.encode(ticket, order="deterministic") + b"\n")
    sys.stdout.buffer.flush()
    return 0


def _sign(args: Args) -> int:
    """Sign an answer to a ticket that was written out, on a machine that has nothing else of it."""
    try:
        ticket = typed.decode(_content(args.id, 4 * LARGEST), Ticket)
    except MsgspecError as error:
        raise BadInput(
            f"`{args.id}` is not a ticket: {error}; write it with `stanchion tickets request`"
        ) from None
    if not args.as_name or (args.key is None and not args.ssh_agent):
        raise BadInput(
            "say who signs, and with which key: `--as NAME`, and `--key FILE` or `--ssh-agent`"
        )
    comment = _reason(args) if args.deny else args.comment
    roster, own = Roster(), os.path.lexists(state_folder(os.environ))
    try:
        one = signer(args, roster, own)
        scope = _scope(args)
        pattern = (
            checked_pattern(dict(args.pattern), ticket.content, ticket.deed.sinks)
            if scope is Scope.PATTERN
            else {}
        )
        if not args.deny and not ticket.whole:
            raise TicketError("it can only be denied: it is not shown in full, or was changed")
        for line in whole(ticket_in_full(ticket), wall_ms(), Terminal.of(sys.stderr, os.environ)):
            put(sys.stderr, line)
        edits = checked_edits(ticket, _edits(args, ticket), scope)
        if edits:
            put(sys.stderr, f"signed with other arguments: {visible(pairs(edits))}")
        wish = wish_of(ticket, said(scope, ticket.run, pattern, edits))
        role = one.role if one.role else ticket.roles[-1]
        until = wall_ms() + int((args.for_s or GRANT_S) * 1000)
        answer = one.signed(wish.act(one.name, role, until, not args.deny, comment))
    except TicketError as error:
        warn(f"{error}")
        return REFUSED
    sys.stdout.buffer.write(answer.bytes)
    sys.stdout.buffer.flush()
    return 0


def _answer(args: Args) -> int:
    """Hand in an answer. A broker says whether it counts, and nothing of the ticket."""
    broker = broker_for(None, args.store, os.environ)
    if not broker:
        return _opened(_take)(args)
    with RemoteShield(broker) as shield:
        try:
            shield.answer(_content(args.id, LARGEST))
        except (StanchionError, ValueError) as error:
            warn(f"{error}")
            return REFUSED
    tell("the broker has accepted the answer")
    return 0


def _take(args: Args, shield: Shield) -> int:
    return _answered(args, shield.answer(_content(args.id, LARGEST)), shield)


def _watch(args: Args, shield: Shield) -> int:
    terminal = Terminal.of_stdout()

    def show(word: str, ticket: TicketView) -> None:
        if args.json:
            put_json(ticket)
        else:
            put_line(change_line(word, ticket, wall_ms(), terminal))
            sys.stdout.flush()

    watch(shield, args.tenant, args.kind, show)
    return 0


def _by(args: Args, shield: Shield) -> By:
    by = answerer(args, shield, lambda wish: _page(wish, Terminal()))
    return replace(by, shows=_shows) if isinstance(by, Signer) else by


def _page(wish: Wish, terminal: Terminal) -> Iterable[str]:
    """What is answered, as it is read in that moment: a ticket may have changed since it was looked
    up."""
    yield from whole(ticket_in_full(wish.said), wall_ms(), terminal)
    yield visible(covered(wish.said, wish.scope))
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


def _answered(args: Args, ticket: Ticket, shield: Shield) -> int:
    view = ticket_view(ticket, shield.authority.known())
    return put_view(view, lambda one, _: [visible(outcome(one))], args.json)


ID: Final = "which one? write `stanchion tickets {} ID`; `stanchion tickets list` shows them"
FILE: Final = "which one? write `stanchion tickets {} FILE`; `stanchion tickets list` shows them"


TICKETS_COMMAND: Final = DeclaredCommand(
    usage="""stanchion tickets list [--all | --state STATE] [--kind KIND] [--tenant NAME] [--json]
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
       stanchion tickets answer ANSWER""",
    description="""\
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
answer   hand in an answer that was signed elsewhere""",
    epilog="""\
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
"""
    + ", ".join(Kind)
    + """: nothing starts on a yes to a run, a review or an
effect. A review is ended with `review`, not with `approve`. A yes to an effect says that it
has happened, with `--set happened=false` that it has not. A TIME is 90s, 15m, 2h, at most
1d. The store is the project's (`stanchion state --where`), or the one that STANCHION_STORE
names; answers are in the trail.

"""
    + WAYS
    + """

exit status:
  0  it is shown or answered, or there is nothing yet
  1  not answered: the ticket is already answered or expired, or you are not allowed to
  2  there is no such ticket, or the store cannot be used""",
    options=(
        option("verb VERB", "what to do (default: list)", nargs="?", default="list"),
        option("id ID", "the ticket, the beginning of its id, or a file", nargs="?"),
        STORE,
        PROJECT,
        option(
            "--tenant NAME", "only tickets of this tenant (default: STANCHION_TENANT; `*` is all)"
        ),
        option("--json", "answer with JSON, one line for each ticket"),
        group(
            "list",
            option("--all", "also tickets that are closed", default=None),
            option(
                "--state STATE",
                "only those in this state: " + ", ".join(State),
                type=word_of("--state", State),
            ),
            option(
                "--kind KIND",
                "only those that ask this: " + ", ".join(Kind),
                type=word_of("--kind", Kind),
            ),
        ),
        group(
            "approve, deny, sign",
            option(
                "--comment WORDS",
                "a comment for the trail; for deny, the agent reads it",
                default="",
            ),
            option("--by NAME", "your name, if no key proves it"),
            option(
                "--for TIME",
                "how long the approval is valid (default: 15m)",
                dest="for_s",
                type=lasting_s,
            ),
            option(
                "--scope SCOPE",
                "what it covers: " + ", ".join(Scope) + " (default: once)",
                type=word_of("--scope", Scope),
            ),
            option(
                "--pattern ARG=GLOB",
                "the values an argument may have, with `*`",
                action="append",
                default=[],
                type=_assigned("--pattern", "`ARGUMENT=GLOB`, such as `command=git push *`"),
            ),
            option(
                "--set ARG=VALUE",
                "another value for an argument, as JSON; may be repeated",
                action="append",
                default=[],
                type=_assigned("--set", "`ARGUMENT=VALUE`, such as `amount=5`"),
            ),
            option(
                "--pick ARG=VALUE",
                "the value to use instead: one that was read, or another; may be repeated",
                action="append",
                default=[],
                type=_assigned("--pick", "`ARGUMENT=VALUE`, such as `to=ann@a.org`"),
            ),
            option("--wrong", "review: it should not have gone ahead", default=None),
            option("--deny", "sign a refusal", default=None),
        ),
        ANSWERER,
    ),
    work={
        "list": Verb(_opened(_list, "nothing"), "all kind state tenant"),
        "watch": Verb(_opened(_watch, "begin"), "kind tenant"),
        "show": Verb(_opened(_show), "id tenant", ID.format("show")),
        "approve": Verb(
            _opened(_approve),
            "id by comment for scope pattern pick set tenant",
            ID.format("approve"),
        ),
        "deny": Verb(_opened(_deny), "id by comment tenant", ID.format("deny")),
        "revoke": Verb(_opened(_revoke), "id by comment tenant", ID.format("revoke")),
        "bypass": Verb(_opened(_bypasses, "nothing"), "all tenant"),
        "review": Verb(_opened(_review), "id by comment wrong tenant", ID.format("review")),
        "request": Verb(_opened(_request), "id tenant", ID.format("request")),
        "sign": Verb(_sign, "id comment for scope pattern pick set deny", FILE.format("sign")),
        "answer": Verb(_answer, "id", FILE.format("answer")),
    },
)
