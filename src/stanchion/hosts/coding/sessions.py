"""Sessions of coding agents: one run for each, kept between its hooks, and whose it is."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from msgspec.structs import asdict

from stanchion import typed
from stanchion.audit.journal import Fact
from stanchion.hosts.coding.agent import GO, BadHook, CodingAgent, Heard, HostAnswer
from stanchion.hosts.coding.session import CodingSession, HostAtWork
from stanchion.hosts.coding.speaker import NO_PROCESS, TICKS_S, Process, Speaker, is_alive
from stanchion.hosts.contract.host import Host, Hosted
from stanchion.hosts.contract.terms import Refusal
from stanchion.kernel.compare_and_set import LEFT
from stanchion.kernel.shown import brief
from stanchion.kernel.state import key
from stanchion.locks import Reentrant
from stanchion.runtime.asides import aside
from stanchion.runtime.driving.sync import change_now
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import project_of
from stanchion.runtime.standing.veil import tell

MOST: Final = 128
"""How many sessions are kept open; what the oldest have done stays in their stores."""
WARM: Final = 8
"""How many shields are kept open for the next session, because it takes a second to open one."""

FORGED: Final = "host.forged"
BEGAN: Final = "host.session"

Name = tuple[str, str, Process]
"""A session: the agent's name, what its host calls it, and the host's process."""


class CodingSessions:
    """What hooks of coding agents say, judged in one run for each session of a host's process. Safe
    between threads. `opened` gives a shield for the root of a project."""

    def __init__(self, opened: Callable[[str], Shield]) -> None:
        self._opened = opened
        self._lock = Reentrant()
        self._shields: dict[str, Shield] = {}
        self._sessions: OrderedDict[Name, CodingSession] = OrderedDict()
        self._hosts: dict[Process, HostAtWork] = {}
        self._began_s = time.clock_gettime(time.CLOCK_BOOTTIME)

    def hear(self, agent: CodingAgent, body: bytes, speaker: Speaker) -> HostAnswer:
        """Judge what a hook says and answer it in the host's words; never raises. What cannot be
        judged is refused."""
        event = ""
        try:
            heard = agent.read(body)
            event = heard.event
            if speaker.forged:
                self._alarm(agent, heard, speaker.why)
                raise BadHook(event, "this was not said by the host, and nothing of it is judged")
            session = self._session(agent, heard, speaker)
            if heard.says == "ends":
                with self._lock:
                    self._drop((agent.name, heard.session, session.process))
                return agent.words(heard, GO)
            return session.hear(heard, speaker)
        except BadHook as bad:
            return agent.refusal(bad.event if bad.event else event, _refused(bad.words))
        except Exception as error:  # noqa: BLE001 - a host goes on where its hook fails
            aside(f"`{event}` of {agent.name} could not be judged", error)
            why = f"judging it failed with `{type(error).__name__}`: `stanchion doctor` says more"
            return agent.refusal(event, _refused(why))

    def is_hosts(self, speaker: Speaker) -> bool:
        """Whether the words are a host's own: nobody between can be a command that an agent has
        started. What a host has done that began before this was told to nobody."""
        if speaker.begun_s is None or speaker.host is None:
            return speaker.host is not None
        with self._lock:
            host = self._hosts.get(speaker.host)
        if host is None and speaker.host.started / TICKS_S > self._began_s:
            host = HostAtWork()
        return host is not None and host.is_no_command(speaker.host, speaker.begun_s)

    def rest(self) -> None:
        """Let go of the runs of hosts that have ended, and of all shields without a run."""
        with self._lock:
            for name in [*self._sessions]:
                if name[2] != NO_PROCESS and not is_alive(name[2]):
                    self._drop(name)
            self._prune(spared=0)

    def close(self) -> None:
        """Let go of all runs and shields."""
        with self._lock:
            for name in list(self._sessions):
                self._drop(name)
            self._prune(spared=0)

    def _session(self, agent: CodingAgent, heard: Heard, speaker: Speaker) -> CodingSession:
        """The run in which something is judged; raises `BadHook` where another host's process
        speaks for a session than the one that it is bound to."""
        process = speaker.process
        name = (agent.name, heard.session, process)
        with self._lock:
            known = self._sessions.get(name)
            if known is not None:
                self._sessions.move_to_end(name)
                return known
            shield = self._shield(heard)
            is_known = speaker.host is not None and self._bind(agent, heard, speaker, shield)
            while len(self._sessions) >= MOST:  # one whose host is gone, or the quietest one
                names = [*self._sessions]
                self._drop(next((one for one in names if not is_alive(one[2])), names[0]))
            hosted = self._run(agent, heard, speaker, shield)
            host = self._hosts.setdefault(process, HostAtWork())
            if is_known:
                host.ended()
            session = self._sessions[name] = CodingSession(agent, hosted, process, host)
            why = speaker.why if speaker.why else "nobody knows whose process speaks"
            session.tell(BEGAN, f"{agent.name}:{heard.session}", why)
            return session

    def _run(self, agent: CodingAgent, heard: Heard, speaker: Speaker, shield: Shield) -> Hosted:
        """A run for a session: below that of the agent that has started this host."""
        terms = Host(
            agent.name, can=["warn", "redact", "retry", "escalate"], refused=_as_is, ended=_as_is
        )
        process = speaker.process
        name = f"{agent.name}/{heard.session}/{process.pid}-{process.started}"
        for above in speaker.above:
            for one in self._sessions.values():
                if one.process == above != NO_PROCESS:
                    return terms.on(one.hosted.run.spawn(agent.name, id=name, can=terms.can))
        return terms.run(shield, agent.name, id=name)

    def _bind(self, agent: CodingAgent, heard: Heard, speaker: Speaker, shield: Shield) -> bool:
        """Bind a session to the process of its host, and say whether it was bound to it before;
        raises `BadHook` where it belongs to another one that is alive."""
        assert speaker.host is not None
        own = speaker.host
        others = [
            process
            for by, session, process in self._sessions
            if (by, session) == (agent.name, heard.session) and process != NO_PROCESS
        ]

        def kept(value: Any, _now: int) -> Any:
            if speaker.above or (value is not None and is_alive(typed.convert(value, Process))):
                return LEFT  # what an agent has started takes no session from its user
            return asdict(own)

        tenant = shield.tenancy.of(None)
        where = key(tenant, "hosted", agent.name, heard.session)
        bound = change_now(shield, "hosted", tenant, where, kept)
        holder = own if bound.value is None else typed.convert(bound.value, Process)
        if others := [one for one in (*others, holder) if one != own and is_alive(one)]:
            self._alarm(agent, heard, f"process {own.pid} speaks for it: {speaker.why}")
            raise BadHook(
                heard.event,
                f"the session {brief(heard.session)} belongs to another process that is still at "
                f"work: end process {others[0].pid}, or begin a session of its own",
            )
        return bound.value is not None and holder == own and not bound.written

    def _shield(self, heard: Heard) -> Shield:
        """The shield of the project that a session is in."""
        folder = Path(heard.cwd)
        if not folder.is_dir():
            raise BadHook(
                heard.event, f"there is no folder {brief(heard.cwd)}: begin the session in one"
            )
        root = str(project_of(folder, Path(os.path.expanduser("~"))))
        shield = self._shields.get(root)
        if shield is None:
            shield = self._shields[root] = self._opened(root)
        return shield

    def _drop(self, name: Name) -> None:
        if session := self._sessions.pop(name, None):
            session.close()
        used = {process for _, _, process in self._sessions}
        for process in [*self._hosts]:  # whoever says that a session has ended may be a command
            if process not in used and not is_alive(process):
                del self._hosts[process]
        self._prune()

    def _prune(self, spared: int = WARM) -> None:
        """Close the shields that no session has, but the newest."""
        used = {id(session.shield) for session in self._sessions.values()}
        idle = [root for root, shield in self._shields.items() if id(shield) not in used]
        for root in idle[: max(len(idle) - spared, 0)]:
            self._shields.pop(root).close()

    def _alarm(self, agent: CodingAgent, heard: Heard, why: str) -> None:
        """Write down that somebody else has spoken for a session: in its own trail, or in that of
        the project that it names."""
        about, why = f"{agent.name}:{heard.session}", f"`{heard.event}`: {why}"
        with self._lock:
            for (by, session, _), one in self._sessions.items():
                if (by, session) == (agent.name, heard.session):
                    one.tell(FORGED, about, why)
                    return
            shield = self._shield(heard)
            try:
                tell(shield, Fact(shield.clock(), FORGED, about, shield.tenancy.of(None), why=why))
            finally:
                self._prune()


def _as_is(refusal: Refusal) -> Refusal:
    """The refusal itself: its words are made later, by what the event is."""
    return refusal


def _refused(why: str) -> str:
    return f"Stanchion refuses this: {why}"
