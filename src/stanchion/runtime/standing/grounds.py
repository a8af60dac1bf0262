"""The grounds: what the runtime needs of a shield to write down, to look up and to change what
stands.

Each room that needs more of it says so in a `grounds` of its own. Nothing below the shield knows
its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from stanchion.kernel.state import Records
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.driving.turns import Turns
    from stanchion.runtime.standing.epoch_memory import Memory
    from stanchion.runtime.standing.tenancy import Tenancy
    from stanchion.telemetry.occurrences import Occurrences
    from stanchion.telemetry.sinks import Telemetry


class Grounds(Protocol):
    """A shield, as far as it says what holds: its policy, its store, its journal, its clock."""

    @property
    def policy(self) -> CompiledPolicy:
        """The policy in force."""

    @property
    def store(self) -> Any:
        """Where state is kept."""

    @property
    def journal(self) -> Any:
        """Where everything is written down."""

    @property
    def records(self) -> Records:
        """What the process knows of the store's records."""

    @property
    def memory(self) -> Memory | None:
        """What is known of the store's epoch; `None` where the store ends with the process."""

    @property
    def occurrences(self) -> Occurrences:
        """Tells operators what they have to hear of."""

    @property
    def telemetry(self) -> Telemetry:
        """Counts, and traces."""

    @property
    def clock(self) -> Callable[[], int]:
        """The host's clock, in milliseconds."""

    @property
    def tenancy(self) -> Tenancy:
        """Whose runs and states its are."""

    @property
    def turns(self) -> Turns:
        """Who is in line for a record."""

    @property
    def answering(self) -> Any:
        """Whatever answers lookups."""

    def nobody_beside(self) -> None:
        """Raise `AnswerRefused` where an answer without a key would be given beside an open run."""
