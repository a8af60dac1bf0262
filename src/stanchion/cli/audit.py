"""`stanchion audit`: read, verify and export the trail of everything that was decided."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from stanchion.audit.keys import make_key
from stanchion.cli.audit_leaving import erase, prune
from stanchion.cli.audit_reading import export, shadow, show, tail
from stanchion.cli.audit_verifying import check_trail, keep_witness
from stanchion.cli.command import (
    BY,
    PROJECT,
    WHO,
    WHY,
    Args,
    BadInput,
    DeclaredCommand,
    GivenOnce,
    Verb,
    Work,
    count,
    group,
    lasting_s,
    option,
)
from stanchion.cli.printing import row
from stanchion.cli.terminal import Terminal, put_lines, warn
from stanchion.cli.trails import records_in
from stanchion.ops.views.trails import said
from stanchion.runtime.standing.places import KEY as KEY_FILE


def key(args: Args) -> int:
    """Make a key in a file that was named, and say what belongs where."""
    if args.what != "new" or args.more is None:
        raise BadInput("`stanchion audit key` makes a key: write `stanchion audit key new FILE`")
    path = Path(args.more)
    other = make_key(path)
    terminal = Terminal.of_stdout()
    said = {
        "seals": (
            f"{path}: keep it on this machine, writable by the user who writes the trail; "
            f"each use replaces it"
        ),
        "verifies": (
            f"{other}: do not keep it on this machine. Move it to where you verify, and "
            f"delete it here"
        ),
        "next": f"export {KEY_FILE}={path.absolute()}",
    }
    for name, text in said.items():
        put_lines(row(name, text, terminal))
    return 0


def heads(args: Args) -> int:
    """Print the heads as they stand, one a line; a chain without one is named."""
    without = []
    with records_in(args) as reader:
        for name, head in reader.heads():
            # What is printed is what is there: a witness with a seal has to keep it byte for byte.
            if head:
                sys.stdout.buffer.write(head + b"\n")
            else:
                without.append(name)
    for name in without:
        warn(
            f"chain {name} has no readable head: see `stanchion audit verify`",
        )
    return 1 if without else 0


SOURCE: Final = "trail schema "
CHOICE: Final = "trail schema run agent tool stage action refused since until "
ANSWERER: Final = "key ssh-agent as role passphrase-fd policy "


def _on_trail(work: Work) -> Work:
    """The same on the trail that stands behind the verb, where one does."""

    def done(args: Args) -> int:
        if args.what is not None:
            if args.trail is not None:
                raise BadInput(
                    f"`{said(args.what)}` and `--trail {said(args.trail)}` both give a trail: "
                    f"leave one of them out"
                )
            args.trail = args.what
        return work(args)

    return done


AUDIT_COMMAND: Final = DeclaredCommand(
    usage="""stanchion audit tail [-n N] [-f] [CHOICE] [--json]
       stanchion audit shadow [CHOICE] [--json]
       stanchion audit show ID|CHAIN:SEQ [--json]
       stanchion audit verify [DIR|URL] [--key FILE] [--store URL] [--witness PLACE] [--json]
       stanchion audit heads [DIR|URL]
       stanchion audit witness PLACE [--every TIME] [--once] [--trail DIR|URL]
       stanchion audit key new FILE
       stanchion audit export [--format jsonl|parquet|trail] [--out FILE] [CHOICE]
       stanchion audit prune [--older-than 30d] [--larger-than 500MB] [--dry-run]
       stanchion audit erase --run ID | --agent NAME | --task NAME | --tenant NAME
             | --containing TEXT [--why WORDS] [--dry-run] [--key FILE | --ssh-agent]""",
    description="""\
tail    the newest records, oldest first, one per line; with -f also later ones
shadow  what guards in shadow mode would have done, counted by guard, with decisions to look at
show    one record in full, with its hash and its position; as JSON, exactly the bytes that
        are hashed
verify  whether the trail is unchanged, and if not, what was done to it and where
heads   the newest record of each chain, one line of JSON each
witness write the heads at intervals to a place that agents cannot rewrite, until it is
        stopped: a trail that was rolled back, cut or replaced is then found
key     make a key that is replaced at each use, and the file that verifies with it
export  records for other programs, as JSON lines or as a Parquet file; those of a database
        also as a trail, in a folder
prune   remove the oldest segments now; without options, as the environment says, or
        else everything older than 90 days or beyond one gigabyte. Export what you need first
erase   overwrite the texts in records (content, answers, reasons), also in those of
        `stanchion check`, and in pieces that a crash left. The records themselves stay, with
        time, tool and decision, and the trail still verifies. What it cannot reach is named:
        damaged lines, files of other users, open runs, what the store keeps

`stanchion audit coverage` and `stanchion audit retention` have a help of their own.""",
    epilog="""\
examples:
  stanchion audit tail -f --refused
  stanchion audit tail --shadow --since 7d
  stanchion audit shadow --since 7d
  stanchion audit tail -n 100 --agent 'builder-*' --tool bash
  stanchion audit show 5f1d0c2a:411
  stanchion audit key new audit.key
  stanchion audit verify --key audit.key.verify
  stanchion audit witness git+ssh://git@vault.internal/witness.git --every 5m
  stanchion audit verify --witness git+ssh://git@vault.internal/witness.git
  stanchion audit export --since 7d --out week.parquet
  stanchion audit verify postgresql://auditor@db.internal/agents
  stanchion audit export --trail postgresql://auditor@db.internal/agents --format trail --out copy
  stanchion audit prune --older-than 30d --dry-run
  stanchion audit erase --containing ann@example.org --why 'she asked for it' --dry-run

