"""`stanchion operators`: who may do what an agent may not, each with a key of their own."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Final

from stanchion import Shield
from stanchion.approvals.errors import TicketError
from stanchion.approvals.keys import check_packages, make_key_file
from stanchion.approvals.operators import Operator
from stanchion.approvals.public_key import PublicKey, public_of
from stanchion.approvals.terminal import from_fd, passphrase
from stanchion.cli.answerers import answered, answerer
from stanchion.cli.command import (
    ANSWERER,
    BY,
    PROJECT,
    STORE,
    Args,
    BadInput,
    DeclaredCommand,
    Verb,
    option,
)
from stanchion.cli.printing import Layout, put_found
from stanchion.cli.terminal import tell, warn
from stanchion.folders import user_config
from stanchion.kernel.autonomy import OPERATOR
from stanchion.ops.views.amounts import shown
from stanchion.ops.views.people import OperatorView, operators

KEYS: Final = "keys"


def _change(args: Args, shield: Shield) -> int:
    roster = shield.authority.known()
    by = answerer(args, shield)
    made: Path | None = None
    known = roster.operators.get(args.name)
    if args.verb == "revoke":
        key = known.key if known is not None else ""
        if known is None:
            raise TicketError(
                f"`{args.name}` is not an operator: `stanchion operators list` shows all of them"
            )
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
    done = {
        "add": "is an operator now",
        "rotate": "has another key now",
        "revoke": "is no longer an operator",
    }
    if made is not None:
        tell(f"a new key is in {made}: keep it where no agent can use it")
    tell(f"{args.name} {done[args.verb]}")
    if not roster.enrolled:
        tell(
            "running processes, a broker included, do not know this first operator yet: restart "
            "them",
        )
    if args.verb != "revoke":
        stands_for = f", agents: [{', '.join(agents)}]" if agents else ""
        entry = f"{{key: {key}, roles: [{', '.join(roles)}]{stands_for}}}"
        tell(f"to pin it in a policy:  operators: {{{args.name}: {entry}}}")
    return 0


def _forget(made: Path | None) -> None:
    """Remove a key that was made for nothing."""
    if made is not None:
        made.unlink(missing_ok=True)
        made.with_name(f"{made.name}.pub").unlink(missing_ok=True)


def _public(args: Args) -> tuple[PublicKey, Path | None]:
    """The public key that is named, or that of a new key and where that is."""
    if args.public is not None:
        try:
            return public_of(Path(args.public).expanduser().read_text(encoding="utf-8")), None
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"`{args.public}` cannot be read: {error}") from None
    check_packages()
    path = _free(args.verb, str(args.name))
    fd = args.passphrase_fd
    if fd is not None and args.key is None:
        words = from_fd(fd)
    else:
        words = passphrase(f"New passphrase for {path}")
        if passphrase("Repeat the passphrase") != words:
            raise BadInput("the two passphrases differ: nothing has changed; run the command again")
    return make_key_file(path, words, str(args.name)), path


def _free(verb: str, name: str) -> Path:
    """Where a new key goes; one that replaces another goes beside it."""
    folder = Path(user_config()) / KEYS
    path, number = folder / name, 1
    while verb == "rotate" and os.path.lexists(path):
        number += 1
        path = folder / f"{name}-{number}"
    if os.path.lexists(path):
        raise BadInput(
            f"`{path}` already has a key: use it with `--public {path}.pub`, or move it away"
        )
    return path


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _list(args: Args, shield: Shield) -> int:
    roster = shield.authority.known()
    put_found(operators(roster), ENROLLED, args.json)
    if roster.trouble:
        warn(f"{roster.trouble}; what comes after that does not count")
    return 0


def _row(one: OperatorView) -> tuple[str, ...]:
    by = "the policy" if one.pinned else one.added_by if one.added_by else "unproven"
    since = "" if one.pinned else shown(one.since_ms)
    return one.name, ", ".join(one.roles), ", ".join(one.agents), one.fingerprint, by, since


change = partial(answered, _change)
ENROLLED: Final = Layout(
    ("operator", "roles", "agents", "key", "added by", "since"),
    _row,
    nothing="there are no operators yet: `stanchion operators add NAME` adds the first one",
)
WHO: Final = "who? write `stanchion operators {} NAME`"


OPERATORS_COMMAND: Final = DeclaredCommand(
    usage="""stanchion operators list [--store URL] [--json]
       stanchion operators add NAME [--public FILE] [--roles ROLES] [--key FILE | --ssh-agent]
       stanchion operators rotate NAME [--public FILE] --key FILE | --ssh-agent
       stanchion operators revoke NAME --key FILE | --ssh-agent""",
    description="""\
list    the operators, with their keys and roles, and who added them
add     make somebody an operator: with the public key in a file, or a new key that is made
        here, encrypted with a passphrase you type
rotate  give an operator a new key; the old one is no longer accepted
revoke  remove an operator; what they signed and nobody has used yet is no longer valid

The first operator is added at a terminal while no run is open. Every change after that is
signed by an operator with the role human_operator. Keys that the policy pins (`operators:`)
need no store, and take precedence: nobody can add a first one beside them.""",
    epilog="""\
examples:
  stanchion operators add ann
  stanchion operators add bob --public bob.pub --roles reviewer --key ~/.config/stanchion/keys/ann
  stanchion operators rotate ann --public new.pub --ssh-agent
  stanchion operators list

A public key is one line, `ssh-ed25519 AAAA…`, as `ssh-keygen -t ed25519` writes it. A
private key has to be out of an agent's reach: encrypted, in an ssh-agent that asks
(`ssh-add -c`), on another machine, or another user's.

exit status:
  0  it is done, or shown
  1  you are not allowed to, or it makes no sense: nothing has changed
  2  the store or a key cannot be used""",
    options=(
        option("verb list|add|rotate|revoke", "what to do", nargs="?", default="list"),
        option("name NAME", "the operator: a-z, 0-9, `.`, `_`, `-`, `@`", nargs="?"),
        option("--public FILE", "their public key (default: make a new key here)"),
        option("--roles ROLES", "their roles, separated by commas (default: human_operator)"),
        option(
            "--agents NAMES",
            "agents that work for them, separated by commas; others answer their requests",
        ),
        BY,
        STORE,
        PROJECT,
        option("--json", "answer with JSON, one line for each operator"),
        ANSWERER,
    ),
    work={
        "list": Verb(partial(answered, _list)),
        "add": Verb(change, "name public roles agents", WHO.format("add")),
        "rotate": Verb(change, "name public", WHO.format("rotate")),
        "revoke": Verb(change, "name", WHO.format("revoke")),
    },
)
