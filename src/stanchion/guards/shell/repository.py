"""The repository: what it knows of work that a command would throw away, asked of it, and judged
with the answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding, worse
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import Limits
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading

if TYPE_CHECKING:
    from stanchion.guards.shell.consequence import Loss
    from stanchion.guards.shell.questions import Question, Unsure
    from stanchion.guards.shell.rule import Rule
    from stanchion.guards.shell.verdict import Text
    from stanchion.kernel.contract.values import GuardGate

KEPT: Final = 1_024
"""How many texts are remembered with what is asked about them."""
_SHARED: Final = regex(
    r"(?:main|master|trunk|develop|development|dev|staging|stable|next|prod|production|gh-pages)"
    r"|(?:release|releases|hotfix|support|env)(?:[/-].*)?|v?\d+(?:[.-][\w.-]+)?"
)
"""Names under which branches are everybody's, whoever wrote their commits."""
_PLAIN: Final = regex(r"[\w\s./:=,@+~-]*")
"""What a shell takes as it is written."""
_FOLDERS: Final = ("cwd", "workdir", "working_dir", "working_directory", "directory", "dir")
"""What the argument is called that says in which folder a command runs."""


class Asked(msgspec.Struct, frozen=True):
    """Questions about the repositories of folders, each seen from `base`; and the texts that they
    are asked for."""

    base: str
    questions: tuple[Question, ...]
    texts: tuple[Text, ...]


class Repository(msgspec.Struct, frozen=True, dict=True):
    """Judges commands that may throw work away by what the repository knows of that work."""

    name: ClassVar = "shell_repository"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    call: ClassVar = "stanchion.runtime.answers.repository:states"
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 10

    shell: Any
    """The guard of shell texts that it stands beside."""

    @property
    def gate(self) -> GuardGate | None:
        """What is in every call that holds a command."""
        gate: GuardGate | None = self.shell.gate
        return gate

    def told(self, own: Any, /) -> Repository:
        """The same guard that knows where the shield keeps what is its own."""
        return Repository(self.shell.told(own))

    def ask(self, reading: Reading[ToolCall], /) -> Lookup | None:
        """Ask what the repositories know; nothing where no command depends on it."""
        if not any(map(_may_run_git, self.shell.texts(reading))):
            return None
        asked = self._asked(reading)
        return Lookup("", asked, self.shell.deadline_ms) if asked.questions else None

    def _asked(self, reading: Reading[Any]) -> Asked:
        texts = [text for text in self.shell.texts(reading) if _may_run_git(text)]
        found = [
            question
            for text in texts
            for one in self._about(text, reading.reader.limits)
            for question in one.questions
        ]
        return Asked(_base(reading.event.args), tuple(dict.fromkeys(found)), tuple(texts))

    def judge(self, reading: Reading[ToolCall | Asked], value: Any, /) -> Finding | None:
        """Judge what the repositories say; an answer of any other shape is a failure, which
        refuses."""
        from stanchion.guards.shell.consequence import worst_of

        event, limits = reading.event, reading.reader.limits
        asked = event if isinstance(event, Asked) else self._asked(reading)
        states = value["repositories"]
        if len(states) != len(asked.questions):
            raise ValueError("the repository was asked other questions")
        known = dict(zip(asked.questions, states, strict=True))
        worst: Finding | None = None
        for text in asked.texts:
            dangers = [
                one.danger._replace(
                    told=worst_of([_lost(one, known[each]) for each in one.questions])
                )
                for one in self._about(text, limits)
            ]
            worst = worse(worst, self.shell.verdict.told(text, dangers, limits))
        return worst

    @cached_property
    def _about(self) -> Callable[[Text, Limits], tuple[Unsure, ...]]:
        return lru_cache(KEPT)(self.shell.verdict.unsure)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        said: tuple[Action, ...] = self.shell.actions()
        return said


def _lost(one: Unsure, state: Any) -> Loss:
    """What is lost by what a repository says; without an answer what the rule says of none."""
    rule: Rule = one.danger.rule
    if state is None:
        return one.danger.loss
    if rule.known == "pushed":
        branch = str(state["branch"])
        shared = branch in ("", str(state["default"])) or _SHARED.fullmatch(branch) is not None
        goes = shared or int(state["others"])
    else:
        goes = int(state["lost"])
    feared = one.danger.loss if rule.then is None else rule.then
    return feared if goes else rule.otherwise


def _may_run_git(text: Text) -> bool:
    """Whether a text may run git: it names it, or has more than plain words, which can be it in
    another form."""
    words = (text,) if isinstance(text, str) else text
    return any("git" in word.lower() or _PLAIN.fullmatch(word) is None for word in words)


def _base(args: Any) -> str:
    """The folder that a call says it runs in."""
    if type(args) is not dict:
        return ""
    return next((args[name] for name in _FOLDERS if type(args.get(name)) is str), "")
