"""Measuring guards on rows somebody else labelled: how much they find, and how often they disturb honest work."""

from __future__ import annotations

from typing import Final

MEASURES: Final = {
    "loops": "how many looping runs the `loops` guard finds, and how many others it disturbs",
    "benign": "how many runs of honest work the `default` pack and the `loops` guard stop",
    "errors": "how many tool errors are put into the right class",
    "jsonschema": "how many cases of the public JSON Schema suite are judged rightly",
    "sql": "how many changes and reads the `sql` guard stops where only reads are allowed",
    "paths": "how many paths that lead away the `files` guard refuses, and how many honest ones",
    "shell": "how many dangerous shell texts the `shell` guard finds, and how many others it disturbs",
    "urls": "how many URLs that lead inside the `egress` guard refuses, how many public ones, and whose hosts it finds",
}
"""Everything that can be measured and what it says; each lives in the module of its name, which has
`measure(folder) -> Report`."""
