"""Seeded faults: one small change of a source each, which some test must notice."""

from __future__ import annotations

from typing import Final, NamedTuple


class Mutation(NamedTuple):
    """A fault: in which file of the package, which text, replaced by what."""

    name: str
    file: str
    old: str
    new: str


CARRY = "kernel/carry.py"
CELLS = "kernel/cells.py"
CHAIN = "kernel/chain.py"
AUTONOMY = "kernel/autonomy.py"
ENGINE = "kernel/engine.py"
RESOLUTION = "kernel/resolution.py"
WITHOUT = "kernel/without_store.py"
CASE = "kernel/case.py"
EPOCHS = "kernel/epoch.py"
GATES = "kernel/gates.py"
STATES = "kernel/states.py"
GUARD = "kernel/guard.py"
HOLDS = "kernel/holds.py"
JUDGING = "kernel/judgement.py"
LAYOUT = "kernel/layout.py"
LINEUP = "kernel/lineup.py"
MEMORY = "stores/memory.py"
PATCHES = "kernel/patches.py"
REFUSALS = "kernel/refusals.py"

_M = Mutation

ORDER: Final = (
    _M("order swapped", GUARD, "return (placed.priority,", "return (-placed.priority,"),
    _M(
        "ties by id before category",
        GUARD,
        "placed.category, placed.id)",
        "placed.id, placed.category)",
    ),
    _M(
        "short-circuit dropped",
        JUDGING,
        "return pos if action >= STOPS and placed.ends and not placed.shadow",
        "return pos if False",
    ),
    _M("a refusal always ends the chain", JUDGING, "and placed.ends and", "and"),
    _M("switched guards not judged", JUDGING, "if plan.switches:", "if False:"),
    _M(
        "stop at ESCALATE",
        JUDGING,
        "return pos if action >= STOPS and",
        "return pos if action >= Action.ESCALATE and",
    ),
    _M("lines behind a stop are judged", CARRY, "if stop >= 0 or refused.get(", "if refused.get("),
    _M("skipped guards not told", RESOLUTION, "plan.guards[cut + 1 :]", "plan.guards[cut:]"),
    _M(
        "a guard that was not asked has passed",
        RESOLUTION,
        "asked = plan.guards[: cut + 1]",
        "asked = plan.guards",
    ),
    _M("a guard that spoke has passed", RESOLUTION, "if guard not in loud]", "]"),
    _M(
        "passes are told for all guards",
        RESOLUTION,
        "if placed.log_pass and not (lost",
        "if not (lost",
    ),
    _M(
        "counting guards pass without the store",
        RESOLUTION,
        "not (lost and placed.kind",
        "not (False and placed.kind",
    ),
    _M(
        "mildest finding wins",
        RESOLUTION,
        "max([finding.action for finding in real], default",
        "min([finding.action for finding in real], default",
    ),
    _M(
        "action × stage table ignored",
        JUDGING,
        "action = cells[finding.action]",
        "action = finding.action",
    ),
    _M("effects twice", RESOLUTION, "tuple(dict.fromkeys([effect for", "tuple(list([effect for"),
)

PATCHING: Final = (
    _M(
        "patch lost",
        RESOLUTION,
        "patches_of(ordered) if action <= PROCEEDS",
        "patches_of(ordered) if action <= Action.REDACT",
    ),
    _M(
        "patches of refused calls",
        RESOLUTION,
        "patches_of(ordered) if action <= PROCEEDS else ()",
        "patches_of(ordered)",
    ),
    _M("a host that cannot patch goes ahead", JUDGING, "not plan.redacts and", "plan.redacts and"),
    _M("patched content not judged", JUDGING, "(read(patched), *readings[1:])", "readings"),
    _M("patch that must be made again", JUDGING, "_changes(patched, finding.patches):", "False:"),
    _M(
        "what halts with a patch is only refused",
        JUDGING,
        "finding.action < STOPS and not finding",
        "not finding",
    ),
    _M(
        "patch that does not fit passes",
        JUDGING,
        "        if not proceeds(found, PROCEEDS):\n            return found, cut, False",
        "        if not proceeds(found, PROCEEDS):\n            return found, cut, True",
    ),
    _M(
        "a degraded first attempt takes",
        CASE,
        "PROCEEDS if moment.attempt > 1 else UNCHANGED",
        "PROCEEDS",
    ),
    _M(
        "a second attempt takes nothing",
        CASE,
        "PROCEEDS if moment.attempt > 1 else UNCHANGED",
        "UNCHANGED",
    ),
    _M("nested span leaks", PATCHES, "end = done = max(end, span.end)", "end = done = span.end"),
    _M(
        "shadow patches",
        JUDGING,
        "for _, finding in found if not finding.shadow for patch",
        "for _, finding in found for patch",
    ),
)

