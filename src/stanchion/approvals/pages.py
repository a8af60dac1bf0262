"""Filing tickets: each is listed on a page with others of its time, so that finding what waits
reads a page or two, however many there are."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import ABSENT, Records, key

ON_A_PAGE: Final = 64

TENANTS: Final = key(FLEET, "asking")
"""Where the tenants are kept that have asked people."""
MOST_TENANTS: Final = 1_000


class Head(msgspec.Struct, frozen=True, omit_defaults=True):
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


def head_of(value: Any) -> Head:
    """The head that a record tells."""
    return Head() if value is None else typed.convert(value, Head)


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
    new = Head(kept, max(head.next, number + 1))
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


def _last(head: Head) -> int:
    """The page that takes the next ticket: the last one while it has room."""
    if head.pages and head.pages[-1][1] < ON_A_PAGE and head.pages[-1][0] == head.next - 1:
        return head.pages[-1][0]
    return head.next


def listed(page: Any, now: int) -> list[str]:
    """The ids on a page that are worth listing at a time, the one that ends first at the top."""
    found = [(ends, one) for one, ends in page_of(page).items() if ends > now]
    return [one for _, one in sorted(found)]
