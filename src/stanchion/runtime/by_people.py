"""What people do with a shield: look at it, command it, answer its tickets, say who is an
operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stanchion.runtime.later import later

if TYPE_CHECKING:
    from stanchion.experience.guidance import Beside
    from stanchion.kernel.decision import Decision
    from stanchion.runtime.deciding.desk import Desk
    from stanchion.runtime.learning import advising, methods as learning
    from stanchion.runtime.learning.keeper import Keeper
    from stanchion.runtime.operating import (
        accept_store as accepting,
        acts,
        commands,
        effect_answers,
    )
    from stanchion.runtime.people import (
        enrol as enrolling,
        missed_reviews,
        nobody_beside as beside,
        ticket_methods,
    )
    from stanchion.runtime.standing import how_it_stands

KEEPER: Final = "_experience"
COMMANDS: Final = "stanchion.runtime.operating.commands"
ACTS: Final = "stanchion.runtime.operating.acts"
TICKET_METHODS: Final = "stanchion.runtime.people.ticket_methods"
HOW_IT_STANDS: Final = "stanchion.runtime.standing.how_it_stands"
LEARNING: Final = "stanchion.runtime.learning.methods"
ADVISING: Final = "stanchion.runtime.learning.advising"
"""Where the methods are."""


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
        standing, health = how_it_stands.standing, how_it_stands.health
        guardrails = how_it_stands.guardrails
        reliability, similar = learning.reliability, learning.similar
        advise_with, advice_stats = advising.advise_with, advising.advice_stats
        act, wish, settle_by = acts.carry_out, acts.wish_for, effect_answers.settle_by
        accept_store, enrol, nobody_beside = (
            accepting.accept_store,
            enrolling.enrol,
            beside.nobody_beside,
        )
    else:
        safe_mode, halt = later(COMMANDS), later(COMMANDS)
        quarantine, resume, signal = later(COMMANDS), later(COMMANDS), later(COMMANDS)
        reset_tool, release_call, top_up = later(COMMANDS), later(COMMANDS), later(COMMANDS)
        break_lock = later(COMMANDS)
        tickets, ticket = later(TICKET_METHODS), later(TICKET_METHODS)
        grants, ticketing = later(TICKET_METHODS), later(TICKET_METHODS)
        approve, deny = later(TICKET_METHODS), later(TICKET_METHODS)
        answer, revoke = later(TICKET_METHODS), later(TICKET_METHODS)
        review = later(TICKET_METHODS)
        tell_missed = later("stanchion.runtime.people.missed_reviews")
        standing, health, guardrails = (
            later(HOW_IT_STANDS),
            later(HOW_IT_STANDS),
            later(HOW_IT_STANDS),
        )
        reliability, similar = later(LEARNING), later(LEARNING)
        advise_with, advice_stats = later(ADVISING), later(ADVISING)
        act, wish, settle_by = (
            later(ACTS, "carry_out"),
            later(ACTS, "wish_for"),
            later("stanchion.runtime.operating.effect_answers"),
        )
        accept_store, enrol, nobody_beside = (
            later("stanchion.runtime.operating.accept_store"),
            later("stanchion.runtime.people.enrol"),
            later("stanchion.runtime.people.nobody_beside"),
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

    def beside(self, desk: Desk, decision: Decision) -> Beside | None:
        """What is known beside a decision that refused a call of a run; `None` where nothing is."""
        from stanchion.runtime.learning.advising import beside

        known = beside(desk, decision)
        return known if known else None

    def _close_experience(self) -> None:
        if KEEPER in self.__dict__:
            self.experience.close()
