"""The sections of a policy file that are about people, about what a task may use, and about the
engine itself."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec

from stanchion.kernel.actions import RISK_NAMES
from stanchion.kernel.lookups import WAITS_MS
from stanchion.kernel.option import (
    AtLeastOne,
    Fewer,
    ForPeople,
    Higher,
    Lower,
    More,
    Off,
    On,
    Shorter,
)

Seconds = Annotated[float, msgspec.Meta(gt=0)]


QUORUM: Final = (1, None, *range(2, 65))
"""How many yes-answers a critical action takes, the fewest first; where nothing is said it is 1 or
2."""


STRENGTHS: Final = (None, "link", "chat", "key")
"""The weakest answer that counts, the one that takes most first."""


class FileSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a file as it is written: a key that it does not know is a mistake."""


class Escalation(FileSection, frozen=True):
    """Whom an escalated action waits for, first to last, and how long; without an answer it is
    refused."""

    roles: Shorter[tuple[str, ...]] = ("reviewer", "architect", "human_operator")
    """The roles that are asked, in this order."""
    timeout_s: Lower[Seconds] = 1800.0
    """The action is refused after this many seconds without an answer."""
    next_after_s: ForPeople[Seconds | None] = None
    """After this many seconds without an answer the next role is asked as well; if absent, a third
    of `timeout_s`."""
    quorum: Annotated[Annotated[int, msgspec.Meta(ge=1)] | None, QUORUM] = None
    """How many operators must say yes to a critical action, each with their own key; if absent, 2
    where at least two have one of the roles, otherwise 1."""
    wait_s: Lower[Annotated[float, msgspec.Meta(ge=0)]] = 0.0
    """How many seconds a call waits for the answer; afterwards it can be repeated and uses the
    answer it got."""
    tickets_for_a_run: Lower[Annotated[int, msgspec.Meta(ge=1)]] = 100
    """The most tickets that a run may open; beyond that nobody is asked and the action is refused.
    """
    tickets_a_minute: Lower[Annotated[int, msgspec.Meta(ge=1)]] = 30
    """The most tickets that an agent may open within a minute."""
    questions_for_a_task: Lower[Annotated[int, msgspec.Meta(ge=0)]] = 3
    """The most questions about values that a run and its children may put to people; beyond that
    the call is refused, with what the user asked for."""
    attended: Off[bool] = True
    """If `false`, nobody is there to answer: what would wait for a person is refused at once."""
    dialogs: Shorter[tuple[str, ...]] = ()
    """The hosts, by their names, with a person before them whose answer in the host's own dialog
    counts for one call; never for anything critical."""
    relayed: Shorter[tuple[Literal["link", "chat"], ...]] = ()
    """The ways of answering without a key that count also where operators have keys: by a link, or
    in a chat. Never for anything of high risk or critical."""
    at_least: Annotated[Literal["link", "chat", "key"] | None, STRENGTHS] = None
    """The weakest answer that counts: by a link, in a chat that says who it is, or with a key; if
    absent, whatever `relayed`, `dialogs` and the risk allow."""


class Bypassing(FileSection, frozen=True):
    """How long a request to go past a guard waits for each authority, and what an emergency may do
    without one."""

    timeout_s: Lower[Seconds] = 900.0
    """How many seconds each authority has to answer a request for a bypass."""
    emergency_s: Higher[Seconds] = 60.0
    """After this many seconds without an answer, an emergency request for a safety response goes
    ahead once."""
    review_s: Lower[Seconds] = 86400.0
    """How many seconds an operator has to review such an emergency; then an alert is sent."""
    safety_responses: Shorter[tuple[str, ...]] = ()
    """The tools that may stop harm in an emergency, by their exact names. They must not have the
    effect `irreversible` or `privilege`."""


class ApprovedEntry(FileSection, frozen=True, kw_only=True):
    """A call that nobody is asked about any more, for a time: people have said yes to it often."""

    tool: str
    """The tool that is called."""
    args: dict[str, Any] = {}
    """The arguments of the call, with exactly these values. A call with other arguments is not
    approved."""
    patterns: dict[str, str] = {}
    """Text arguments that may vary: `*` stands for a part of one word."""
    guards: tuple[str, ...]
    """The guards whose questions are answered. If another guard asks, a person is asked."""
    agents: tuple[str, ...]
    """The agents that may make the call, by their exact names."""
    tasks: tuple[str, ...] = ("",)
    """The tasks in which the call may be made, by their exact names; `''` stands for runs without a
    task."""
    until: str
    """The last day on which it holds, in UTC, such as `2027-01-31`."""
    why: str = ""
    """The reason, for people."""


