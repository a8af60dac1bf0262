"""`stanchion state`: what the store holds, for people."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from msgspec import UNSET

from stanchion.cli.command import (
    PROJECT,
    STORE,
    Args,
    AsBadInput,
    BadInput,
    DeclaredCommand,
    option,
)
from stanchion.cli.policies import refused, refused_lines
from stanchion.cli.printing import Layout, put_found, put_json, row, shortened, table
from stanchion.cli.terminal import Terminal, put_lines, tell, visible
from stanchion.cli.whose import opened, whose
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.states import HALTED, QUARANTINE, SAFE, WARNING
from stanchion.kernel.units import Unit
from stanchion.ops.views.amounts import UNITS, amount, in_json, shown, size, span
from stanchion.ops.views.standing import PLAIN, StateView
from stanchion.ops.views.stored import (
    MOST,
    CellView,
    CounterCell,
    HoldView,
    OutcomesCell,
    RecordCell,
    RunCell,
    ShieldCell,
    TenantView,
    TookView,
    by_tenant,
    cells,
    holds,
)
from stanchion.ops.views.veiled import veiled
from stanchion.ops.views.where import ProjectView, StatePlace, project_states, where
from stanchion.runtime.standing.places import MARKERS, SHARED
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import Store

LONGEST: Final = 60
"""How much of a record's value is shown, where nothing says what it means."""

NUMBERS: Final = frozenset({"total", "known", "failed", "in a row"})

PARTS: Final[Sequence[tuple[str, str, tuple[str, ...]]]] = (
    ("runs that ended", "run", ("run", "when", "why")),
    ("counters", "counter", ("total", "counter", "window", "last")),
    ("last outcomes", "outcomes", ("known", "failed", "in a row", "of", "last")),
    ("records", "record", ("record", "last", "says")),
)
"""What is shown of a tenant, in which columns."""

WORDS: Final = {
    SAFE: ("SAFE MODE", "mild"),
    HALTED: ("HALTED", "bad"),
    QUARANTINE: ("QUARANTINED", "bad"),
    WARNING: ("warning", "mild"),
    PLAIN: ("normal", "good"),
}
"""How states are shown."""


def tenant_lines(one: TenantView, terminal: Terminal) -> Iterator[str]:
    """Everything of one tenant."""
    whose = f"tenant {terminal.paint(visible(one.tenant), 'bold')}"
    yield terminal.paint("the fleet", "bold") if one.tenant == FLEET else whose
    for cell in one.cells.get("shield", ()):
        if isinstance(cell, ShieldCell):
            own, *others = cell.states
            yield from _state(
                "shield", "", own, f"; last changed {shown(cell.touched_ms)}", terminal
            )
            for state in others:
                yield from _state(state.kind, f"{state.name} ", state, "", terminal)
    for title, kind, columns in PARTS:
        found = one.cells.get(kind, [])
        if found:
            yield from _part(
                title, columns, [_row(cell) for cell in found], one.more.get(kind, 0), terminal
            )


def _state(kind: str, who: str, one: StateView, more: str, terminal: Terminal) -> Iterator[str]:
    """One state: what it is now, until when, and why; what has ended by itself is told as over."""
    words, style = WORDS[one.put]
    over = "" if not one.over else " (over)" if one.state == PLAIN else " (over, and being watched)"
    until = "" if one.until_ms is None else f" until {shown(one.until_ms)}{over}"
    why = f": {one.why}" if one.why else ""
    first, *rest = row(kind, visible(f"{who}{words}{until}{why}{more}"), terminal)
    yield first.replace(words, terminal.paint(words, style), 1)
    yield from rest


def _part(
    title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]], more: int, terminal: Terminal
) -> Iterator[str]:
    yield ""
    yield f"  {terminal.paint(title, 'bold')}"
    room = Terminal(terminal.colour, None if terminal.width is None else terminal.width - 4)
    yield from (f"    {line}" for line in table(columns, rows, NUMBERS, room))
    if more:
        yield f"    … and {more:,} more: give a prefix, or see `--json`"


