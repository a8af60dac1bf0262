"""The format of bundles: every key, and the JSON Schema, from the structs that read them."""

import json

import msgspec

from stanchion.tutor.bundles import file
from stanchion.tutor.bundles.file import BundleFault
from stanchion.tutor.playing.bundle_files import ENDINGS, LARGEST
from tools.struct_table import tables

PATH = "docs/reference/bundles.md"

INTRODUCTION = """\
# Bundles

What the file of a bundle can have. It ends in {endings} and has at most {largest} MiB. A key that is not here is
refused. How to make one and play by it: [Play by a frozen bundle](../how-to/bundles.md).

## The hash

`bundle_hash` is `sha256:` and the SHA-256, in 64 small hexadecimal digits, of the canonical JSON
([RFC 8785](https://www.rfc-editor.org/rfc/rfc8785)) of the whole file without `bundle_hash`: keys sorted, no spaces,
numbers as ECMAScript writes them, UTF-8. So JSON and YAML with the same content have the same hash. Whole numbers
beyond 2^53 - 1 have no canonical form, nor has what is more than 64 levels deep.

## Why one is refused

| reason | |
|---|---|
"""

WHY = {
    BundleFault.UNREADABLE: (
        "there is no such plain file, it is neither JSON nor YAML, or it was cut off"
    ),
    BundleFault.TOO_LARGE: "it is larger than a bundle can be",
    BundleFault.ALIASES: (
        "it has an anchor or an alias of YAML, with which a few bytes can become gigabytes"
    ),
    BundleFault.DUPLICATE_KEY: "a key is there twice",
    BundleFault.UNKNOWN_KEY: "it has a key that is not on this page",
    BundleFault.BAD_VALUE: (
        "a key is missing, its value is not of its type, or `task_template` has "
        "other places to fill in"
    ),
    BundleFault.NEWER: "its `bundle_version` is newer than {version}",
    BundleFault.NO_HASH: "it has no `bundle_hash`: nobody has frozen it",
    BundleFault.WRONG_HASH: "it was changed after it was frozen",
    BundleFault.NO_SCOPE: "it does not say what it is for",
    BundleFault.OUT_OF_SCOPE: "it was not made for this game, this model or this law",
    BundleFault.NOT_DETERMINISTIC: "its temperature is not 0, and `deterministic_mode` is on",
}

STRUCTS = (
    file.BundleFile,
    file.ScopeKeys,
    file.PromptKeys,
    file.ModelParamKeys,
    file.Metadata,
    file.OptimizerConfig,
    file.ShownExemplar,
    file.Compared,
    file.AntiPattern,
    file.FormatGuidance,
    file.MetricConfig,
    file.Weights,
)

SCHEMA = """
## JSON Schema

An entry of `exemplars` is a [Shown](#shown) or a [Compared](#compared).

```json
{schema}
```
"""


def render() -> str:
    """The hash, the reasons, a table for each struct, and the schema."""
    version = ".".join(map(str, file.VERSION))
    endings = ", ".join(f"`{one}`" for one in ENDINGS[:-1]) + f" or `{ENDINGS[-1]}`"
    rows = "".join(
        f"| `{one.value}` | {WHY[one].format(version=version)} |\n" for one in BundleFault
    )
    schema = json.dumps(msgspec.json.schema(file.BundleFile), indent=2)
    top = INTRODUCTION.format(endings=endings, largest=LARGEST >> 20)
    return top + rows + tables(STRUCTS) + SCHEMA.format(schema=schema)
