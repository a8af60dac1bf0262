"""Real programs work unmodified in a contained run, with whom the policy names and nobody else."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.runtime.contained.agents import CALLS
from tests.runtime.contained.found import ROOT
from tests.runtime.contained.programs import PROGRAMS, lacking
from tests.runtime.contained.test_hostile import unable

APART = ["unshare", "--net", "--mount", "--uts", "--ipc"]
ALL = "STANCHION_CONTAINED" in os.environ
QUICK = ("curl", "git")
"""Those that the gate tries; `make test-contained` tries all."""


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_works_with_whom_the_policy_names_alone(program: str) -> None:
    if program not in QUICK and not ALL:
        pytest.skip("`make test-contained` tries it")
    if why := unable() or lacking(program):
        pytest.skip(why)
    words = [*APART, sys.executable, "-m", "tests.runtime.contained.programs", program]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)
    _, named, other, said = json.loads(done.stdout.splitlines()[-1])
    assert (named, other) == (True, False), said


@pytest.mark.parametrize("agent", CALLS)
def test_a_coding_agent_works_with_its_model_alone(agent: str) -> None:
    programs = ROOT / ".venv-agents/bin"
    if not ALL:
        pytest.skip("`make test-contained` tries it")
    if why := unable():
        pytest.skip(why)
    words = [*APART, sys.executable, "-m", "tests.runtime.contained.agents", agent, str(programs)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)
    status, made, results, said = json.loads(done.stdout.splitlines()[-1])
    assert status == 0, said
    assert made["made.txt"] == "made\n", said
    assert made["code.txt"] == "403", said
    assert len(results) == 1
