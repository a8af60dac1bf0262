"""`stanchion audit`: read, verify and export the trail of everything that was decided."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from stanchion.cli.auditing.erase import erase
from stanchion.cli.auditing.export import export
from stanchion.cli.auditing.heads import heads
from stanchion.cli.auditing.key import key
from stanchion.cli.auditing.prune import prune
from stanchion.cli.auditing.show import show
from stanchion.cli.auditing.tail import tail
from stanchion.cli.auditing.verify import check_trail
from stanchion.cli.auditing.witness import keep_witness
from stanchion.cli.parser import Once, Parser, count, nearest
from stanchion.cli.times import lasting_s
from stanchion.cli.trails import is_database, said
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import add_project

USAGE: Final = """stanchion audit tail [-n N] [-f] [CHOICE] [--json]
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
tail    the newest records, oldest of them first, one a line; with -f also those that come
show    one record, whole, with its hash and its place; as JSON the very bytes that are hashed
verify  whether the trail is as it was written, and if not, what was done to it and where
heads   how far each chain has come, one line of JSON each
witness write the heads to a place that agents cannot rewrite, at intervals, until it is stopped:
        a trail that was put back, cut or replaced is then found
key     make a key that is replaced at each use, and what verifies with it
export  records for other programs, as JSON lines or as a Parquet file; those of a database
        also as a trail, in a folder
prune   let the oldest segments leave now; without options, what the environment says, or
        else what is older than 90 days or more than a gigabyte. Export first what you need
erase   overwrite what was said in records: content, answers, reasons; also in those of
        `stanchion check`, and in pieces that a crash left. That they were written, when,
        about which tool, and what was decided stays; the trail verifies. What it cannot
        reach is named: damaged lines, files of others, open runs, what the store keeps"""

EPILOG: Final = """\
examples:
  stanchion audit tail -f --refused
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

The trail is that of the project (`stanchion state --where`), or where STANCHION_AUDIT says:
a folder, or the URL of a PostgreSQL that it is copied to, whose records are then read there.
A password is better kept in a file (PGPASSFILE) than on a command line.
A TIME is ISO 8601, in UTC unless it says otherwise, or how long ago: 90s, 15m, 2h, 7d.
Names of agents and tools may be patterns with * and ?; to erase, those of runs, tasks and
tenants, too. The key to verify with is that of STANCHION_AUDIT_KEY, unless another is
given; without one no seal is checked. The store that has seen how far the
trail had come is that of the project where the trail is, unless another is given.

