"""`stanchion report` and `stanchion import`: what a policy would have done to sessions of coding
agents that are over."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from stanchion.audit.errors import AuditLost
from stanchion.audit.layout import state_folder
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.cli.command import (
    JSON,
    Args,
    AsBadInput,
    BadInput,
    DeclaredCommand,
    GivenOnce,
    moment_ms,
    option,
)
from stanchion.cli.printing import labelled, progress, put_view
from stanchion.cli.terminal import Terminal, tell, visible, warn
from stanchion.hosts.coding import AGENTS
from stanchion.hosts.coding.played import PlayedEvent, PlayedSession
from stanchion.hosts.coding.transcripts import (
    RecordedSession,
    TranscriptEvent,
    TranscriptLines,
    files_of,
    homes,
    sessions_in,
    told_in,
)
from stanchion.ops.views.amounts import counted
from stanchion.ops.views.explain import DecisionCase, case_just_made
from stanchion.ops.views.past import PastEvent, PastGroup, PastReport, ReportTally
from stanchion.ops.views.runs import runs
from stanchion.ops.views.veiled import veiled
from stanchion.policy.load import load_policy
from stanchion.stores.memory import wall_ms

TITLES: Final = {"claude": "Claude Code", "codex": "Codex"}
STYLES: Final = {
    "stopped": ("STOPPED", "bad"),
    "asked": ("ASKED", "asks"),
    "unknown": ("NOT KNOWN", "mild"),
    "changed": ("CHANGED", "mild"),
    "sent_back": ("SENT BACK", "mild"),
}
SUM: Final = {
    "stopped": "would have been stopped",
    "asked": "would have waited for a person",
    "changed": "would have been changed",
    "unknown": "cannot be told",
    "sent_back": "answers would have been sent back",
    "after_end": "came after a halt and were not judged",
}
BESIDES: Final = {
    "warned": ("event", "with a warning for the agent"),
    "hidden": ("event", "with secrets hidden"),
    "unheard": ("program", "refused, because what is typed into it is told to nobody"),
    "ended": ("session", "halted"),
    "refused": ("call", "that did not run, or not to the end"),
    "copies": ("call", "in copies, counted once"),
}
"""Counts of a report, in the order and the words in which they are told."""
IMPORTED: Final = "imported-"
"""How the names of runs begin that were imported."""
EXAMPLE_SHOWN: Final = 160
"""How much of an example people are shown."""


def report(args: Args) -> int:
    """Show what would have happened."""
    since_ms, until_ms = _window(args)
    found, met = _sessions(args)
    policy = load_policy(args.policy)
    tally = ReportTally(policy, since_ms, until_ms, _folder(args.project))
    late = [one for one in found if since_ms is None or one.changed_ms >= since_ms]
    for session, events in _read(late, met):
        tally.session(map(_past, PlayedSession(session, policy).play(events, met)))
    done = tally.done()
    done.lines, done.unreadable = met.lines, met.unreadable
    done.unknown_kinds, done.unopened = veiled(dict(met.unknown)), veiled(met.unopened)
    return put_view(done, partial(_lines, args.day, met), args.json)


def _past(event: PlayedEvent) -> PastEvent:
    whose, told, heard = event.session, event.told, event.heard
    used = (told.key, told.tokens, told.cost_usd, told.refused, event.skipped)
    if heard is None:
        return PastEvent(whose.id, whose.agent, told.at_ms, *used)
    about = (heard.cwd, heard.stage, heard.tool, heard.fields.get("args", {}))
    judged = (event.decision, event.unknown, partial(_case, event))
    return PastEvent(whose.id, whose.agent, told.at_ms, *used, *about, *judged)


def _case(event: PlayedEvent) -> DecisionCase:
    if event.journal is None or event.journal.start is None:
        raise LookupError("nothing was decided")
    return case_just_made(event.journal.kept()[-1].read(), event.journal.start, None)


def import_(args: Args) -> int:
    """Write what would have been decided into a trail."""
    if not args.all and not [word for word in args.what if word not in AGENTS]:
        raise BadInput("nothing is named to import: give transcripts, or `--all` for every one")
    found, met = _sessions(args)
    into = state_folder(os.environ) / "imported" if args.into is None else Path(args.into)
    if into.exists() and not into.is_dir():
        raise BadInput(f"`{into}` is a file: give a folder for the trail")
    with AsBadInput(OSError):
        there = {one.id for one in runs(TrailReader(into), None)} if into.exists() else set()
    new = [one for one in found if f"{IMPORTED}{one.agent}-{one.id}" not in there]
    policy, judged = load_policy(args.policy), 0
    for session, events in _read(new, met):
        with AsBadInput(AuditLost, OSError), closing(Trail(into)) as trail:
            played = PlayedSession(session, policy, trail, IMPORTED, args.policy)
            for one in played.play(events, met):
                judged += one.decision is not None
                if trail.trouble:
                    raise BadInput(f"the trail in `{into}` cannot be written: {trail.trouble}")
    for words in _left_out(met):
        warn(words)
    known = f"; {counted(len(found) - len(new), 'session')} stood there before" if there else ""
    tell(f"{counted(judged, 'event')} of {counted(len(new), 'session')} imported{known}")
    tell(f"read them with `stanchion runs --trail {into}`")
    return 0


def _sessions(args: Args) -> tuple[list[RecordedSession], TranscriptLines]:
    """The sessions that were asked for; none at all is bad input that says where was looked."""
    met = TranscriptLines()
    agents = [word for word in args.what if word in AGENTS]
    files = [_transcript(word) for word in args.what if word not in AGENTS]
    looked = [] if files else agents if agents else [*AGENTS]
    files += [path for agent in looked for path in files_of(agent, os.environ, met)]
    found = [one for one in sessions_in(files, met) if not agents or one.agent in agents]
    if found:
        return found, met
    for words in _left_out(met):
        warn(words)
    where = " in " if looked else ""
    where += ", ".join([f"`{home}`" for agent in looked for home in homes(agent, os.environ)])
    elsewhere = "if they are elsewhere, set CLAUDE_CONFIG_DIR or CODEX_HOME, or name the files"
    raise BadInput(f"there are no transcripts{where}: {elsewhere}")


def _transcript(word: str) -> Path:
    if not Path(word).is_file():
        known = " and ".join([f"`{name}`" for name in AGENTS])
        raise BadInput(f"`{word}` is neither a transcript nor an agent: the agents are {known}")
    return Path(word)


def _read(
    found: list[RecordedSession], met: TranscriptLines
) -> Iterator[tuple[RecordedSession, Iterable[TranscriptEvent]]]:
    """The sessions one by one, with what they tell; shows how far it is."""
    total = sum([one.size for one in found])
    with progress("reading") as drawn:
        if drawn is not None:
            met.told = partial(drawn, total=total)
        for session in found:
            yield session, told_in(session, met)


def _folder(project: str | None) -> str:
    """The beginning of every folder in a project."""
    if project is None:
        return ""
    folder = Path(project).resolve()
    if not folder.is_dir():
        raise BadInput(f"`--project {project}` is no folder: give the folder of a project")
    return f"{folder}/"


def _window(args: Args) -> tuple[int | None, int | None]:
    """The time that is asked for. A day is one by the clock on the wall."""
    if args.day is None:
        return None if args.since is None else moment_ms("--since", args.since, wall_ms()), None
    if args.since is not None:
        raise BadInput("`--day` and `--since` are both given: give one of them")
    today = _local(wall_ms()).date()
    words = {"today": today, "yesterday": today - timedelta(days=1)}
    try:
        day = words[args.day] if args.day in words else date.fromisoformat(args.day)
    except ValueError:
        raise BadInput(
            f"`--day` is `{args.day}`, which is no day: write `today`, `yesterday` or `2026-01-31`"
        ) from None
    since, until = [
        round(datetime.combine(each, time()).astimezone().timestamp() * 1000)
        for each in (day, day + timedelta(days=1))
    ]
    return since, until


def _local(at_ms: int) -> datetime:
    """A moment by the clock on the wall."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).astimezone()


