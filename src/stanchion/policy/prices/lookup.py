"""Looking a price up: the policy's own first, then the shipped table, which is read when a price is
first asked for."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Annotated, Final, NamedTuple

import msgspec

from stanchion.kernel.names import is_glob
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import StanchionError
from stanchion.policy.compiled import CompiledPolicy, best
from stanchion.policy.document import shown
from stanchion.policy.prices.entry import PricedTokens, PriceEntry, cost_microusd
from stanchion.policy.sections import FileSection
from stanchion.policy.struct_check import shipped_table

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


class PriceTable(NamedTuple):
    """The table as it is looked up: every name and pattern with its price, the day of its newest
    price, and a hash of what it says."""

    vendors: dict[str, Vendor]
    models: dict[str, PriceEntry]
    as_of: str
    digest: str


@cache
def shipped() -> PriceTable:
    """The prices that came with this version."""
    return table_of(shipped_table("prices", TableFile))


def table_of(file: TableFile) -> PriceTable:
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
    return PriceTable(file.vendors, models, newest, hashlib.sha256(body).hexdigest())


PLAIN_KEY: Final = regex(r"[A-Za-z][\w./-]*")
SHOWN: Final = 3
LONGEST: Final = 200

NAMELESS: Final = (
    "the call names no model, so its cost is not known: give `model` or `cost_usd` with the call"
)
ADD: Final = """\
prices:
  {}:
    {{input_usd_per_mtok: DOLLARS, output_usd_per_mtok: DOLLARS}}"""


class UnknownModel(StanchionError, ValueError):
    """No price is known for a model; its text says how to add one."""

    def __init__(self, model: str, near: tuple[str, ...] = ()) -> None:
        self.model = model
        self.near = near
        super().__init__(_unknown(model, near) if model else NAMELESS)


def _unknown(model: str, near: tuple[str, ...]) -> str:
    meant = f"use {', '.join(f'`{name}`' for name in near)} if that is meant, " if near else ""
    add = "give `cost_usd` with the call, or add to the policy what a million tokens cost"
    return (
        f"no price is known for the model {shown(model)}: {meant}{add}:\n{ADD.format(_key(model))}"
    )


class Price(msgspec.Struct, frozen=True):
    """What a model charges, and where that is said: the policy, or the shipped table with its day
    and hash."""

    model: str
    entry: PriceEntry
    origin: str

    def cost_microusd(self, usage: PricedTokens) -> int:
        """What so many tokens cost, in millionths of a dollar, rounded up."""
        return cost_microusd(self.entry, usage)

    def cost_usd(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """The same in dollars; `cached_tokens` are those of the input that a cache gave."""
        counts = {
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "cached_tokens": cached_tokens,
        }
        for name, count in counts.items():
            if type(count) is not int or count < 0:
                raise ValueError(f"{name} is `{count}`: give a whole number that is not negative")
        if cached_tokens > input_tokens:
            raise ValueError(
                f"cached_tokens is `{cached_tokens}`: it cannot be more than input_tokens, of "
                f"which it is a part"
            )
        usage = PricedTokens(
            input=input_tokens - cached_tokens, cached=cached_tokens, output=output_tokens
        )
        return self.cost_microusd(usage) / 1_000_000


def price(policy: CompiledPolicy, model: str) -> Price:
    """The price of a model: its own entry or the closest glob, in the policy before the shipped
    table.

    Raises `UnknownModel` where neither has one.
    """
    own = best(policy.file.prices, model)
    if own is not None:
        return Price(model, own, "the policy")
    table = shipped()
    listed = best(table.models, model) if model else None
    if listed is None:
        raise UnknownModel(model, _near(model, (*policy.file.prices, *table.models)))
    return Price(model, listed, f"the price table of {table.as_of}, sha256 {table.digest[:16]}")


def _near(model: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The known names that look most like it, patterns left out."""
    from difflib import get_close_matches

    known = sorted({name for name in names if not is_glob(name)})
    return tuple(get_close_matches(model[:LONGEST], known, SHOWN, 0.6))


def _key(model: str) -> str:
    """A model's name as a key of YAML."""
    name = model[:LONGEST].encode("utf-8", "backslashreplace").decode("utf-8")
    return name if PLAIN_KEY.fullmatch(name) else msgspec.json.encode(name).decode()
