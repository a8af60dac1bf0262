"""`stanchion lab`: measure guards on labelled rows and policies against attackers, and compile
bundles."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from stanchion.cli.command import (
    BadInput,
    DeclaredCommand,
    Verb,
    Work,
    count,
    group,
    nearest,
    option,
)
from stanchion.cli.printing import progress, put_json
from stanchion.cli.terminal import tell
from stanchion_lab.fresh import DRAWN
from stanchion_lab.measuring import MEASURES
from stanchion_lab.measuring.beside import beside
from stanchion_lab.measuring.figure import Report
from stanchion_lab.measuring.rows import VARIABLE, NoRows
from stanchion_lab.measuring.show import lines, plain
from stanchion_lab.measuring.watching import watched

_WIDTH: Final = max(len(name) for name in MEASURES)


class Shown(NamedTuple):
    """What a verb has to say: for people, and as data."""

    lines: Iterable[str]
    data: dict[str, Any]


def _show(work: Callable[[argparse.Namespace], Report | Shown]) -> Work:
    """Measure, and show the report."""

    def done(args: argparse.Namespace) -> int:
        if args.misses < 0:
            raise BadInput(f"`--misses` is `{args.misses}`: give a number from 0 on")
        found = work(args)
        shown = (
            found if isinstance(found, Shown) else Shown(lines(found, args.misses), plain(found))
        )
        if args.json:
            put_json(shown.data)
            return 0
        for line in shown.lines:
            tell(line)
        return 0

    return done


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


LAB_COMMAND: Final = DeclaredCommand(
    usage="""stanchion lab measure WHAT [--corpora DIR] [--fresh SEED …] [--open] [--misses N] [--json]
       stanchion lab agentdojo [--suite NAME] [--attack NAME] [--policy POLICY] [--jobs N]
       stanchion lab flow [FILE|FOLDER|agentdojo:SUITE|leaks:SUITE|eyes:SET …] [--phrasing WAY]
                          [--may HOW] [--drafted] [--flat] [--policy POLICY] [--show N]
                          [--write FOLDER]
       stanchion lab compile FILE|FOLDER … --model NAME --out FILE [--optimizer O] [--candidates N]""",  # noqa: E501
    description="""\
measure    how much guards find on labelled rows that somebody else wrote, and how often they
           disturb honest work. Stanchion ships no such rows; DIR is the folder that has yours
agentdojo  what is left of AgentDojo's attacks on an agent that obeys whatever it reads
flow       whole tasks, recorded or made, replayed to the guard against hijacks with the declared
           tools: attacks that go through with nobody asked, and questions that honest tasks cost
compile    prompts and examples for a player of the Tutor, chosen with DSPy by what the Tutor makes
           of the replies, and frozen into a bundle; a part of the games is held back to score it
Every figure is given over all rows, as the mean over the families that they come from, and for each
family, with 95 % intervals; what was otherwise is listed.""",
    epilog=f"""\
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
     something cannot be read""",
    options=(
        option("verb measure|agentdojo|flow|compile", "what to do"),
        option("what WHAT", "what to measure on rows, see below; traces", nargs="*"),
        option(
            "--misses N",
            "how many misses to list for each figure (default: 20)",
            type=int,
            default=20,
        ),
        option("--json", "answer with one line of JSON, all misses included"),
        group(
            "measure",
            option("--corpora DIR", f"the folder of rows (default: {VARIABLE})"),
            option(
                "--fresh SEED",
                "measure rows that these seeds draw, beside the others or alone",
                nargs="+",
                type=int,
            ),
            option("--open", "with `eyes`: list misses of the unread half, too", default=None),
        ),
        group(
            "flow",
            option(
                "--phrasing WAY",
                "another way to ask for the goals: data, record, named, quoted, reported, "
                "language, reworded, or all of them",
                action="append",
            ),
            option(
                "--may HOW",
                "each task may do what its honest calls need: those tools, or such effects",
                choices=("tools", "effects"),
            ),
            option(
                "--drafted",
                "nothing is declared: the guard drafts effects from names and schemas",
                default=None,
            ),
            option(
                "--flat", "results as the texts that a model is shown, not as data", default=None
            ),
            option(
                "--show N",
                "print the first questions and attacks through of each set",
                type=count,
            ),
            option("--write FOLDER", "write the traces into files, and play nothing"),
        ),
        group(
            "compile",
            option("--model NAME", "the model that is to play, as DSPy names it"),
            option("--out FILE", "where to write the frozen bundle"),
            option(
                "--optimizer NAME",
                "bootstrap chooses examples, mipro instructions as well (default: bootstrap)",
            ),
            option("--candidates N", "how many to try (default: 10)", type=count),
        ),
        group(
            "agentdojo, flow",
            option("--suite NAME", "a suite (default: workspace and banking)", action="append"),
            option(
                "--pack, --policy POLICY",
                "a policy file or a pack (default: strict; of flow: the guard)",
                dest="policy",
            ),
            option("--env NAME", "the policy as it is in this environment"),
            option("--attack NAME", "a way of asking (default: all)", action="append"),
            option("--jobs N", "how many processes (default: one for each core)", type=count),
        ),
    ),
    work={
        "measure": Verb(_show(_on_rows), "what corpora fresh open"),
        "agentdojo": Verb(_show(_on_agentdojo), "suite attack policy env jobs"),
        "flow": Verb(_show(_on_traces), "what policy env phrasing may drafted flat show write"),
        "compile": Verb(_show(_on_recordings), "what model out optimizer candidates"),
    },
)
