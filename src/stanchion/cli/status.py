"""`stanchion status`: how everything stands, on one screen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from stanchion import StanchionError
from stanchion.approvals.ticket import State
from stanchion.audit.reader import WantedRecords
from stanchion.audit.verify import CannotVerify, verdict
from stanchion.cli.answerers import loaded
from stanchion.cli.audit_verifying import report_of
from stanchion.cli.command import JSON, PROJECT, STORE, Args, BadInput, DeclaredCommand, option
from stanchion.cli.explain import trails_of
from stanchion.cli.policies import refused
from stanchion.cli.printing import put_view, row
from stanchion.cli.terminal import Terminal
from stanchion.cli.whose import opened, whose
from stanchion.hosts.canaries import CANARIES, driven, installed
from stanchion.hosts.coding import AGENTS
from stanchion.hosts.coding.doctor import hooked, version_of
from stanchion.hosts.coding.settings import HostPlaces
from stanchion.hosts.contract.canary import Came
from stanchion.kernel.state import StoreLost
from stanchion.ops.views.amounts import amount, counted, percent, shown
from stanchion.ops.views.budgets import BudgetLimits, budgets, limits_of, most_used
from stanchion.ops.views.coverage import coverage
from stanchion.ops.views.explain import LAST, DecisionCase, case_named, policy_of
from stanchion.ops.views.standing import PLAIN
from stanchion.ops.views.stored import ShieldCell, cells
from stanchion.ops.views.trails import chosen
from stanchion.ops.views.veiled import veiled
from stanchion.ops.views.where import where
from stanchion.policy.compiled import CompiledPolicy
from stanchion.runtime.standing.listeners import (
    notify_file,
    post_for,
    spool_folder,
    usual_file,
)
from stanchion.runtime.standing.places import KEY, WITNESS
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import StoreError
from stanchion.telemetry.notices.spool import waiting

Mark = Literal["good", "look", "bad", "none"]
"""It is as it should be, somebody should look, it is not as it should be, or there is nothing."""
STYLES: Final[dict[Mark, str]] = {"good": "good", "look": "mild", "bad": "bad", "none": "dim"}
NEAR: Final = 0.8
FULL: Final = 0.95
"""The shares of a budget from which somebody should look, and from which it is as good as gone."""
UNSEEN: Final = (
    BadInput, CannotVerify, OSError, StanchionError, StoreError, StoreLost, ValueError,
)  # fmt: skip
"""What keeps a command from looking at something."""
DAY_MS: Final = 86_400_000


class StatusLine(Struct, frozen=True):
    """One thing and how it stands; `to_do` is what to do about it, where something should be
    done."""

    about: str
    mark: Mark
    says: str
    to_do: str = ""


class Looking:
    """What several lines are about: read once."""

    def __init__(self, args: Args) -> None:
        self.args, self.state = args, whose(args.project, args.store)
        self.readers = trails_of(args.trail, self.state)

    @cached_property
    def case(self) -> DecisionCase | None:
        """The newest decision."""
        return case_named(self.readers, LAST)

    @cached_property
    def policy(self) -> CompiledPolicy | None:
        """The policy of the newest decision, as it is now; none of the code that it names is
        run."""
        return None if self.case is None else policy_of(self.case, imports=False)


Lines = Iterator[tuple[Mark, str] | tuple[Mark, str, str]]
"""A mark, words, and what to do."""


def _store(at: Looking) -> Lines:
    found = where(at.state, at.args.store, at.args.project)
    with opened(at.args.store, at.state, quiet=True) as store:
        if store is None:
            yield "none", f"{found.store}: nothing is kept yet"
            return
        yield "good", found.store
        held = [one for one in cells(store, "", wall_ms()) if isinstance(one, ShieldCell)]
    for one in [state for cell in held for state in cell.states if state.state != PLAIN]:
        until = "" if one.until_ms is None else f" until {shown(one.until_ms)}"
        who = f"{one.kind} {one.name} is {one.state}{until}: {one.why}"
        yield "bad", who, "`stanchion state resume` lets it go on"


def _trail(at: Looking) -> Lines:
    if not at.readers:
        yield "none", "nothing was decided yet", "`stanchion check --tool bash` tries a policy"
        return
    given = {"witness": None, "tsa_cert": None, "schema": None, "key": None}
    key = os.environ.get(KEY, "")
    report = report_of(Args(**{**vars(at.args), **given}), key if key else None)
    if report.whole:
        ends = [chain.last_at for chain in report.chains if chain.last_at is not None]
        yield "good", f"{verdict(report)}{f', up to {shown(max(ends))}' if ends else ''}"
    else:
        yield "bad", verdict(report), "`stanchion audit verify` says where"
    if not any(chain.sealed for chain in report.chains):
        do = f"`stanchion audit key new FILE` makes a key, {KEY} names it"
        yield "look", "unsealed: who writes it could rewrite it", do
    if not report.witnesses:
        do = f"`stanchion audit witness`, or {WITNESS}, keeps a copy elsewhere"
        yield "look", "no witness: a missing end would not be missed", do


def _policy(at: Looking) -> Lines:
    for one in veiled(refused()):
        yield "bad", f"process {one.process.pid} could not load `{one.origin}`", "correct the file"
    if at.case is None:
        yield "none", "none was used yet"
        return
    source = at.case.source
    if at.policy is None:
        yield (
            ("bad", f"{source} does not load", f"`stanchion policy lint {source}` says why")
            if source
            else ("look", "handed in as data: it cannot be looked at from here")
        )
        return
    file, shadow = at.policy.file, [one.placed.id for one in at.policy.seats if one.placed.shadow]
    yield "good", f"{file.name}, {source}, hash {at.policy.hash[:12]}"
    if at.policy.hash != at.case.entry.policy:
        yield "look", "the file has changed since the newest decision"
    if file.mode == "shadow":
        yield "look", "shadow: everything is judged, and nothing is stopped", "`mode: enforce`"
    elif shadow:
        yield "look", f"in shadow mode, so they stop nothing: {', '.join(shadow)}"


def _questions(at: Looking) -> Lines:
    with opened(at.args.store, at.state, quiet=True) as store:
        if store is None:
            yield "none", "nobody was asked anything yet"
            return
    with loaded(at.args) as shield:
        found = shield.tickets(None, State.OPEN)
        known = shield.authority.known().operators
    if found:
        since = shown(min([one.opened_at for one in found]))
        yield "look", f"{counted(len(found), 'question')} open since {since}", "`stanchion tickets`"
    else:
        yield "good", "no question is open"
    if not known:
        do = "`stanchion operators add NAME` enrols the first one"
        yield "look", "no operator: what is critical can be answered by nobody", do


def _budgets(at: Looking) -> Lines:
    limits = BudgetLimits() if at.policy is None else limits_of(at.policy)
    with opened(at.args.store, at.state, quiet=True) as store:
        found = [] if store is None else most_used(budgets(store, limits), 3)
    near = [(one, one.limit) for one in found if one.limit is not None and one.share >= NEAR]
    for one, limit in near:
        words = f"{percent(one.share)} of {amount(one.measure, limit)} used"
        mark: Mark = "bad" if one.share >= FULL else "look"
        yield mark, f"{one.per} {one.whose}: {words}", "`stanchion budget top-up` raises it"
    if not found:
        yield "none", "none is used"
    elif not near:
        yield "good", "none is nearly used up"


def _notices(_: Looking) -> Lines:
    path = notify_file(None, os.environ)
    if path is None:
        yield "look", "unnotified: nobody hears of what happens", f"write `{usual_file()}`"
        return
    post_for(path, os.environ)  # what is wrong with the file is told as everywhere
    if pending := len([*waiting(spool_folder(path, os.environ))]):
        words = f"{counted(pending, 'notice')} not delivered yet"
        yield "look", words, "`stanchion notify waiting`"
    else:
        yield "good", f"sent where `{path}` says"


def _adapters(at: Looking) -> Lines:
    there = installed()
    if not there:
        yield "none", "no framework with an adapter is installed beside this command"
    elif not at.args.canaries:
        yield "none", f"not tried: {', '.join(there)}", "`stanchion status --canaries` tries them"
    for name in there if at.args.canaries else ():
        yield tried(name, driven(name))


def tried(name: str, came: Came) -> tuple[Mark, str]:
    """What came of an adapter's canary."""
    words = f"{name} ({CANARIES[name].package} {came.version})"
    return ("good", f"{words} holds") if came.caught else ("bad", f"{words}: {came.why}")


