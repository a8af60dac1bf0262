"""The `agentdojo` package, loaded when it is needed: it takes seconds, and is an extra."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import Any, Final

import yaml

VERSION: Final = "v1.2.2"
"""The version of the benchmark that is measured."""

MODEL: Final = "gpt-4o-2024-05-13"
"""The model that attacks address by name; nothing asks it."""


class NoAgentDojo(Exception):
    """AgentDojo is not installed; the text says how to install it."""


class Package:
    """What is used of AgentDojo."""

    def __init__(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loading: Any = import_module("agentdojo.task_suite.load_suites")
                tasks: Any = import_module("agentdojo.task_suite.task_suite")
                running: Any = import_module("agentdojo.functions_runtime")
                showing: Any = import_module("agentdojo.agent_pipeline.tool_execution")
                piping: Any = import_module("agentdojo.agent_pipeline.base_pipeline_element")
                attacks: Any = import_module("agentdojo.attacks.attack_registry")
        except ImportError as error:
            why = f"`agentdojo` cannot be loaded: {str(error).lower()}"
            raise NoAgentDojo(f"{why}; install the extra `agentdojo` of `stanchion-lab`") from None
        self.suites: dict[str, Any] = loading.get_suites(VERSION)
        self.attacks: dict[str, Any] = attacks.ATTACKS
        self.read_file: Any = tasks.read_suite_file
        self.runtime: Any = running.FunctionsRuntime
        self.call: Any = running.FunctionCall
        self.pipeline: Any = piping.BasePipelineElement
        self._text: Any = showing.tool_result_to_str

    def text(self, result: Any) -> str:
        """A tool's result as an agent reads it."""
        return str(self._text(result, _dump))


def _dump(data: Any) -> str:
    """YAML as AgentDojo writes it."""
    return str(yaml.dump(data, Dumper=_dumper()))


@cache
def _dumper() -> Any:
    """The fast writer, where there is one; words of an enumeration are written as words, as
    AgentDojo has it."""
    fast: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    dumper: Any = type("Dumper", (fast,), {})
    dumper.add_multi_representer(
        str, lambda writer, value: writer.represent_str(str.__str__(value))
    )
    return dumper


@cache
def agentdojo() -> Package:
    """The package, loaded once; raises `NoAgentDojo` where it is not installed."""
    return Package()
