"""`stanchion policy`: show a policy in effect, compare two, list the shipped ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.cli.command import (
    ANSWERER,
    ONE_LINE,
    PROJECT,
    STORE,
    WHY,
    Args,
    BadInput,
    DeclaredCommand,
    Verb,
    Work,
    group,
    option,
)
from stanchion.cli.policies import (
    found_data,
    found_lines,
    given,
    loosening_lines,
    propose,
    refused,
    refused_lines,
    trust,
)
from stanchion.cli.printing import put_view, table
from stanchion.cli.terminal import Terminal, visible
from stanchion.kernel.guard import order
from stanchion.kernel.stages import Stage
from stanchion.ops.views.amounts import flow
from stanchion.policy.compiled import CompiledPolicy, GuardSeat
from stanchion.policy.differences import TABLES, PolicyChange, differences, effect_of
from stanchion.policy.load import described_packs
from stanchion.policy.loosening import loosenings
from stanchion.policy.said import beyond_defaults, said_of
from stanchion.policy.schema import PolicyFile, table_of

SAME: Final = 0
DIFFERENT: Final = 1
APART: Final = frozenset({"id", "use", "priority", "category", "mode", "stages"})
"""What is shown already: by the table of a chain, and the stages for each guard, whether it names
them or not."""


def _show(args: Args) -> int:
    env = args.env[0] if args.env else None
    policy, found = given(args.old, env)
    data: dict[str, Any] = {
        "name": policy.file.name,
        "version": policy.file.version,
        "mode": policy.file.mode,
        "env": env,
        "hash": policy.hash,
        "files": [str(file) for file in policy.files],
        "chains": {
            stage: [_guard(seat) for seat in _chain(policy, stage)]
            for stage in Stage
            if stage in policy.stages
        },
        "policy": policy.file,
        **({} if found is None else {"found": found_data(found)}),
    }

    def lines(_: Any, terminal: Terminal) -> Iterator[str]:
        yield from _lines(policy, env, terminal)
        yield from refused_lines(refused(policy.files), terminal)
        if found is not None:
            yield from ("", terminal.paint("found", "bold"), *found_lines(found, terminal))

    return put_view(data, lines, args.json)


def _chain(policy: CompiledPolicy, stage: Stage) -> list[GuardSeat]:
    return sorted(
        (seat for seat in policy.seats if stage in seat.placed.stages),
        key=lambda seat: order(seat.placed),
    )


def _guard(seat: GuardSeat) -> dict[str, Any]:
    return {"id": seat.placed.id, "place": seat.place, **effect_of(seat)}


def _lines(policy: CompiledPolicy, env: str | None, terminal: Terminal) -> Iterator[str]:
    file = policy.file
    where = f", environment {env}" if env is not None else ""
    about = visible(f"version {file.version}, {file.mode}{where}")
    yield f"{terminal.paint(visible(file.name), 'bold')}  {about}"
    yield terminal.paint(f"hash {policy.hash}", "dim")
    alike: dict[tuple[str, ...], list[Stage]] = {}
    for stage in Stage:
        alike.setdefault(tuple(seat.placed.id for seat in _chain(policy, stage)), []).append(stage)
    for guards, stages in alike.items():
        if guards:
            yield ""
            yield terminal.paint(", ".join(stages), "bold")
            yield from _table(_chain(policy, stages[0]), terminal)
    if policy.seats:
        yield ""
        yield terminal.paint("guards", "bold")
        for seat in sorted(policy.seats, key=lambda seat: order(seat.placed)):
            yield f"  {visible(seat.placed.id)}  {terminal.paint(visible(seat.place), 'dim')}"
            yield (
                f"      stages: {flow([stage for stage in Stage if stage in seat.placed.stages])}"
            )
            for name, value in said_of(file, seat.placed.id).items():
                if name not in APART:
                    yield f"      {name}: {visible(flow(value))}"
    for title, entries in _tables(file).items():
        if entries:
            yield from ("", terminal.paint(title, "bold"))
            for name, said in entries.items():
                yield f"  {visible(name)}: {visible(flow(said))}"


def _tables(file: PolicyFile) -> dict[str, dict[str, Any]]:
    """What the policy says of agents, tools and so on, and of itself, apart from its guards."""
    sections = ("limits", "escalation", "bypass", "degrade")
    entries = {name: dict(table_of(file, name)) for name in TABLES}
    entries["policy"] = {name: getattr(file, name) for name in sections}
    said = {
        title: {name: beyond_defaults(one) for name, one in some.items()}
        for title, some in entries.items()
    }
    said["policy"] = {name: one for name, one in said["policy"].items() if one}
    return said


def _table(seats: list[GuardSeat], terminal: Terminal) -> Iterator[str]:
    rows = [
        (str(p.priority), p.category.name.lower(), p.id, p.guard.name, "shadow" if p.shadow else "")
        for p in (seat.placed for seat in seats)
    ]
    _, *lines = table(("n", "c", "g", "u", "m"), rows, ("n",), Terminal())
    yield from [f"  {line}" for line in lines]


def _diff(args: Args) -> int:
    old, new = _both(args)
    found = differences(old, new)
    data = {"same": not found, "old": old.hash, "new": new.hash, "changes": found}

    def lines(_: Any, terminal: Terminal) -> Iterator[str]:
        for change in found:
            yield from _change(change, terminal)
        if old.hash == new.hash:
            yield f"the same policy, hash {old.hash}"
        elif not found:
            hashes = f"hash {old.hash[:12]} and {new.hash[:12]}"
            yield f"the same in effect, written differently: {hashes}"
        else:
            yield _hashes(old, new, terminal)

    put_view(data, lines, args.json)
    return DIFFERENT if found else SAME


def _loosens(args: Args) -> int:
    old, new = _both(args)
    found = loosenings(old, new)
    each = list(map(str, found))
    data = {"loosens": bool(found), "old": old.hash, "new": new.hash, "loosenings": each}

    def lines(_: Any, terminal: Terminal) -> Iterator[str]:
        yield from (*loosening_lines(found, terminal), _hashes(old, new, terminal))

    put_view(data, lines, args.json)
    return DIFFERENT if found else SAME


def _hashes(old: CompiledPolicy, new: CompiledPolicy, terminal: Terminal) -> str:
    return terminal.paint(f"hash {old.hash[:12]} → {new.hash[:12]}", "dim")


def _both(args: Args) -> tuple[CompiledPolicy, CompiledPolicy]:
    """Two policies, each in its environment."""
    if not args.new:
        raise BadInput(f"`stanchion policy {args.verb}` takes two policies: {SEE}")
    first, *_, second = [*args.env, *args.env] or ("", "")
    old, new = given(args.old, first or None).policy, given(args.new, second or None).policy
    return old, new


def _change(change: PolicyChange, terminal: Terminal) -> Iterator[str]:
    sign, style = {"added": ("+", "good"), "removed": ("-", "bad"), "changed": ("~", "mild")}[
        change.kind
    ]
    yield terminal.paint(f"{sign} {visible(change.what)}", style)
    for name, (old, new) in change.values.items():
        before = "" if change.kind == "added" else f"{flow(old)} → "
        yield visible(f"    {name}: {before}{flow(new)}")


def _packs(args: Args) -> int:
    found = [{"name": name, "description": about} for name, about in described_packs().items()]
    return put_view(found, _pack_lines, args.json)


def _pack_lines(found: list[dict[str, str]], terminal: Terminal) -> Iterator[str]:
    for one in found:
        name = f"{one['name']:<12}"
        yield f"{terminal.paint(name, 'bold')}  {one['description']}"


SEE: Final = "see `stanchion policy --help`"
ONE: Final = f"`stanchion policy {{}}` takes one policy: {SEE}"
TWO: Final = f"`stanchion policy {{}}` takes two policies: {SEE}"


def _in_env(most: int, work: Work) -> Work:
    """The same, which takes so many environments at the most."""

    def done(args: Args) -> int:
        if len(args.env) > most:
            raise BadInput(
                f"`--env` is given {len(args.env)} times: give it for each policy at most once"
            )
        return work(args)

    return done


POLICY_COMMAND: Final = DeclaredCommand(
    usage="""stanchion policy show POLICY [--env NAME] [--json]
       stanchion policy diff OLD NEW [--env NAME [--env NAME]] [--json]
       stanchion policy loosens OLD NEW [--env NAME [--env NAME]] [--json]
       stanchion policy trust FILE [--env NAME] [--why WORDS] --key FILE | --ssh-agent
       stanchion policy propose POLICY [--least N] [--people N] [--days N] [--lasts DAYS]
             [--trail DIR|URL] [--tenant NAME] [--write FILE] [--json]
       stanchion policy propose DECISION|TICKET|last [--line N] [--trail DIR] [--write FILE]
       stanchion policy packs [--json]""",
    description="""\
