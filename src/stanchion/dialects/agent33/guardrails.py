"""Guardrails: files of the specification in force, the agents under them, and what whoever looks
after them does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

from stanchion.approvals.act import Purpose
from stanchion.approvals.answerers import By
from stanchion.approvals.bypass import BypassRequest
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import UnknownTicket
from stanchion.approvals.quorum import turn
from stanchion.approvals.ticket import Ticket
from stanchion.audit.journal import Journal
from stanchion.dialects.agent33.hooks import Hooks
from stanchion.dialects.agent33.results import Alert, Escalation
from stanchion.dialects.agent33.settings import Agent, OnError, Task, read, read_all
from stanchion.dialects.agent33.words import RiskLevel, a_mapping, names_of, unread_budget, word
from stanchion.dialects.errors import DialectError, check_options, load_shield
from stanchion.kernel.counter_scopes import FLEET
from stanchion.policy.document import read_data
from stanchion.policy.errors import PolicyError, refusal
from stanchion.policy.formats import GUARDRAILS
from stanchion.policy.formats.agent33.checks import BUILT_IN, ON_ERROR, PRE_HANDOFF
from stanchion.policy.formats.agent33.schema import KEYS
from stanchion.policy.load import PolicyReading, load_policy
from stanchion.policy.loosens import PolicyLoosens
from stanchion.policy.nearest import hint, nearest
from stanchion.policy.overlay import extended
from stanchion.runtime.deciding.bypass_requests import request_of
from stanchion.runtime.operating.reload import Watcher
from stanchion.runtime.options import ShieldOptions
from stanchion.runtime.shield import Shield
from stanchion.stores.protocol import Store
from stanchion.telemetry.guardrails import GuardrailState
from stanchion.telemetry.kinds import Occurrence


class GuardrailSettings(TypedDict, total=False):
    """What guardrails are put in force with."""

    agents: Mapping[str, Agent | Mapping[str, Any]] | None
    """What agents are held to, by their ids or patterns of them."""
    tasks: Mapping[str, Task | Mapping[str, Any]] | None
    """What tasks are held to. Relative patterns of a task start in the `sandbox`, or in the working
    directory."""
    on_error: OnError | Mapping[str, Any] | None
    """What becomes of errors."""
    sandbox: str | Path | None
    """The folder in which `safety-004` keeps actions; without it, only what surely leaves the
    working directory is outside."""
    safety_responses: Iterable[str]
    """The tools that an emergency may use unanswered."""
    log_passes: Iterable[str]
    """The guardrails whose passes are recorded too."""
    autonomy: bool
    """Whether budgets that run low make anything stricter; they do where it is left out."""
    policy: Mapping[str, Any] | None
    """Further sections of a Stanchion policy, such as `tools` and `operators`."""
    changes: Mapping[str, Mapping[str, Any]] | None
    """Options of Stanchion's guards, by the ids of the guardrails that they are changed for."""


class LoadOptions(GuardrailSettings, ShieldOptions, total=False):
    """The settings, and the options of `Shield.load`."""

    env: str | None
    store: Store | str | Path | None
    journal: Journal | str | Path | None
    project: str | Path | None
    clock: Callable[[], int]
    notify: str | Path | None


PACK: Final = "agent-33"
"""The guardrails that the specification names."""
SANDBOX: Final = "safety-004"
"""The guardrail that keeps actions in a folder."""
METRICS: Final = (
    "guardrail_invocations_total",
    "guardrail_duration_ms",
    "guardrail_blocks_total",
    "bypass_requests_total",
)
RUN: Final = ("risk_level", "id", "role", "tenant", "deadline_s", "tools", "can", "parent")
"""What `hooks` takes beside an agent and its task."""
OWN: Final = ("name", "extends", "agents", "tasks", "guards", "autonomy")
"""What a policy beside the guardrails does not say, because the dialect does."""