class DoorRules(FileSection, frozen=True):
    """What may go through the door to the network of what runs inside walls, beside what guards
    say of it."""

    strict: On[bool] = False
    """If `true`, a host is reached only if a call that was judged before named it."""
    hidden_names: Annotated[Literal["refuse", "allow"] | None, ("allow", None, "refuse")] = None
    """What becomes of TLS that does not show which host it asks for; if absent, it is refused where
    a guard has `allowed_hosts`."""
    opaque: Shorter[tuple[str, ...]] = ()
    """Places, such as `git.example.com:22`, to which anything may be said; elsewhere TLS and HTTP
    alone."""
    most_names: Lower[AtLeastOne] = 512
    """How many different host names a run may ask for."""
    sent_bytes: Lower[AtLeastOne | None] = None
    """How many bytes a run may send; if absent, it is not limited."""
    received_bytes: Lower[AtLeastOne | None] = None
    """How many bytes a run may receive; if absent, it is not limited."""
    largest_body: Lower[AtLeastOne] = 1_048_576
    """How many bytes the body of a plain request may have: it is judged as a whole."""


class CredentialEntry(FileSection, frozen=True, kw_only=True):
    """A secret that programs inside walls use and never have: the door puts it into requests to one
    place. It comes from `env`, `file` or `command`."""

    url: Annotated[str, msgspec.Meta(pattern=r"^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[!$->@-~]*)?$")]
    """The one place that gets the secret, such as `https://api.example.com`; everything below its
    path."""
    env: str = ""
    """The variable of Stanchion's own environment that holds the secret."""
    file: str = ""
    """The file that holds the secret; `~` is the user's home."""
    command: tuple[str, ...] = ()
    """The command that prints the secret, such as `[keyring, get, SERVICE, USER]`."""
    form: Literal["bearer", "basic", "header", "query"] = "bearer"
    """How it is sent: after `Bearer` or as the password of `Basic`, as a header, or as a parameter
    of the URL."""
    named: str = ""
    """The header or the parameter; if empty, `Authorization` or `key`."""
    user: str = ""
    """The user name of `basic`."""
    token: str = ""
    """The variable inside that holds a placeholder for the secret; if empty, the one that `env`
    names."""
    base_url: str = ""
    """The variable inside that holds the local URL which stands for `url`."""
    clients: tuple[Literal["git", "npm", "pip"], ...] = ()
    """The programs inside that are told by their own settings to use the local URL."""


class OperatorEntry(FileSection, frozen=True):
    """Somebody who may do what an agent may not: their public key as OpenSSH writes it, what they
    may answer as, and the agents that work for them, whose requests somebody else answers."""

    key: str
    """The operator's public key, one line in OpenSSH format: `ssh-ed25519 AAAA…`."""
    roles: tuple[str, ...] = ("human_operator",)
    """The roles in which the operator may answer."""
    agents: tuple[str, ...] = ()
    """Agents that work for the operator; somebody else must answer their requests."""
    agent: Off[bool] = False
    """Whether the operator is an agent with a key of its own. It needs other `roles` than
    `human_operator`, says yes to one call at a time that is not critical, and never for itself or a
    run above or below its own."""


class Degrade(FileSection, frozen=True):
    """What a lesser request is: a cheaper model, fewer messages, a shorter reply, a slower pace."""

    models: dict[str, str] = {}
    """The cheaper model to use, by the model's name; `*` and `?` make a pattern. The most specific
    entry counts."""
    keep_messages: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Sends only this many of the newest messages, and all instructions; if absent, all messages.
    """
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Limits the reply to this many tokens; if absent, it is not limited."""
    pause_s: Seconds | None = None
    """Waits this many seconds before the request; if absent, it does not wait."""


class Experience(FileSection, frozen=True):
    """What is kept of the outcomes of calls, where and for how long; nothing unless a tier is
    named."""

    tier: Annotated[
        Literal["none", "session", "process", "persistent"],
        ("persistent", "process", "session", "none"),
    ] = "none"
    """Where outcomes are kept: `none` keeps nothing, `session` counts in the run, `process` in the
    memory of the process, `persistent` beside the store."""
    days: Lower[Annotated[int, msgspec.Meta(ge=1, le=36_500)]] = 90
    """`stanchion tools experience prune` removes incidents older than this many days."""
    rows: Lower[Annotated[int, msgspec.Meta(ge=1, lt=10**12)]] = 1_000_000
    """The most incidents that `stanchion tools experience prune` leaves."""


class Strikes(FileSection, frozen=True):
    """What findings with the effect `increment_strike` lead to, from a certain number on; each is
    forgotten in time."""

    per: Literal["run", "agent", "tenant"] = "run"
    """What the strikes of a guard are counted for."""
    decay_s: Higher[Annotated[float, msgspec.Meta(gt=0, le=10**8)]] = 86_400.0
    """A strike is forgotten after this many seconds."""
    escalate_at: Lower[Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None] = 3
    """From this number of strikes by one guard on, nothing begins until a person has said yes; if
    absent, nobody is asked."""
    quarantine_at: Lower[Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None] = 5
    """From this number of strikes by one guard on, the agent is isolated; if absent, it never is.
    """
    quarantine_s: Higher[Annotated[float, msgspec.Meta(gt=0, le=432_000)]] = 300.0
    """The agent is isolated for this many seconds."""


