"""`stanchion audit`: read, verify and export the trail of everything that was decided."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from stanchion.audit.errors import TrailError
from stanchion.audit.keys import make_key
from stanchion.cli.auditing.erase import erase
from stanchion.cli.auditing.export import export
from stanchion.cli.auditing.prune import prune
from stanchion.cli.auditing.shadow import shadow
from stanchion.cli.auditing.show import show
from stanchion.cli.auditing.tail import tail
from stanchion.cli.auditing.verify import check_trail
from stanchion.cli.auditing.witness import keep_witness
from stanchion.cli.options import PROJECT, group, know_verb, option
from stanchion.cli.parser import Once, count
from stanchion.cli.terminal import Terminal, put_lines, say
from stanchion.cli.times import lasting_s
from stanchion.cli.trails import records_in
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.cli.verdict import row
from stanchion.ops.views.trails import is_database, said
from stanchion.runtime.standing.places import KEY

MADE = 0


def key(args: argparse.Namespace) -> int:
    """Make a key in a file that was named, and say what belongs where."""
    if args.what != "new" or args.more is None:
        raise BadInput("`stanchion audit key` makes a key: write `stanchion audit key new FILE`")
    path = Path(args.more)
    with AsBadInput(TrailError):
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
        "next": f"export {KEY}={path.absolute()}",
    }
    for name, text in said.items():
        put_lines(row(name, text, terminal))
    return MADE


ALL = 0
SOME = 1


def heads(args: argparse.Namespace) -> int:
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
        say(
            sys.stderr,
            f"stanchion: chain {name} has no readable head: see `stanchion audit verify`",
        )
    return SOME if without else ALL


USAGE: Final = """stanchion audit tail [-n N] [-f] [CHOICE] [--json]
       stanchion audit shadow [CHOICE] [--json]
       stanchion audit show ID|CHAIN:SEQ [--json]
       stanchion audit verify [DIR|URL] [--key FILE] [--store URL] [--witness PLACE] [--json]
       stanchion audit heads [DIR|URL]
       stanchion audit witness PLACE [--every TIME] [--once] [--trail DIR|URL]
       stanchion audit key new FILE
       stanchion audit export [--format jsonl|parquet|trail] [--out FILE] [CHOICE]
       stanchion audit prune [--older-than 30d] [--larger-than 500MB] [--dry-run]
       stanchion audit erase --run ID | --agent NAME | --task NAME | --tenant NAME
             | --containing TEXT [--why WORDS] [--dry-run] [--key FILE | --ssh-agent]"""

DESCRIPTION: Final = """\
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
        damaged lines, files of other users, open runs, what the store keeps"""

EPILOG: Final = """\
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
what they allow (`stanchion retention`). Without operators, whoever erases types a code at
the terminal. Prune and erase work only on the trail of the project.

