"""The first law made the way it was published: from a folder, a file of rules and somebody who
writes rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import yaml

from stanchion.kernel.regex import regex
from stanchion.runtime.sandbox.sandbox import Sandbox
from stanchion.tutor.graph import Observation, Truth
from stanchion.tutor.law.v1 import Author, TutorV1
from stanchion.tutor.playing.games import load_rules
from stanchion.tutor.playing.runners import ShellExecutor
from stanchion.tutor.rules.rule import RuleError, TextRule, read_rule

_FENCED: Final = regex(r"```(?:ya?ml)?\s*\n(.*?)```", re.DOTALL)

Writes = Callable[[str], str]
"""Answers a prompt with the YAML of one rule."""


def make_tutor(
    game_id: str,
    sandbox_root: str | Path = ".",
    rules_path: str | Path | None = None,
    fat_llm_callback: Writes | None = None,
    *,
    sandbox: Sandbox | None = None,
) -> TutorV1:
    """The published law over a folder. Its commands run in a shell behind walls; close
    `tutor.executor` after the game. Without `rules_path` it has the rules about shell commands.
    Raises `GameError` for rules that are wrong.

    Whoever is root gives a `sandbox` that has commands run as somebody else.
    """
    author = None if fat_llm_callback is None else author_of(fat_llm_callback)
    return TutorV1(
        game_id, ShellExecutor(sandbox_root, sandbox=sandbox), load_rules(rules_path), author, now
    )


def author_of(writes: Writes) -> Author:
    """Who writes rules, from somebody who answers prompts."""

    def author(prompt: str, _claim: Truth, _seen: Observation) -> TextRule:
        said = writes(prompt)
        fenced = _FENCED.search(said)
        try:
            data = yaml.safe_load(fenced[1] if fenced else said)
        except yaml.YAMLError as error:
            raise RuleError(f"the rule is no YAML: {' '.join(str(error).split())}") from None
        return read_rule(data, "the rule")

    return author


def now() -> str:
    """When something happened, as the published law writes it: local, without a zone."""
    return datetime.now().isoformat()  # noqa: DTZ005 - that is how it was published
