"""Which records were asked for, from the options that say so."""

from __future__ import annotations

import argparse

from stanchion.audit.reader import REFUSED, WantedRecords
from stanchion.cli.options import one_of
from stanchion.cli.times import moment_ms
from stanchion.cli.trouble import BadInput
from stanchion.kernel.actions import NAMES
from stanchion.kernel.names import names
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import FOREVER


def wanted_of(args: argparse.Namespace, now_ms: int) -> WantedRecords:
    """The records that the options ask for."""
    actions = {one_of("--action", action.upper(), NAMES) for action in args.action or ()}
    if args.refused:
        actions = actions & REFUSED if actions else set(REFUSED)
        if not actions:
            raise BadInput("`--refused` and `--action` cannot be combined here: give one of them")
    since = 0 if args.since is None else moment_ms("--since", args.since, now_ms)
    until = FOREVER if args.until is None else moment_ms("--until", args.until, now_ms)
    if since >= until:
        raise BadInput(f"`--since {args.since}` is not before `--until {args.until}`: swap them")
    return WantedRecords(
        run=args.run,
        agents=None if args.agent is None else names(args.agent),
        tools=None if args.tool is None else names(args.tool),
        stages=frozenset(
            one_of("--stage", stage, [each.value for each in Stage]) for stage in args.stage or ()
        ),
        actions=frozenset(actions),
        since=since,
        until=until,
        shadow=bool(args.shadow),
    )
