"""Measuring guards on rows somebody else labelled: how much they find, and how often they disturb
honest work."""

from __future__ import annotations

from typing import Final

MEASURES: Final = {
    "loops": "how many looping runs the `loops` guard finds, and how many others it disturbs",
    "benign": "how many runs of honest work the `default` pack and the `loops` guard stop",
    "sessions": "how many whole sessions of honest work `default` and `coding-agent` disturb",
    "hooks": "how many commands of honest sessions the hooks of coding agents stop",
    "errors": "how many tool errors are put into the right class",
    "jsonschema": "how many cases of the public JSON Schema suite are judged rightly",
    "sql": "how many changes and reads the `sql` guard stops where only reads are allowed",
    "paths": "how many paths that lead away the `files` guard refuses, and how many honest ones",
    "shell": "how many dangerous shell texts the `shell` guard finds, and how many others",
    "secrets": "how many credentials of each kind the `secrets` guard takes out, and how much else",
    "pii": "how much personal data the `pii` guard finds, and what else it takes for some",
    "urls": "how many URLs that lead inside the `egress` guard refuses, and how many public ones",
    "injecagent": "how many calls that a poisoned result asks for are stopped",
    "honest": "how many runs of honest work guards against hijacks disturb",
    "injection": "how many texts that instruct an agent are flagged, and how many everyday texts",
    "scope": "what `scope_classifier` tells of: calls of another task, and of the task itself",
    "eyes": "what guards make of calls that were written without knowing them; the lab has these",
    "packs": "what each shipped policy stops of what is dangerous, and of what is honest",
}
"""Everything that can be measured and what it says; each lives in the module of its name, which has
`measure(folder) -> Report`. `eyes` needs no folder."""
