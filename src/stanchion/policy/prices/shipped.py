"""The shipped price table: read once, when a price is first asked for."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Annotated, NamedTuple

import msgspec

from stanchion.policy.prices.entry import PriceEntry
from stanchion.policy.sections import FileSection

Day = Annotated[str, msgspec.Meta(pattern="^20[0-9]{2}-[01][0-9]-[0-3][0-9]$")]


class Vendor(FileSection, frozen=True, kw_only=True):
    """The models of one vendor or host: where their prices were read and when, what to know about
    them, and what snapshots are called: a model's name followed by that pattern is the same
    model."""

    source: str
    as_of: Day
    note: str = ""
    snapshots: str = ""
    models: dict[str, PriceEntry]


class TableFile(FileSection, frozen=True):
    """The table as it is written."""

    vendors: dict[str, Vendor]


class Table(NamedTuple):
    """The table as it is looked up: every name and pattern with its price, the day of its newest
    price, and a hash of what it says."""

    vendors: dict[str, Vendor]
    models: dict[str, PriceEntry]
    as_of: str
    digest: str


@cache
def shipped() -> Table:
    """The prices that came with this version."""
    from importlib import resources

    from stanchion.policy.composed import read_text
    from stanchion.policy.struct_check import convert

    name = "table.yaml"
    text = resources.files("stanchion.policy.prices").joinpath(name).read_text("utf-8")
    return table_of(convert(read_text(text, name), TableFile))


def table_of(file: TableFile) -> Table:
    """A table ready for looking up; a model that has an entry of its own is never taken for a
    snapshot."""
    models: dict[str, PriceEntry] = {}
    for vendor in file.vendors.values():
        for name, entry in vendor.models.items():
            models[name] = entry
            if vendor.snapshots:
                models[name + vendor.snapshots] = entry
    body = msgspec.json.encode(file, order="deterministic")
    newest = max([vendor.as_of for vendor in file.vendors.values()])
    return Table(file.vendors, models, newest, hashlib.sha256(body).hexdigest())