def _row(cell: CellView) -> tuple[str, ...]:
    last = shown(cell.touched_ms)
    match cell:
        case RunCell():
            return cell.run, last, f"{cell.code}: {cell.why}"
        case CounterCell():
            return amount(cell.measure, cell.total), _named(cell), _window(cell), last
        case OutcomesCell():
            return (
                f"{cell.known:,}",
                f"{cell.failed:,}",
                f"{cell.failed_in_a_row:,}",
                _named(cell),
                last,
            )
        case RecordCell() | ShieldCell():
            said = cell.says if isinstance(cell, RecordCell) else ""
            return _named(cell), last, said if said else _short(cell.value)


def _window(cell: CounterCell) -> str:
    if cell.in_window is UNSET or cell.window_ms is UNSET:
        return ""
    return f"{amount(cell.measure, cell.in_window)} in {span(cell.window_ms)}"


def _named(cell: CellView) -> str:
    return f"{cell.name} (in shadow mode)" if cell.shadow else cell.name


def _short(value: Any) -> str:
    text = in_json(value)
    return shortened(text, LONGEST)


def hold_lines(holds: list[HoldView], terminal: Terminal) -> Iterator[str]:
    """The open holds: what each took, and when it is due."""
    yield terminal.paint("open holds", "bold")
    for hold in holds[:MOST]:
        due = f"lapsed {shown(hold.due_ms)}" if hold.lapsed else f"due {shown(hold.due_ms)}"
        yield f"{visible(hold.id)}  {terminal.paint(due, 'mild' if hold.lapsed else 'dim')}"
        for took in hold.took:
            yield from row("took", visible(_took(took)), terminal)
    if len(holds) > MOST:
        yield "  … and more: give a prefix, or see `--json`"


def _took(took: TookView) -> str:
    # A permit is of whatever its counter is of: a probe, a lock, a slot.
    number = (
        f"{took.amount:,}" if UNITS[took.measure] is Unit.ONE else amount(took.measure, took.amount)
    )
    whose = "" if took.tenant in ("default", FLEET) else f" (tenant {took.tenant})"
    return (
        f"{number} of {took.name}{whose}, "
        f"{'charged until settled' if took.keeps else 'given back when due'}"
    )


def place_lines(one: StatePlace, terminal: Terminal) -> Iterator[str]:
    """Which state it is: whose, where, how much is kept, and why that one."""
    rows = {"project": one.project, "folder": one.folder, "store": one.store, "trail": one.trail}
    rows |= {"keeps": one.keeps, "witness": one.witness, "because": one.why}
    for name, text in rows.items():
        if text:
            yield f"{terminal.paint(f'{name:<8}', 'dim')} {visible(text)}"


def _project_row(one: ProjectView) -> tuple[str, ...]:
    """The states of all projects."""
    return one.name, size(one.size_bytes), shown(one.last_used_ms), _root(one)


def _root(one: ProjectView) -> str:
    if one.root:
        return one.root if one.exists else f"{one.root} (no longer exists)"
    return "shared by all projects" if one.name == SHARED else "owner unknown"


NOTHING: Final = (
    "the store holds nothing; if it has lost something, look at why, and then let runs go on with "
    "`stanchion state accept` or, from a copy, `stanchion state accept --restored`"
)


def run(args: Args) -> int:
    """Show what the store holds, which state it is, or which there are."""
    if args.projects:
        return _projects(args)
    if args.where and args.prefix:
        raise BadInput(
            f"`--where` only says which state is used, and `{args.prefix}` selects from it: leave "
            f"one of them out"
        )
    state = whose(args.project, args.store)
    with AsBadInput(OSError):
        found = where(state, args.store, args.project)
    if args.where and args.json:
        put_json(veiled(found))
    if args.where:
        if not args.json:
            _say_where(found)
            if not found.kept:
                tell("nothing is kept in the folder yet")
        return 0
    with opened(args.store, state) as store:
        if not args.json:
            _say_where(found)
        _say_refused(args)
        if store is not None:
            (_print if args.json else _show)(store, args.prefix)
    return 0


