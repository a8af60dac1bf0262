"""`stanchion policy propose` for one refusal: the line that cures it, written into the policy with
a test beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

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
from stanchion.hosts.foreign_file import AS_IT_IS, FileChange, read_foreign, write_foreign
from stanchion.kernel.counter_scopes import FLEET
from stanchion.ops.views.cures import NoTrial, PlayedCall, Trial, asked_in, cures, trials
from stanchion.ops.views.explain import DecisionCase
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
    """A line with the case that it cures, the hash of the policy that has it, and the files that
    change: the policy and its cases."""

    case: DecisionCase
    trial: Trial
    hash: str
    changes: tuple[FileChange, FileChange]


def propose_cure(args: Args) -> int:
    """Show the line that cures a refusal as a change of its policy, and make it where a file is
    named: an operator says yes to it as to any policy that loosens."""
    made = _proposed(args)
    diff = [line for change in made.changes for line in change.diff()]
    target = str(made.changes[0].file.path)
    data = {"line": made.trial.line, "file": target, "hash": made.hash, "diff": "\n".join(diff)}
    put_view(data, lambda _, terminal: [_painted(line, terminal) for line in diff], args.json)
    if args.write is not None:
        return answered(partial(_written, made), args)
    if not args.json:
        tell(f"nothing is written: `--write {visible(target)}` writes it")
    return 0


def _painted(line: str, terminal: Terminal) -> str:
    return terminal.paint(visible(line), {"+": "good", "-": "bad"}.get(line[:1], "dim"))


def _proposed(args: Args) -> _Proposed:
    case, number = _case(args), 1 if args.line is None else args.line
    try:
        trial = next(islice(trials(case), max(number, 1) - 1, None), None)
    except NoTrial as error:
        raise BadInput(f"no line can be proposed: {error}") from None
    if trial is None or number < 1:
        raise BadInput(
            f"there is no line {number} that lets just this through: `stanchion explain "
            f"{visible(args.old)}` says which there are"
        )
    source = str(case.source)
    if args.write is None and not Path(source).is_file():
        raise BadInput(
            f"the policy `{source}` is no file of yours: name one with `--write FILE`, and it "
            f"extends that"
        )
    target = Path(source if args.write is None else args.write)
    cases = target.with_name(f"{target.stem}.cases.yaml")
    policy_hash, policy = _changed(case, trial, target)
    changes = (
        _change(target, lambda _: policy),
        _change(cases, partial(_cases, case, trial, target)),
    )
    return _Proposed(case, trial, policy_hash, changes)


def _change(path: Path, made: Callable[[str], str]) -> FileChange:
    file = read_foreign(path)
    try:
        return FileChange(file, AS_IT_IS, file.bytes_of(made(file.text)), None)
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"nothing can be put into `{path}`, correct it first: {error}") from None


def _written(made: _Proposed, args: Args, shield: Shield) -> int:
    """Have somebody say yes to it, and write it; nobody does in the place of another role."""
    target, cases = [str(change.file.path) for change in made.changes]
    env, by = made.case.env, answerer(args, shield)
    if made.trial.roles and getattr(by, "role", "") not in made.trial.roles:
        roles = " or ".join(made.trial.roles)
        warn(f"only {roles} may say yes to this call: answer as one of them")
        return REFUSED
    said = {"policy": target, "env": env, "cures": made.case.entry.id}
    shield.act(Request(purpose=Purpose.POLICY, tenant=FLEET, subject=made.hash, said=said), by)
    with AsBadInput(OSError):
        for change in made.changes:
            write_foreign(change.file, change.new, 0o644)
    keep_text(shield, read_policy(target).variant(env), env)
    if not args.json:
        tell(f"written to {target} and {cases}, and trusted: hash {made.hash}")
    return 0


def _case(args: Args) -> DecisionCase:
    """The decision that is meant: by its own name, or as that which a ticket asks about."""
    state = whose(args.project)
    readers = trails_of(args.trail, state)
    try:
        return case_in(readers, args.old, state)
    except BadInput:
        with suppress(UnknownTicket, TicketError), loaded(args) as shield:
            case = asked_in(readers, shield.ticket(args.old))
            if case is not None:
                return case
            raise BadInput(f"the trail does not have what ticket `{args.old}` asks about") from None
        raise


def extending(source: str, name: str) -> str:
    """The text of a policy that extends another, and says nothing else yet."""
    base = str(Path(source).absolute()) if Path(source).exists() else source
    return f"name: {json.dumps(name)}\nextends: {json.dumps(base)}\n"


def _changed(case: DecisionCase, trial: Trial, target: Path) -> tuple[str, str]:
    """The hash of the policy with its line, and the text that says so: read again, it has to be
    just that."""
    source = str(case.source)
    with AsBadInput(PolicyError):
        read = read_policy(source)
        wanted = compile_document(overlay(read.variant(case.env), read_data(trial.said, "line")))
    if target.exists() and not (Path(source).exists() and target.samefile(source)):
        raise BadInput(f"`{target}` is there already, and is not the policy: name a new file")
    old = read_foreign(target).text if target.exists() else extending(source, wanted.file.name)
    new = inserted(old, trial.said)
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
    return made.hash, new


def _cases(case: DecisionCase, trial: Trial, target: Path, before: str) -> str:
    """A table of cases with this one: what is cured, and what stays stopped."""
    about = f"{trial.call.fields.get('tool') or trial.call.stage} of {case.entry.id}"
    run = {"agent": case.run.agent, "task": case.run.task}
    earlier = [_event(one, {}) for one in trial.earlier]
    cured = _event(trial.call, {"action": "escalate"} if trial.line.asks else {"proceeds": True})
    kept = [_event(one, {"proceeds": False}) for one in trial.kept[:SHOWN]]
    cases = [
        {"name": name, "run": run, "events": [*earlier, *events]}
        for name, events in ((about, [cured]), (f"what is more dangerous than {about}", kept))
        if events
    ]
    return inserted(before if before else f"policy: {json.dumps(target.name)}\n", {"cases": cases})


def _event(call: PlayedCall, expect: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = {name: one for name, one in call.fields.items() if one not in ("", None, {})}
    fields.pop("call", None)
    return {"stage": str(call.stage), **fields, "expect": expect}