def _agents(_: Looking) -> Lines:
    at = HostPlaces(Path.cwd(), Path.home(), os.environ)
    there = [one for one in AGENTS if shutil.which(one)]
    if not there:
        yield "none", f"neither {' nor '.join(AGENTS)} is on PATH"
    for agent in there:
        levels, version = hooked(agent, at), version_of(agent, at)
        if version.outcome == "fails":
            yield "bad", f"{agent}: {version.why}"
        if levels:
            words = f"{agent} {version.why}: hooks in {', '.join(levels)} settings"
            yield "good", words, f"`stanchion doctor {agent}` tries whether they fire"
        else:
            yield "look", f"{agent} is unguarded", f"`stanchion install {agent}`"


def _escaped(at: Looking) -> Lines:
    if not at.readers:
        yield "none", "no run was watched yet"
        return
    wanted = WantedRecords(since=wall_ms() - DAY_MS)
    found = coverage(chosen(at.readers[0], wanted), "", None)
    watched = sum(bool(one.mode) for one in found.runs)
    if found.escaped:
        words = f"{counted(len(found.escaped), 'thing')} unguarded in the last day"
        yield "bad", words, "`stanchion audit coverage` names it"
    elif watched:
        yield "good", f"nothing escaped in the last day, in {counted(watched, 'run')}"
    else:
        yield "none", "no run of the last day was watched for what escapes"


