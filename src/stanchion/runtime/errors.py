"""What the runtime raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.shown import Shown, StanchionError, brief
from stanchion.kernel.words import advice_of, message_of

if TYPE_CHECKING:
    from stanchion.experience.guidance import CallBeside, Guidance


class NotifyError(StanchionError, ValueError):
    """The file that says where notices go cannot be used; `faults` says where and why, and what to
    do."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


class Refused(StanchionError):
    """An action did not go ahead, or what came of it is withheld. Its text is what the agent should
    read; `decision` says the rest.

    `happened` tells the two apart: where it is true the action was done, and must not be repeated
    only because its result did not come; `undone` says whether it was undone again.

    Where the whole run is over, or its steps, budget or time are used up, `partial` is what it had
    produced until then. Where a person has to answer, or has refused it, `ticket` is the id of what
    they were asked, and `approvers` are the roles that are asked first to last: both are for the
    host, and in no text that an agent reads. `guidance` says for code what can be done about it.
    """

    def __init__(
        self,
        decision: Decision,
        approvers: tuple[str, ...] = (),
        partial: tuple[Any, ...] = (),
        ticket: str | None = None,
        undone: bool = False,
        beside: CallBeside | None = None,
    ) -> None:
        super().__init__(decision, approvers, partial, ticket, undone, beside)
        # A traceback would show the store's own error, with its host or file; whoever needs that
        # has the detail.
        self.__suppress_context__ = True
        self.decision = decision
        self.ticket = ticket
        self.undone = undone
        self.beside = beside
        self.partial = partial
        self.approvers = approvers if decision.action == Action.ESCALATE else ()

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {NAMES[self.decision.action]} {self.decision.code}: "
            f"{brief(str(self))}>"
        )

    def __str__(self) -> str:
        waiting = self.waits and self.ticket is not None
        said = [self.decision.message, self.decision.advice]
        if waiting and not self.happened:
            said[1] = self._own_advice
        said += ["it was undone again"] if self.undone else []
        said += [finding.message for finding in self.decision.behind]
        if waiting:
            from stanchion.approvals.words import WAITING

            said += [message_of(WAITING, ()), "" if self.happened else advice_of(WAITING, ())]
        said += [] if self.beside is None else [self.guidance.beside.text]
        return "; ".join(words for words in said if words)

    @property
    def _own_advice(self) -> str:
        """What the policy itself advises. What its guard says of every refusal is not meant for one
        that waits."""
        finding = self.decision.determining
        return finding.advice if finding is not None and finding.guidance else ""

    @property
    def guidance(self) -> Guidance:
        """What was wrong, what to do instead, whether and when to try again, and what is known to
        work."""
        from stanchion.experience.guidance import NOTHING, guidance_of

        return guidance_of(self.decision, NOTHING if self.beside is None else self.beside)

    @property
    def happened(self) -> bool:
        """Whether the action was done, and only what came of it is withheld."""
        return self.decision.happened

    @property
    def waits(self) -> bool:
        """Whether a person's approval is what is missing."""
        return self.decision.action == Action.ESCALATE

    @property
    def ended(self) -> bool:
        """Whether the whole run is over."""
        return self.decision.action == Action.HALT


class DeadlineExceeded(StanchionError, TimeoutError):
    """A tool did not finish in time. An async tool was cancelled; its text says where one is still
    running, as a sync one is, and an async one that does not let itself be cancelled."""


class ToolFailed(StanchionError):
    """A tool raised, and its error text was redacted; the original error is withheld."""


def raise_alone(error: Exception) -> NoReturn:
    """Raise an error that does not hold the one in whose handling it is raised: that one is
    withheld, and `from None` would only hide it from tracebacks."""
    try:
        raise error
    except Exception:
        error.__context__ = None
        raise


class NoRun(Shown):
    """A shielded tool was called outside a run, or in a thread that its run was not handed to."""


def no_run(tool: str, beside: bool = False) -> NoRun:
    """What to raise where a shielded tool has no run around it: it says what to write. `beside` is
    where there is a run, of another shield."""
    import threading

    thread = threading.current_thread()
    if beside:
        return NoRun(
            f"`{tool}` is shielded, and the run around it belongs to another shield: call it "
            f"inside `with "
            "shield.run(...):` "
            "of the shield that it was made with"
        )
    if thread is threading.main_thread():
        return NoRun(f"`{tool}` is shielded: call it inside `with shield.run(...):`")
    return NoRun(
        f"`{tool}` is shielded, and the thread `{thread.name}` has no run: give it one with "
        f"`run.bind(...)`, as in "
        f"`pool.submit(run.bind({tool}), ...)`, use the pool of `run.thread_pool()`, or call it "
        f"inside "
        "`with shield.run(...):`"
    )


class Ungoverned(Shown):
    """Something was about to be done outside every call that was decided, or cannot be governed at
    all."""


class NoTenant(Shown, ValueError):
    """A store that many share was used without the name of a tenant."""


class StateError(Shown):
    """A state of the shield cannot be changed like that."""
