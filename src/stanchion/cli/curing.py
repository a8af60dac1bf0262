"""`stanchion policy propose` for one refusal: the line that cures it, written into the policy with
a test beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import TicketError, UnknownTicket
from stanchion.approvals.ticket import State, Ticket
from stanchion.cli.answerers import REFUSED, answered, answerer, loaded
from stanchion.cli.command import Args, AsBadInput, BadInput
from stanchion.cli.explain import case_in, cure_rows, trails_of
from stanchion.cli.printing import labelled, put_view
from stanchion.cli.terminal import Terminal, tell, visible, warn
from stanchion.cli.whose import whose
from stanchion.hosts.foreign_file import read_foreign, write_foreign
from stanchion.kernel.counter_scopes import FLEET
from stanchion.ops.views.cures import NoTrial, PlayedCall, Trial, asked_in, cures, trials
from stanchion.ops.views.explain import DecisionCase
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.document import read_data
from stanchion.policy.errors import PolicyError
from stanchion.policy.insertion import inserted
from stanchion.policy.load import compile_document, pack_text, read_policy
from stanchion.policy.overlay import overlay
from stanchion.policy.project_policies import FOUND
from stanchion.runtime.operating.admission import keep_text
from stanchion.runtime.standing.places import StateFinder

SHOWN: Final = 8
"""How many dangerous neighbours a test has at most."""


def is_policy(name: str) -> bool:
    """Whether a name is that of a policy, and not of a decision or a ticket."""
    file = Path(name)
    return (
        name == FOUND
        or file.exists()
        or file.suffix in (".yaml", ".yml", ".json")
        or pack_text(name) is not None
    )


def asked_lines(ticket: Ticket, state: StateFinder, terminal: Terminal) -> Iterator[str]:
    """The lines of policy with which an open ticket would not have been asked for."""
    case = asked_in(trails_of(None, state), ticket) if ticket.state is State.OPEN else None
    if case is not None:
        yield from ("", *labelled(cure_rows(ticket.id, cures(case)), terminal))


class _Proposed(NamedTuple):
    """A line with the case that it cures, the policy that has it, and the files that change: each
    with its text before and after."""

    case: DecisionCase
    trial: Trial
    policy: CompiledPolicy
    files: tuple[tuple[Path, str, str], ...]


def propose_cure(args: Args) -> int:
    """Show the line that cures a refusal as a change of its policy, and make it where a file is
    named: an operator says yes to it as to any policy that loosens."""
    made = _proposed(args)
    diff = [line for one in made.files for line in _diff(*one)]
    target, line = str(made.files[0][0]), made.trial.line
    data = {"line": line, "file": target, "hash": made.policy.hash, "diff": "".join(diff)}
    put_view(data, lambda _, terminal: _painted(diff, terminal), args.json)
    if args.write is not None:
        return answered(partial(_written, made), args)
    if not args.json:
        tell(f"nothing is written: `--write {visible(target)}` writes it")
    return 0


def _proposed(args: Args) -> _Proposed:
    case = _case(args)
    number = 1 if args.line is None else args.line
    try:
        trial = next(islice(trials(case), max(number, 1) - 1, None), None)
    except NoTrial as error:
        raise BadInput(f"no line can be proposed: {error}") from None
    if trial is None or number < 1:
        raise BadInput(
            f"there is no line {number} that lets just this through: `stanchion explain "
            f"{visible(args.old)}` says which there are"
        )
    target = Path(_source(case) if args.write is None else args.write)
    cases = target.with_name(f"{target.stem}.cases.yaml")
    old, before = read_foreign(target).text, read_foreign(cases).text
    policy, new = _changed(case, trial, target, old)
    after = _with_case(before, case, trial, target)
    return _Proposed(case, trial, policy, ((target, old, new), (cases, before, after)))


def _written(made: _Proposed, args: Args, shield: Shield) -> int:
    """Have somebody say yes to it, and write it; nobody does in the place of another role."""
    (target, _, _), (cases, _, _) = made.files
    env, by = made.case.env, answerer(args, shield)
    if made.trial.roles and getattr(by, "role", "") not in made.trial.roles:
        roles = " or ".join(made.trial.roles)
        warn(f"only {roles} may say yes to this call: answer as one of them")
        return REFUSED
    said = {"policy": str(target), "env": env, "cures": made.case.entry.id}
    request = Request(purpose=Purpose.POLICY, tenant=FLEET, subject=made.policy.hash, said=said)
    shield.act(request, by)
    with AsBadInput(OSError):
        for file, old, new in made.files:
            there = read_foreign(file)
            if there.text != old:
                raise BadInput(f"`{file}` was changed meanwhile: propose it again")
            write_foreign(there, there.bytes_of(new), 0o644)
    keep_text(shield, read_policy(str(target)).variant(env), env)
    if not args.json:
        tell(f"written to {target} and {cases}, and trusted: hash {made.policy.hash}")
    return 0


def _case(args: Args) -> DecisionCase:
    """The decision that is meant: by its own name, or as that which a ticket asks about."""
    state = whose(args.project)
    readers = trails_of(args.trail, state)
    try:
        return case_in(readers, args.old, state)
    except BadInput:
        try:
            with loaded(args) as shield:
                ticket = shield.ticket(args.old)
        except (UnknownTicket, TicketError):
            ticket = None
        if ticket is None:
            raise
    case = asked_in(readers, ticket)
    if case is not None:
        return case
    raise BadInput(f"the trail does not have what ticket `{args.old}` asks about")


def _source(case: DecisionCase) -> str:
    if not case.source or not Path(case.source).is_file():
        raise BadInput(
            f"the policy `{case.source}` is no file of yours: name one with `--write FILE`, and it "
            f"extends that"
        )
    return case.source


def _changed(
    case: DecisionCase, trial: Trial, target: Path, old: str
) -> tuple[CompiledPolicy, str]:
    """The policy with its line, and the text that says so: read again, it has to be just that."""
    source = str(case.source)
    with AsBadInput(PolicyError):
        read = read_policy(source)
        wanted = compile_document(overlay(read.variant(case.env), read_data(trial.said, "line")))
    if target.exists() and not (Path(source).exists() and target.samefile(source)):
        raise BadInput(f"`{target}` is there already, and is not the policy: name a new file")
    new = inserted(old, trial.said)
    if not target.exists():
        base = str(Path(source).absolute()) if Path(source).exists() else source
        head = f"name: {json.dumps(wanted.file.name)}\nextends: {json.dumps(base)}\n"
        new = inserted(head, trial.said)
    beside = target.with_name(f".{target.stem}.{os.urandom(4).hex()}.yaml")
    try:
        beside.write_text(new, "utf-8")
        made = compile_document(read_policy(str(beside)).variant(case.env))
    except (OSError, PolicyError) as error:
        raise BadInput(f"the line cannot be put into `{target}`: {error}") from None
    finally:
        beside.unlink(missing_ok=True)
    if made.hash != wanted.hash:
        raise BadInput(f"the line cannot be put into `{target}` safely: paste it yourself")
    return made, new


def _with_case(before: str, case: DecisionCase, trial: Trial, target: Path) -> str:
    """A table of cases with this one: what is cured, and what stays stopped."""
    expect: dict[str, Any] = {"action": "escalate"} if trial.line.asks else {"proceeds": True}
    run = {"agent": case.run.agent, "task": case.run.task}
    earlier = [{**_event(one), "expect": {}} for one in trial.earlier]
    cured = {**_event(trial.call), "expect": expect}
    kept = [{**_event(one), "expect": {"proceeds": False}} for one in trial.kept[:SHOWN]]
    about = trial.call.fields.get("tool") or str(trial.call.stage)
    cases: list[Any] = [
        {"name": f"{about} of {case.entry.id}", "run": run, "events": [*earlier, cured]}
    ]
    if kept:
        name = f"what is more dangerous than {about} of {case.entry.id}"
        cases.append({"name": name, "run": run, "events": [*earlier, *kept]})
    return inserted(before if before else f"policy: {json.dumps(target.name)}\n", {"cases": cases})


def _event(call: PlayedCall) -> Mapping[str, Any]:
    fields = {name: one for name, one in call.fields.items() if one not in ("", None, {})}
    return {"stage": str(call.stage), **{key: fields[key] for key in fields if key != "call"}}


def _diff(name: Path, old: str, new: str) -> Iterator[str]:
    yield from unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), str(name), str(name)
    )


def _painted(diff: list[str], terminal: Terminal) -> Iterator[str]:
    for line in diff:
        style = {"+": "good", "-": "bad"}.get(line[:1])
        words = visible(line.rstrip("\n"))
        yield words if style is None else terminal.paint(words, style)
