"""Policies that a command is given or proposes: found, trusted, refused, and what one loosens."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import to_builtins

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.cli.answerers import answered, answerer
from stanchion.cli.command import Args, BadInput, in_words
from stanchion.cli.curing import extending, is_policy, propose_cure
from stanchion.cli.printing import put_view
from stanchion.cli.terminal import Terminal, put_lines, tell, visible
from stanchion.cli.trails import records_in, tell_unread
from stanchion.cli.whose import whose
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import StoreLost
from stanchion.ops.views.amounts import day, in_json, shown
from stanchion.ops.views.proposals import Proposal, Proposals, ProposalTerms, proposals
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.differences import differences
from stanchion.policy.found import FoundPolicy, find_policy
from stanchion.policy.insertion import inserted
from stanchion.policy.load import compile_document, load_policy, read_policy
from stanchion.policy.loosening import Loosening, loosenings
from stanchion.policy.project_policies import FOUND
from stanchion.runtime.operating.admission import keep_text, last_text
from stanchion.runtime.operating.load import stored_trust
from stanchion.runtime.operating.reload import RefusedPolicy, refused_policies
from stanchion.runtime.standing.places import MEMORY, store_name
from stanchion.stores.memory import wall_ms
from stanchion.stores.open_store import file_of, open_store
from stanchion.stores.protocol import StoreError


class GivenPolicy(NamedTuple):
    """A policy, and what it was found in where it was found."""

    policy: CompiledPolicy
    found: FoundPolicy | None = None


def given(name: str, env: str | None) -> GivenPolicy:
    """The policy of a name: a file, a pack, or what is found around the working directory."""
    if name != FOUND:
        return GivenPolicy(load_policy(name, env))
    found = find_policy(env=env, trusts=ProjectTrust().trusts)
    return GivenPolicy(found.policy(), found)


def found_data(found: FoundPolicy) -> dict[str, Any]:
    """What a found policy is made of, for programs."""
    files = [
        {
            "file": str(one.file),
            "hash": one.hash,
            "trusted": one.trusted,
            "left_out": [str(o) for o in one.left_out],
        }
        for one in found.files
    ]
    return {"base": found.base, "files": files}


def found_lines(found: FoundPolicy, terminal: Terminal) -> Iterator[str]:
    """The same for people."""
    yield f"  {visible(found.base)}"
    for one in found.files:
        style, said = (
            ("good", "trusted") if one.trusted else ("mild", "not trusted: it only tightens")
        )
        yield f"  {visible(str(one.file))}  {terminal.paint(said, style)}"
        yield f"      {terminal.paint(f'hash {one.hash}', 'dim')}"
        for loosening in one.left_out:
            yield f"      {terminal.paint('left out', 'mild')}  {visible(str(loosening))}"


def loosening_lines(found: Iterable[Loosening], terminal: Terminal) -> Iterator[str]:
    """What loosens, a line each; or that nothing does."""
    some = False
    for each in found:
        some = True
        yield (
            f"{terminal.paint('loosens' if each.sure else 'may loosen', 'bad')}  "
            f"{visible(str(each))}"
        )
    if not some:
        yield "nothing loosens: whatever the old policy refuses, the new one refuses"


def refused(files: Sequence[Path] | None = None) -> list[RefusedPolicy]:
    """Those of this user's processes on this host; of some files only, where they are given."""
    named = None if files is None else {str(file.absolute()) for file in files}
    return [one for one in refused_policies(os.environ) if named is None or one.origin in named]


def refused_lines(found: Sequence[RefusedPolicy], terminal: Terminal) -> Iterator[str]:
    """The same for people."""
    for one in found:
        head = (
            f"process {one.process.pid} could not load `{visible(one.origin)}` since "
            f"{shown(one.since)}"
        )
        yield terminal.paint(f"{head}, and continues with the previous policy:", "bad")
        yield from (f"  {visible(line)}" for line in one.error.splitlines())


def trust(args: Args) -> int:
    """Have a policy trusted, by its hash, in one environment or in none."""
    name = args.old
    env = args.env[0] if args.env and args.env[0] else None
    document = read_policy(name).variant(env)
    policy = compile_document(document, imports=False)
    hashed = policy.hash
    said = {"policy": str(name), "env": env, "why": args.why}
    request = Request(purpose=Purpose.POLICY, tenant=FLEET, subject=hashed, said=said)

    tell(f"{name} has the hash {hashed}")

    def said_so(args: Args, shield: Shield) -> int:
        put_lines(_changes(last_text(shield, document, env), policy))
        sys.stdout.flush()
        shield.act(request, answerer(args, shield))
        keep_text(shield, document, env)
        tell(f"{name} is trusted as it is now: hash {hashed}")
        return 0

    return answered(said_so, args)


