"""`Tutor`: the baseline as it is constructed in the document."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stanchion.dialects.errors import DialectError
from stanchion.dialects.ragix.advisor import StrategicAdvisor
from stanchion.runtime.sandbox.sandbox import SandboxError
from stanchion.tutor.law import v1
from stanchion.tutor.law.v1 import Executor
from stanchion.tutor.playing.games import GameError, load_rules
from stanchion.tutor.playing.published import Writes, author_of, now
from stanchion.tutor.playing.runners import ShellExecutor


class Tutor(v1.TutorV1):
    """The first law over a folder: what it decides is `stanchion.tutor.TutorV1`'s, and this only
    makes it.

    Commands run in `sandbox_root` behind walls, or by an `executor` of your own with `is_safe` and
    `execute`. Without `rules_path` it has the rules about shell commands. Raises `DialectError`.
    """

    def __init__(
        self,
        game_id: str,
        sandbox_root: str | Path = ".",
        rules_path: str | Path | None = None,
        fat_llm_callback: Writes | None = None,
        *,
        executor: Executor | None = None,
    ) -> None:
        if not isinstance(game_id, str) or not game_id:
            raise DialectError(f"`game_id` is `{game_id!r}`: write the name of the game")
        if fat_llm_callback is not None and not callable(fat_llm_callback):
            raise DialectError(
                "`fat_llm_callback` cannot be called: give a function that answers a prompt"
            )
        for name in ("is_safe", "execute") if executor is not None else ():
            if not callable(getattr(executor, name, None)):
                raise DialectError(
                    f"`executor` has no method `{name}`: give a `ShellExecutor`, or what acts as "
                    f"one"
                )
        if rules_path is not None and not isinstance(rules_path, str | Path):
            raise DialectError(
                f"`rules_path` is a `{type(rules_path).__name__}`: write the path of a file of "
                f"rules"
            )
        try:
            rules = load_rules(rules_path)
        except GameError as error:
            raise DialectError(f"`rules_path`: {error}") from None
        author = None if fat_llm_callback is None else author_of(fat_llm_callback)
        try:
            hands = ShellExecutor(sandbox_root) if executor is None else executor
        except (SandboxError, TypeError) as error:
            raise DialectError(f"`sandbox_root`: {error}") from None
        super().__init__(game_id, hands, rules, author, now)

    def setup_game(self, goal: str, constraints: Iterable[str] = ()) -> None:
        """Begin a game: its goal, what always holds, and what holds in this one."""
        if not isinstance(goal, str):
            raise DialectError(f"`goal` is a `{type(goal).__name__}`: write the goal of the game")
        if isinstance(constraints, str) or not isinstance(constraints, Iterable):
            raise DialectError(
                f"`constraints` is a `{type(constraints).__name__}`: give a list of texts"
            )
        held = list(constraints)
        wrong = [type(one).__name__ for one in held if not isinstance(one, str)]
        if wrong:
            raise DialectError(f"`constraints` has a `{wrong[0]}`: give a list of texts")
        super().setup_game(goal, held)

    @property
    def strategic_advisor(self) -> StrategicAdvisor:
        """Who looks at this game and says what to tell the player."""
        return StrategicAdvisor(self)
