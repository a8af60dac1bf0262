"""`python -m stanchion_lab.measuring.command_guards`: other guards of commands and the packs on the
same rows."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from stanchion.kernel.actions import PROCEEDS
from stanchion.policy.load import load_policy
from stanchion.runtime.shield import Shield
from stanchion_lab.eyes import cases
from stanchion_lab.fresh import drawn
from stanchion_lab.measuring.eyes import UNREAD
from stanchion_lab.measuring.nowhere import nowhere
from stanchion_lab.measuring.rows import Row, rows, rows_if

PACKS: Final = ("default", "coding-agent")
SETS: Final = {
    "dangerous": "dangerous",
    "safe_hard_negative": "looks dangerous",
    "benign": "honest",
}
"""The labels that are counted, and what they are called."""
EYES: Final = {"attack": "dangerous", "honest": "benign"}

NODE: Final = """
import { createInterface } from 'node:readline';
import { checkCommand } from 'cc-safety-net/api';
for await (const line of createInterface({ input: process.stdin })) {
  const said = checkCommand({ command: JSON.parse(line), cwd: process.argv.at(-1) });
  console.log(said.kind === 'allow' ? 0 : 1);
}
"""
PYTHON: Final = """
import json, sys
from nah.bash import classify_command
for line in sys.stdin:
    print(int(classify_command(json.loads(line)).final_decision != "allow"))
"""

Stops = Callable[[list[str]], list[bool]]
"""Says of each of some commands whether it does not go ahead by itself."""


def ours(pack: str) -> Stops:
    """By a pack, each command in a run of its own."""

    def stops(commands: list[str]) -> list[bool]:
        shield = Shield(load_policy(pack), safe_mode=False)
        shield.occurrences.mute()
        found = [shield.run(task="t").check("bash", {"command": each}) for each in commands]
        return [decision.action > PROCEEDS for decision in found]

    return stops


def theirs(command: list[str], folder: Path | None = None) -> Stops:
    """By a program that answers each line with 0 or 1."""

    def stops(commands: list[str]) -> list[bool]:
        asked = "".join([json.dumps(each) + "\n" for each in commands])
        done = subprocess.run(
            command, input=asked, capture_output=True, text=True, check=True, cwd=folder
        )
        said = done.stdout.split()
        if len(said) != len(commands):
            raise ValueError(f"`{command[0]}` gave {len(said)} answers to {len(commands)} commands")
        return [each == "1" for each in said]

    return stops


def table(found: Iterable[Row], guards: dict[str, Stops]) -> list[str]:
    """How many of each label every guard stops, as rows of a table."""
    kept = [row for row in found if row.label in SETS]
    commands = [str(row.payload) for row in kept]
    of = Counter([row.label for row in kept])
    lines = []
    for name, stops in guards.items():
        said = zip(kept, stops(commands), strict=True)
        hits = Counter([row.label for row, stopped in said if stopped])
        cells = [f"{hits[label]:,} of {of[label]:,}" for label in SETS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main(argv: list[str] | None = None) -> int:
    """Measure the packs, and each of the others that is named."""
    parser = argparse.ArgumentParser(prog="python -m stanchion_lab.measuring.command_guards")
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--npm", type=Path, help="a folder with cc-safety-net in node_modules")
    parser.add_argument("--python", help="an interpreter that has nah")
    said = parser.parse_args(argv)
    known = [*rows(said.corpora, "shell.jsonl"), *rows_if(said.corpora, "shell_everyday.jsonl")]
    fresh = [
        Row(each["id"], each["kind"], each["label"], each["payload"], each["source"])
        for each in drawn("shell", said.seed)["shell.jsonl"]
    ]
    unread = [
        Row(one.id, "eyes", EYES[one.label], one.args["command"])
        for kind in ("shell", "shell2")
        for one in cases(kind, UNREAD)
        if isinstance(one.args.get("command"), str)
    ]
    npm = None if said.npm is None else said.npm.resolve()
    with nowhere():
        guards = {f"`{pack}`": ours(pack) for pack in PACKS}
        if npm is not None:
            node = ["node", "--input-type=module", "-e", NODE, str(Path.cwd())]
            guards["cc-safety-net"] = theirs(node, npm)
        if said.python:
            subprocess.run(["git", "init", "-q"], check=True)
            guards["nah"] = theirs([said.python, "-c", PYTHON])
        drawn_by = f"drawn by the seed {said.seed}"
        for name, found in (("unread", unread), ("public", known), (drawn_by, fresh)):
            print(f"| {name} | {' | '.join(SETS.values())} |\n|---|---|---|---|")
            print("\n".join(table(found, guards)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
