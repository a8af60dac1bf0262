"""`stanchion operators`: who may do what an agent may not, each with a key of their own."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import Shield
from stanchion.approvals.errors import TicketError
from stanchion.approvals.keys import PublicKey, make_key_file, public_of
from stanchion.approvals.operators import Operator, Roster
from stanchion.approvals.terminal import from_fd, passphrase
from stanchion.cli.answerers import add_answerer, answerer
from stanchion.cli.operating import answered
from stanchion.cli.parser import Parser, nearest
from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal, json_line, put, say
from stanchion.cli.times import shown
from stanchion.cli.trouble import BadInput
from stanchion.cli.veiled import veiled
from stanchion.cli.whose import add_project
from stanchion.kernel.autonomy import OPERATOR

KEYS: Final = "keys"

USAGE: Final = """stanchion operators list [--store URL] [--json]
       stanchion operators add NAME [--public FILE] [--roles ROLES] [--key FILE | --ssh-agent]
       stanchion operators rotate NAME [--public FILE] --key FILE | --ssh-agent
       stanchion operators revoke NAME --key FILE | --ssh-agent"""

DESCRIPTION: Final = """\
list    who is an operator, with which key and roles, and who added them
add     make somebody an operator: with the public key in a file, or a new key that is made
        here, encrypted with a passphrase you type
rotate  give an operator another key; the old one counts no longer
revoke  take it back; what they have signed and nobody has used counts no longer

The first operator is added at a terminal while no run is open. Every change after that is
signed by an operator with the role human_operator. Keys that the policy pins (`operators:`)
need no store, and count more: nobody can add a first one beside them."""

EPILOG: Final = """\
examples:
  stanchion operators add ann
  stanchion operators add bob --public bob.pub --roles reviewer --key ~/.config/stanchion/keys/ann
  stanchion operators rotate ann --public new.pub --ssh-agent
  stanchion operators list

A public key is one line, `ssh-ed25519 AAAA…`, as `ssh-keygen -t ed25519` writes it. A private
key has to be out of an agent's reach: encrypted, in an ssh-agent that asks (`ssh-add -c`), on
another machine, or another user's.