The trail is the project's (`stanchion state --where`), or the one that STANCHION_AUDIT names:
a folder, or the URL of a PostgreSQL that it is copied to, whose records are then read
there. A password is better kept in a file (PGPASSFILE) than on a command line. A TIME is
ISO 8601, in UTC unless it says otherwise, or how long ago: 90s, 15m, 2h, 7d. Names of
agents and tools may be patterns with * and ?; for erase, so may names of runs, tasks and tenants.
The key to verify with is that of STANCHION_AUDIT_KEY, unless another is given; without
one no seal is checked. The store that has seen how far the trail had come is that of the
project where the trail is, unless another is given.

The PLACE of a witness is a file or a pipe (best one that can only be appended to), a branch
of a Git repository (git:PATH, git+ssh://HOST/PATH, git+https://HOST/PATH, perhaps #BRANCH),
a timestamp service (tsa+https://HOST/PATH, perhaps #FILE for the tokens) or a broker
(broker:SOCKET, perhaps #NAME). STANCHION_AUDIT_WITNESS names that of the usual trail.

If operators are enrolled, only they may erase (--key, --ssh-agent), and prune removes only
what they allow (`stanchion audit retention`). Without operators, whoever erases types a code at
the terminal. Prune and erase work only on the trail of the project.

exit status:
  0  it is done; for verify: the trail is whole
  1  for verify: it is not whole, or a seal cannot be checked; for heads: a chain has none;
     for witness --once: the place was not reached;
     for prune and erase: you are not allowed to, and nothing has changed
  2  there is no such trail or record, or it cannot be read
  3  for erase: something is left, or would be left, and is listed""",
    options=(
        option(
            "verb tail|shadow|show|verify|heads|witness|key|export|prune|erase",
            "what to do",
        ),
        option("what WHAT", "the record, the trail or the place", nargs="?"),
        option("more FILE", "the file of the key to make", nargs="?"),
        option(
            "--trail DIR", "the folder of the trail, or the URL of its database", action=GivenOnce
        ),
        option(PROJECT.written, PROJECT.help, action=GivenOnce),
        option(
            "--schema NAME",
            "where it is in the database (default: stanchion_audit)",
            action=GivenOnce,
        ),
        option("--json", "answer with JSON", default=None),
        group(
            "tail",
            option("-n, --lines N", "how many records (default: 20)", type=count, action=GivenOnce),
            option("-f, --follow", "keep printing new records", default=None),
        ),
        group(
            "which records (tail, shadow, export; erase: --run, --agent)",
            option("--run ID", "records of this run", action=GivenOnce),
            option("--agent NAME", "records of this agent", action="append"),
            option("--tool NAME", "decisions about this tool", action="append"),
            option("--stage STAGE", "decisions at this stage", action="append"),
            option("--action ACTION", "decisions with this action", action="append"),
            option("--refused", "only what did not go ahead", default=None),
            option("--shadow", "what guards in shadow mode would have changed", default=None),
            option("--since TIME", "only records since this time", action=GivenOnce),
            option("--until TIME", "only records before this time", action=GivenOnce),
        ),
        group(
            "verify",
            option(
                "--key FILE",
                "the key of its seals: the secret, or the public key; to erase, your own",
                action=GivenOnce,
            ),
            option(
                "--store URL",
                "the store beside the trail: a file or a URL (default: the project's)",
                action=GivenOnce,
            ),
            option("--witness PLACE", "a place where heads were kept", action="append"),
        ),
        group(
            "witness",
            option(
                "--every TIME",
                "how often a line is written (default: 60s)",
                type=lasting_s,
                action=GivenOnce,
            ),
            option("--once", "write one line and exit", default=None),
            option(
                "--tsa-cert FILE",
                "the certificate of the timestamp service; also for verify",
                action=GivenOnce,
            ),
        ),
        group(
            "export",
            option(
                "--format FORMAT",
                "jsonl, parquet or trail (default: as the file is named)",
                action=GivenOnce,
            ),
            option(
                "--out FILE",
                "write to this file instead of standard output; for a trail, a folder",
                action=GivenOnce,
            ),
            option("--force", "overwrite an existing file", default=None),
        ),
        group(
            "prune",
            option(
                "--older-than AGE",
                "remove segments whose newest record is older: 30d, 8w",
                action=GivenOnce,
            ),
            option(
                "--larger-than SIZE",
                "remove the oldest segments above this size: 500MB, 2GB",
                action=GivenOnce,
            ),
            option("--dry-run", "only show what would happen (prune, erase)", default=None),
        ),
        group(
            "erase",
            option(
                "--task NAME",
                "records of this task, or of tasks that match a pattern",
                action=GivenOnce,
            ),
            option(
                "--tenant NAME",
                "records of this tenant, or of tenants that match a pattern",
                action=GivenOnce,
            ),
            option("--containing TEXT", "records that contain exactly this text", action=GivenOnce),
            WHY,
            BY,
            *WHO,
            option(
                "--policy FILE", "the policy that lists operators, if one does", action=GivenOnce
            ),
        ),
    ),
    work={
        "tail": Verb(tail, CHOICE + "shadow lines follow json"),
        "shadow": Verb(shadow, CHOICE + "json"),
        "show": Verb(show, SOURCE + "what json"),
        "verify": Verb(_on_trail(check_trail), SOURCE + "what key store witness tsa-cert json"),
        "heads": Verb(_on_trail(heads), SOURCE + "what"),
        "witness": Verb(keep_witness, SOURCE + "what every once tsa-cert"),
        "key": Verb(key, SOURCE + "what more"),
        "export": Verb(export, CHOICE + "shadow format out force"),
        "prune": Verb(prune, "older-than larger-than dry-run store policy"),
        "erase": Verb(erase, ANSWERER + "run agent task tenant containing why by dry-run store"),
    },
)
