"""`stanchion lab`: measure guards on labelled rows and policies against attackers, and compile
bundles."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from stanchion.cli.parser import Parser, count, nearest
from stanchion.cli.progress import progress
from stanchion.cli.terminal import say
from stanchion.cli.trouble import BadInput
from stanchion.ops.views.encode import json_line
from stanchion_lab.fresh import DRAWN
from stanchion_lab.measuring import MEASURES
from stanchion_lab.measuring.beside import beside
from stanchion_lab.measuring.figure import Report
from stanchion_lab.measuring.rows import VARIABLE, NoRows
from stanchion_lab.measuring.show import lines, plain
from stanchion_lab.measuring.watching import watched

USAGE: Final = """stanchion lab measure WHAT [--corpora DIR] [--fresh SEED …] [--open] [--misses N] [--json]
       stanchion lab agentdojo [--suite NAME] [--attack NAME] [--policy POLICY] [--jobs N]
       stanchion lab flow [FILE|FOLDER|agentdojo:SUITE|leaks:SUITE|eyes:SET …] [--phrasing WAY]
                          [--may HOW] [--drafted] [--flat] [--policy POLICY] [--show N]
                          [--write FOLDER]
       stanchion lab compile FILE|FOLDER … --model NAME --out FILE [--optimizer O] [--candidates N]"""  # noqa: E501

DESCRIPTION: Final = """\
measure    how much guards find on labelled rows that somebody else wrote, and how often they
           disturb honest work. Stanchion ships no such rows; DIR is the folder that has yours
agentdojo  what is left of AgentDojo's attacks on an agent that obeys whatever it reads
flow       whole tasks, recorded or made, replayed to the guard against hijacks with the declared
           tools: attacks that go through with nobody asked, and questions that honest tasks cost
compile    prompts and examples for a player of the Tutor, chosen with DSPy by what the Tutor makes
           of the replies, and frozen into a bundle; a part of the games is held back to score it
Every figure is given over all rows, as the mean over the families that they come from, and for each
family, with 95 % intervals; what was otherwise is listed."""

_WIDTH: Final = max(len(name) for name in MEASURES)

EPILOG: Final = f"""\
what can be measured on rows:
{chr(10).join(f"  {name:{_WIDTH}}  {said}" for name, said in MEASURES.items())}

examples:
  stanchion lab measure loops --corpora corpora
  stanchion lab measure benign --corpora corpora --misses 100
  {VARIABLE}=corpora stanchion lab measure loops --json
  stanchion lab measure shell --corpora corpora --fresh 1 2 3
  stanchion lab measure eyes
  stanchion lab agentdojo --suite banking --policy policy.yaml
  stanchion lab flow traces/shop.jsonl --show 5
  stanchion lab flow agentdojo:slack agentdojo:banking --phrasing all --may tools
  stanchion lab flow agentdojo: --write traces
  stanchion lab compile runs --model ollama_chat/small:3b --out bundle.json

AgentDojo comes with the extra `agentdojo` of `stanchion-lab`. It needs no model and no network.
DSPy comes with the extra `dspy`. It asks the model that you name, and whatever that needs, such
as a key, is taken from the environment.