class Guardrails:
    """Guardrails in force. `Guardrails.load` reads their files; a shield that is there already is
    handed in."""

    def __init__(self, shield: Shield) -> None:
        if not isinstance(shield, Shield):
            raise DialectError(
                f"`shield` is a `{type(shield).__name__}`: give a `Shield`, or load files with "
                f"`Guardrails.load`"
            )
        self.shield = shield
        """Stanchion's own shield, with everything that the specification has no word for."""

    @classmethod
    def load(
        cls,
        source: str | Path | Mapping[str, Any] = PACK,
        **options: Unpack[LoadOptions],
    ) -> Guardrails:
        """Put guardrails in force: a file, a folder of them, one as data, or all that the
        specification names.

        `Settings` says what can be set beside them, such as `agents` and `tasks`; all other options
        are those of `Shield.load`.
        """
        check_options(options, LoadOptions.__annotations__, "Guardrails.load")
        settings: Any = {
            name: value
            for name, value in options.items()
            if name in GuardrailSettings.__annotations__
        }
        others: Any = {name: value for name, value in options.items() if name not in settings}
        said = policy_for(source, **settings)
        try:
            return cls(load_shield(said, **others))
        except PolicyError as error:
            unread = unread_budget(error)
            if unread is None:
                raise
            raise unread from None

    def hooks(
        self,
        agent: str,
        task: str = "",
        *,
        risk_level: RiskLevel | str | None = None,
        **options: Any,
    ) -> Hooks:
        """The hooks of an agent at work on a task; other options are those of `shield.run`."""
        if not isinstance(agent, str) or not agent:
            raise DialectError(f"`agent` is `{agent!r:.80}`: give the id of the agent")
        if not isinstance(task, str):
            raise DialectError(f"`task` is `{task!r:.80}`: give the name of the task")
        check_options(options, RUN, "hooks")
        level: Any = None if risk_level is None else str(word(RiskLevel, risk_level, "risk_level"))
        return Hooks(self.shield.run(agent, task, risk=level, **options))

    def reload(self, *, by: By | None = None, why: str = "") -> None:
        """Read the files again. They come into force as a whole, or `PolicyError` is raised and
        nothing changes.

        Files that let more through than those in force are refused with `DialectError`, unless an
        operator is given as `by`: it is then written down who has said yes to them, and why.
        """
        try:
            self.shield.reload()
        except PolicyLoosens as loose:
            if by is None:
                more = "; ".join(map(str, loose.loosenings))
                raise DialectError(
                    f"the guardrails would let more through ({more}): an operator has to say yes, "
                    f"with `reload(by=…)`"
                ) from None
            said = {"policy": loose.policy.file.name, "env": None, "why": why}
            self.shield.act(
                Request(purpose=Purpose.POLICY, tenant=FLEET, subject=loose.policy.hash, said=said),
                by,
            )
            self.shield.reload()

    def watch(self, every_s: float = 1.0) -> Watcher:
        """Reload whenever a file changes; one that lets more through waits for `reload(by=…)`."""
        try:
            return self.shield.watch(every_s)
        except ValueError:
            raise DialectError(
                "there is no file to watch: load the guardrails from a file or a folder"
            ) from None

    def runtime_state(self) -> dict[str, GuardrailState]:
        """The state of each guardrail, by its id."""
        return {one.guardrail_id: one for one in self.shield.guardrails()}

    def metrics(self) -> dict[str, dict[tuple[str, ...], tuple[float, ...]]]:
        """The four metrics of the specification, by name, then by their labels."""
        found: dict[str, dict[tuple[str, ...], tuple[float, ...]]] = {name: {} for name in METRICS}
        for series in self.shield.telemetry.collect():
            if series.metric in found:
                found[series.metric][series.labels] = series.values
        return found

    def on_alert(self, tell: Callable[[Alert], None]) -> None:
        """Have somebody hear of the three alerts of the specification; `tell` has to be quick."""
        if not callable(tell):
            raise DialectError(
                f"`tell` is a `{type(tell).__name__}`: give a function that takes an `Alert`"
            )

        def heard(one: Occurrence) -> None:
            area, _, name = str(one.kind).partition(".")
            if area == "alert":
                tell(Alert(name, one.text, one.agent, one.about))

        self.shield.occurrences.subscribe(heard, each=True)

    def escalations(self) -> list[Escalation]:
        """What waits for somebody's judgement, bypass requests included."""
        return [self._escalation(one) for one in self.shield.tickets(state="open")]

    def escalation(self, of: str | BypassRequest) -> Escalation:
        """One of them, answered or not."""
        return self._escalation(self._found(of))

    def approve(self, of: str | BypassRequest, *, by: By, comment: str = "") -> Escalation:
        """Say yes: the same action goes ahead once when it is asked for again, unless the
        escalation is one that starts nothing (`Escalation.starts`), as one by `hooks.escalate`:
        then it says that somebody has looked."""
        return self._escalation(self.shield.approve(self._found(of).id, by=by, comment=comment))

    def deny(self, of: str | BypassRequest, *, by: By, comment: str) -> Escalation:
        """Say no, with the reason that the agent reads."""
        return self._escalation(self.shield.deny(self._found(of).id, by=by, comment=comment))

    def review(
        self, of: str | BypassRequest, *, by: By, comment: str, right: bool = True
    ) -> Escalation:
        """End the review of an emergency override, with what was found."""
        return self._escalation(
            self.shield.review(self._found(of).id, by=by, comment=comment, right=right)
        )

    def _found(self, of: str | BypassRequest) -> Ticket:
        """What is kept of an escalation; `DialectError` where there is none."""
        if not isinstance(of, str | BypassRequest):
            raise DialectError(
                f"`of` is a `{type(of).__name__}`: give the id of an escalation, or a "
                f"`BypassRequest`"
            )
        id_ = of if isinstance(of, str) else of.ticket
        try:
            return self.shield.ticket(id_)
        except UnknownTicket:
            raise DialectError(
                f"`{id_!s:.80}` is the id of no escalation, or of several: `escalations()` has "
                f"those that wait"
            ) from None

    def _escalation(self, ticket: Ticket) -> Escalation:
        until = ticket.expires_at if ticket.review is None else ticket.review.due_at
        return Escalation(
            id=ticket.id if ticket.bypass is None else ticket.bypass.id,
            guardrail_id=ticket.bypass.guardrail if ticket.bypass is not None else ticket.guard,
            agent_id=ticket.agent,
            task=ticket.task,
            action=ticket.tool,
            context=ticket.content,
            reason=ticket.message,
            state=str(ticket.state),
            priority_order=ticket.roles,
            escalation_target=turn(
                ticket, self.shield.authority.known(), self.shield.clock()
            ).roles,
            timeout=(until - ticket.opened_at) / 1000,
            bypass_request=None if ticket.bypass is None else request_of(ticket),
            starts=ticket.kind.starts,
        )

    def close(self) -> None:
        """Close the shield and what it keeps open."""
        self.shield.close()

    def __enter__(self) -> Guardrails:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def policy_for(
    source: str | Path | Mapping[str, Any] = PACK, **settings: Unpack[GuardrailSettings]
) -> dict[str, Any]:
    """The policy that `Guardrails.load` puts in force."""
    get = settings.get
    agents, work = read_all(Agent, get("agents"), "agent"), read_all(Task, get("tasks"), "task")
    more = a_mapping(get("policy"), "policy", "of sections to what they say")
    taken = next((key for key in OWN if key in more), None)
    if taken is not None:
        raise DialectError(f"`policy` says `{taken}`: {_INSTEAD[taken]}")
    responses = names_of(get("safety_responses", ()), "safety_responses", "tools")
    reactions = OnError() if (on_error := get("on_error")) is None else _on_error(on_error)
    if reactions.repeatable:
        more["tools"] = _repeatable(more.get("tools", {}), reactions.repeatable)
    if responses:
        more["bypass"] = {**more.get("bypass", {}), "safety_responses": responses}
    sandbox = settings.get("sandbox")
    wanted: dict[str, tuple[dict[str, Any], str]] = {}
    for option, guardrail, options in _changes(settings):
        wanted[guardrail] = ({**wanted.get(guardrail, _NONE)[0], **options}, option)
    autonomy = get("autonomy", True)
    if not isinstance(autonomy, bool):
        raise DialectError(f"`autonomy` is `{autonomy!r:.80}`: give `True` or `False`")
    base, guards = _base(source, wanted)
    return {
        **base,
        **more,
        **({} if autonomy else {"autonomy": False}),
        "agents": {name: one.entry() for name, one in agents.items()},
        "tasks": {name: one.entry(_base_folder(sandbox)) for name, one in work.items()},
        **({"guards": guards} if guards else {}),
    }


