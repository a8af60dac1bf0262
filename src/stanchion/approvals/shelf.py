"""Keeping tickets in a store: opened and filed, read, and changed by compare-and-set on the store's
own time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from stanchion import typed
from stanchion.approvals.errors import TicketError, UnknownTicket
from stanchion.approvals.grants import Grant, grants_key, grants_of
from stanchion.approvals.ticket import (
    NO,
    Kind,
    State,
    Ticket,
    as_of,
    is_over,
    joined,
    key_of,
    reopen,
)
from stanchion.kernel import compare_and_set as changing
from stanchion.kernel.actions import Action
from stanchion.kernel.compare_and_set import LEFT, change_together
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import ABSENT, Batch, Line, Records, Reply, key

ON_A_PAGE: Final = 64

TENANTS: Final = key(FLEET, "asking")
"""Where the tenants are kept that have asked people."""
MOST_TENANTS: Final = 1_000


class PagesHead(msgspec.Struct, frozen=True, omit_defaults=True):
    """The pages of a tenant that list something, oldest first, with how much each lists; and the
    next page's number."""

    pages: tuple[tuple[int, int], ...] = ()
    next: int = 1

    @property
    def count(self) -> int:
        """How many tickets are listed."""
        return sum([size for _, size in self.pages])


Page = dict[str, int]
"""Ids of tickets, and until when each is worth listing."""


def head_key(tenant: str) -> str:
    """Where the head of a tenant's pages is kept."""
    return key(tenant, "tickets")


def page_key(tenant: str, number: int) -> str:
    """Where a page is kept."""
    return key(tenant, "tickets", str(number))


def head_of(value: Any) -> PagesHead:
    """The head that a record tells."""
    return PagesHead() if value is None else typed.convert(value, PagesHead)


def page_of(value: Any) -> Page:
    """The page that a record tells."""
    return {} if value is None else typed.convert(value, Page)


def pages_for(records: Records, tenant: str) -> tuple[str, ...]:
    """The records that filing a ticket looks at: the head, the oldest page, and the one that it is
    put on."""
    head = head_of(records.get(head_key(tenant), ABSENT)[1])
    oldest = [page_key(tenant, head.pages[0][0])] if head.pages else []
    return (head_key(tenant), *dict.fromkeys([*oldest, page_key(tenant, _last(head))]))


def filed(
    records: Records, tenant: str, ticket_id: str, until: int, now: int
) -> tuple[int, dict[str, Any]]:
    """The page for a ticket, and the records as they are with it; what is over on the oldest page
    leaves it."""
    head = head_of(records.get(head_key(tenant), ABSENT)[1])
    number = _last(head)
    pages = {number: page_of(records.get(page_key(tenant, number), ABSENT)[1])}
    if head.pages:
        oldest = head.pages[0][0]
        page = (
            pages[number]
            if oldest == number
            else page_of(records.get(page_key(tenant, oldest), ABSENT)[1])
        )
        pages[oldest] = {one: ends for one, ends in page.items() if ends > now}
    pages[number] = {**pages[number], ticket_id: until}
    sizes = {**dict(head.pages), **{one: len(page) for one, page in pages.items()}}
    kept = tuple([(one, size) for one, size in sorted(sizes.items()) if size])
    new = PagesHead(kept, max(head.next, number + 1))
    written: dict[str, Any] = {page_key(tenant, one): page for one, page in pages.items()}
    return number, {head_key(tenant): msgspec.to_builtins(new), **written}


def relisted(page: Any, ticket_id: str, until: int) -> Page:
    """A page on which a ticket is worth listing until another time."""
    known = page_of(page)
    return {**known, ticket_id: until} if ticket_id in known else known


def with_tenant(value: Any, tenant: str) -> list[str] | None:
    """The tenants that have asked, with one more; `None` where it is known, or there are too many
    to list."""
    known = tenants_of(value)
    return None if tenant in known or len(known) >= MOST_TENANTS else [*known, tenant]


def tenants_of(value: Any) -> tuple[str, ...]:
    """The tenants that have asked."""
    return () if value is None else msgspec.convert(value, tuple[str, ...])


def _last(head: PagesHead) -> int:
    """The page that takes the next ticket: the last one while it has room."""
    if head.pages and head.pages[-1][1] < ON_A_PAGE and head.pages[-1][0] == head.next - 1:
        return head.pages[-1][0]
    return head.next


