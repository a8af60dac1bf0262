"""Describing runs: what a policy says of a run's agent and task becomes part of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from stanchion.kernel.events import RunInfo
from stanchion.kernel.names import names

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy


def described(info: RunInfo, policy: CompiledPolicy) -> RunInfo:
    """A run as a policy describes it: its agent's role and tools, its task's additional tools."""
    agent, task = policy.agent(info.agent), policy.task(info.task)
    role = info.role if info.role else agent.role
    shared = policy.role(role)
    allowed = shared.allowed_tools if agent.allowed_tools is None else agent.allowed_tools
    extra = info.additional_tools
    return msgspec.structs.replace(
        info,
        role=role,
        allowed_tools=None if allowed is None else names(allowed),
        capabilities=tuple(dict.fromkeys((*shared.capabilities, *agent.capabilities))),
        additional_tools=names((*extra.exact, *extra.globs, *task.additional_tools)),
    )
