"""The canaries of all adapters: which module a framework is known by, and what has it call the
canary.

A new adapter adds its line here, and has its canary in itself. Nothing is imported before its
canary is driven.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pkgutil import iter_modules
from typing import Final

from stanchion.hosts.contract.canary import Came, Canary, drive_canary
from stanchion.kernel.tuples import NamedTuple


class CanaryEntry(NamedTuple):
    """An adapter: the module that is loaded where its framework is, the package that it comes in,
    and where its canary is."""

    framework: str
    package: str
    home: str
    name: str = "canary"


CANARIES: Final = {
    "httpx": CanaryEntry("httpx", "httpx", "stanchion.hosts.http.canaries", "httpx_client"),
    "httpx-async": CanaryEntry(
        "httpx", "httpx", "stanchion.hosts.http.canaries", "async_httpx_client"
    ),
    "requests": CanaryEntry(
        "requests", "requests", "stanchion.hosts.http.canaries", "requests_session"
    ),
    "aiohttp": CanaryEntry(
        "aiohttp", "aiohttp", "stanchion.hosts.http.canaries", "aiohttp_session"
    ),
    "langchain": CanaryEntry("langchain", "langchain", "stanchion.hosts.langchain"),
    "pydantic-ai": CanaryEntry("pydantic_ai", "pydantic-ai-slim", "stanchion.hosts.pydantic_ai"),
    "openai-agents": CanaryEntry(
        "agents.run_state", "openai-agents", "stanchion.hosts.openai_agents"
    ),
    "google-adk": CanaryEntry("google.adk", "google-adk", "stanchion.hosts.google_adk"),
    "strands": CanaryEntry("strands.agent", "strands-agents", "stanchion.hosts.strands"),
    "agent-framework": CanaryEntry(
        "agent_framework", "agent-framework-core", "stanchion.hosts.agent_framework"
    ),
    "agno": CanaryEntry("agno.agent", "agno", "stanchion.hosts.agno"),
    "crewai": CanaryEntry("crewai", "crewai", "stanchion.hosts.crewai"),
    "llama-index": CanaryEntry(
        "llama_index.core", "llama-index-core", "stanchion.hosts.llama_index"
    ),
    "smolagents": CanaryEntry("smolagents", "smolagents", "stanchion.hosts.smolagents"),
    "claude-agent-sdk": CanaryEntry(
        "claude_agent_sdk", "claude-agent-sdk", "stanchion.hosts.claude_agent_sdk"
    ),
    "openai": CanaryEntry("openai", "openai", "stanchion.hosts.openai"),
    "openai-async": CanaryEntry("openai", "openai", "stanchion.hosts.openai", "async_canary"),
    "anthropic": CanaryEntry("anthropic", "anthropic", "stanchion.hosts.anthropic"),
    "anthropic-async": CanaryEntry(
        "anthropic", "anthropic", "stanchion.hosts.anthropic", "async_canary"
    ),
    "litellm": CanaryEntry("litellm", "litellm", "stanchion.hosts.litellm"),
    "litellm-async": CanaryEntry("litellm", "litellm", "stanchion.hosts.litellm", "async_canary"),
    "mcp": CanaryEntry("stanchion.hosts.mcp.proxy", "mcp", "stanchion.hosts.mcp.canary"),
}
"""Every adapter and its canary. Where a program may have a module of the framework's name, a module
of its own within the framework tells them apart; the MCP proxy is tried where it runs, and not
wherever its library is loaded."""

WITHOUT: Final = {
    "coding": "`stanchion doctor` has the real hosts make the calls, in folders of their own",
    "foreign_file": "it is a part of what `install` and `mcp wrap` write, and judges nothing",
    "json_text": "it is a part of what `install` and `mcp wrap` write, and judges nothing",
    "clients": (
        "it is what the adapters of `openai`, `anthropic` and `litellm` are made of, which "
        "have canaries"
    ),
    "pydantic_ai_calls": "it is a part of the adapter of `pydantic_ai`, which has a canary",
    "langchain_models": "it is a part of the adapter of `langchain`, which has a canary",
    "langchain_seals": "it is a part of the adapter of `langchain`, which has a canary",
    "crewai_copies": "it is a part of the adapter of `crewai`, which has a canary",
    "crewai_tools": "it is a part of the adapter of `crewai`, which has a canary",
    "llama_index_replies": "it is a part of the adapter of `llama_index`, which has a canary",
    "agent_hooks": (
        "it is asked by hosts in other processes and languages, which only they can drive"
    ),
}
"""The adapters that have no canary, and why. A test has every adapter stand here or there."""


def loaded() -> frozenset[str]:
    """The adapters whose framework is loaded in this process."""
    return frozenset([name for name, one in CANARIES.items() if one.framework in sys.modules])


def installed() -> tuple[str, ...]:
    """The adapters whose framework is installed."""
    return tuple([name for name, one in CANARIES.items() if _version(one.package)])


def driven(name: str) -> Came:
    """What comes of an adapter's canary. It is driven once in a process: its framework does not
    change there."""
    return _driven(CANARIES[name])


@cache
def _driven(one: CanaryEntry) -> Came:
    """The same; an adapter that cannot even be loaded is not caught."""
    try:
        canary: Canary = getattr(import_module(one.home), one.name)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a framework, its adapter does not hold
        return Came(
            False,
            f"its adapter cannot be loaded: `{type(error).__name__}: {error}`",
            _version(one.package),
        )
    return drive_canary(canary)._replace(version=_version(one.package))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


_OTHERS: Final = ("canaries", "contract", "versions")
"""What stands beside the adapters, and is none."""


def unproven() -> tuple[str, ...]:
    """The adapters that have no canary, by the modules that there are: none is left out because
    nobody listed it."""
    there = {one.name for one in iter_modules([os.path.dirname(__file__)])}
    homes = {part for one in CANARIES.values() for part in one.home.split(".")[2:3]}
    return tuple(sorted(there - {*homes, *CANARIES, *_OTHERS}))
