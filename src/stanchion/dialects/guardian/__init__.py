"""GuardianLayer's words: checks of tool calls by five layers, each of them Stanchion's own.

What a guardian is told becomes a policy and a run of Stanchion; its state, experience and trail are
Stanchion's.
"""

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.calls import AdviceContext
from stanchion.dialects.guardian.facade import MCPFacade, ToolSchema
from stanchion.dialects.guardian.interfaces import (
    AsyncStorageProvider,
    CacheProvider,
    InMemoryCacheProvider,
    StorageProvider,
)
from stanchion.dialects.guardian.layer import GuardianLayer
from stanchion.dialects.guardian.layers import (
    AdviceGenerator,
    CircuitState,
    ExperienceLayer,
    HealthMonitor,
    LoopDetector,
    ToolHealth,
)
from stanchion.dialects.guardian.settings import AdviceStyle
from stanchion.dialects.guardian.storage import AsyncSQLiteStorageProvider, SQLiteStorageProvider

__all__ = [
    "AdviceContext",
    "AdviceGenerator",
    "AdviceStyle",
    "AsyncSQLiteStorageProvider",
    "AsyncStorageProvider",
    "CacheProvider",
    "CircuitState",
    "DialectError",
    "ExperienceLayer",
    "GuardianLayer",
    "HealthMonitor",
    "InMemoryCacheProvider",
    "LoopDetector",
    "MCPFacade",
    "SQLiteStorageProvider",
    "StorageProvider",
    "ToolHealth",
    "ToolSchema",
]