def _changes(old: CompiledPolicy | None, new: CompiledPolicy) -> Iterator[str]:
    """What a policy changes of the one that was trusted last, for whoever is about to trust it."""
    if old is None:
        yield "no policy of this name was trusted before: there is nothing to compare it with"
        return
    terminal = Terminal.of_stdout()
    yield f"compared with what was trusted last, hash {old.hash}:"
    yield from loosening_lines(loosenings(old, new), terminal)
    for change in differences(old, new):
        yield f"{change.kind}  {visible(change.what)}"


class ProjectTrust:
    """Trust in what operators have signed, by the store of the project around the working
    directory."""

    def trusts(self, policy_hash: str, policy: CompiledPolicy, /) -> bool:
        """Whether one has said yes to a policy with that hash; nobody has where nothing is kept
        yet."""
        try:
            name = str(store_name(None, os.environ, whose(None)))
            path = file_of(name)
            if name == MEMORY or (path is not None and not os.path.lexists(path)):
                return False
            store = open_store(name, wall_ms, reading=True)
            try:
                return stored_trust(store, ()).trusts(policy_hash, policy)
            finally:
                store.close()
        except (BadInput, OSError, StoreError, StoreLost):
            return False


TERMS: Final = {"least": "least", "people": "people", "days": "days", "lasts": "lasts_days"}
"""The options by which it goes, and what they are called."""


def propose(args: Args) -> int:
    """Show what approvals propose, and write it to a file where that is asked for; nothing is put
    in force."""
    said = {
        term: number for name, term in TERMS.items() if (number := getattr(args, name)) is not None
    }
    for name, term in TERMS.items():
        if said.get(term, 1) < 1:
            raise BadInput(f"`--{name} {said[term]}` is too small: give 1 or more")
    source = args.old
    if not is_policy(source):
        return propose_cure(args)
    policy = given(source, args.env[0] if args.env else None).policy
    with records_in(args, store=args.store) as reader:
        found = proposals(reader, policy, ProposalTerms(**said), wall_ms(), args.tenant)
        tell_unread(reader)
    if args.write is not None and found.proposed:
        _write(Path(args.write), source, policy.file.name, found)
    put_view(found, _proposal_lines, args.json)
    if args.write is not None and found.proposed and not args.json:
        tell(f"written to {args.write}; nothing is in force before somebody loads it")
    return 0


def _proposal_lines(found: Proposals, terminal: Terminal) -> Iterator[str]:
    for one in found.proposed:
        yield terminal.paint(visible(one.name), "bold")
        yield from (f"  {visible(line)}" for line in _about(one))
    for other in found.withheld:
        yield visible(f"no rule for {other.tool}, approved {other.approvals} times: {other.why}")
    if not found.proposed:
        yield "nothing is proposed"
    if found.more:
        yield terminal.paint("the trail has more answers: only the newest were looked at", "dim")


def _about(one: Proposal) -> Iterator[str]:
    rule = one.rule
    when = f"{day(one.first_ms)} to {day(one.last_ms)}"
    yield (
        f"approved {one.approvals} times ({one.proven} signed), {when}, by {', '.join(one.people)}"
    )
    yield f"call: {rule.tool} {in_json({**rule.args, **rule.patterns})}"
    if rule.patterns:
        yield f"patterns: {', '.join(rule.patterns)}"
    task = rule.tasks[0] if rule.tasks[0] else "none"
    yield f"asked by: {', '.join(rule.guards)}; agents: {', '.join(rule.agents)}; task: {task}"
    counts = ", ".join(f"{count} {action}" for action, count in one.history.matched.items())
    yield (
        f"in the trail: {one.history.spared} decisions would not have waited; such calls by "
        f"decision: {counts}"
    )
    yield f"until: {rule.until}"


def _write(path: Path, source: str, name: str, found: Proposals) -> None:
    """Write a policy that extends another and approves what is proposed; a file that is there is
    left alone."""
    head = (
        "# Proposed from approvals. Remove what you do not want; `stanchion policy loosens` "
        "shows what it changes.\n"
    )
    said = {one.name: _plain(one) for one in found.proposed}
    text = inserted(head + extending(source, name), {"approved": said})
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise BadInput(f"`{path}` is there already: name another file") from None
    except OSError as error:
        raise BadInput(f"`{path}` cannot be written: {in_words(error)}") from None


def _plain(one: Proposal) -> dict[str, Any]:
    data: dict[str, Any] = to_builtins(one.rule)
    return {key: value for key, value in data.items() if value not in ({}, "")}