exit status:
  0  it is done, or shown
  1  you may not, or it makes no sense: nothing has changed
  2  the store or a key cannot be used"""

TAKES: Final = {
    "list": frozenset[str](),
    "add": frozenset({"name", "public", "roles", "agents"}),
    "rotate": frozenset({"name", "public"}),
    "revoke": frozenset({"name"}),
}


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "say who may do what an agent may not, each with a key"
    parser: Parser = commands.add_parser("operators", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("verb", metavar="list|add|rotate|revoke", nargs="?", default="list", help="what to do")
    parser.add_argument("name", metavar="NAME", nargs="?", help="the operator: a-z, 0-9, `.`, `_`, `-`, `@`")
    parser.add_argument("--public", metavar="FILE", help="their public key; without it a new key is made here")
    parser.add_argument("--roles", metavar="ROLES", help=f"what they may answer as, with commas (default: {OPERATOR})")
    parser.add_argument("--agents", metavar="NAMES", help="agents that work for them, with commas: others answer those")
    parser.add_argument("--by", metavar="NAME", default="", help="what you are called, where no key says so")
    parser.add_argument("--store", metavar="URL", help="the store: a file, a URL, or `user:`")
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each operator")
    add_answerer(parser)


def run(args: argparse.Namespace) -> int:
    """Show the operators, or change them."""
    taken = TAKES.get(args.verb)
    if taken is None:
        known = f"write {', '.join(f'`{name}`' for name in TAKES)}"
        raise BadInput(f"`stanchion operators` cannot `{args.verb}`: {nearest(args.verb, TAKES, known)}")
    for name in sorted(frozenset().union(*TAKES.values()) - taken):
        if getattr(args, name) is not None:
            said = f"`{args.name}`" if name == "name" else f"`--{name}`"
            raise BadInput(f"`stanchion operators {args.verb}` takes no {said}: see `stanchion operators --help`")
    if "name" in taken and args.name is None:
        raise BadInput(f"who? write `stanchion operators {args.verb} NAME`")

    def work(shield: Shield) -> int:
        roster = shield.authority.known()
        return _list(args, roster) if args.verb == "list" else _change(args, shield, roster)

    return answered(args, work)


def _change(args: argparse.Namespace, shield: Shield, roster: Roster) -> int:
    by = answerer(args, shield)
    made: Path | None = None
    known = roster.operators.get(args.name)
    if args.verb == "revoke":
        key = known.key if known is not None else ""
        if known is None:
            raise TicketError(f"`{args.name}` is no operator: `stanchion operators list` shows who is")
    else:
        public, made = _public(args)
        key = public.line
    roles = _words(args.roles) if args.roles else known.roles if known is not None else (OPERATOR,)
    agents = _words(args.agents) if args.agents else known.agents if known is not None else ()
    try:
        shield.enrol(args.verb, Operator(name=args.name, key=key, roles=roles, agents=agents), by)
    except TicketError:
        _forget(made)
        raise
    done = {"add": "is an operator now", "rotate": "has another key now", "revoke": "is no operator any more"}
    if made is not None:
        say(sys.stdout, f"a new key is in {made}: keep it where no agent can use it")
    say(sys.stdout, f"{args.name} {done[args.verb]}")
    if not roster.enrolled:
        say(sys.stdout, "what runs already, a broker too, does not take a first operator: restart it")
    if args.verb != "revoke":
        stands_for = f", agents: [{', '.join(agents)}]" if agents else ""
        entry = f"{{key: {key}, roles: [{', '.join(roles)}]{stands_for}}}"
        say(sys.stdout, f"to pin it in a policy:  operators: {{{args.name}: {entry}}}")
    return 0


def _forget(made: Path | None) -> None:
    """Remove a key that was made for nothing."""
    if made is not None:
        made.unlink(missing_ok=True)
        made.with_name(f"{made.name}.pub").unlink(missing_ok=True)


def _public(args: argparse.Namespace) -> tuple[PublicKey, Path | None]:
    """The public key that is named, or that of a new key and where that is."""
    if args.public is not None:
        try:
            return public_of(Path(args.public).expanduser().read_text(encoding="utf-8")), None
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"`{args.public}` cannot be read: {error}") from None
    path = _free(args.verb, str(args.name))
    fd = args.passphrase_fd
    if fd is not None and args.key is None:
        words = from_fd(fd)
    else:
        words = passphrase(f"A passphrase for the new key {path}")
        if passphrase("The same once more") != words:
            raise BadInput("these are two passphrases: nothing has changed; give the command again")
    return make_key_file(path, words, str(args.name)), path


def _free(verb: str, name: str) -> Path:
    """Where a new key goes; one that replaces another goes beside it."""
    folder = _key_folder()
    path, number = folder / name, 1
    while verb == "rotate" and os.path.lexists(path):
        number += 1
        path = folder / f"{name}-{number}"
    if os.path.lexists(path):
        raise BadInput(f"there is a key in `{path}`: take that one with `--public {path}.pub`, or move it away")
    return path


def _key_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir("stanchion")) / KEYS


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _list(args: argparse.Namespace, roster: Roster) -> int:
    added = {change.operator.name: change for change in roster.changes}
    shown_as = [_fit(one) for one in roster.operators.values()]
    if args.json:
        for one in shown_as:
            sys.stdout.buffer.write(json_line(msgspec.structs.asdict(one)))
        sys.stdout.buffer.flush()
        return 0
    rows = []
    for one in sorted(shown_as, key=lambda each: each.name):
        change = added.get(one.name)
        by = "the policy" if change is None else change.by if change.by else "unproven"
        since = "" if change is None else shown(change.at)
        rows.append((one.name, ", ".join(one.roles), ", ".join(one.agents), public_of(one.key).fingerprint, by, since))
    for line in (
        table(("operator", "roles", "agents", "key", "added by", "since"), rows, (), _terminal()) if rows else ()
    ):
        put(sys.stdout, line)
    if not rows:
        say(sys.stdout, "nobody is an operator yet: `stanchion operators add NAME` adds the first one")
    if roster.trouble:
        say(sys.stderr, f"stanchion: {roster.trouble}; what comes after that does not count")
    return 0


def _fit(one: Operator) -> Operator:
    """An operator fit to be shown: secrets are hidden in the names of roles and agents."""
    return msgspec.structs.replace(one, roles=veiled(one.roles), agents=veiled(one.agents))


def _terminal() -> Terminal:
    return Terminal.of(sys.stdout, os.environ)