# What people are shown.


def _lines(
    day: str | None, met: TranscriptLines, found: PastReport, terminal: Terminal
) -> Iterator[str]:
    if not found.sessions:
        yield "nothing was done in that time and folder"
        return
    yield from _wrapped(f"{_sum(day, found)}; {_touched(found)}.", terminal)
    for group in found.groups:
        yield ""
        yield from _group(group, terminal)
    yield ""
    for words in _notes(found, met):
        yield from _wrapped(words, terminal)


def _wrapped(words: str, terminal: Terminal) -> list[str]:
    import textwrap

    line = visible(words)
    return [line] if terminal.width is None else textwrap.wrap(line, terminal.width)


def _sum(day: str | None, found: PastReport) -> str:
    done = counted(found.commands, "command")
    if found.other_calls:
        done += f" and {counted(found.other_calls, 'other call')}"
    when = f" {day}" if day in ("today", "yesterday") else f" on {day}" if day else ""
    parts = [
        f"{number:,} {words}" for name, words in SUM.items() if (number := getattr(found, name))
    ]
    return f"{done}{when}: {', '.join(parts) if parts else 'nothing would have been stopped'}"


def _touched(found: PastReport) -> str:
    touched = [
        f"{number:,} of {counted(found.honest[kind], kind)}"
        for kind, number in found.touched.items()
        if number
    ]
    if touched:
        return f"among them {_and(touched)}"
    every = _honest(found.honest)
    return f"no test, build or commit touched{f' (of {every})' if every else ''}"


def _honest(counts: Mapping[str, int]) -> str:
    """Numbers of honest work in words: `3 tests and 1 build`."""
    return _and([counted(number, kind) for kind, number in counts.items() if number])


def _and(words: list[str]) -> str:
    return " and ".join([part for part in (", ".join(words[:-1]), *words[-1:]) if part])