exit status:
  0  it is done; for verify: the trail is whole
  1  for verify: it is not whole, or a seal cannot be checked; for heads: a chain has none;
     for witness --once: the place was not reached;
     for prune and erase: you are not allowed to, and nothing has changed
  2  there is no such trail or record, or it cannot be read
  3  for erase: something is left, or would be left, and is listed"""


class Verb(NamedTuple):
    """A word of `stanchion audit`: what does it, what may stand behind it, and which options it
    takes."""

    work: Callable[[argparse.Namespace], int]
    takes: str = ""
    options: frozenset[str] = frozenset()


CHOICE: Final = frozenset(
    {"run", "agent", "tool", "stage", "action", "refused", "shadow", "since", "until"}
)

MEANT: Final = frozenset({"run", "agent", "task", "tenant", "containing"})
ANSWERER: Final = frozenset({"key", "ssh_agent", "as_name", "role", "passphrase_fd", "policy"})

VERBS: Final = {
    "tail": Verb(tail, "", CHOICE | {"lines", "follow", "json"}),
    "shadow": Verb(shadow, "", (CHOICE - {"shadow"}) | {"json"}),
    "show": Verb(show, "a record", frozenset({"json"})),
    "verify": Verb(
        check_trail, "a trail", frozenset({"key", "store", "witness", "tsa_cert", "json"})
    ),
    "heads": Verb(heads, "a trail"),
    "witness": Verb(keep_witness, "a place", frozenset({"every", "once", "tsa_cert"})),
    "key": Verb(key, "`new` and a file", frozenset({"more"})),
    "export": Verb(export, "", CHOICE | {"format", "out", "force"}),
    "prune": Verb(
        prune, "", frozenset({"older_than", "larger_than", "dry_run", "store", "policy"})
    ),
    "erase": Verb(erase, "", MEANT | ANSWERER | {"why", "by", "dry_run", "store"}),
}


OPTIONS: Final = (
    option("verb " + "|".join(VERBS), "what to do"),
    option("what WHAT", "the record, the trail or the place", nargs="?"),
    option("more FILE", "the file of the key to make", nargs="?"),
    option("--trail DIR", "the folder of the trail, or the URL of its database", action=Once),
    option(PROJECT.written, PROJECT.help, action=Once),
    option("--schema NAME", "where it is in the database (default: stanchion_audit)", action=Once),
    option("--json", "answer with JSON", default=None),
    group(
        "tail",
        option("-n, --lines N", "how many records (default: 20)", type=count, action=Once),
        option("-f, --follow", "keep printing new records", default=None),
    ),
    group(
        "which records (tail, shadow, export; erase: --run, --agent)",
        option("--run ID", "records of this run", action=Once),
        option("--agent NAME", "records of this agent", action="append"),
        option("--tool NAME", "decisions about this tool", action="append"),
        option("--stage STAGE", "decisions at this stage", action="append"),
        option("--action ACTION", "decisions with this action", action="append"),
        option("--refused", "only what did not go ahead", default=None),
        option("--shadow", "what guards in shadow mode would have changed", default=None),
        option("--since TIME", "only records since this time", action=Once),
        option("--until TIME", "only records before this time", action=Once),
    ),
    group(
        "verify",
        option(
            "--key FILE",
            "the key of its seals: the secret, or the public key; to erase, your own",
            action=Once,
        ),
        option(
            "--store URL",
            "the store beside the trail: a file or a URL (default: the project's)",
            action=Once,
        ),
        option("--witness PLACE", "a place where heads were kept", action="append"),
    ),
    group(
        "witness",
        option(
            "--every TIME",
            "how often a line is written (default: 60s)",
            type=lasting_s,
            action=Once,
        ),
        option("--once", "write one line and exit", default=None),
        option(
            "--tsa-cert FILE",
            "the certificate of the timestamp service; also for verify",
            action=Once,
        ),
    ),
    group(
        "export",
        option(
            "--format FORMAT",
            "jsonl, parquet or trail (default: as the file is named)",
            action=Once,
        ),
        option(
            "--out FILE",
            "write to this file instead of standard output; for a trail, a folder",
            action=Once,
        ),
        option("--force", "overwrite an existing file", default=None),
    ),
    group(
        "prune",
        option(
            "--older-than AGE", "remove segments whose newest record is older: 30d, 8w", action=Once
        ),
        option(
            "--larger-than SIZE",
            "remove the oldest segments above this size: 500MB, 2GB",
            action=Once,
        ),
        option("--dry-run", "only show what would happen (prune, erase)", default=None),
    ),
    group(
        "erase",
        option(
            "--task NAME", "records of this task, or of tasks that match a pattern", action=Once
        ),
        option(
            "--tenant NAME",
            "records of this tenant, or of tenants that match a pattern",
            action=Once,
        ),
        option("--containing TEXT", "records that contain exactly this text", action=Once),
        option("--why WORDS", "the reason, for the trail", action=Once),
        option("--by NAME", "your name, if no key proves it", action=Once),
        option("--ssh-agent", "sign with a key in your ssh-agent", default=None),
        option(
            "--as NAME",
            "your name as an operator, if your key does not tell",
            dest="as_name",
            action=Once,
        ),
        option("--role ROLE", "the role in which you answer, if you have several", action=Once),
        option(
            "--passphrase-fd N",
            "read the key's passphrase from this descriptor",
            type=int,
            action=Once,
        ),
        option("--policy FILE", "the policy that lists operators, if one does", action=Once),
    ),
)


def run(args: argparse.Namespace) -> int:
    """Do what was asked for."""
    know_verb("audit", args.verb, VERBS)
    verb = VERBS[args.verb]
    every = frozenset[str]().union(*[one.options for one in VERBS.values()]) | {
        "lines",
        "follow",
        "trail",
        "schema",
    }
    allowed = (
        verb.options if args.verb in ("prune", "erase") else verb.options | {"trail", "schema"}
    )
    for name in sorted(every - allowed - {"more"}):
        if getattr(args, name) is not None:
            option = "as" if name == "as_name" else name.replace("_", "-")
            raise BadInput(
                f"`stanchion audit {args.verb}` takes no `--{option}`: see `stanchion audit --help`"
            )
    if args.more is not None and "more" not in verb.options:
        raise BadInput(f"`{args.more}` is an argument too many for `stanchion audit {args.verb}`")
    if args.what is not None and not verb.takes:
        name = "give a trail with `--trail`" if is_database(args.what) else "it takes only options"
        raise BadInput(
            f"`{said(args.what)}` is an argument too many for `stanchion audit {args.verb}`: {name}"
        )
    if args.what is not None and verb.takes == "a trail":
        if args.trail is not None:
            raise BadInput(
                f"`{said(args.what)}` and `--trail {said(args.trail)}` both give a trail: leave "
                f"one of them out"
            )
        args.trail = args.what
    return verb.work(args)
