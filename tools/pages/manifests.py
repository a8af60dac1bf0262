"""The format of manifests: every field, from the structs that write them."""

from stanchion.tutor.manifests import manifest
from tools.struct_table import tables

PATH = "docs/reference/manifests.md"

INTRODUCTION = """\
# Manifests

What a manifest of version {version} has, one JSON object in a file. Every field is written; what is not known is
`null`. How to get one, verify it and play it again: [Say what a run was made of](../how-to/manifests.md).

| kind | written by | needs |
|---|---|---|
| `tutor` | a run of the Tutor | {tutor} |
| `run` | `stanchion runs manifest` | {run} |

A seed is required if the temperature is above 0. If git does not say on which commit a run stood, `git_commit` and
`git_dirty` are `null`, and `git_missing` says why.

## The hashes

Beside these fields a manifest has `field_hashes` and `manifest_hash`. The first has a hash for every field by its
place, such as `model.seed`: `sha256:` and the SHA-256 of the canonical JSON
([RFC 8785](https://www.rfc-editor.org/rfc/rfc8785)) of the list of the place and the value. A point in a name is
written `\\.`, a backslash `\\\\`. Objects are gone into, unless they are empty; lists are one field. `manifest_hash`
is the hash of the canonical JSON of `field_hashes`.

`stanchion/audit/manifest_check.py` checks both, and the files that the manifest names. It imports nothing of Stanchion:
copy it to check manifests with Python alone.
"""

STRUCTS = (
    manifest.Manifest,
    manifest.Environment,
    manifest.RepositoryPart,
    manifest.TutorPart,
    manifest.Model,
    manifest.Benchmark,
    manifest.PolicyPart,
    manifest.Outputs,
    manifest.Checksums,
    manifest.RepairStats,
    manifest.ResultPart,
    manifest.RunPart,
    manifest.TrailPart,
)


def render() -> str:
    """The kinds, the hashes, and a table for each section."""
    needs = {
        kind: ", ".join(f"`{name}`" for name in names) for kind, names in manifest.NEEDED.items()
    }
    top = INTRODUCTION.format(
        version=manifest.VERSION, tutor=needs[manifest.TUTOR], run=needs[manifest.RUN]
    )
    return top + tables(STRUCTS)
