"""The shipped price table, and how a price is found and applied."""

from stanchion.policy.prices.entry import PriceEntry, Rates
from stanchion.policy.prices.lookup import Vendor, shipped
from stanchion.runtime.calling.model_bill import LIMITS, PER_MESSAGE, PER_TOOLSET, UNLIMITED

PATH = "docs/reference/prices.md"

INTRODUCTION = """\
# Prices of models

In US dollars for a million tokens of text, at the vendor's standard rate. Prices change: look at the source before you
rely on one, and [write what you pay into your policy](../how-to/price-a-model.md).

A price is looked for in the policy's `prices` first, then here; in each the entry of exactly that name counts, then
the closest glob. A name followed by a vendor's pattern for snapshots is the same model, unless it has an entry of its
own. Where a budget bounds cost, a call of a model that is in neither raises `UnknownModel` before it is made.

Left out on purpose: names that move from model to model (`…-latest`), models whose vendor has set a day for another
price, and names that several hosts sell at different prices. Not counted: batch and flex discounts, priority and
regional surcharges, fees for tools and searches, audio and images.

This table is as of {as_of}. Records of calls that it priced name it by this date and the first 16 digits of its hash:
`{digest}`.
"""

ESTIMATES = """\
## What a call reserves

| part | tokens |
|---|---|
| messages and parameters, as JSON in UTF-8 | 2 for 3 small letters, 1 for every other byte |
| each message, and the request itself | {per_message} |
| a request that offers tools | {per_toolset:,} |
| the reply, times `n` or `candidate_count` | the largest of {limits}; otherwise as below |

A reply that the request does not limit is reserved by the `max_output_tokens` of its price in the policy, then by what
budgets reserve (`reserve_tokens`, `reserve_cost_usd`), then as {unlimited:,} tokens.

A word is at least one token, a space before a word is none, and further spaces there are one token, up to sixteen of
them. The prompt is priced as if all of it were written to a cache, and the reply as output. `tokens` and `cost_usd`
given with the call are taken instead.

Five tokenizers were measured on texts in nine languages, code, JSON, numbers, hashes, random letters and emoji: none
made more tokens of a text than this. English prose is overestimated about three times, code about twice, numbers
hardly at all. It is no proof: a text of rare consonants only (`qzxjkvw`) can have a sixth more tokens than estimated,
a tokenizer that nobody outside its vendor has can differ, and images, audio and files behind a link are not in the
text at all. What a call uses beyond its reservation is charged all the same, and noted in its record.
"""


def render() -> str:
    """Render one table for each vendor."""
    table = shipped()
    lines = [INTRODUCTION.format(as_of=table.as_of, digest=table.digest)]
    for name, vendor in table.vendors.items():
        lines += _vendor(name, vendor)
    limits = ", ".join(f"`{name}`" for name in LIMITS)
    estimates = ESTIMATES.format(
        per_message=PER_MESSAGE, per_toolset=PER_TOOLSET, limits=limits, unlimited=UNLIMITED
    )
    return "\n".join([*lines, estimates])


def _vendor(name: str, vendor: Vendor) -> list[str]:
    said = f"[Source]({vendor.source}), as of {vendor.as_of}."
    said += f" {vendor.note}" if vendor.note else ""
    said += f" Snapshots: a name followed by `{vendor.snapshots}`." if vendor.snapshots else ""
    lines = [f"## {name}", "", said, ""]
    lines += [
        "| model | input | output | from cache | to cache | to cache, 1 h |",
        "|---|---|---|---|---|---|",
    ]
    for model, entry in vendor.models.items():
        lines += _rows(model, entry)
    return [*lines, ""]


def _rows(model: str, entry: PriceEntry) -> list[str]:
    rows = [f"| `{model}` | {_rates(entry)} |"]
    if entry.long_prompt is not None:
        rows.append(
            f"| … prompts above {entry.long_prompt.above_tokens:,} tokens | "
            f"{_rates(entry.long_prompt)} |"
        )
    return rows


def _rates(rates: Rates) -> str:
    values = [getattr(rates, name) for name in Rates.__struct_fields__]
    return " | ".join("" if value is None else f"{value:g}" for value in values)