def _say_where(found: StatePlace) -> None:
    put_lines(place_lines(veiled(found), Terminal.of_stdout()))


def _say_refused(args: Args) -> None:
    """Say which policies processes of this user could not load."""
    found = veiled(refused())
    if args.json:
        put_json(*[{"refused_policy": one} for one in found])
    else:
        put_lines(refused_lines(found, Terminal.of_stdout()))


def _projects(args: Args) -> int:
    for name in ("prefix", "store", "project", "where"):
        if getattr(args, name):
            said = f"`{args.prefix}`" if name == "prefix" else f"`--{name}`"
            raise BadInput(f"`--projects` lists all states and takes no {said}: leave it out")
    try:
        found = veiled(project_states(os.environ))
    except OSError as error:
        raise BadInput(f"the states of projects cannot be read: {error}") from None
    put_found(found, PROJECTS, args.json)
    return 0


def _print(store: Store, prefix: str) -> None:
    for one in (*cells(store, prefix, wall_ms()), *holds(store, prefix)):
        put_json(one)


def _show(store: Store, prefix: str) -> None:
    terminal = Terminal.of_stdout()
    tenants = by_tenant(cells(store, prefix, wall_ms()))
    held = list(islice(holds(store, prefix), MOST + 1))
    if not tenants and not held:
        named = f" with a name that begins with `{veiled(prefix)}`" if prefix else ""
        tell(f"the store holds nothing{named}" if named else NOTHING)
    parts = [tenant_lines(one, terminal) for one in tenants]
    parts += [hold_lines(held, terminal)] if held else []
    for part in parts:
        put_lines(["", *part])


PROJECTS: Final = Layout(
    ("state", "size", "last used", "project"),
    _project_row,
    ("size",),
    "no project keeps a state yet",
    lambda one: {} if one.exists or not one.root else {"root": "mild"},
)


STATE_COMMAND: Final = DeclaredCommand(
    usage="""stanchion state [PREFIX] [--store URL] [--project DIR] [--json]
       stanchion state --where [--store URL] [--project DIR] [--json]
       stanchion state --projects [--json]""",
    description="""\
Show what the store holds, tenant by tenant: whether the shield is in safe mode or halted
and why, which tools and agents are isolated until when, which runs have ended, counters
with their totals and what is in their windows, records of guards, and open holds with
what they took and when they are due. The store is only read, and nobody waits for it.
The first lines say which state is shown: its owner, its store and trail, and why.""",
    epilog="""\
examples:
  stanchion state
  stanchion state steps
  stanchion state --where
  stanchion state tasks
  stanchion state --store ./state.db --json | jq 'select(.kind == "hold")'

PREFIX is the beginning of a name as it is shown, or of a key. Each project has its own
state, in your state folder. A project is found from the current folder; its root is the
nearest folder with MARKS
in it. STANCHION_STATE_DIR names one folder for everything, STANCHION_STORE or --store
another store; `user:` is the state that all your projects can share. A folder that was
moved, a worktree and a clone are projects of their own. JSON shows everything, one line
each; the text shows at most 50 of a kind.

exit status:
  0  it is shown, or there is nothing yet
  2  the store cannot be read

Changes have a help of their own: `stanchion state halt`, `resume`, `safe-mode`, `quarantine`,
`unlock` and `accept`.""".replace("MARKS", ", ".join(MARKERS)),
    options=(
        option("prefix PREFIX", "show only names that start with this", nargs="?", default=""),
        STORE,
        PROJECT,
        option("--where", "show only which state is used, and why"),
        option("--projects", "list the states of all your projects instead"),
        option("--json", "answer with JSON, one line for each thing"),
    ),
    work=run,
)
