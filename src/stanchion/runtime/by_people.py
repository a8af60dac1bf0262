"""What people do with a shield: look at it, command it, answer its tickets, say who is an
operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stanchion.runtime.keywords import Later

if TYPE_CHECKING:
    from stanchion.experience.guidance import CallBeside
    from stanchion.kernel.decision import Decision
    from stanchion.runtime.deciding.desk import Desk
    from stanchion.runtime.learning import advising, methods as learning
    from stanchion.runtime.learning.keeper import Keeper
    from stanchion.runtime.operating import acts, commands, settle_effects
    from stanchion.runtime.people import enrol as enrolling, missed_reviews, ticket_methods

KEEPER: Final = "_experience"
METHODS: Final = {
    "operating.commands": (
        "safe_mode halt quarantine resume signal reset_tool release_call top_up break_lock "
        "standing health guardrails"
    ),
    "operating.acts": "act wish accept_store",
    "operating.settle_effects": "settle_by",
    "people.ticket_methods": "tickets ticket grants ticketing approve deny answer revoke review",
    "people.missed_reviews": "tell_missed",
    "people.enrol": "enrol nobody_beside",
    "learning.methods": "reliability similar",
    "learning.advising": "advise_with advice_stats",
}
"""Where the methods are: functions of these modules."""


class ByPeople:
    """The methods of a shield that agents never call: most processes need none of them."""

    if TYPE_CHECKING:
        safe_mode, halt = commands.safe_mode, commands.halt
        quarantine, resume, signal = commands.quarantine, commands.resume, commands.signal
        reset_tool, release_call, top_up = (
            commands.reset_tool,
            commands.release_call,
            commands.top_up,
        )
        break_lock = commands.break_lock
        tickets, ticket = ticket_methods.tickets, ticket_methods.ticket
        grants, ticketing = ticket_methods.grants, ticket_methods.ticketing
        approve, deny = ticket_methods.approve, ticket_methods.deny
        answer, revoke = ticket_methods.answer, ticket_methods.revoke
        review, tell_missed = ticket_methods.review, missed_reviews.tell_missed
        standing, health = commands.standing, commands.health
        guardrails = commands.guardrails
        reliability, similar = learning.reliability, learning.similar
        advise_with, advice_stats = advising.advise_with, advising.advice_stats
        act, wish, settle_by = acts.act, acts.wish, settle_effects.settle_by
        accept_store, enrol, nobody_beside = (
            acts.accept_store,
            enrolling.enrol,
            enrolling.nobody_beside,
        )

    @property
    def experience(self) -> Keeper:
        """Keeps what calls came to, as the policy says under `experience`; made when it is first
        needed."""
        kept: Keeper | None = self.__dict__.get(KEEPER)
        if kept is None:
            from stanchion.runtime.learning.keeper import Keeper

            shield: Any = self
            kept = self.__dict__.setdefault(KEEPER, Keeper(shield))
        return kept

    def beside(self, desk: Desk, decision: Decision) -> CallBeside | None:
        """What is known beside a decision that refused a call of a run; `None` where nothing is."""
        from stanchion.runtime.learning.advising import beside

        known = beside(desk, decision)
        return known if known else None

    def _close_experience(self) -> None:
        if KEEPER in self.__dict__:
            self.experience.close()


for _home, _names in METHODS.items():
    for _name in _names.split():
        setattr(ByPeople, _name, Later(ByPeople, f"stanchion.runtime.{_home}", _name))
