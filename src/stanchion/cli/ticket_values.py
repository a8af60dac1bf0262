"""What is given with `stanchion tickets`, read from its options; what makes no sense is bad
input."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

import msgspec

from stanchion.approvals.act import GRANT_S
from stanchion.approvals.questions import CHOICES
from stanchion.approvals.scope import Scope
from stanchion.approvals.ticket import Kind, State, Ticket
from stanchion.approvals.words import says_something
from stanchion.cli.options import one_of
from stanchion.cli.trouble import BadInput


def comment_of(args: argparse.Namespace) -> str:
    """The comment, if there is one."""
    return "" if args.comment is None else str(args.comment)


def reason_of(args: argparse.Namespace) -> str:
    """The comment that a no needs."""
    said = comment_of(args)
    if not says_something(said):
        deny = "deny" if args.verb == "deny" else f"{args.verb} --deny"
        raise BadInput(
            f"`stanchion tickets {deny}` needs `--comment` with a reason in words: the agent reads "
            f"it"
        )
    return said


def for_s_of(args: argparse.Namespace) -> float:
    """How long a yes is valid."""
    return GRANT_S if args.for_s is None else float(args.for_s)


def scope_of(args: argparse.Namespace) -> str:
    """How far a yes reaches."""
    scope = args.scope if args.scope is not None else "pattern" if args.pattern else "once"
    return str(one_of("--scope", scope, Scope))


def pattern_of(args: argparse.Namespace) -> dict[str, str] | None:
    """The arguments that may have other values, and which."""
    if not args.pattern:
        return None
    pairs = [text.partition("=") for text in args.pattern]
    wrong = [
        text
        for text, (name, sign, _) in zip(args.pattern, pairs, strict=True)
        if not name or not sign
    ]
    if wrong:
        raise BadInput(
            f"`--pattern` is `{wrong[0]}`: write `ARGUMENT=GLOB`, such as `command=git push *`"
        )
    return {name: glob for name, _, glob in pairs}


def edits_of(args: argparse.Namespace, ticket: Ticket) -> dict[str, Any]:
    """The arguments that a yes changes, and to what: one that was read, or what is typed."""
    found: dict[str, Any] = {}
    for text in args.pick if args.pick else ():
        name, sign, value = text.partition("=")
        if not name or not sign:
            raise BadInput(f"`--pick` is `{text}`: write `ARGUMENT=VALUE`, such as `to=ann@a.org`")
        known = ticket.evidence.get(CHOICES, {}).get(name, [])
        choices = known if isinstance(known, list) else [known]
        found[name] = next((one for one in choices if str(one) == value), value)
    for text in args.set if args.set else ():
        name, sign, value = text.partition("=")
        if not name or not sign:
            raise BadInput(f"`--set` is `{text}`: write `ARGUMENT=VALUE`, such as `amount=5`")
        try:
            found[name] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            shell = shlex.quote(f"{name}={msgspec.json.encode(value).decode()}")
            raise BadInput(
                f"`--set` is `{text}`: the value is not JSON; for a text write `--set {shell}`"
            ) from None
    return found


def state_of(args: argparse.Namespace) -> str | None:
    """The state of the tickets to list; `None` for those that wait or are approved."""
    if args.state is not None:
        one_of("--state", args.state, State)
    return "all" if args.all else args.state


def kind_of(args: argparse.Namespace) -> Kind | None:
    """The kind of the tickets to list; `None` for every kind."""
    return None if args.kind is None else Kind(one_of("--kind", args.kind, Kind))