exit status:
  0  it is measured or compiled, whatever the figures say
  2  there are no rows or traces, AgentDojo or DSPy is not installed, the model cannot be asked, or
     something cannot be read"""

FLOW: Final = ("phrasing", "may", "drafted", "flat", "show", "write")
COMPILE: Final = ("model", "out", "optimizer", "candidates")
OPTIONS: Final = (
    "corpora",
    "fresh",
    "open",
    "suite",
    "attack",
    "policy",
    "env",
    "jobs",
    *FLOW,
    *COMPILE,
)
"""Options that not every verb takes."""


class Shown(NamedTuple):
    """What a verb has to say: for people, and as data."""

    lines: Iterable[str]
    data: dict[str, Any]


class Verb(NamedTuple):
    """A word of `stanchion lab`: what does it, and which of the options it takes."""

    work: Callable[[argparse.Namespace], Report | Shown]
    options: tuple[str, ...]


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "measure guards and policies, compile bundles for players of the Tutor"
    parser: Parser = commands.add_parser(
        "lab", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument("verb", metavar="measure|agentdojo|flow|compile", help="what to do")
    parser.add_argument(
        "what", metavar="WHAT", nargs="*", help="what to measure on rows, see below; traces"
    )
    parser.add_argument(
        "--misses",
        metavar="N",
        type=int,
        default=20,
        help="how many misses to list for each figure (default: 20)",
    )
    parser.add_argument(
        "--json", action="store_true", help="answer with one line of JSON, all misses included"
    )
    rows = parser.add_argument_group("measure")
    rows.add_argument("--corpora", metavar="DIR", help=f"the folder of rows (default: {VARIABLE})")
    rows.add_argument(
        "--fresh",
        metavar="SEED",
        nargs="+",
        type=int,
        help="measure rows that these seeds draw, beside the others or alone",
    )
    rows.add_argument(
        "--open",
        action="store_true",
        default=None,
        help="with `eyes`: list misses of the unread half, too",
    )
    traces = parser.add_argument_group("flow")
    traces.add_argument(
        "--phrasing",
        metavar="WAY",
        action="append",
        help="another way to ask for the goals: data, record, named, quoted, reported, language, "
        "reworded, or all of them",
    )
    traces.add_argument(
        "--may",
        choices=("tools", "effects"),
        help="each task may do what its honest calls need: those tools, or such effects",
    )
    flags = {
        "--drafted": "nothing is declared: the guard drafts effects from names and schemas",
        "--flat": "results as the texts that a model is shown, not as data",
    }
    for flag, said in flags.items():
        traces.add_argument(flag, action="store_true", default=None, help=said)
    traces.add_argument(
        "--show",
        metavar="N",
        type=count,
        help="print the first questions and attacks through of each set",
    )
    traces.add_argument(
        "--write", metavar="FOLDER", help="write the traces into files, and play nothing"
    )
    bundles = parser.add_argument_group("compile")
    bundles.add_argument(
        "--model", metavar="NAME", help="the model that is to play, as DSPy names it"
    )
    bundles.add_argument("--out", metavar="FILE", help="where to write the frozen bundle")
    bundles.add_argument(
        "--optimizer",
        metavar="NAME",
        help="bootstrap chooses examples, mipro instructions as well (default: bootstrap)",
    )
    bundles.add_argument(
        "--candidates", metavar="N", type=count, help="how many to try (default: 10)"
    )
    attacks = parser.add_argument_group("agentdojo, flow")
    attacks.add_argument(
        "--suite", metavar="NAME", action="append", help="a suite (default: workspace and banking)"
    )
    attacks.add_argument(
        "--policy",
        "--pack",
        metavar="POLICY",
        help="a policy file or a pack (default: strict; of flow: the guard)",
    )
    attacks.add_argument("--env", metavar="NAME", help="the policy as it is in this environment")
    attacks.add_argument(
        "--attack", metavar="NAME", action="append", help="a way of asking (default: all)"
    )
    attacks.add_argument(
        "--jobs", metavar="N", type=count, help="how many processes (default: one for each core)"
    )


def run(args: argparse.Namespace) -> int:
    """Measure, and show the report."""
    verb = VERBS.get(args.verb)
    if verb is None:
        known = f"write {', '.join(f'`{name}`' for name in VERBS)}"
        raise BadInput(f"`stanchion lab` cannot `{args.verb}`: {nearest(args.verb, VERBS, known)}")
    for name in OPTIONS:
        if getattr(args, name) is not None and name not in verb.options:
            raise BadInput(
                f"`stanchion lab {args.verb}` takes no `--{name}`: see `stanchion lab --help`"
            )
    if args.what and verb.work not in (_on_rows, _on_traces, _on_recordings):
        raise BadInput(f"`{args.what[0]}` is one word too many: name suites with `--suite`")
    if args.misses < 0:
        raise BadInput(f"`--misses` is `{args.misses}`: give a number from 0 on")
    found = verb.work(args)
    shown = found if isinstance(found, Shown) else Shown(lines(found, args.misses), plain(found))
    if args.json:
        sys.stdout.buffer.write(json_line(shown.data))
        return 0
    for line in shown.lines:
        say(sys.stdout, line)
    return 0


def _on_rows(args: argparse.Namespace) -> Report:
    if not args.what:
        raise BadInput("the following arguments are required: WHAT: see `stanchion lab --help`")
    what, *more = args.what
    if more:
        raise BadInput(f"`{more[0]}` is one word too many: one thing is measured at a time")
    if what not in MEASURES:
        known = f"what can be measured is {', '.join(MEASURES)}"
        raise BadInput(f"nothing measures `{what}`: {nearest(what, MEASURES, known)}")
    if what == "eyes" and args.fresh is None:
        return _by_eyes(args)
    if args.open:
        raise BadInput(f"`stanchion lab measure {what}` takes no `--open`: it is for `eyes`")
    folder = args.corpora if args.corpora is not None else os.environ.get(VARIABLE, "")
    if args.fresh is not None and what not in DRAWN:
        raise BadInput(f"nothing draws rows for `{what}`: `--fresh` is for {_listed(DRAWN)}")
    if not folder and args.fresh is None:
        raise BadInput(f"no folder of rows is named: give one by `--corpora`, or set {VARIABLE}")
    try:
        with progress(f"measuring {what}", _rows) as told, watched(told):
            measure = import_module(f"stanchion_lab.measuring.{what}").measure
            report: Report
            if args.fresh is None:
                report = measure(Path(folder))
            else:
                report = beside(
                    what,
                    measure,
                    Path(folder) if folder else None,
                    tuple(dict.fromkeys(args.fresh)),
                )
    except NoRows as error:
        raise BadInput(str(error)) from None
    return report


def _by_eyes(args: argparse.Namespace) -> Report:
    from stanchion_lab.measuring.eyes import measure

    if args.corpora is not None:
        raise BadInput("`stanchion lab measure eyes` takes no `--corpora`: the lab ships its rows")
    with progress("measuring eyes", _rows) as told, watched(told):
        return measure(opened=args.open is not None)


def _on_agentdojo(args: argparse.Namespace) -> Report:
    from stanchion_lab.agentdojo.playing import Plan, cores, play
    from stanchion_lab.agentdojo.report import report_on

    plan = Plan(_suites(args), _attacks(args), _policy(args), args.env)
    with progress("AgentDojo", _parts) as told:
        return report_on(play(plan, cores() if args.jobs is None else args.jobs, told))


def _on_traces(args: argparse.Namespace) -> Shown:
    from stanchion_lab.flow.verb import flow

    return Shown(*flow(args))


def _on_recordings(args: argparse.Namespace) -> Shown:
    from stanchion_lab.compiling.verb import compile_bundle

    return Shown(*compile_bundle(args))


def _suites(args: argparse.Namespace) -> tuple[str, ...]:
    from stanchion_lab.agentdojo.package import NoAgentDojo, agentdojo
    from stanchion_lab.agentdojo.playing import DEVELOPMENT

    try:
        known = agentdojo().suites
    except NoAgentDojo as error:
        raise BadInput(str(error)) from None
    asked = DEVELOPMENT if args.suite is None else tuple(dict.fromkeys(args.suite))
    for name in asked:
        if name not in known:
            raise BadInput(
                f"AgentDojo has no suite `{name}`: "
                f"{nearest(name, known, f'it has {_listed(known)}')}"
            )
    return asked


def _attacks(args: argparse.Namespace) -> tuple[str, ...]:
    from stanchion_lab.agentdojo.attacks import attack_names

    known = attack_names()
    asked = () if args.attack is None else tuple(dict.fromkeys(args.attack))
    for name in asked:
        if name not in known:
            raise BadInput(
                f"there is no attack `{name}`: "
                f"{nearest(name, known, f'there are {_listed(known)}')}"
            )
    return asked


def _policy(args: argparse.Namespace) -> str:
    """What the policy is called, once it is certain that it can be loaded."""
    from stanchion import PolicyError
    from stanchion.policy.load import load_policy

    name: str = "strict" if args.policy is None else args.policy
    try:
        load_policy(name, args.env)
    except PolicyError as error:
        raise BadInput(*[str(fault) for fault in error.faults]) from None
    return name


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _rows(number: int) -> str:
    return f"{number:,} rows" if number != 1 else "1 row"


def _parts(number: int) -> str:
    return f"{number} parts" if number != 1 else "1 part"


VERBS: Final = {
    "measure": Verb(_on_rows, ("corpora", "fresh", "open")),
    "agentdojo": Verb(_on_agentdojo, ("suite", "attack", "policy", "env", "jobs")),
    "flow": Verb(_on_traces, ("policy", "env", *FLOW)),
    "compile": Verb(_on_recordings, COMPILE),
}
