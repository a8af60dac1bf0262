"""Reloading: a new policy is built and checked as a whole, then swapped at once; a bad one changes
nothing."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion import typed
from stanchion.audit.layout import state_folder
from stanchion.kernel.contract.powers import having
from stanchion.kernel.guard import Placed
from stanchion.policy.custom import at_work, with_guards
from stanchion.policy.errors import PolicyError
from stanchion.policy.loosens import PolicyLoosens
from stanchion.policy.project_policies import FOUND, own_policy, possible_policies
from stanchion.runtime.answers.lookups import Answerer
from stanchion.runtime.answers.pool import wants_context
from stanchion.runtime.people.authority import NO_TRUST, Trust
from stanchion.runtime.standing.presence import HostProcess, process_at, this_process
from stanchion.telemetry.occurrences import Kind, Occurrence

if TYPE_CHECKING:
    from stanchion.policy.bind_guards import Home
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.answers.deep import DeepRules
    from stanchion.runtime.answers.isolated.isolation import Isolation
    from stanchion.runtime.answers.resolver import Resolver, Resolving
    from stanchion.runtime.calling.ingest import Ingesting
    from stanchion.runtime.shield import Shield

REMEMBERED: Final = 16
"""How many policies a shield remembers, so that a decision under way finds the code of the one it
began with."""

RESOLVES: Final = "stanchion.runtime.answers.resolver:addresses"
"""What guards call to have a name resolved; a shield answers with its own resolver."""

LONGEST_WAIT_S: Final = 86_400
"""How long a watcher waits at the most before it looks again."""

OnReload = Callable[["CompiledPolicy | PolicyError"], None]
"""Told of every reload: the policy now in force, or what was wrong with the one that was
refused."""

Settle = Callable[["CompiledPolicy"], "Home"]
"""Gives where a shield that has a policy in force keeps what is its own."""


class Policies:
    """The policies a shield has had in force, newest last, each with the code that answers for its
    guards."""

    def __init__(
        self,
        guards: tuple[Any, ...],
        brake: bool,
        ingesting: Ingesting | None = None,
        resolver: Resolver | None = None,
        *,
        settle: Settle,
    ) -> None:
        self._guards = guards
        self._settle = settle
        self._settled: tuple[CompiledPolicy, CompiledPolicy, tuple[Any, ...]] | None = None
        self._resolver = resolver
        self._resolving: Resolving | None = None
        self._isolation: Isolation | None = None
        self._deep: DeepRules | None = None
        self.brake = brake
        self._ingesting = ingesting
        self._known: OrderedDict[str, tuple[CompiledPolicy, dict[str, Answerer]]] = OrderedDict()

    @property
    def joined(self) -> bool:
        """Whether guards that were handed in are added to every policy."""
        return bool(self._guards)

    def enter(self, policy: CompiledPolicy) -> CompiledPolicy:
        """Add the user's own guards to a policy, the brake where it is on, and what is known of
        tools besides; gives the policy to put in force."""
        policy, guards = self._at_home(policy)
        whole, answerers = with_guards(policy, guards, self.brake)
        asking = [guard for guard, call in policy.calls.items() if call == RESOLVES]
        if asking:
            answerers |= dict.fromkeys(asking, self._resolves())
        isolated = self._isolated(policy)
        answerers |= isolated
        if self._ingesting is not None:
            whole, hooks = self._ingesting.apply(whole)
            answerers = {**answerers, **hooks}
        # Whether isolated code takes a context only its process knows.
        whole.contextual = bool(isolated) or wants_context(answerers.values())
        self._rules(whole)
        self._known[whole.hash] = (whole, answerers)
        self._known.move_to_end(whole.hash)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
            if self._isolation is not None:
                self._isolation.keep(
                    [code for known in self._known.values() for code in known[1].values()]
                )
        return whole

    def _rules(self, policy: CompiledPolicy) -> None:
        """Take over the deep rules of a policy."""
        guards = [
            (seat.placed.id, rule)
            for seat in policy.seats
            if (rule := having(seat.placed.guard, "rule_version"))
        ]
        if not guards:
            return
        from stanchion.runtime.answers.deep import DeepRules, DeepTerms

        if self._deep is None:
            self._deep = DeepRules()
        said = policy.file.deep
        self._deep.enter(
            policy.hash, guards, DeepTerms(*[getattr(said, name) for name in DeepTerms._fields])
        )

    def deep_rules(self) -> DeepRules | None:
        """The deep rules of the policies; `None` where none has any."""
        return self._deep

    def _at_home(self, policy: CompiledPolicy) -> tuple[CompiledPolicy, tuple[Any, ...]]:
        """The policy and the user's own guards, which know this shield's own places; those of one
        that is put in force again keep what they had worked out."""
        if self._settled is None or self._settled[0] is not policy:
            home = self._settle(policy)
            guards = self._guards
            if guards:
                guards = at_work(policy, guards, home.guard)
            self._settled = (policy, home.policy(policy), guards)
        return self._settled[1:]

    def _isolated(self, policy: CompiledPolicy) -> dict[str, Answerer]:
        """What answers for the guards whose code has a process of its own."""
        isolated = [
            seat.placed
            for seat in policy.seats
            if having(seat.placed.guard, "isolated") is not None
        ]
        if isolated and self._isolation is None:
            from stanchion.runtime.answers.isolated.isolation import Isolation

            self._isolation = Isolation()
        return {} if self._isolation is None else dict(self._isolation.answerers(isolated))

    def ready(self, policy: str) -> None:
        """Have the processes of a policy's guards started, without waiting for them."""
        known = None if self._isolation is None else self._known.get(policy)
        if self._isolation is not None and known is not None:
            self._isolation.ready(known[1].values())

    def close(self) -> None:
        """End the processes of guards."""
        if self._isolation is not None:
            self._isolation.close()

    def _resolves(self) -> Answerer:
        if self._resolving is None:
            from stanchion.runtime.answers.resolver import Resolving

            self._resolving = Resolving(self._resolver)
        return self._resolving.addresses

    def answerer(self, policy: str, guard: str) -> Answerer | None:
        """The code that answers for a guard of a policy."""
        known = self._known.get(policy)
        return None if known is None else known[1].get(guard)

    def placed(self, policy: str, guard: str) -> Placed | None:
        """A guard of a policy."""
        known = self._known.get(policy)
        return None if known is None else known[0].placed(guard)

    def heard_late(self, policy: str, guard: str) -> bool:
        """Whether what a guard of a policy was asked about may have gone ahead though its answer
        was late."""
        placed = self.placed(policy, guard)
        return placed is not None and (placed.fail_open or having(placed.guard, "deep") is not None)