FAILING: Final = (
    _M(
        "error swallowed",
        JUDGING,
        "Finding(Action.ALLOW if opens else Action.BLOCK, code",
        "Finding(Action.ALLOW, code",
    ),
    _M(
        "fail_open on critical",
        JUDGING,
        "placed.fail_open and event.risk < Risk.CRITICAL",
        "placed.fail_open",
    ),
    _M(
        "record guard's error swallowed",
        ENGINE,
        "cut = note(plan, pos, failed(plan, pos, case.first, error), found, cut)",
        "str(error)",
    ),
    _M(
        "store loss swallowed",
        WITHOUT,
        "    return [(-1, refused(code, args, plan))], -1\n",
        "    return found, cut\n",
    ),
    _M(
        "store loss opens for critical",
        WITHOUT,
        "        and event.risk < Risk.CRITICAL\n",
        "",
    ),
    _M(
        "store loss opens for one guard",
        WITHOUT,
        "and all(enforced)",
        "and any(enforced)",
    ),
    _M(
        "late deep guard lets high risk go",
        JUDGING,
        "guard.deep and event.risk <= Risk.MEDIUM",
        "guard.deep",
    ),
    _M(
        "late deep guard refuses high risk",
        JUDGING,
        "event.risk == Risk.HIGH and not placed",
        "event.risk > 9 and not placed",
    ),
    _M(
        "late deep guard asks about critical",
        JUDGING,
        "event.risk == Risk.HIGH and not placed",
        "not placed",
    ),
    _M(
        "any late guard lets go",
        JUDGING,
        "guard.deep and event.risk <= Risk.MEDIUM",
        "event.risk <= Risk.MEDIUM",
    ),
    _M(
        "milder words believed",
        LAYOUT,
        "return finding if finding.action == action else",
        "return finding if finding else",
    ),
    _M(
        "a warning that refuses does not say so",
        JUDGING,
        "if finding.action == Action.WARN and action >= STOPS:",
        "if False:",
    ),
    _M("late answer dropped", ENGINE, "if moment.late:", "if False:"),
    _M(
        "late answer stops nothing",
        JUDGING,
        "for _, finding in early):\n        return early, -1",
        "for _, finding in early):\n        return early, cut",
    ),
)

SHADOW: Final = (
    _M(
        "shadow leaks into the decision",
        RESOLUTION,
        "real = tuple([finding for _, finding in ordered if not finding.shadow])",
        "real = tuple([finding for _, finding in ordered])",
    ),
    _M(
        "shadow stops the chain",
        JUDGING,
        "action >= STOPS and placed.ends and not placed.shadow and",
        "action >= STOPS and",
    ),
    _M(
        "shadow finding refuses",
        JUDGING,
        "for _, finding in found if not finding.shadow]",
        "for _, finding in found]",
    ),
    _M("shadow line refuses", CARRY, "if outcome > batch.ceiling and line.shadow:", "if False:"),
    _M("shadow writes real counters", CHAIN, '("~" if shadow else "") + line.key', "line.key"),
    _M(
        "shadow writes real records", CHAIN, '("~" if shadow else "") + guard.key', '"" + guard.key'
    ),
    _M("shadow writes real tallies", CHAIN, '("~" if shadow else "") + key(run', '"" + key(run'),
    _M("shadow takes what it refuses", CARRY, "not (go and line.shadow not in refused)", "not go"),
    _M(
        "late shadow warning is real",
        LAYOUT,
        "pos + 1 if pos >= 0 else plan.end + 1 + len(lines)",
        "pos + 1",
    ),
    _M(
        "shadow writes a record it refuses",
        LAYOUT,
        "(when == When.JUDGED or pos not in refused)",
        "True",
    ),
)