def listed(page: Any, now: int) -> list[str]:
    """The ids on a page that are worth listing at a time, the one that ends first at the top."""
    found = [(ends, one) for one, ends in page_of(page).items() if ends > now]
    return [one for _, one in sorted(found)]


Step = Callable[[Ticket | None, int], Ticket | None]
"""Gives the ticket as it is to be from the ticket as it is and the store's time; the same one is
left as it is."""

MINUTE_MS: Final = 60_000


class KeptTicket(NamedTuple):
    """A ticket as it is kept now, its version, what it was before, and the store's time."""

    ticket: Ticket | None
    version: int
    before: Ticket | None
    now: int

    @property
    def changed(self) -> bool:
        """Whether it was written."""
        return self.ticket is not self.before

    @property
    def opened(self) -> bool:
        """Whether it was opened now, for the first time or anew."""
        before = 0 if self.before is None else self.before.generation
        return self.ticket is not None and self.ticket.generation != before


class TicketLimits(NamedTuple):
    """How many tickets a run may open, how many a minute an agent, and how many about values a
    task: under the names that a policy has for them."""

    tickets_for_a_run: int
    tickets_a_minute: int
    questions_for_a_task: int


class TicketFinding(NamedTuple):
    """What an action finds: its ticket, or a grant that covers it, at which version of their
    record. Neither where it has asked too often: as often as `limit` (a field of `Limits`) lets
    it."""

    kept: KeptTicket | None
    grant: Grant | None = None
    version: int = 0
    limit: str = ""


def find(
    records: Records,
    batch_id: str,
    wanted: Ticket,
    covered: Callable[[Grant, int], bool],
    life_ms: int,
    limits: TicketLimits,
    parts: tuple[str, ...] = (),
) -> Generator[Batch, Reply, TicketFinding]:
    """The grant that covers an action, or its ticket: the one that was opened for it before, or a
    new one, filed with the others of its tenant. A no to one of its `parts`, which are kept there,
    comes before it. One trip where nothing is written."""
    tenant, grants = wanted.tenant, grants_key(wanted.tenant)
    before: Ticket | None = None
    after: Ticket | None = None
    grant: Grant | None = None
    opens = False

    def keys() -> tuple[str, ...]:
        known = (wanted.key, grants, *parts)
        return (*known, *pages_for(records, tenant)) if opens else known

    def new(now: int) -> dict[str, Any]:
        nonlocal before, after, grant, opens
        known = grants_of(records.get(grants, ABSENT)[1])
        grant = next((one for one in known if now < one.until and covered(one, now)), None)
        before = after = _denied(records, parts)
        if before is not None:
            return {}
        before = after = read(records.get(wanted.key, ABSENT)[1])
        if grant is not None:
            return {}
        if before is not None and not is_over(before, now):
            after = as_of(before, now)
            if after.state is State.OPEN:
                after = joined(after, wanted)
            return {} if after is before else {wanted.key: msgspec.to_builtins(after)}
        if not opens:
            opens = True
            return {wanted.key: LEFT}
        after = reopen(wanted, before, now, life_ms)
        page, written = filed(records, tenant, wanted.id, after.expires_at, now)
        after = msgspec.structs.replace(after, page=page)
        return {wanted.key: msgspec.to_builtins(after), **written}

    made = yield from change_together(
        records, batch_id, tenant, keys, new, lambda: _counted(wanted, limits, opens)
    )
    if grant is not None:
        return TicketFinding(None, grant, records[grants][0])
    if after is not before and not made.written:
        return TicketFinding(None, limit=_limit(made.reply))
    return TicketFinding(
        KeptTicket(after, records.get(wanted.key, ABSENT)[0], before, made.reply.now)
    )


def _limit(reply: Reply) -> str:
    """The limit that nothing more was counted towards."""
    stops = [at for at, one in enumerate(reply.actions) if one >= Action.BLOCK]
    return TicketLimits._fields[stops[0] if stops else 0]


def _denied(records: Records, keys: tuple[str, ...]) -> Ticket | None:
    """One of the tickets about values that are kept there to which somebody has said no."""
    for one in [read(records.get(each, ABSENT)[1]) for each in keys]:
        if one is not None and one.kind is Kind.VALUE and one.state in NO:
            return one
    return None


