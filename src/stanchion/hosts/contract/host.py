"""Hosts: each is a set of terms on which runs are hosted."""

from __future__ import annotations

from typing import Any

from stanchion.hosts.contract.hosted import Hosted
from stanchion.hosts.contract.terms import Terms


class Host(Terms, frozen=True):
    """A framework, a client or a loop of your own, as Stanchion sees it.

    `can` names the actions that it can carry out, at every stage that it reports. What it cannot
    becomes the next stricter thing that it can, so a host that names nothing lets things go ahead
    or refuses them. Its words:

    - `refused` makes its answer from a refusal: returns a message or a response of its own, or
      raises;
    - `retried` does so where the agent is to try again; without it that is `refused`;
    - `ended` does so where the whole run is over; unless it says otherwise that is raised, so that
      its loop ends;
    - `shown` picks from a tool's result what is judged, `changed` puts what was changed back into
      the result;
    - `failed` says whether a tool's result reports a failure in a way of the host's own; it is
      judged as an error then.
      The marks of MCP, JSON-RPC and HTTP are known;
    - `guided` makes a message of guidance for a model.

    `pause` says what it does with a call that waits for a person, `stream` what it streams of a
    reply. The behaviour suite (`stanchion.testing.host_suite`) holds it to both.
    """

    def run(self, shield: Any, agent: str = "", task: str = "", **options: Any) -> Hosted:
        """Begin a run on this host; the options are those of `shield.run`. Use it as a context
        manager, or close it."""
        return self.on(shield.run(agent, task, can=self.can, **options))

    def on(self, run: Any) -> Hosted:
        """Work for a run that has begun; raises `ValueError` where it may be decided what this host
        cannot do."""
        return Hosted(self, run)
