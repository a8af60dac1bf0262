"""What deciding needs of a shield: beside what holds and who answers, what is left to tell, and
whom guards ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from stanchion.runtime.people.grounds import Answered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from weakref import ref

    from stanchion.approvals.answerers import By
    from stanchion.approvals.request import Request
    from stanchion.experience.guidance import Beside
    from stanchion.kernel.decision import Decision
    from stanchion.kernel.declared import Declared
    from stanchion.kernel.events import RunInfo
    from stanchion.kernel.guard import Placed
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.answers.pool import Pool
    from stanchion.runtime.deciding.unsettled import Unsettled
    from stanchion.runtime.deciding.unwritten import Unwritten


class Sighting(Protocol):
    """What is seen of one run beside its calls."""

    def leave(self) -> None:
        """The run has ended."""


class Covering(Protocol):
    """Watches what is done while runs are open."""

    def enter(self, desk: Any, /) -> None:
        """A run is open from now on."""

    def leave(self, desk: Any, /) -> None:
        """A run has ended."""


class Deciding(Answered, Protocol):
    """A shield, as far as decisions need it."""

    @property
    def coverage(self) -> Covering | None:
        """Who watches what its runs do; nobody unless it was asked for."""

    desks: set[ref[Any]]
    """The runs that somebody has."""

    meet: Callable[[Iterable[str]], None]
    """Has secrets found in names before anything is judged under them."""

    unsettled: Unsettled
    """What has happened that the store has yet to be told."""

    unwritten: Unwritten
    """What has happened that has yet to be written down."""

    @property
    def experience(self) -> Any:
        """Keeps what calls came to."""

    def beside(self, desk: Any, decision: Decision, /) -> Beside | None:
        """What is known beside a decision that refused a call: alternatives, and a call that
        worked."""

    anchored: Any
    """The store, told along the way how far the trail has come."""

    @property
    def origin(self) -> str:
        """Where the policy in force came from."""

    env: str | None
    """The environment of the policy."""

    host_secret: str | None
    """What the processes of one host share, if they do."""

    answers: Pool
    """The threads in which the code behind guards answers."""

    answerer: Callable[..., Any]
    """Finds the code that answers for a guard."""

    heard_late: Callable[..., Any]
    """Is told of answers that came late."""

    @property
    def placed(self) -> Callable[[str, str], Placed | None]:
        """Finds a guard of a policy by its id."""

    @property
    def registered(self) -> Callable[[str], Iterable[Declared]]:
        """What the code declares of a tool that was registered."""

    @property
    def described(self) -> Callable[[RunInfo, CompiledPolicy], RunInfo]:
        """A run with what a policy says of its agent and task."""

    awake_ns: Callable[[], int]
    """A clock that goes on while the host sleeps."""

    chance: Callable[[], float]
    """A number between 0 and 1, drawn anew."""

    tool_of: Callable[..., Any]
    """A function as the tool that it was registered as."""

    @property
    def run(self) -> Callable[..., Any]:
        """Begins a run, as the child of another where there is a `parent`."""

    def act(self, request: Request, by: By) -> Any:
        """Have an operator's act carried out, once they have said so."""
