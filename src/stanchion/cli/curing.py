"""`stanchion policy propose` for one refusal: the line that cures it, written into the policy with
a test beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Any, Final

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import TicketError, UnknownTicket
from stanchion.cli.answerers import REFUSED, answered, answerer, loaded
from stanchion.cli.command import Args, AsBadInput, BadInput
from stanchion.cli.explain import case_in, trails_of
from stanchion.cli.printing import put_view
from stanchion.cli.terminal import Terminal, tell, visible, warn
from stanchion.cli.whose import whose
from stanchion.hosts.foreign_file import read_foreign, write_foreign
from stanchion.kernel.actions import Action
from stanchion.kernel.counter_scopes import FLEET
from stanchion.ops.views.cures import NoTrial, PlayedCall, Trial, trials
from stanchion.ops.views.explain import DecisionCase, case_of
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.document import read_data
from stanchion.policy.errors import PolicyError
from stanchion.policy.insertion import inserted
from stanchion.policy.load import compile_document, pack_text, read_policy
from stanchion.policy.overlay import overlay
from stanchion.policy.project_policies import FOUND
from stanchion.runtime.operating.admission import keep_text

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


def propose_cure(args: Args) -> int:
    """Show the line that cures a refusal as a change of its policy, and make it where a file is
    named: an operator says yes to it as to any policy that loosens."""
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
    old = "" if not target.exists() else read_foreign(target).text
    policy, new = _changed(case, trial, target, old)
    cases = target.with_name(f"{target.stem}.cases.yaml")
    before = read_foreign(cases).text if cases.exists() else ""
    after = _with_case(before, case, trial, target)
    names = [(str(target), old, new), (str(cases), before, after)]
    diff = [line for one in names for line in _diff(*one)]
    data = {"line": trial.line, "file": str(target), "hash": policy.hash, "diff": "".join(diff)}
    put_view(data, lambda _, terminal: _painted(diff, terminal), args.json)
    if args.write is None:
        if not args.json:
            tell(f"nothing is written: `--write {visible(str(target))}` writes it")
        return 0

    def said_so(args: Args, shield: Shield) -> int:
        by = answerer(args, shield)
        role = getattr(by, "role", "")
        if trial.roles and role not in trial.roles:
            warn(f"only {' or '.join(trial.roles)} may say yes to this call: answer as one of them")
            return REFUSED
        request = Request(
            purpose=Purpose.POLICY,
            tenant=FLEET,
            subject=policy.hash,
            said={"policy": str(target), "env": case.env, "cures": case.entry.id},
        )
        shield.act(request, by)
        with AsBadInput(OSError):
            for file, was, text in ((target, old, new), (cases, before, after)):
                there = read_foreign(file)
                if (there.text if there.raw is not None else "") != was:
                    raise BadInput(f"`{file}` was changed meanwhile: propose it again")
                write_foreign(there, there.bytes_of(text), 0o644)
        keep_text(shield, read_policy(str(target)).variant(case.env), case.env)
        if not args.json:
            tell(f"written to {target} and {cases}, and trusted: hash {policy.hash}")
        return 0

    return answered(said_so, args)


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
    for reader in readers:
        for found in reader.of_run(ticket.run):
            stub = found.stub
            if found.is_decision and (stub.tool, stub.action) == (
                ticket.tool,
                Action.ESCALATE.name,
            ):
                return case_of(reader, found)
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


def _diff(name: str, old: str, new: str) -> Iterator[str]:
    yield from unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), name, name
    )


def _painted(diff: list[str], terminal: Terminal) -> Iterator[str]:
    for line in diff:
        style = {"+": "good", "-": "bad"}.get(line[:1])
        words = visible(line.rstrip("\n"))
        yield words if style is None else terminal.paint(words, style)