def _group(group: PastGroup, terminal: Terminal) -> Iterator[str]:
    title, style = STYLES[group.outcome]
    times = "once" if group.count == 1 else f"{group.count:,} times"
    if group.sessions > 1:
        times += f" in {group.sessions:,} sessions"
    by = f"{group.code} by `{group.guard}`" if group.guard else group.code
    yield f"{terminal.paint(title, style)}  {times}  {visible(by) if by else 'other findings'}"
    what = {"tool_result": "result of ", "error": "failure of "}.get(group.stage, "")
    shown = f"{what}{group.tool} {group.example[:EXAMPLE_SHOWN]}" if group.tool else ""
    when = _local(group.at_ms).strftime("%d %b %H:%M")
    where = f"{TITLES[group.agent]}, {when}, in {group.folder}, session {group.session}"
    among = f"{_honest(group.honest)} among them" if group.honest else ""
    rows = (
        ("why", group.message),
        ("unknown", group.depends),
        ("example", shown),
        ("where", where),
        ("touches", among),
        ("to pass", "\n".join(group.to_pass)),
        ("instead", group.advice),
    )
    yield from labelled(rows, terminal)


def _notes(found: PastReport, met: TranscriptLines) -> Iterator[str]:
    agents = [f"{number:,} of {TITLES[name]}" for name, number in found.agents.items()]
    where = f"{counted(found.sessions, 'session')} ({', '.join(agents)})"
    cost = f" and ${found.cost_usd:,.2f}" if found.cost_usd >= 0.005 else ""
    used = f"; {found.tokens:,} tokens{cost} used" if found.tokens else ""
    yield f"{where} in {counted(found.folders, 'folder')}, judged by `{found.policy}`{used}."
    also = [
        f"{counted(number, what)} {words}"
        for name, (what, words) in BESIDES.items()
        if (number := getattr(found, name))
    ]
    if also:
        yield f"Besides: {'; '.join(also)}."
    yield from _left_out(met)
    yield (
        "Links and names of hosts are judged as they are written, and questions have no answer. "
        "What came of calls that would have been stopped is not judged."
    )


def _left_out(met: TranscriptLines) -> Iterator[str]:
    if met.unreadable:
        lines = counted(met.lines, "line")
        yield f"Left out, because they cannot be read: {met.unreadable:,} of {lines}."
    if met.unknown:
        count = counted(met.unknown.total(), "line")
        kinds = ", ".join(veiled([*met.unknown]))
        yield f"Left out, because nobody knows their kind: {count} ({kinds})."
    for place, why in met.unopened.items():
        yield f"Left out: `{veiled(place)}`, {why}."


WHAT: Final = option(
    "what WHAT",
    "an agent, `claude` or `codex`, or files with transcripts",
    nargs="*",
)
POLICY: Final = option(
    "--policy POLICY", "a policy file or a pack (default: coding-agent)", default="coding-agent"
)

REPORT_COMMAND: Final = DeclaredCommand(
    usage="""stanchion report [claude|codex|FILE ...] [--day DAY | --since TIME]
                        [--project DIR] [--policy POLICY] [--json]""",
    description="""\
Show what a policy would have done to sessions of Claude Code and Codex that are over, before
it is enforced: what would have been stopped or asked about, what would have let it pass, and
whether tests, builds or commits are among it.

It reads the transcripts that the agents keep, judges each session in order, and changes
nothing. What depends on something that a transcript cannot know, such as the state of git at
that time, is counted apart.""",
    epilog="""\
examples:
  stanchion report
  stanchion report --day yesterday
  stanchion report claude --since 7d --project .
  stanchion report --policy policy.yaml --json
  stanchion report session.jsonl

exit status:
  0  done
  2  there are no transcripts, or bad input""",
    options=(
        WHAT,
        option("--day DAY", "one day: `today`, `yesterday` or a date", action=GivenOnce),
        option(
            "--since TIME", "from then on: a time, or how long ago, such as `7d`", action=GivenOnce
        ),
        option("--project DIR", "only work in this folder and below it", action=GivenOnce),
        POLICY,
        JSON,
    ),
    work=report,
)

IMPORT_COMMAND: Final = DeclaredCommand(
    usage="""stanchion import [claude|codex|FILE ...] [--all] [--into DIR] [--policy POLICY]""",
    description="""\
Write what a policy would have decided about sessions of Claude Code and Codex that are over
into a trail of its own, to be read with `stanchion audit` and `stanchion explain`. Runs in it
are called `imported-AGENT-SESSION`. A session that stands there already is left as it is.""",
    epilog="""\
examples:
  stanchion import claude --all
  stanchion import session.jsonl --into trail

exit status:
  0  done
  2  there are no transcripts, or bad input""",
    options=(
        WHAT,
        option("--all", "every session that is found"),
        option("--into DIR", "the folder of the trail (default: `imported` in the user's state)"),
        POLICY,
    ),
    work=import_,
)
