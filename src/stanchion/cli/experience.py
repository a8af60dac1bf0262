"""`stanchion tools experience`: what was learnt from outcomes of calls, and what of it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from stanchion.cli.command import (
    PROJECT,
    STORE,
    TENANT,
    Args,
    BadInput,
    DeclaredCommand,
    Verb,
    count,
    option,
)
from stanchion.cli.printing import Layout, put_found, shortened
from stanchion.cli.terminal import Terminal, note, put_line, put_lines, tell, visible
from stanchion.cli.whose import opened, tenant_of, whose
from stanchion.experience.bounded import cut
from stanchion.experience.incident import MOST_HINT
from stanchion.experience.shelf import Shelf, ShelfError
from stanchion.ops.views.amounts import counted, in_json, shown
from stanchion.ops.views.experience import ExperienceView, IncidentView, PracticeView, experience
from stanchion.ops.views.veiled import veiled
from stanchion.policy.load import load_policy
from stanchion.policy.sections import Experience
from stanchion.runtime.learning.shelves import IncidentRetention, LeftIncidents, prune, shelf_of
from stanchion.runtime.standing.tenancy import DEFAULT
from stanchion.stores.memory import wall_ms

LONGEST: Final = 60


def _show_tools(args: Args) -> int:
    with _shelf(args, reading=True) as shelf:
        if shelf is not None:
            found = experience(shelf, _named(_tenant(args)), wall_ms(), _named(args.name))
            _show(args, found)
    return 0


def _remove(args: Args) -> int:
    keep = _keep(args)
    with _shelf(args, reading=False) as shelf:
        if shelf is not None:
            tell(_told(_pruned(shelf, keep, args.name), args.name))
    return 0


def _pruned(shelf: Shelf, keep: IncidentRetention, archive: str) -> LeftIncidents:
    try:
        return prune(shelf, keep, wall_ms(), Path(archive) if archive else None)
    except OSError as error:
        if not archive:
            raise
        raise BadInput(
            f"`{veiled(archive)}` cannot be written: {error.strerror}; give a file in a folder "
            f"that is there"
        ) from None


@contextmanager
def _shelf(args: Args, reading: bool) -> Iterator[Shelf | None]:
    """The experience beside the store that is meant; `None`, and a word why, where there is none
    yet."""
    with opened(args.store, whose(args.project, args.store)) as store:
        if store is None:
            yield None
            return
        looked = shelf_of(store, reading=True)
        try:
            looked.count()
        except ShelfError as error:
            note(f"nothing can be shown: {error}")
            yield None
            return
        finally:
            looked.close()
        with closing(shelf_of(store, reading)) as shelf:
            yield shelf


def _keep(args: Args) -> IncidentRetention:
    said = Experience() if args.policy is None else load_policy(args.policy).file.experience
    return IncidentRetention(
        said.days if args.days is None else args.days, said.rows if args.rows is None else args.rows
    )


def _named(name: str) -> str:
    """A name as experience keeps it."""
    return cut(veiled(name), MOST_HINT)


def _tenant(args: Args) -> str:
    named = tenant_of(args.tenant)
    return DEFAULT if named is None else named


def _told(left: LeftIncidents, archive: str) -> str:
    incidents = counted(left.incidents, "incident")
    practices = f"{counted(left.practices, 'call')} that worked long ago"
    where = f" after they were written to `{veiled(archive)}`" if archive else ""
    return f"{incidents} removed{where}; {practices} forgotten"


def _show(args: Args, found: list[ExperienceView]) -> None:
    if args.name and not found and not args.json:
        put_line(f"no outcome of the tool `{visible(_named(args.name))}` is kept")
        return
    put_found(found, KNOWN, args.json)
    for one in found if args.name and not args.json else ():
        if one.practices:
            put_line("")
            put_found(one.practices, PRACTICES, False)
        put_line("")
        put_lines(INCIDENTS.lines(one.incidents, Terminal.of_stdout()))


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _short(one: PracticeView) -> str:
    text = visible(in_json(one.last_success_data))
    return shortened(text, LONGEST)


def _row(one: ExperienceView) -> tuple[str, ...]:
    likely = "" if one.low is None else f"{_share(one.low)} and {_share(one.high)}"
    counts = f"{one.successes:,}", f"{one.failures:,}"
    return one.tool, *counts, _share(one.rate), _share(one.recent), likely


def _incident(one: IncidentView) -> tuple[str, ...]:
    outcome = "worked" if one.success else "failed"
    return shown(one.at_ms), outcome, one.session_id, one.error_reason


KNOWN: Final = Layout(
    ("tool", "worked", "failed", "rate", "lately", "likely between"),
    _row,
    ("worked", "failed", "rate", "lately"),
    "nothing is known: set `experience: {tier: persistent}` in the policy",
)
PRACTICES: Final = Layout(
    ("worked", "failed", "with"),
    lambda one: (f"{one.success_count:,}", f"{one.failure_count:,}", _short(one)),
    ("worked", "failed"),
)
INCIDENTS: Final = Layout(("when", "outcome", "run", "error"), _incident)


TOOLS_EXPERIENCE_COMMAND: Final = DeclaredCommand(
    usage="""stanchion tools experience [show] [TOOL] [--tenant NAME] [--store URL] [--json]
       stanchion tools experience prune [--days N] [--rows N] [--policy FILE] [--store URL]
       stanchion tools experience archive FILE [--days N] [--rows N] [--policy FILE]
             [--store URL]""",
    description="""\
show     how reliable each tool is, as reported and lately; of one TOOL also its last
         outcomes and the calls that worked
prune    remove incidents that are too old or too many, and calls that have not worked for
         as long; counters stay
archive  the same, after appending the incidents to FILE, one JSON object on each line""",
    epilog="""\
examples:
  stanchion tools experience
  stanchion tools experience show send_mail --json
  stanchion tools experience archive incidents.jsonl --days 30

Experience is kept where a policy says `experience: {tier: persistent}`, beside the store.
What is too old or too many is set by `days` and `rows` of that section, by options, or is
90 days and 1,000,000. An interrupted archive loses nothing: run it again. The store is the
project's (`stanchion state --where`), or the one that STANCHION_STORE names.

exit status:
  0  it is shown or done, or there is nothing yet
  2  the store, the policy or the file cannot be used""",
    options=(
        option("verb show|prune|archive", "what to do (default: show)", nargs="?", default="show"),
        option("name TOOL|FILE", "a tool, or the file of the archive", nargs="?", default=""),
        TENANT,
        option("--days N", "incidents older than this leave", type=count),
        option("--rows N", "more incidents than this leave, the oldest first", type=count),
        option("--policy FILE", "the policy whose `days` and `rows` count"),
        STORE,
        PROJECT,
        option("--json", "answer with JSON, one line for each tool"),
    ),
    work={
        "show": Verb(_show_tools, "name json tenant"),
        "prune": Verb(_remove, "days rows policy"),
        "archive": Verb(
            _remove,
            "name days rows policy",
            "archive into which file? write `stanchion tools experience archive FILE`",
        ),
    },
)