show     a policy in effect, with what it extends and its environment: the guards of each
         stage in the order in which they judge, where each comes from, and the hash
diff     what differs between two policies in effect: old and new values, guard by guard
loosens  changes by which the new policy may allow what the old one refuses; a change counts
         unless it is known to be equal or stricter
trust    sign that a policy file, as it is now, may loosen the policy in force: on reload,
         and when it is found in a project; needs an operator's key
propose  rules for what people approved again and again, with what each would have allowed; a
         person puts them in force, nothing else does. For a refusal (`last`, a decision, a
         ticket): the line of its policy that cures it, with a test
packs    the policies that are shipped, by name
schema   the JSON Schema of policy files, for editors: see `stanchion policy schema --help`

`found` means your own policy, or the pack `default`, with the policies of the project around
the working directory applied to it. A policy that no operator has trusted can only tighten;
what was left out of it is shown.""",
    epilog="""\
examples:
  stanchion policy show policy.yaml --env trial
  stanchion policy diff policy.yaml new.yaml
  stanchion policy diff policy.yaml policy.yaml --env trial --env live
  stanchion policy loosens policy.yaml new.yaml
  stanchion policy show found
  stanchion policy trust .stanchion/policy.yaml --key ~/.config/stanchion/keys/ann
  stanchion policy propose last --write policy.yaml
  stanchion policy propose policy.yaml --people 2 --write approved.yaml
  stanchion policy packs