def _counted(wanted: Ticket, limits: TicketLimits, opens: bool) -> tuple[Line, ...]:
    """What opening a ticket counts towards; each is refused where it would exceed its limit."""
    if not opens:
        return ()
    agent = key(wanted.tenant, "asks", "agent", wanted.agent)
    counted = (
        Line(
            key(wanted.tenant, "asks", "run", wanted.run),
            ((limits.tickets_for_a_run, Action.BLOCK),),
        ),
        Line(
            f"{agent}/{MINUTE_MS}", ((limits.tickets_a_minute, Action.BLOCK),), window_ms=MINUTE_MS
        ),
    )
    if wanted.kind is not Kind.VALUE:
        return counted
    task = key(wanted.tenant, "asks", "values", wanted.deed.root)
    return (*counted, Line(task, ((limits.questions_for_a_task, Action.BLOCK),)))


def ask_again(
    records: Records, batch_id: str, ticket: Ticket, wanted: Ticket, life_ms: int
) -> Generator[Batch, Reply, KeptTicket]:
    """Open a ticket again whose answer does not count, unless something came of it meanwhile; it
    stays on its page."""
    page = page_key(ticket.tenant, ticket.page)
    before: Ticket | None = None
    after: Ticket | None = None

    def new(now: int) -> dict[str, Any]:
        nonlocal before, after
        before = after = read(records.get(ticket.key, ABSENT)[1])
        if before is None or (before.generation, before.state) != (ticket.generation, ticket.state):
            return {}
        after = msgspec.structs.replace(reopen(wanted, before, now, life_ms), page=ticket.page)
        listing = relisted(records.get(page, ABSENT)[1], ticket.id, after.expires_at)
        return {ticket.key: msgspec.to_builtins(after), page: listing}

    made = yield from change_together(
        records, batch_id, ticket.tenant, lambda: (ticket.key, page), new
    )
    return KeptTicket(after, records.get(ticket.key, ABSENT)[0], before, made.reply.now)


def change(
    records: Records, batch_id: str, tenant: str, key: str, step: Step
) -> Generator[Batch, Reply, KeptTicket]:
    """Read a ticket and take a step with it: one trip to the store, and one more where something is
    written."""

    def stepped(value: Any, now: int) -> Any:
        before = read(value)
        after = step(before, now)
        return LEFT if after is before or after is None else msgspec.to_builtins(after)

    made = yield from changing.change(records, batch_id, tenant, key, stepped)
    before = read(made.before)
    return KeptTicket(read(made.value) if made.written else before, made.version, before, made.now)


def read(value: Any) -> Ticket | None:
    """The ticket that a record tells."""
    if value is None:
        return None
    try:
        return typed.convert(value, Ticket)
    except msgspec.ValidationError as error:
        raise TicketError(
            f"a ticket cannot be read: {error}; use the version of Stanchion that wrote it"
        ) from None


class Looks(Protocol):
    """A store, as far as people look into it."""

    def look(self, prefix: str = "") -> Iterator[Any]:
        """Every cell whose key begins so."""


def all_in(store: Looks, tenant: str | None = None, beginning: str = "") -> Iterator[Ticket]:
    """Every ticket in a store, or of one tenant whose id begins so, as it is kept; what cannot be
    read is left out."""
    prefix = "{" if tenant is None else key_of(tenant, beginning)
    for cell in store.look(prefix):
        if cell.value is None or "}ticket:" not in cell.key:
            continue
        try:
            ticket = typed.convert(cell.value, Ticket)
        except msgspec.ValidationError:
            continue
        if ticket.key == cell.key and ticket.id.startswith(beginning):
            yield ticket


LEAST: Final = 4
"""How much of an id is needed."""


def named(tickets: Iterable[Ticket], ticket_id: str) -> Ticket:
    """The one ticket among those whose ids begin so."""
    found = list(tickets)
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(f"`{ticket.id}`" for ticket in found[:3])
        raise UnknownTicket(
            f"`{ticket_id}` matches {len(found)} tickets, such as {some}: write more digits of it"
        )
    raise UnknownTicket(f"there is no ticket `{ticket_id}`: see `stanchion tickets list --all`")
