"""LLM judge: a model behind an OpenAI-compatible endpoint says whether an action keeps to a rule in
plain words."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

import msgspec

from stanchion import typed
from stanchion.guards._routes import Routed, lookup
from stanchion.kernel.actions import Action, Category, Risk
from stanchion.kernel.contract.values import UNSAID, PolicySaid, keep_said
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.option import (
    ACTIONS,
    AtLeastZero,
    DeadlineMs,
    PlainActionName,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.table import carried
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "judge.said": Words(
            "a judge does not let this pass: its verdict is `{}`",
            "do it in another way that keeps to the task, or ask the user",
            "the judge's reason: {1}",
        )
    }
)

PROMPT: Final = "1"
"""The version of the fixed prompt: what was answered to another is not taken for an answer to this
one."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
NEEDS: Final = "it needs `httpx`, which is not installed: install the extra `httpx`"
LONGEST: Final = 300
"""How much of a judge's reason is kept."""

Dollars = Annotated[float, msgspec.Meta(ge=0)]


class JudgeQuestion(msgspec.Struct, frozen=True):
    """A question to the judge: the rule, what is judged, and which model is asked where."""

    rule: str
    stage: str
    tool: str
    risk: str
    task: str
    content: Any
    endpoint: str
    model: str
    key_env: str
    deadline_ms: int
    max_chars: int
    price: Any
    """The model's entry in the policy's `prices`."""


class JudgeVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's answer, and what it has cost."""

    verdict: Literal["allow", "refuse", "unsure"]
    reason: str = ""
    tokens: AtLeastZero = 0
    cost_microusd: AtLeastZero = 0


class LlmJudge(Routed, frozen=True):
    """Has a model judge an event by a rule in plain words. Its answer has a fixed form, and the
    event is quoted to it as data; what it costs is charged to the run."""

    name: ClassVar = "llm_judge"
    paid: ClassVar = True
    kind: ClassVar = Kind.ASKING
    call: ClassVar = "stanchion.runtime.answers.llm_judge:verdict"
    stages: ClassVar = frozenset(
        {Stage.PROMPT, Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.MODEL_REPLY, Stage.HANDOFF}
    )
    default_stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 95

    rule: Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
    """The rule that the model judges by, in plain words."""
    model: Annotated[str, msgspec.Meta(min_length=1)]
    """The model, by the name that the endpoint knows it under."""
    endpoint: str = "https://api.openai.com/v1"
    """The URL of an OpenAI-compatible API; `chat/completions` is added to it."""
    key_env: str = "OPENAI_API_KEY"
    """The environment variable that has the key; it is read when the model is asked."""
    deadline_ms: DeadlineMs = 10_000
    """How many milliseconds the model may take."""
    action: PlainActionName = "block"
    """The action for the verdict `refuse`."""
    max_chars: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 8_000
    """How many characters of an event are sent; one with more is not sent, and is `unsure`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        where = urlsplit(self.endpoint)
        if where.scheme != "https" and not (where.scheme == "http" and where.hostname in LOOPBACK):
            raise ValueError(
                f"`endpoint` is `{self.endpoint}`: write an https URL, or an http one of this very "
                f"host"
            )
        if where.username is not None or where.password is not None:
            raise ValueError(
                "`endpoint` has a login: put the key into the environment and name it with "
                "`key_env`"
            )
        try:
            import httpx  # noqa: F401  # a policy that cannot be carried out is refused when it loads
        except ImportError:
            raise ValueError(NEEDS) from None

    @property
    def rule_version(self) -> str | None:
        """The prompt, the model, where it is and what it is asked."""
        said = (PROMPT, self.endpoint, self.model, self.rule, self.max_chars)
        return sha256(msgspec.json.encode(said)).hexdigest()

    said: ClassVar[PolicySaid] = UNSAID
    scoped = keep_said

    def ask(self, reading: Reading[Event], /) -> Lookup:
        """Ask about what an event is, without whose it is and when."""
        event = reading.event
        asked = JudgeQuestion(
            self.rule, str(event.stage), event.tool, Risk(event.risk).name.lower(), event.run.task,
            reading.content, self.endpoint, self.model, self.key_env, self.deadline_ms,
            self.max_chars, self.said.price(self.model),
        )  # fmt: skip
        return lookup(asked, event.risk, self.waits, self.deadline_ms, self.required)

    def content(self, payload: JudgeQuestion, /) -> Any:
        """What the verdict depends on."""
        return [payload.stage, payload.tool, payload.risk, payload.task, payload.content]

    def checked(self, value: Any, /) -> Any:
        """A verdict as plain data; anything else is a failure."""
        return msgspec.to_builtins(typed.convert(value, JudgeVerdict))

    def cost(self, value: Any, /) -> tuple[int, int]:
        """The tokens and the money that the model has taken."""
        return value["tokens"], value["cost_microusd"]

    def judge(self, reading: Reading[Any], value: Any, /) -> Finding | None:
        """Do what the policy says for the verdict. An answer of any other form is a failure, which
        refuses."""
        answer = typed.convert(value, JudgeVerdict)
        if answer.verdict == "allow":
            return None
        usual = ACTIONS[self.action] if answer.verdict == "refuse" else Action.ESCALATE
        stage = getattr(reading.event, "stage", Stage.TOOL_CALL)
        action = carried(stage)[usual] if isinstance(stage, Stage) else usual
        return Finding(action, "judge.said", (answer.verdict, answer.reason[:LONGEST]))

    actions = list_actions
