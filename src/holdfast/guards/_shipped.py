"""The shipped guards, by the name a policy uses them under."""

from __future__ import annotations

from typing import Any, Final

from holdfast.guards.authority import Authority
from holdfast.guards.breaker import Breaker
from holdfast.guards.budget import Budget
from holdfast.guards.canary import Canary
from holdfast.guards.capabilities import Capabilities
from holdfast.guards.clamp import Clamp
from holdfast.guards.egress import EgressGuard
from holdfast.guards.error_rate import ErrorRate
from holdfast.guards.evidence import Evidence
from holdfast.guards.files import Files
from holdfast.guards.flow import Flow
from holdfast.guards.health import Health
from holdfast.guards.injection import Injection
from holdfast.guards.loops import Loops
from holdfast.guards.output import Output
from holdfast.guards.pii import Pii
from holdfast.guards.presidio import Presidio
from holdfast.guards.python import PythonGuard
from holdfast.guards.queue import Queue
from holdfast.guards.recovery import Recovery
from holdfast.guards.safe_mode import SafeMode
from holdfast.guards.schema import Schema
from holdfast.guards.secrets import Secrets
from holdfast.guards.shell import Shell
from holdfast.guards.size_limits import SizeLimits
from holdfast.guards.sql import Sql
from holdfast.guards.step_limit import StepLimit
from holdfast.guards.task_scope import TaskScope
from holdfast.guards.time_limit import TimeLimit
from holdfast.guards.tool_allowlist import ToolAllowlist
from holdfast.guards.tool_denylist import ToolDenylist

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
