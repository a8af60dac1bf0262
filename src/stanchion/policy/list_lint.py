"""Linting overlays: a list that took the place of an inherited one, and what it dropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stanchion.kernel.contract.values import Sure
from stanchion.kernel.option import Stricter, Strictness
from stanchion.policy.document import Document
from stanchion.policy.errors import Fault
from stanchion.policy.lists import ADD, REPLACE, Replaced
from stanchion.policy.loosening.guards import PLACEMENT
from stanchion.policy.loosening.tables import TABLES
from stanchion.policy.schema import GUARDS, options_of

GROWING: Final = frozenset({Stricter.MORE, Stricter.WIDER})
"""Lists that refuse more the more is in them: what is dropped is let through."""

SHOWN: Final = 5
"""How many dropped entries are named."""


def about_lists(document: Document) -> Iterator[tuple[Fault, str, Sure]]:
    """Lists that replace others without saying so: where and what, what to do, and how sure it is
    that this is not meant. A list that refuses less for it is likely not, and a key with nothing
    behind it never says what it does."""
    for each in document.replaced:
        some = ", ".join([f"`{name}`" for name in each.lost[:SHOWN]])
        more = f" and {len(each.lost) - SHOWN} more" if len(each.lost) > SHOWN else ""
        are = "is" if len(each.lost) == 1 else "are"
        if each.blank:
            what = f"`{each.key}:` is empty, which removes what is inherited: {some}{more}"
            advice = f"leave the line out to keep it, or write `{each.key}: null` if this is meant"
            yield Fault(str(each.at), what), advice, "likely"
            continue
        if not each.owner and each.key == "guards":
            what = f"`guards: []` removes every inherited guard: {some}{more}"
            advice = (
                f"leave the line out to keep them, or write `guards{REPLACE}: []` if this is meant"
            )
            yield Fault(str(each.at), what), advice, "likely"
            continue
        what = f"`{each.key}` replaces the inherited list, and {some}{more} {are} no longer in it"
        advice = (
            f"write `{each.key}{ADD}:` to add to that list, or `{each.key}{REPLACE}:` if this is "
            f"meant"
        )
        yield Fault(str(each.at), what), advice, "likely" if _stricter(each) in GROWING else "info"


def _stricter(each: Replaced) -> Strictness | None:
    if each.owner in GUARDS:
        own = options_of(each.owner).get(each.key)
        placed = PLACEMENT.get(each.key, PLACEMENT.get(f"applies_to.{each.key}"))
        return placed if own is None else own.stricter
    tables = {
        name.rpartition(".")[2]: way for table in TABLES.values() for name, way in table.items()
    }
    return tables.get(each.key)