def watched(source: Any, policy: CompiledPolicy) -> tuple[Path, ...]:
    """The files by which a policy may change: those it was read from and, where it was found, those
    that may appear."""
    if source != FOUND:
        return policy.files

    return tuple(dict.fromkeys([*policy.files, own_policy(), *possible_policies(Path.cwd())]))


def watchable(source: Any, policy: Callable[[], CompiledPolicy]) -> Callable[[], tuple[Path, ...]]:
    """Gives the files to watch, as they are at a time; `ValueError` where there is none: nothing
    would be noticed."""
    if watched(source, policy()):
        return lambda: watched(source, policy())
    match source:
        case None:
            given = "handed in already compiled"
        case dict():
            given = "given as a mapping"
        case _:
            given = f"the pack `{source}`"
    raise ValueError(
        f"there is no file to watch: the policy was {given}; load it from a file (one line, "
        f"`extends: default`, is "
        "enough to build on a pack), or call `reload()` with the new policy yourself"
    )


class Watcher:
    """Looks at a policy's files now and then, and reloads when one of them has changed, or when one
    that was refused because it loosens has been trusted since."""

    def __init__(
        self,
        files: Callable[[], tuple[Path, ...]],
        reload: Callable[[], Any],
        tell: OnReload | None,
        trust: Trust = NO_TRUST,
        trouble: PolicyTrouble | None = None,
    ) -> None:
        if tell is not None and not callable(tell):
            raise TypeError(
                f"`tell` is `{tell!r}`, which cannot be called: give a function of one argument"
            )
        self._troubles = trouble
        self._files = files
        self._reload = reload
        self._tell = tell
        self._trust = trust
        self._refused: CompiledPolicy | None = None
        self._seen = self._signature()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def trouble(self) -> RefusedPolicy | None:
        """The policy that is refused now, since when, and why; `None` where the one that is there
        is in force."""
        return None if self._troubles is None else self._troubles.now

    def start(self, every_s: float) -> None:
        """Look every so many seconds, in a thread that ends with the process."""
        if (
            isinstance(every_s, bool)
            or not isinstance(every_s, int | float)
            or not 0 < every_s <= LONGEST_WAIT_S
        ):
            raise ValueError(
                f"`every_s` is `{every_s!r}`: give a positive number of seconds, at most "
                f"{LONGEST_WAIT_S:,}"
            )
        self._thread = threading.Thread(
            target=self._watch, args=(every_s,), name="stanchion-policy", daemon=True
        )
        self._thread.start()

    def goes_on(self, tell: OnReload | None) -> bool:
        """Whether it still looks; `RuntimeError` where it does and another `tell` is to hear of
        it."""
        if self._stop.is_set() or self._thread is None:
            return False
        if tell is not None and tell != self._tell:
            raise RuntimeError(
                "the policy is already watched, with another `tell`: stop that watcher first"
            )
        return True

    def look(self) -> bool:
        """Look once; says whether a policy was reloaded or refused, which leaves the old one in
        force."""
        signature, waits = self._signature(), self._refused
        if signature == self._seen and (waits is None or not self._trust.trusts(waits.hash, waits)):
            return False
        self._seen, self._refused = signature, None
        try:
            outcome: Any = self._reload()
        except PolicyLoosens as error:
            self._refused = error.policy
            outcome = error
        except PolicyError as error:
            outcome = error
        except Exception as error:
            self._seen = ()  # whatever it was, it may be over when it is looked at again
            self._note(error)
            raise
        if isinstance(outcome, PolicyError):
            self._note(outcome)
        if self._tell is not None:
            self._tell(outcome)
        return True

    def stop(self) -> None:
        """Stop looking."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _watch(self, every_s: float) -> None:
        while not self._stop.wait(every_s):
            # What goes wrong besides the policy is noted, and what `tell` raises is its own:
            # watching goes on.
            with suppress(Exception):
                self.look()

    def _note(self, error: Exception) -> None:
        if self._troubles is not None:
            self._troubles.refused(error)

    def _signature(self) -> tuple[tuple[str, int, int, int], ...]:
        found = []
        for path in self._files():
            try:
                known = path.stat()
                found.append((str(path), known.st_mtime_ns, known.st_size, known.st_ino))
            except OSError:
                found.append((str(path), 0, -1, 0))
        return tuple(found)


FOLDER: Final = "refused-policies"
LARGEST: Final = 64 * 1024
MOST_WORDS: Final = 4_000
"""How much is noted of what is wrong with a policy."""


class RefusedPolicy(msgspec.Struct, frozen=True):
    """A policy that a process could not put in force: where it comes from, since when (milliseconds
    since 1970), what was wrong with it last, and which process goes on with the one before it."""

    origin: str
    since: int
    error: str
    process: HostProcess


class PolicyTrouble:
    """Keeps one shield's note: written while its policy is refused, and gone when one is in
    force."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield
        self._note: Path | None = None
        self.now: RefusedPolicy | None = None
        """What is refused now; `None` where the policy in force is the one that is there."""

    def refused(self, error: Exception) -> None:
        """A policy was refused; the one before it stays in force."""
        shield = self._shield
        at, said = shield.clock(), shield.policy.veil.words(str(error))[:MOST_WORDS]
        origin = shield.origin if shield.origin else "policy"
        since = at if self.now is None else self.now.since
        self.now = RefusedPolicy(origin, since, said, this_process())
        text = f"the policy `{origin}` did not load, and the previous one stays in force: {said}"
        self._write(self.now)
        self._tell(Kind.POLICY_REFUSED, at, text, origin)

    def loaded(self) -> None:
        """A policy is in force that was loaded just now."""
        refused, self.now = self.now, None
        if refused is None:
            return
        self.close()
        origin = refused.origin
        self._tell(
            Kind.POLICY_LOADED,
            self._shield.clock(),
            f"the policy `{origin}` is in force again",
            origin,
        )

    def close(self) -> None:
        """Remove the note: the process does not watch any more."""
        note, self._note = self._note, None
        if note is not None:
            with suppress(OSError):
                note.unlink(missing_ok=True)

    def _tell(self, kind: Kind, at: int, text: str, origin: str) -> None:
        self._shield.occurrences.tell(
            Occurrence(kind=kind, at=at, text=text, about=f"policy:{origin}")
        )

    def _write(self, refused: RefusedPolicy) -> None:
        """Note it. Where that cannot be written, it is told all the same."""
        with suppress(OSError):
            if self._note is None:
                folder = state_folder(os.environ) / FOLDER
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._note = folder / f"{refused.process.pid}-{os.urandom(8).hex()}.json"
            new = self._note.with_suffix(".new")
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(msgspec.json.encode(refused))
            os.replace(new, self._note)


def refused_policies(environ: Mapping[str, str]) -> Iterator[RefusedPolicy]:
    """The policies that processes of this host could not load, oldest first. The notes of processes
    that are gone are removed."""
    found = []
    try:
        files = sorted((state_folder(environ) / FOLDER).glob("*.json"))
    except OSError:
        return
    for file in files:
        try:
            with file.open("rb") as reading:
                one = typed.decode(reading.read(LARGEST), RefusedPolicy)
        except (OSError, msgspec.MsgspecError):
            continue
        if _is_gone(one.process):
            with suppress(OSError):
                file.unlink(missing_ok=True)
        else:
            found.append(one)
    yield from sorted(found, key=lambda one: one.since)


def _is_gone(process: HostProcess) -> bool:
    """Whether a process has ended; one in another space of process ids, or on a system that does
    not tell, may be there."""
    me = this_process()
    if not me.started or process.space != me.space:
        return False
    there = process_at(process.pid)
    return there is None or there.started != process.started