STATE: Final = (
    _M(
        "band off by one",
        CARRY,
        "if value + amounts[line.unit] > limit:",
        "if value + amounts[line.unit] >= limit:",
    ),
    _M(
        "band off by one, common case",
        CARRY,
        "if value + amount > limit:",
        "if value + amount > limit + 1:",
    ),
    _M(
        "lowest band instead of highest",
        CARRY,
        "outcome = max(outcome, int(action))",
        "outcome = outcome or int(action)",
    ),
    _M(
        "takes although refused",
        CARRY,
        "if line.when == When.PROCEED and not (go and",
        "if line.when == When.PROCEED and not (True and",
    ),
    _M(
        "takes although a refusal is known",
        JUDGING,
        "return found, cut, False\n    patches",
        "return found, cut, True\n    patches",
    ),
    _M(
        "partial take left standing",
        CARRY,
        "_take_back(state, lines, steps[: len(values)], amounts, now)",
        "pass",
    ),
    _M("looks take", CARRY, "outcome < 0 or line.when == When.LOOK:", "outcome < 0:"),
    _M("put behind a stop written", CARRY, "and (said.stop < 0 or at <= said.stop)", "and True"),
    _M("put behind a known stop written", LAYOUT, "if pos <= cut and (when", "if (when"),
    _M(
        "put of a refused call written",
        CARRY,
        "(said.go and shadow not in said.refused) or when == When.JUDGED",
        "True",
    ),
    _M(
        "tally behind the stop counts",
        LAYOUT,
        "while warned and warned[0][0] < pos:",
        "while warned:",
    ),
    _M(
        "follows ignored",
        CARRY,
        "elif line.follows and max(said[-line.follows :]) != WARN:",
        "elif False:",
    ),
    _M(
        "what only tells is counted",
        LAYOUT,
        "if f.counts and plan",
        "if f.action == Action.WARN and plan",
    ),
    _M("third warning comes fourth", CHAIN, "band = (self.warnings - 1,", "band = (self.warnings,"),
    _M(
        "marks counted",
        CHAIN,
        "return any(warned) if count_marks else",
        "return any(warned) if True else",
    ),
    _M(
        "watching counted",
        CHAIN,
        "self.count_marks or not only_marks(",
        "True or not only_marks(",
    ),
    _M("warnings of a lesser request counted", LAYOUT, "if tallied and again:", "if False:"),
    _M("warnings of a lesser request counted, known", LAYOUT, "    if again:\n", "    if False:\n"),
    _M(
        "late warnings of a lesser request lost",
        LAYOUT,
        "in warned if pos < 0]",
        "in warned if False]",
    ),
    _M(
        "warnings about chunks counted",
        LINEUP,
        "[stage not in UNTALLIED for",
        "[stage is not None for",
    ),
    _M(
        "third warning of the wrong guard",
        LAYOUT,
        "warner = part.warner if part.warner else plan",
        "warner = plan",
    ),
    _M("window bucket off by one", CELLS, "if b > bucket - BUCKETS}", "if b >= bucket - BUCKETS}"),
    _M(
        "correction misses the window",
        CELLS,
        "if bucket >= 0 and bucket in cell[BODY]:",
        "if False:",
    ),
    _M("touched counter forgotten", CELLS, "if until > now:", "if False:"),
    _M(
        "held counter forgotten",
        CELLS,
        "line.idle_s * 1000 + line.hold_ms + line.window_ms if",
        "line.idle_s * 1000 if",
    ),
    _M("shield's state forgotten", CELLS, "if not key.endswith(KEPT):", "if True:"),
    _M("clock runs backwards", MEMORY, "if now > self._last:", "if True:"),
)

HOLDING: Final = (
    _M("double settle", HOLDS, "        del state.holds[hold_id]\n        done", "        done"),
    _M("hold not released at expiry", HOLDS, "        if not keep:\n", "        if False:\n"),
    _M("spend released at expiry", HOLDS, "        if not keep:\n", "        if True:\n"),
    _M(
        "permit given back twice",
        HOLDS,
        "correction = -amount if held[0] == HELD else 0",
        "correction = -amount",
    ),
    _M(
        "settled at its estimate",
        HOLDS,
        "(0 if actual is None else actual[unit]) - amount",
        "(0 if actual is None else amount) - amount",
    ),
    _M(
        "hold lasts as long as its last line",
        CARRY,
        "longest = max(longest, line.hold_ms)",
        "longest = line.hold_ms",
    ),
    _M(
        "expiry a tick late",
        HOLDS,
        "while queue and queue[0][0] <= now:",
        "while queue and queue[0][0] < now:",
    ),
    _M(
        "identity not checked",
        CARRY,
        "if batch_id in state.recent or",
        "if False and batch_id in state.recent or",
    ),
    _M("identity lost with the hold", HOLDS, "        done(state, hold_id, held[2])\n", ""),
    _M(
        "settles of a stale batch",
        CARRY,
        "        forget(state, now)\n    for",
        "        forget(state, now)\n    settle(state, batch.settles)\n    for",
    ),
)

