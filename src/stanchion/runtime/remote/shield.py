"""A shield that is somewhere else: `Shield.load("broker:/run/stanchion/broker.sock")`."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from typing import Any, Unpack

from stanchion.kernel.chain import EVERY_ACTION
from stanchion.runtime.calling.tool import Tool, Toolbox
from stanchion.runtime.calling.tool_options import Shielding
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.errors import Refused, no_run
from stanchion.runtime.keywords import RunOptions, check_run_options, spelled
from stanchion.runtime.options import known
from stanchion.runtime.remote.broker_link import BadFrame, BrokerLink, conversed
from stanchion.runtime.remote.errors import BrokerLost, NotThroughBroker, misfit, unjudged
from stanchion.runtime.remote.messages import Answer, Began, Begin, Done, Tighten
from stanchion.runtime.remote.run import RemoteRun, begin_fields, open_remote_runs
from stanchion.runtime.standing.places import BROKER
from stanchion.telemetry.loggers import POLICY, WARNING, say


@spelled
class RemoteShield(Shielding):
    """Has a broker judge what agents do: it holds policy, state and trail, and an agent cannot
    reach them.

    It works like a shield in this process as far as an agent's program needs one. What only an
    operator may do is not here.
    """

    def __init__(self, path: str) -> None:
        if not os.path.isabs(path):
            raise ValueError(
                f"`{BROKER}{path}` does not name a broker: write "
                f"`{BROKER}/absolute/path/of/its.sock`"
            )
        self.link = BrokerLink(path)
        try:
            self.link.back(self.link.wire())
        except BrokerLost as lost:
            raise type(lost)(f"the broker at `{path}` cannot be used: {lost}") from None
        self._prefix, self._count = os.urandom(8).hex(), itertools.count(1)
        self._toolbox = Toolbox()
        self.tool_of = self._toolbox.tool_of

    def new_id(self) -> str:
        """An id that no other request has."""
        return f"{self._prefix}.{os.getpid()}.{next(self._count)}"

    def run(
        self,
        agent: str = "",
        task: str = "",
        *,
        labels: Mapping[str, str] | None = None,
        parent: RemoteRun | None = None,
        **options: Unpack[RunOptions],
    ) -> RemoteRun:
        """Begin a run. The broker gives it its `id` and its `tenant`: `NotThroughBroker` where one
        is named, and `may` only narrows what its policy lets the task do. Raises `Refused` where
        the broker cannot be asked."""
        check_run_options(RemoteShield.run, options)
        if parent is not None:
            return parent.spawn(agent, task, **options)
        own, about = begin_fields(agent, task, options)
        named = None if labels is None else dict(labels)
        reply, boot = self._asked(Begin(self.new_id(), **about, labels=named))
        if not isinstance(reply, Began):
            raise misfit(reply)
        return RemoteRun(self, reply, boot, EVERY_ACTION if own is None else own)

    def _run_for(self, tool: Tool) -> RemoteRun:
        for run in reversed(open_remote_runs()):
            if run.shield is self:
                return run
        raise no_run(tool.name, beside=bool(open_remote_runs()))

    def halt(self, why: str = "", scope: str = "") -> None:
        """Stop everything of one's tenant, or of a `scope` in it; only an operator lets it go
        on."""
        self._tighten("halt", scope, why)

    def quarantine(self, scope: str, for_s: float = 300.0, why: str = "") -> None:
        """Isolate a tool, an agent or a run for a time; others go on."""
        self._tighten("quarantine", scope, why, for_s)

    def safe_mode(self, on: bool, why: str = "", scope: str = "") -> None:
        """Switch safe mode on; switching it off is an operator's."""
        if not on:
            raise NotThroughBroker(
                "only an operator can switch safe mode off, where the broker runs"
            )
        self._tighten("safe_mode", scope, why)

    def answer(self, data: bytes) -> None:
        """Carry an operator's signed answer to the broker, which looks at the signature itself."""
        self._done(Answer(self.new_id(), data))

    def _tighten(self, what: str, scope: str, why: str, for_s: float = 300.0) -> None:
        self._done(Tighten(self.new_id(), what, scope, why, for_s))

    def _done(self, request: Any) -> None:
        reply, _ = self._asked(request)
        if not isinstance(reply, Done):
            raise misfit(reply)

    def _asked(self, request: Any) -> tuple[Any, str]:
        def talk(conversation: Any) -> Flow[tuple[Any, str]]:
            reply = yield from conversation.ask(request)
            return reply, conversation.wire.boot

        world: Any = None
        try:
            return drive(conversed(self.link, talk), world)
        except (BrokerLost, BadFrame) as lost:
            refusal = unjudged(lost)
        raise Refused(refusal) from None

    def __getattr__(self, name: str) -> Any:
        raise NotThroughBroker(
            f"there is no `shield.{name}` through a broker: an operator does it where the broker "
            f"runs"
        )

    def close(self) -> None:
        """Hang up: runs that are still open end."""
        self.link.close()

    def __enter__(self) -> RemoteShield:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def through_broker(path: str, source: Any, options: Mapping[str, Any]) -> Any:
    """The shield at a broker; `NotThroughBroker` for an option that is the broker's to choose, a
    word in the log where a policy was named: the broker has its own."""
    known(options, "env", "journal", "project")
    for name, given in options.items():
        if given is not None:
            raise NotThroughBroker(
                f"`{name}` is chosen by the broker: leave it out, or use a store of your own"
            )
    if source != "default" and not str(source).startswith(BROKER):
        named = source if isinstance(source, str) else "that was handed in"
        say(
            POLICY,
            WARNING,
            f"the policy `{named}` is not in force: the broker at `{path}` uses its own",
        )
    return RemoteShield(path)