def _on_error(given: object) -> OnError:
    return read(OnError, given, "`on_error`")


def _repeatable(tools: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The tools of a policy, of which those may be repeated."""
    made = {name: dict(one) for name, one in tools.items()}
    for name in names:
        one = made.setdefault(name, {})
        one["annotations"] = [*one.get("annotations", ()), "idempotent"]
    return made


def _changes(settings: GuardrailSettings) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What the settings change of guardrails: the setting, the guardrail and its options."""
    sandbox, on_error = settings.get("sandbox"), settings.get("on_error")
    if sandbox is not None:
        # A folder of this host: links in it are followed, for one can lead out of it.
        yield "sandbox", SANDBOX, {"root": [_folder(sandbox)], "real_paths": True}
    if on_error is not None:
        yield "on_error", ON_ERROR, _on_error(on_error).options()
    if settings.get("agents"):
        yield "agents", PRE_HANDOFF, {"known": True}
    given = a_mapping(settings.get("changes"), "changes", "of guardrails to their options")
    for name, options in given.items():
        if name in BUILT_IN:
            built_in = "which is built in: only an emergency bypass sets it aside"
            raise DialectError(f"`changes` names `{name}`, {built_in}")
        yield "changes", name, a_mapping(options, f"changes.{name}", "of options to values")
    for name in names_of(settings.get("log_passes", ()), "log_passes", "guardrails"):
        yield "log_passes", name, {"log_pass": True}


_INSTEAD: Final = {
    "name": "leave it out, it is that of the guardrails",
    "extends": "give the guardrails as `source`",
    "agents": "give them as `agents`",
    "tasks": "give them as `tasks`",
    "guards": (
        "write them as guardrails, give your own as `guards`, or change options with `changes`"
    ),
    "autonomy": "give it as `autonomy`",
}


_NONE: Final[tuple[dict[str, Any], str]] = ({}, "")


def _base(
    source: str | Path | Mapping[str, Any], wanted: dict[str, tuple[dict[str, Any], str]]
) -> tuple[dict[str, Any], list[Any]]:
    """What the policy begins with, and the guards that it does not take from elsewhere as they
    are."""
    if isinstance(source, Mapping):
        made = _translated(dict(source))
        guards = made.pop("guards")
        _there(wanted, {each["id"] for each in guards})
        return made, [{**each, **wanted.get(each["id"], _NONE)[0]} for each in guards]
    if not isinstance(source, str | Path):
        raise DialectError(
            f"`source` is a `{type(source).__name__}`: give a file, a folder, or a mapping"
        )
    extends = str(source) if source == PACK else str(Path(source).absolute())
    _always_active(extends)
    if wanted:
        _there(wanted, {str(entry.id) for entry in load_policy(extends).file.guards})
    return {"name": Path(extends).stem, "extends": extends}, [
        {"id": name, **one} for name, (one, _) in wanted.items()
    ]


def _always_active(source: str) -> None:
    """Refuse a file without the built-in guardrails, as one that is empty or cut off. All that is
    written as guardrails has them, and so has a policy that extends such a file; what else is wrong
    is told when the policy is loaded."""
    reading = PolicyReading()
    found = extended(reading.first(source), reading.find)
    data = {} if found.faults else found.root.data()
    said = data if isinstance(data, dict) else {}
    guards = said.get("guards")
    ids = (
        {each.get("id") for each in guards if isinstance(each, dict)}
        if isinstance(guards, list)
        else set()
    )
    if found.faults or ids.issuperset(BUILT_IN):
        return
    meant = (
        "extend `agent-33`, or hand its shield to `Guardrails`" if "name" in said else _meant(said)
    )
    raise refusal(found.where(), f"there are no guardrails in it: {meant}")


def _meant(data: dict[str, Any]) -> str:
    """What to write instead of keys that are none of a guardrail file."""
    near = next((found for key in data if (found := nearest(str(key), KEYS)) is not None), None)
    return (
        "give keys such as `custom_guardrail` or `safety_guardrails`"
        if near is None
        else f"did you mean `{near}`?"
    )


def _there(wanted: dict[str, tuple[dict[str, Any], str]], ids: set[str]) -> None:
    """Whether the guardrails are there whose options are to be changed."""
    for name, (_, option) in wanted.items():
        if name not in ids:
            raise DialectError(
                f"`{option}` needs the guardrail `{name!s:.80}`: {hint(str(name), ids)}"
            )


def _translated(data: dict[str, Any]) -> dict[str, Any]:
    if "name" in data or not GUARDRAILS.recognises(data):
        raise DialectError(f"`source` has no guardrails: {_meant(data)}")
    made: dict[str, Any] = GUARDRAILS.translate(
        (read_data(data, "guardrails"),), "guardrails"
    ).root.data()
    return made


def _folder(given: object) -> str:
    if not isinstance(given, str | Path) or not Path(given).is_dir():
        raise DialectError(
            f"`sandbox` is `{given!s:.200}`, and there is no such folder: make it first, or name "
            f"another"
        )
    return str(Path(given).absolute())


def _base_folder(sandbox: str | Path | None) -> str:
    """Where relative patterns of tasks start: in the sandbox, else in the working directory."""
    try:
        return str(Path.cwd() if sandbox is None else Path(sandbox).absolute())
    except OSError:  # the folder is gone: only relative paths match
        return ""