class Deep(FileSection, frozen=True):
    """How deep rules are asked: how long by the risk of a call, how many questions at once, and
    when not."""

    critical_wait_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = WAITS_MS["critical"]
    """How many milliseconds a call of critical risk waits for a deep rule; it is then refused."""
    high_wait_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = WAITS_MS["high"]
    """How many milliseconds a call of high risk waits; a person is then asked."""
    medium_wait_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = WAITS_MS["medium"]
    """How many milliseconds a call of medium risk waits; it then goes ahead."""
    low_wait_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = WAITS_MS["low"]
    """How many milliseconds a call of low risk waits; with 0 the rule is asked beside the call."""
    questions_for_a_run: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 32
    """How many questions of a run are open at a time; more count as late at once."""
    time_box_s: Seconds = 30.0
    """A rule without an answer after this many seconds is told to stop, and its answer is dropped.
    """
    rest_after: Annotated[int, msgspec.Meta(ge=1)] = 20
    """After this many failures or late answers in a row a rule is left alone for a while."""
    rest_s: Seconds = 30.0
    """How many seconds a rule is left alone; its answers count as late meanwhile."""
    answers_kept: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 4_096
    """How many answers of deep rules are kept; the oldest is forgotten first."""

    def waits(self) -> dict[str, int]:
        """How many milliseconds a call waits, by its risk."""
        return {risk: getattr(self, f"{risk}_wait_ms") for risk in WAITS_MS}


class Advice(FileSection, frozen=True):
    """In which style an agent is told what is known of its tools, and how many tokens that may take
    in a prompt."""

    style: Literal["concise", "expert", "friendly"] = "concise"
    """The words of advice: `concise` for small models, `expert` for large ones, `friendly` for
    agents that talk to users."""
    tokens: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 300
    """The most tokens that `run.awareness()` gives, unless it is called with a number of its own.
    """


class RiskEntry(FileSection, frozen=True):
    """What a risk level of a run means: which guards are active, by id or glob, whether their marks
    come earlier, and whether a person has to say yes to every action."""

    active: ForPeople[tuple[str, ...]] = ("*",)
    """The guards that are active at this level, by id or glob; guards with `always: true` are
    active at every level."""
    strict_marks: On[bool] = False
    """If `true`, the marks of guards, such as `warn_at`, come earlier at this level, as in the
    autonomy mode `strict`."""
    approval: On[bool] = False
    """If `true`, a person has to approve every tool call, request and handoff at this level. At
    `critical` that is always so."""


class RiskLevels(FileSection, frozen=True):
    """What the risk levels of runs mean; one that is absent changes nothing."""

    low: RiskEntry | None = None
    """Runs that can do little harm."""
    medium: RiskEntry | None = None
    """Runs that can do some harm."""
    high: RiskEntry | None = None
    """Runs that can do much harm."""
    critical: RiskEntry | None = None
    """Runs that can do the worst: a person has to approve every action."""

    def given(self) -> dict[str, RiskEntry]:
        """The levels of which something is said."""
        return {name: said for name in RISK_NAMES if (said := getattr(self, name)) is not None}


class AskEntry(FileSection, frozen=True):
    """When a person is asked before a tool runs, and who; without a limit it is every time."""

    above: Annotated[int, msgspec.Meta(ge=0)] | Annotated[float, msgspec.Meta(ge=0)] | None = None
    """The largest number that needs no person; if absent, every call does. A call without the
    number is asked about."""
    of: str = "event.args.amount"
    """The number that `above` is about, as in a condition."""
    by: tuple[str, ...] = ()
    """The roles that may answer, in this order; if empty, those of `escalation.roles`."""
    prompt: str = ""
    """The question for that person; if empty, the reason."""


class Bypass(FileSection, frozen=True):
    """Whether somebody may let an action past a guard, and in which role; it is always recorded."""

    allowed: bool = False
    """Whether somebody may let an action past the guard."""
    requires_approval: str = ""
    """The role whose yes it takes; one of `escalation.roles` or of the operators' roles."""
    audit_required: Literal[True] = True
    """Always `true`: a bypass is recorded."""


class TaskFiles(FileSection, frozen=True):
    """The files that a task is about, as globs."""

    write: Fewer[tuple[str, ...] | None] = None
    """The only files that may be written or deleted, as globs; `**` matches any number of folders.
    If absent, all files."""
    deny: More[tuple[str, ...]] = ()
    """Files that may never be used, as globs, whatever else allows them."""


class TaskBudget(FileSection, frozen=True):
    """What a task may use in all, whoever works on it."""

    tokens: Lower[Annotated[int, msgspec.Meta(ge=0, lt=10**15)] | None] = None
    """How many tokens the task may use; if absent, they are not limited."""
    time_s: Lower[Annotated[float, msgspec.Meta(ge=0.001, lt=10**9)] | None] = None
    """How many seconds the task may take from its first action; if absent, it is not limited."""
    api_calls: Lower[Annotated[int, msgspec.Meta(ge=0, lt=10**15)] | None] = None
    """How many external API calls the task may make; if absent, they are not limited."""
    cost_usd: Lower[Annotated[float, msgspec.Meta(ge=0, lt=10**9)] | None] = None
    """How many US dollars the task may cost; if absent, they are not limited."""