The PLACE of a witness is a file or a pipe (best one that can only be appended to), a branch
of a Git repository (git:PATH, git+ssh://HOST/PATH, git+https://HOST/PATH, perhaps #BRANCH),
a timestamp service (tsa+https://HOST/PATH, perhaps #FILE for the tokens) or a broker
(broker:SOCKET, perhaps #NAME). STANCHION_AUDIT_WITNESS names that of the usual trail.

Where operators have keys, erasing is theirs (--key, --ssh-agent), and what leaves is what
they let (`stanchion retention`); without operators whoever erases types a code at the
terminal. Prune and erase are about the trail of the project, and about no other.

exit status:
  0  it is done; for verify: the trail is whole
  1  for verify: it is not, or a seal cannot be checked; for heads: a chain has none;
     for witness --once: the place was not reached;
     for prune and erase: you may not, and nothing has changed
  2  there is no such trail or record, or it cannot be read
  3  for erase: something of it is left, or would be, and is named"""


class Verb(NamedTuple):
    """A word of `stanchion audit`: what does it, what may stand behind it, and which options it takes."""

    work: Callable[[argparse.Namespace], int]
    takes: str = ""
    options: frozenset[str] = frozenset()


CHOICE: Final = frozenset({"run", "agent", "tool", "stage", "action", "refused", "since", "until"})

MEANT: Final = frozenset({"run", "agent", "task", "tenant", "containing"})
ANSWERER: Final = frozenset({"key", "ssh_agent", "as_name", "role", "passphrase_fd", "policy"})

VERBS: Final = {
    "tail": Verb(tail, "", CHOICE | {"lines", "follow", "json"}),
    "show": Verb(show, "a record", frozenset({"json"})),
    "verify": Verb(check_trail, "a trail", frozenset({"key", "store", "witness", "tsa_cert", "json"})),
    "heads": Verb(heads, "a trail"),
    "witness": Verb(keep_witness, "a place", frozenset({"every", "once", "tsa_cert"})),
    "key": Verb(key, "`new` and a file", frozenset({"more"})),
    "export": Verb(export, "", CHOICE | {"format", "out", "force"}),
    "prune": Verb(prune, "", frozenset({"older_than", "larger_than", "dry_run", "store", "policy"})),
    "erase": Verb(erase, "", MEANT | ANSWERER | {"why", "by", "dry_run", "store"}),
}


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "read, verify and export the trail of everything that was decided"
    parser: Parser = commands.add_parser("audit", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.register("action", None, Once)  # what argparse takes where an option names no action
    parser.add_argument("verb", metavar="tail|show|verify|heads|witness|key|export|prune|erase", help="what to do")
    parser.add_argument("what", metavar="WHAT", nargs="?", help="the record, the trail or the place")
    parser.add_argument("more", metavar="FILE", nargs="?", help="the file of the key to make")
    parser.add_argument("--trail", metavar="DIR", help="the folder of the trail, or the URL of its database")
    add_project(parser)
    parser.add_argument("--schema", metavar="NAME", help="where it is in the database (default: stanchion_audit)")
    parser.add_argument("--json", action="store_true", default=None, help="answer with JSON")
    newest = parser.add_argument_group("tail")
    newest.add_argument("-n", "--lines", metavar="N", type=count, help="how many records (default: 20)")
    newest.add_argument("-f", "--follow", action="store_true", default=None, help="go on with what is written")
    choice = parser.add_argument_group("which records (tail, export; erase: --run, --agent)")
    choice.add_argument("--run", metavar="ID", help="those of this run")
    choice.add_argument("--agent", metavar="NAME", action="append", help="those of this agent")
    choice.add_argument("--tool", metavar="NAME", action="append", help="decisions about this tool")
    choice.add_argument("--stage", metavar="STAGE", action="append", help="decisions at this stage")
    choice.add_argument("--action", metavar="ACTION", action="append", help="decisions that came to this")
    choice.add_argument("--refused", action="store_true", default=None, help="what did not go ahead")
    choice.add_argument("--since", metavar="TIME", help="not what is older")
    choice.add_argument("--until", metavar="TIME", help="only what is older")
    verify = parser.add_argument_group("verify")
    verify.add_argument(
        "--key", metavar="FILE", help="the key of its seals: the secret, or the public key; to erase, your own"
    )
    verify.add_argument(
        "--store", metavar="URL", help="the store beside the trail: a file or a URL (default: the project's)"
    )
    verify.add_argument("--witness", metavar="PLACE", action="append", help="heads that were kept elsewhere")
    witness = parser.add_argument_group("witness")
    witness.add_argument("--every", metavar="TIME", type=lasting_s, help="how often a line is written (default: 60s)")
    witness.add_argument("--once", action="store_true", default=None, help="write one line, and end")
    witness.add_argument("--tsa-cert", metavar="FILE", help="who signs for the timestamp service; also for verify")
    out = parser.add_argument_group("export")
    out.add_argument("--format", metavar="FORMAT", help="jsonl, parquet or trail (default: as the file is named)")
    out.add_argument("--out", metavar="FILE", help="write there, not to standard output; a trail is a folder")
    out.add_argument("--force", action="store_true", default=None, help="write over a file that is there")
    leave = parser.add_argument_group("prune")
    leave.add_argument("--older-than", metavar="AGE", help="segments whose newest record is older: 30d, 8w")
    leave.add_argument("--larger-than", metavar="SIZE", help="the oldest segments of what is more: 500MB, 2GB")
    leave.add_argument("--dry-run", action="store_true", default=None, help="only show it (prune, erase)")
    gone = parser.add_argument_group("erase")
    gone.add_argument("--task", metavar="NAME", help="what was said on this task, or on tasks by a pattern")
    gone.add_argument("--tenant", metavar="NAME", help="what was said of this tenant, or of tenants by a pattern")
    gone.add_argument("--containing", metavar="TEXT", help="records that hold this text, letter by letter")
    gone.add_argument("--why", metavar="WORDS", help="the reason, for the trail")
    gone.add_argument("--by", metavar="NAME", help="what you are called, where no key says so")
    gone.add_argument("--ssh-agent", action="store_true", default=None, help="sign with a key in your ssh-agent")
    gone.add_argument("--as", metavar="NAME", dest="as_name", help="the operator you are, if it is not clear")
    gone.add_argument("--role", metavar="ROLE", help="one of your roles, if it matters which")
    gone.add_argument("--passphrase-fd", metavar="N", type=int, help="read the key's passphrase from this descriptor")
    gone.add_argument("--policy", metavar="FILE", help="the policy that pins operators, if one does")


def run(args: argparse.Namespace) -> int:
    """Do what was asked for."""
    verb = VERBS.get(args.verb)
    if verb is None:
        known = f"write {', '.join(f'`{name}`' for name in VERBS)}"
        raise BadInput(f"`stanchion audit` cannot `{args.verb}`: {nearest(args.verb, VERBS, known)}")
    every = frozenset[str]().union(*[one.options for one in VERBS.values()]) | {"lines", "follow", "trail", "schema"}
    allowed = verb.options if args.verb in ("prune", "erase") else verb.options | {"trail", "schema"}
    for name in sorted(every - allowed - {"more"}):
        if getattr(args, name) is not None:
            option = "as" if name == "as_name" else name.replace("_", "-")
            raise BadInput(f"`stanchion audit {args.verb}` takes no `--{option}`: see `stanchion audit --help`")
    if args.more is not None and "more" not in verb.options:
        raise BadInput(f"`{args.more}` is one word too many for `stanchion audit {args.verb}`")
    if args.what is not None and not verb.takes:
        name = "name a trail with `--trail`" if is_database(args.what) else "it takes options alone"
        raise BadInput(f"`{said(args.what)}` is one word too many for `stanchion audit {args.verb}`: {name}")
    if args.what is not None and verb.takes == "a trail":
        if args.trail is not None:
            raise BadInput(f"`{said(args.what)}` and `--trail {said(args.trail)}` both name a trail: give one of them")
        args.trail = args.what
    return verb.work(args)
