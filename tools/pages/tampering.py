"""What verifying finds: every way to tamper with a trail, by what it is verified with.

`tests/audit/test_tampering.py` does each of them to real trails and holds the outcome against this
table.
"""

from typing import Final, NamedTuple

PATH = "docs/reference/tampering.md"

COLUMNS: Final = ("no key", "key", "key and store", "key and witness")

FOUND, NOT_SEEN = "found", "not seen"


class Row(NamedTuple):
    """A way to tamper: what is done, what is found with nothing, a key, the store, a witness, and
    why not, if not."""

    done: str
    cells: tuple[bool, bool, bool, bool]
    why: str = ""


ROWS: Final = {
    "edit": Row("edit a record", (True, True, True, True)),
    "rewrite": Row(
        "edit a record, and recalculate all hashes after it and the head",
        (False, True, True, True),
        "Hashes need no secret: whoever can write to the folder can make them fit again.",
    ),
    "delete": Row("delete a record in the middle", (True, True, True, True)),
    "insert": Row("insert a record in the middle", (True, True, True, True)),
    "forge": Row(
        "append made-up records after a kill, and let the next process go on from them",
        (False, True, True, True),
        "Without a key a record that fits by its hash is as good as one that was written. With one "
        "it lacks the mac.",
    ),
    "cut killed": Row(
        "cut the end off after a kill, and put back a head that was copied earlier",
        (False, False, True, True),
        "What is left was all written and sealed like this, at an earlier time. Nothing in the "
        "folder says that more came; the store and the witness do.",
    ),
    "cut closed": Row(
        "cut the end off a closed chain, and put back a head that was copied earlier",
        (False, False, True, True),
        "The same as after a kill: the earlier head is genuine.",
    ),
    "delete segment": Row("delete a segment", (True, True, True, True)),
    "delete chain": Row(
        "delete a whole chain",
        (False, False, True, True),
        "A chain is missed where a checkpoint of another chain names it, which every checkpoint "
        "written later does. "
        "This is the last chain that was written, which none names yet.",
    ),
    "put back": Row(
        "put the whole folder back to an earlier state",
        (False, False, True, True),
        "The folder was exactly like this once, seals and all.",
    ),
    "move": Row("move a record to another chain", (True, True, True, True)),
    "begin anew": Row(
        "replace the whole trail with a new one",
        (False, True, True, True),
        "Without a key any trail that is whole in itself will do.",
    ),
}

INTRODUCTION = """\
# What tampering is found

Each of these is done to real trails, with processes that are really killed, by a test that fails where this table is
not so. Whoever does it can write to the trail's folder, and has neither the key that verifies nor a way to write to the
store or to the witness.

- **no key**: `stanchion audit verify`, of a trail without a key
- **key**: a [ratcheting key](../how-to/audit.md#seal-it-with-a-key), verified with the file that is kept elsewhere
- **key and store**: the same, and the store says how far the trail had come
- **key and witness**: the same, and a witness, a file of heads kept elsewhere, does

"""

LIMITS = """
## What the columns rest on

- A store proves the end against whoever can write to the trail's folder and not to the store. An SQLite file beside the
  trail is in the same hands as the trail: use a server, or a witness.
- The store learns of a record with a batch that goes there later, at most every 50 ms. Records that were written right
  before a kill, and that no batch followed, can be cut off unseen; so can what came after the last line of a witness.
- A shared secret in place of the ratcheting key finds the same, as long as nobody has it: whoever does can make all of
  it anew.
- With an Ed25519 pair records have no macs. Heads and checkpoints are signed; made-up records after the last head of a
  killed process are not told from real ones, and verifying calls them `not proven`.
"""


def render() -> str:
    """Write the page."""
    lines = [
        INTRODUCTION + "| what is done | " + " | ".join(COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for row in ROWS.values():
        cells = [FOUND if found else NOT_SEEN for found in row.cells]
        lines.append(f"| {row.done} | " + " | ".join(cells) + " |")
    lines += ["", "## Why some are not seen", ""]
    lines += [f"- **{row.done}**: {row.why}" for row in ROWS.values() if row.why]
    return "\n".join(lines) + "\n" + LIMITS
