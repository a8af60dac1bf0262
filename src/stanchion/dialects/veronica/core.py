"""The runtime core: retries, a circuit breaker, a budget, a limit of steps, partial results, each
usable by itself.

Each is a guard of Stanchion with a run of its own, in memory. `VeronicaIntegration(core=[...])`
puts the same guard before all calls of an integration instead, and the part shows what these have
come to.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.carried import (
    COUNTER,
    FamilySteps,
    steps_key,
)
from stanchion.dialects.veronica.words import (
    Decision,
    MadeByName,
    amount,
    function,
    limit,
    spoken,
    whole,
)
from stanchion.guards.breaker import circuit_key, circuit_of
from stanchion.kernel import decision as kernel
from stanchion.kernel.counter_scopes import scope_key
from stanchion.kernel.gates import Ending
from stanchion.kernel.state import ABSENT, key
from stanchion.kernel.units import MICRO
from stanchion.policy.formats.veronica import breaker_entry
from stanchion.runtime.deciding.run_memory import PartialOverflow, PartialResults
from stanchion.runtime.errors import Refused
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion.stores.memory import wall_ms


class PartialBufferOverflow(DialectError):
    """There is no more room; `kept` is what was kept until then."""

    def __init__(self, message: str, kept: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.kept = kept


class PartialResultBuffer(MadeByName):
    """Keeps the chunks of a result as they come, at most so many and so large, so that an early end
    loses nothing."""

    def __init__(self, max_chunks: int = 10_000, max_bytes: int = 10 * 1024 * 1024) -> None:
        self._kept = PartialResults(
            whole("max_chunks", max_chunks, 1), whole("max_bytes", max_bytes, 1)
        )

    def append(self, chunk: Any) -> None:
        """Keep a chunk. `PartialBufferOverflow` where there is no room, `DialectError` once it is
        complete."""
        try:
            self._kept.append(chunk)
        except PartialOverflow as full:
            raise PartialBufferOverflow(str(full), full.kept) from None
        except ValueError:
            raise DialectError(
                "the buffer is complete: make another one for what comes next"
            ) from None

    def mark_complete(self) -> None:
        """Say that nothing more comes."""
        self._kept.complete()

    def get_partial(self) -> str:
        """The texts that came so far, joined."""
        return self._kept.text

    @property
    def chunks(self) -> tuple[Any, ...]:
        """What came so far, the oldest first."""
        return self._kept.chunks

    @property
    def chunk_count(self) -> int:
        """How many came."""
        return len(self._kept)

    @property
    def is_complete(self) -> bool:
        """Whether nothing more comes."""
        return self._kept.completed

    @property
    def is_partial(self) -> bool:
        """Whether something came, and more may come."""
        return not self.is_complete and self.chunk_count > 0


NAME: Final = "core"
"""What stands for the one thing that is called, counted or tried again."""
MOST_RETRIES: Final = 1_000
LONGEST_S: Final = 86_400
"""The longest pause between two attempts: a day."""


class Primitive(MadeByName, ABC):
    """One part of the core: a guard, and a run under it that begins when it is first needed, or
    that of an integration whose calls it bounds."""

    def __init__(self, clock: Callable[[], int] = wall_ms) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: Run | None = None
        self._shared = False

    @abstractmethod
    def entry(self) -> dict[str, Any]:
        """The guard of a policy that it is."""

    def reset(self) -> None:
        """Begin anew, as if nothing had happened."""
        if self._shared:
            raise DialectError(
                f"this `{type(self).__name__}` bounds an integration: make a new one of both "
                f"instead"
            )
        with self._lock:
            self._open = None

    def join(self, run: Run) -> None:
        """Show from now on what the calls of an integration have come to."""
        with self._lock:
            self._open, self._shared = run, True

    @property
    def is_taken(self) -> bool:
        """Whether it has counted something already, by itself or for an integration."""
        return self._open is not None

    @property
    def _run(self) -> Run:
        known = self._open
        if known is not None:
            return known
        # Threads that need it first at the same moment share one, or each would have limits of its
        # own
        with self._lock:
            if self._open is None:
                self._open = self._shield().run("veronica")
            return self._open

    def _shield(self) -> Shield:
        policy = {"name": "veronica-core", "unread": "allow", "guards": [self.entry()]}
        return Shield.load(policy, store=MEMORY, journal=MEMORY, clock=self._clock, safe_mode=False)

    def _counted(self, key: str) -> int:
        """What a counter of its run has come to."""
        total: int = self._run.desk.shield.store.read(key)[0]
        return total


class RetryContainer(Primitive):
    """Calls a function until it works: once, and at most `max_retries` times again. Containers
    round one another share the retries of the outermost."""

    def __init__(
        self,
        max_retries: int = 3,
        backoff_base: float = 1.0,
        backoff_max: float = 30.0,
        jitter: float = 0.25,
        *,
        clock: Callable[[], int] = wall_ms,
    ) -> None:
        super().__init__(clock)
        self.max_retries = whole("max_retries", max_retries, 0, MOST_RETRIES)
        self.backoff_base = amount("backoff_base", backoff_base, LONGEST_S)
        self.backoff_max = amount("backoff_max", backoff_max, LONGEST_S)
        self.jitter = amount("jitter", jitter)
        if self.jitter > 1:
            raise DialectError(f"`jitter` is `{jitter}`: give a share from 0 to 1")

    def entry(self) -> dict[str, Any]:
        """Recovery that tries every exception again: what is wrapped is meant to be repeated."""
        return {
            "use": "recovery",
            "id": "retry-container",
            "max_retries": self.max_retries,
            "per_run": 1_000,
            "backoff_base_s": min(self.backoff_base, self.backoff_max),
            "backoff_max_s": self.backoff_max,
            "jitter": self.jitter,
            "retry_unsafe": True,
            "recoverable": ["Exception"],
            "fatal": [],
            "ignore": [],
            "on_unknown": "retry",
            "on_fatal": "block",
        }

    def execute(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """The function's own result, or its own exception once all retries are used."""
        wanted = function(fn, instead="call it with `await container.aexecute(...)`")
        return self._begun().call(wanted, *args, **kwargs)

    async def aexecute(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """`execute` for async code."""
        return await self._begun().acall(function(fn), *args, **kwargs)

    def check(self) -> Decision:
        """Whether the last function can be tried again: HALT once all its retries are used."""
        return Decision.HALT if self.total_retries >= self.max_retries else Decision.ALLOW

    def _begun(self) -> Run:
        """A run for each function: the retries of one are not those of the next."""
        begun: Run = self._run.desk.shield.run("veronica")
        if not self._shared:
            self._open = begun
        return begun

    @property
    def total_retries(self) -> int:
        """How many times the last function was tried again."""
        return self._counted(scope_key(self._run.desk.info, "run", "retry"))


class CircuitState(StrEnum):
    """What a breaker does with calls: lets them pass, refuses them, or tries one."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


WORST_FIRST: Final = (CircuitState.OPEN, CircuitState.HALF_OPEN)


class CircuitBreaker(Primitive):
    """Refuses calls after `failure_threshold` failures in a row, for `recovery_timeout` seconds;
    then one call tries.

    `failure_predicate(error)` says whether an error is a failure; where it raises, it is one.
    """

    def __init__(
        self,
        failure_threshold: int = 5,
        recovery_timeout: float = 60.0,
        failure_predicate: Callable[[BaseException], bool] | None = None,
        *,
        clock: Callable[[], int] = wall_ms,
    ) -> None:
        super().__init__(clock)
        self.failure_threshold = whole("failure_threshold", failure_threshold, 1)
        self.recovery_timeout = amount("recovery_timeout", recovery_timeout)
        if not 0.001 <= self.recovery_timeout <= 432_000:
            raise DialectError(
                f"`recovery_timeout` is `{recovery_timeout}`: give seconds from 0.001 to five days"
            )
        if failure_predicate is not None and not callable(failure_predicate):
            raise DialectError("`failure_predicate` cannot be called: give a function of an error")
        self.failure_predicate = failure_predicate

    def entry(self) -> dict[str, Any]:
        """A breaker that one successful probe closes, and that stays open equally long each
        time."""
        entry = breaker_entry(self.failure_threshold, self.recovery_timeout)
        counts = {} if self.failure_predicate is None else {"counts": ["system"]}
        return {**entry, **counts, "counter": "core"}

    def check(self) -> Decision:
        """Whether a call may begin now; say what came of it with `record_success` or
        `record_failure`."""
        return spoken(self._run.check(NAME, {}))

    def record_success(self) -> None:
        """A call went well."""
        self._run.result(NAME, {}, None)

    def record_failure(self, error: BaseException | None = None) -> None:
        """A call has failed."""
        fault = "system" if self._is_failure(error) else "user"
        self._run.error(NAME, Exception("failed") if error is None else error, args={}, fault=fault)

    def execute(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """The function's own result or exception; the decision where the breaker refuses it."""
        function(
            fn, instead="await it between `check()` and `record_success()` or `record_failure()`"
        )
        decision = self.check()
        if decision is not Decision.ALLOW:
            return decision
        try:
            result = fn(*args, **kwargs)
        except Exception as error:
            self.record_failure(error)
            raise
        except BaseException as error:
            self._run.error(
                NAME, error, args={}
            )  # it was cut off: a probe does not keep its place for good
            raise
        self.record_success()
        return result

    @property
    def state(self) -> CircuitState:
        """What it would do with the next call; in an integration, with one of the tool that is
        worst off."""
        shield = self._run.desk.shield
        now = shield.clock()
        states = [CircuitState(circuit_of(each).state(now).upper()) for each in self._circuits()]
        return next((one for one in WORST_FIRST if one in states), CircuitState.CLOSED)

    def _circuits(self) -> list[Any]:
        """What is known of the tools that were called."""
        records, info = self._run.desk.shield.records, self._run.desk.info
        if not self._shared:
            return [records.get(circuit_key(info, NAME, "core"), ABSENT)[1]]
        begin = key(info.tenant, "breaker") + ":"
        return [
            kept[1]
            for name, kept in list(records.items())
            if name.startswith(begin) and name.endswith(":core")
        ]

    def _is_failure(self, error: BaseException | None) -> bool:
        if self.failure_predicate is None or error is None:
            return True
        try:
            return bool(self.failure_predicate(error))
        except Exception:  # noqa: BLE001 - a predicate that fails says nothing in favour of the call
            return True


class BudgetEnforcer(Primitive):
    """Bounds what is spent in all, in dollars. What exceeds it is refused and not recorded, and
    nothing more is spent afterwards. In a shield, `BudgetWindowHook` takes its place."""

    def __init__(self, limit_usd: float = 100.0, *, clock: Callable[[], int] = wall_ms) -> None:
        super().__init__(clock)
        self.limit_usd = limit("limit_usd", limit_usd)

    def entry(self) -> dict[str, Any]:
        """A budget of the tenant without a window: once it is used up, a shield in the state of
        warning is halted."""
        return {
            "use": "budget",
            "id": "budget-enforcer",
            "per": "tenant",
            "cost_usd": self.limit_usd,
            "stages": ["charge"],
            "counter": "core",
        }

    def spend(self, amount_usd: float) -> bool:
        """Spend something; says whether that was allowed."""
        spent = amount("amount_usd", amount_usd)
        run = self._run
        allowed = run.charge(cost_usd=spent).proceeds
        if not allowed and not self._shared and not self.is_exceeded:
            run.cancel("the budget is used up")
        return allowed

    def check(self) -> Decision:
        """Whether anything may still be spent: HALT from the refusal on that ended it, and where
        there is nothing."""
        return Decision.HALT if self.is_exceeded or not self.limit_usd else Decision.ALLOW

    @property
    def is_exceeded(self) -> bool:
        """Whether something was refused; in an integration, whose calls may still be small enough,
        whether nothing is left."""
        return isinstance(self._run.desk.ended, Ending) or (self._shared and not self.remaining_usd)

    @property
    def spent_usd(self) -> float:
        """What was spent so far."""
        return (
            self._counted(
                scope_key(self._run.desk.info, "tenant", "budget", "core", "cost_microusd")
            )
            / MICRO
        )

    @property
    def remaining_usd(self) -> float:
        """What is left."""
        return max(self.limit_usd - self.spent_usd, 0.0)


class AgentStepGuard(Primitive):
    """Bounds the steps of an agent. The last result is kept, and is what the work has come to when
    they are used up."""

    def __init__(self, max_steps: int = 25, *, clock: Callable[[], int] = wall_ms) -> None:
        super().__init__(clock)
        self.max_steps = whole("max_steps", max_steps, 1)

    def entry(self) -> dict[str, Any]:
        """A limit of steps for each run: a step is a call of a tool, or of a model."""
        return {
            "use": "step_limit",
            "id": "agent-step-guard",
            "max_steps": self.max_steps,
            "stages": ["tool_call", "model_call"],
            "counter": COUNTER,
        }

    def bound(self, number: int) -> FamilySteps:
        """The same limit for an integration and all its children; `number` tells it from others
        there."""
        name = "agent-step-guard" if number == 1 else f"agent-step-guard-{number}"
        return FamilySteps(id=name, max_steps=self.max_steps, counter=COUNTER)

    def step(self, result: Any = None) -> bool:
        """Take a step, with what it has come to; says whether there was one left."""
        decision: kernel.Decision = self._run.check(NAME, {})
        if decision.proceeds and result is not None:
            self._run.result(NAME, {}, result, call=decision.id)
            self._run.desk.last = result
        return decision.proceeds

    def check(self) -> Decision:
        """Whether another step may be taken; takes none."""
        return Decision.HALT if self.is_exceeded else Decision.ALLOW

    def execute(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """The function's own result, or HALT where no step is left."""
        wanted = function(fn, instead="await it, and give its result to `step(...)`")
        try:
            return self._run.call(wanted, *args, **kwargs)
        except Refused as refused:
            return spoken(refused.decision)

    @property
    def current_step(self) -> int:
        """How many steps were taken."""
        return self._counted(steps_key(self._run.desk.info))

    @property
    def remaining_steps(self) -> int:
        """How many are left."""
        return max(self.max_steps - self.current_step, 0)

    @property
    def is_exceeded(self) -> bool:
        """Whether none is left."""
        return self.remaining_steps == 0

    @property
    def last_result(self) -> Any:
        """What the last step has come to: the partial result."""
        kept = self._run.partial
        return kept[-1] if kept else None