ABOUT: Final[dict[str, Callable[[Looking], Lines]]] = {
    "store": _store,
    "trail": _trail,
    "policy": _policy,
    "questions": _questions,
    "budgets": _budgets,
    "notices": _notices,
    "adapters": _adapters,
    "agents": _agents,
    "escaped": _escaped,
}
"""What is looked at, in the order in which it is shown."""


def run(args: Args) -> int:
    """Show how everything stands."""
    return show(args, ABOUT)


def show(args: Args, about: Mapping[str, Callable[[Looking], Lines]]) -> int:
    """Show how each of several things stands; the status says whether one is bad."""
    at = Looking(args)
    found = [line for name, look in about.items() for line in looked(name, look, at)]
    bad, look = [sum(one.mark == mark for one in found) for mark in ("bad", "look")]
    data = {"bad": bad, "look": look, "lines": found}
    put_view(data, lambda _, terminal: screen(found, bad, look, terminal), args.json)
    return int(bool(bad))


def looked(about: str, look: Callable[[Looking], Lines], at: Looking) -> Iterator[StatusLine]:
    """The lines about one thing; one that cannot be looked at is not as it should be."""
    try:
        for mark, says, *to_do in look(at):
            yield StatusLine(about, mark, veiled(says), *to_do)
    except UNSEEN as error:
        yield StatusLine(about, "bad", veiled(str(error)))


def screen(found: list[StatusLine], bad: int, look: int, terminal: Terminal) -> Iterator[str]:
    for one in found:
        words = f"{one.about:<9}  {one.says}{f' — {one.to_do}' if one.to_do else ''}"
        yield from row(one.mark, words, terminal, STYLES[one.mark])
    words = f"{counted(bad, 'thing')} not as it should be, {counted(look, 'thing')} to look at"
    yield from (
        "",
        terminal.paint(words if bad or look else "all is well", "bad" if bad else "good"),
    )


STATUS_COMMAND: Final = DeclaredCommand(
    usage="stanchion status [--canaries] [--trail DIR] [--store URL] [--project DIR] [--json]",
    description="""\
Show on one screen how everything stands: the store and whether anything in it is halted or
isolated, how far the trail is verified, the policy in use, open questions, budgets that are
nearly used up, notices, adapters and coding agents, and what escaped in the last day. Each
line says what to do where something should be done. Nothing is changed.""",
    epilog="""\
examples:
  stanchion status
  stanchion status --canaries
  stanchion status --json | jq '.lines[] | select(.mark == "bad")'

Each line has a mark:
  good  it is as it should be
  look  somebody should look at it, and decide
  bad   it is not as it should be
  none  there is nothing to say yet

exit status:
  0  nothing is bad
  1  something is
  2  it cannot be looked at""",
    options=(
        option("--canaries", "have each adapter that is installed catch its canary, now"),
        option("--trail DIR", "look at this trail (default: that of the project)"),
        STORE,
        PROJECT,
        JSON,
    ),
    work=run,
)
