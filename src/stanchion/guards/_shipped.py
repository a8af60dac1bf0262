"""The shipped guards, by the name a policy uses them under."""

from __future__ import annotations

from typing import Any, Final

from stanchion.guards.authority import Authority
from stanchion.guards.breaker import Breaker
from stanchion.guards.budget import Budget
from stanchion.guards.canary import Canary
from stanchion.guards.capabilities import Capabilities
from stanchion.guards.clamp import Clamp
from stanchion.guards.egress import EgressGuard
from stanchion.guards.error_rate import ErrorRate
from stanchion.guards.evidence import Evidence
from stanchion.guards.files import Files
from stanchion.guards.flow import Flow
from stanchion.guards.health import Health
from stanchion.guards.injection import Injection
from stanchion.guards.loops import Loops
from stanchion.guards.output import Output
from stanchion.guards.pii import Pii
from stanchion.guards.presidio import Presidio
from stanchion.guards.python import PythonGuard
from stanchion.guards.queue import Queue
from stanchion.guards.recovery import Recovery
from stanchion.guards.safe_mode import SafeMode
from stanchion.guards.schema import Schema
from stanchion.guards.secrets import Secrets
from stanchion.guards.shell import Shell
from stanchion.guards.size_limits import SizeLimits
from stanchion.guards.sql import Sql
from stanchion.guards.step_limit import StepLimit
from stanchion.guards.task_scope import TaskScope
from stanchion.guards.time_limit import TimeLimit
from stanchion.guards.tool_allowlist import ToolAllowlist
from stanchion.guards.tool_denylist import ToolDenylist

SHIPPED: Final[dict[str, type[Any]]] = {
    guard.name: guard
    for guard in (
        SafeMode,
        ToolAllowlist,
        ToolDenylist,
        StepLimit,
        Budget,
        TimeLimit,
        ErrorRate,
        Queue,
        Breaker,
        Health,
        Loops,
        Recovery,
        SizeLimits,
        Schema,
        Shell,
        Sql,
        Files,
        Canary,
        Secrets,
        Injection,
        EgressGuard,
        Flow,
        Pii,
        Presidio,
        Capabilities,
        Authority,
        TaskScope,
        Output,
        Evidence,
        Clamp,
        PythonGuard,
    )
}