TRIPS: Final = (
    _M(
        "expectations not checked",
        CARRY,
        "        if not lo <= cells.get(key, ABSENT)[0] < hi:",
        "        if False:",
    ),
    _M(
        "expectation off by one",
        CARRY,
        "cells.get(key, ABSENT)[0] < hi:",
        "cells.get(key, ABSENT)[0] <= hi:",
    ),
    _M(
        "records not expected", ENGINE, "        expects.append((name, version, version + 1))\n", ""
    ),
    _M(
        "span of a ruling not expected",
        ENGINE,
        "if case.since > 0 or case.until < FOREVER:",
        "if False:",
    ),
    _M(
        "cache trusts its own version",
        LAYOUT,
        "records.get(name, ABSENT)[0] < version:\n                records[name] = (version, value)",
        "True:\n                records[name] = (records.get(name, ABSENT)[0] + 1, value)",
    ),
    _M("cache goes back", LAYOUT, "records.get(name, ABSENT)[0] < version:", "True:"),
    _M(
        "cache believes what was refused",
        LAYOUT,
        "when == When.JUDGED) and at <= stop:",
        "when == When.JUDGED or True) and at <= stop:",
    ),
    _M(
        "no retry",
        ENGINE,
        "            continue\n        # 10.",
        "            return _contended(case)\n        # 10.",
    ),
    _M("stale count unbounded", ENGINE, "for _ in range(TRIES):", "for _ in iter(int, 1):"),
    _M(
        "stale values not taken over",
        ENGINE,
        "records[fresh.key] = (fresh.number, fresh.value)",
        "pass",
    ),
    _M("store's time not taken over", ENGINE, "    case.now = reply.now\n", ""),
    _M(
        "lookups made again",
        JUDGING,
        "if pos > cut or (answers and answer",
        "if pos > cut or (None and answer",
    ),
    _M(
        "lookups behind a stop",
        JUDGING,
        "if pos > cut or (answers and answer",
        "if (answers and answer",
    ),
    _M(
        "one answer for two events",
        JUDGING,
        "name = answer_name(lookup.guard, lookup.event) if lookup.event else lookup.guard",
        "name = lookup.guard",
    ),
    _M(
        "gate ignored", ENGINE, "= [(-1, closed)], -1, True", "= case.before, case.before_cut, True"
    ),
    _M("mode ignored", ENGINE, "mode, closed = gate.mode,", "mode, closed = NORMAL,"),
    _M(
        "ancestors ignored",
        GATES,
        "for r in (run.id, *run.parents)]\n    return",
        "for r in (run.id,)]\n    return",
    ),
    _M("quarantine a tick too long", STATES, "if now < mark.until:", "if now <= mark.until:"),
    _M(
        "no warning behind a quarantine",
        STATES,
        "if mark.state == QUARANTINE and now < ends:",
        "if False:",
    ),
    _M("what a run may do is not looked up", CHAIN, "if may is not known:", "if False:"),
    _M("an event is wider than its run", CASE, "if may is known:", "if True:"),
    _M("a mandate stops a run", GATES, "if name not in BESIDE", ""),
    _M("a halt of the fleet is of nobody", GATES, '("fleet", fleet), ', ""),
    _M(
        "a halt of a run is not of its children",
        GATES,
        '(run.id, *run.parents)],\n                f"tool',
        '(run.id,)],\n                f"tool',
    ),
    _M("any refusal hides a halt", GATES, "refusal.action > worst.action", "False"),
    _M(
        "half left is still standard",
        AUTONOMY,
        "strict = -(-limit // 2)",
        "strict = limit // 2 + 1",
    ),
    _M(
        "a fifth left is lockdown",
        AUTONOMY,
        "lockdown = limit * 4 // 5 + 1",
        "lockdown = -(-limit * 4 // 5)",
    ),
    _M("the most that is left decides", AUTONOMY, "worst = max(levels)", "worst = min(levels)"),
    _M("a mode holds for ever", ENGINE, "case.expects += budgets", "pass"),
    _M(
        "nothing left is lockdown",
        ENGINE,
        "if mode == EXHAUSTED and USED_UP",
        "if False and USED_UP",
    ),
    _M("lockdown warns", LINEUP, "if mode not in (LOCKDOWN, EXHAUSTED):", "if True:"),
    _M(
        "knowledge never ages",
        ENGINE,
        " <= first.at - plans.confirmed <= plans.max_age_ms",
        " <= 0",
    ),
    _M(
        "what is known of the future is young",
        ENGINE,
        "not 0 <= first.at - plans",
        "not -FOREVER <= first.at - plans",
    ),
    _M(
        "opens on what nobody confirmed lately",
        WITHOUT,
        "        recent\n        and ",
        "        ",
    ),
    _M("opens on what the future confirmed", WITHOUT, "0 <= event.at - plans", "event.at - plans"),
    _M(
        "an isolation ends by the host's clock",
        WITHOUT,
        "event, plans.told).finding",
        "event, event.at).finding",
    ),
    _M(
        "another epoch is as good", WITHOUT, "if not takes_over(before[EPOCH], fresh):", "if False:"
    ),
    _M(
        "an operator's word counts for nothing",
        WITHOUT,
        "if not takes_over(before[EPOCH], fresh):",
        "if True:",
    ),
    _M(
        "a state may go backwards",
        WITHOUT,
        "if fresh.number < before.get(fresh.key, ABSENT)[0]",
        "if False",
    ),
    _M("a store that forgot stops reads", WITHOUT, "reads and not moment.stakes", "False"),
    _M("a store that forgot lets all through", WITHOUT, "reads and not moment.stakes", "True"),
    _M("a store is never expected in its epoch", CHAIN, "else [expectation(epoch[0])]", "else []"),
    _M(
        "an older copy is the same epoch",
        EPOCHS,
        "return EPOCH, number, (",
        "return EPOCH, number // MARKS * MARKS, (",
    ),
    _M("an epoch made anew takes over", EPOCHS, "(MADE, LOST)", "(LOST,)"),
    _M("an earlier word takes over", EPOCHS, " and epoch.at >= since", ""),
)