The first `--env` is for both policies; a second one is for the new policy alone. An
empty name stands for none: `--env '' --env trial` shows what an environment changes.

exit status:
  0  it is shown; for diff: nothing differs in effect; for loosens: nothing loosens
  1  for diff: something differs; for loosens: something loosens; for trust: you may not
  2  a policy does not load""",
    options=(
        option("verb show|diff|loosens|trust|propose|packs", "what to do"),
        option("old POLICY", "a policy file, a pack, or `found`", nargs="?"),
        option("new POLICY", "for diff and loosens: what the policy becomes", nargs="?"),
        option("--env NAME", "in this environment", action="append", default=[]),
        ONE_LINE,
        group("trust", WHY, STORE, PROJECT),
        group(
            "propose",
            option("--trail DIR|URL", "the trail to read (default: that of the project)"),
            option("--schema NAME", "the schema of the records in a database"),
            option("--tenant NAME", "whose approvals (default: default)", default="default"),
            option("--least N", "approved at least N times (default: 5)", type=int),
            option("--people N", "by at least N people (default: 1)", type=int),
            option("--days N", "within the last N days (default: 90)", type=int),
            option("--lasts DAYS", "how long a rule holds (default: 30)", type=int),
            option("--line N", "which of the lines that cure a refusal (default: 1)", type=int),
            option(
                "--write FILE",
                "write the rules to a new policy file that extends POLICY; for a refusal also into "
                "its policy",
            ),
        ),
        ANSWERER,
    ),
    work={
        "show": Verb(_in_env(1, _show), "old env", ONE.format("show")),
        "diff": Verb(_in_env(2, _diff), "old new env", TWO.format("diff")),
        "loosens": Verb(_in_env(2, _loosens), "old new env", TWO.format("loosens")),
        "trust": Verb(_in_env(1, trust), "old env", ONE.format("trust")),
        "propose": Verb(_in_env(1, propose), "old env", ONE.format("propose")),
        "packs": Verb(_packs),
    },
)