REFUSING: Final = (
    _M("refusals are not entered", REFUSALS, "if decision.action not in COUNTED:", "if True:"),
    _M(
        "what waits counts as refused",
        REFUSALS,
        "frozenset({Action.RETRY, ",
        "frozenset({Action.ESCALATE, ",
    ),
    _M("the engine's own refusals are counted", REFUSALS, "said.code not in OWN\n", "False\n"),
    _M("what cannot be read is not counted", REFUSALS, " and said.code not in OWN\n", "\n"),
    _M(
        "a budget's refusal is about nothing",
        REFUSALS,
        "if not said.about and any(",
        "if False and any(",
    ),
    _M(
        "a refusal is entered on an old record",
        REFUSALS,
        "(name, version, version + 1) for",
        "(name, 0, 1 << 60) for",
    ),
    _M(
        "a refusal is entered and not kept",
        REFUSALS,
        "expects=entry.expects, puts=entry.puts",
        "expects=entry.expects",
    ),
    _M("a refusal goes along and is not kept", ENGINE, "puts += entry.puts", "pass"),
    _M(
        "a refusal goes along unexpected",
        ENGINE,
        "else (*expects, *entry.expects)",
        "else tuple(expects)",
    ),
    _M(
        "a refusal goes along before it is known",
        ENGINE,
        "if case.lines or not plan.refusals",
        "if not plan.refusals",
    ),
    _M(
        "what is said of a refusal does not count",
        REFUSALS,
        "*[finding.action for finding in real]]",
        "]",
    ),
    _M(
        "a watcher in shadow is real",
        REFUSALS,
        "for finding in entry.said if not finding",
        "for finding in entry.said if finding",
    ),
    _M(
        "a refusal's cache is not taken over",
        REFUSALS,
        "records[fresh.key] = (fresh.number, fresh.value)",
        "pass",
    ),
    _M(
        "what says less becomes stricter",
        REFUSALS,
        "finding.action if finding.action <= refused else cells",
        "cells",
    ),
    _M(
        "what says more is not carried out",
        REFUSALS,
        "<= refused else cells[finding.action]",
        "<= refused else finding.action",
    ),
)

MUTATIONS: Final = (*ORDER, *PATCHING, *FAILING, *SHADOW, *STATE, *HOLDING, *TRIPS, *REFUSING)
"""Every fault that `python -m model.mutants` tries."""

QUICK: Final = (
    "short-circuit dropped",
    "band off by one",
    "put behind a known stop written",
    "shadow leaks into the decision",
    "error swallowed",
    "cache believes what was refused",
)
"""A handful for every test run."""
