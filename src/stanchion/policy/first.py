"""The first policy: what a few answers about an agent lead to, short enough to be read whole."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.tuples import NamedTuple


class FirstQuestion(NamedTuple):
    """What is asked, and the answers there are, the likeliest first, each with what it means."""

    option: str
    text: str
    answers: dict[str, str]


QUESTIONS: Final = (
    FirstQuestion(
        "job",
        "What does the agent do?",
        {
            "coding": "reads, writes and runs code",
            "support": "answers customers, and may give money back",
            "research": "searches, browses and reads",
            "analyst": "queries data and writes code about it",
            "other": "something else",
        },
    ),
    FirstQuestion(
        "workspace",
        "Where do its commands run?",
        {
            "machine": "on a machine with other things on it",
            "container": "in a container that is thrown away after the task",
            "nowhere": "it runs none: its tools act elsewhere",
        },
    ),
    FirstQuestion(
        "strangers",
        "Does it read what strangers wrote: pages, mails, issues?",
        {"yes": "so what it reads may give it orders", "no": "only you and your own tools"},
    ),
    FirstQuestion(
        "asks",
        "Who answers when it has to ask?",
        {
            "person": "somebody who sees the tickets (`stanchion tickets`)",
            "nobody": "what would be asked is refused at once",
        },
    ),
)
"""The four questions, in the order in which they are asked."""

ROOT: Final = """bash --args '{"command": "rm -rf /"}'"""
PACKS: Final = {
    "coding": ("coding-agent", "The folder is its work; keys and the rest are not.", ROOT),
    "container": ("container", "The container is its to change; what lies outside of it is not.",
                  """bash --args '{"command": "ssh web1 reboot"}'"""),
    "support": ("support", "Amounts below 100 are its decision; others, transfers and deletions "
                "wait.", """refund --args '{"order_id": "A1", "amount": 500}'"""),
    "research": ("research", "Reading is free; sending on what was read waits.",
                 """fetch_page --args '{"url": "http://169.254.169.254/"}'"""),
    "analyst": ("analyst", "Rows are read and not changed, and they do not leave by mail.",
                """run_sql --args '{"query": "DROP TABLE orders"}'"""),
    "other": ("default", "What protects almost everybody and disturbs almost nobody.", ROOT),
}  # fmt: skip
"""The pack for each job, why, and a call that it does not let go ahead."""
HEAD: Final = """\
# What your agent may do, and what becomes of everything else. Written by
#   {command}
# `stanchion policy show {file}` shows all that is in force,
# `stanchion init --all -` every guard with its options.
name: my-agent
version: 1

# {why}
extends: {pack}
"""
NOBODY: Final = """
# Nobody is there to answer: what would be asked is refused at once.
escalation: {attended: false}
"""
TOOLS: Final = """
# Your own tools: `risk` is how much harm one can do, `ask` has a person look at every call.
# A pack knows yours by their names only: name here what buys, pays, exports or sends.
# tools:
#   deploy: {risk: high, ask: true}
"""
GUARDS: Final = """
guards:
  # All runs of a task share its tokens; what does not fit is refused before it is spent.
  - use: budget
    tokens: 2000000
    reserve_tokens: 20000
    per: task

  # An hour from the first action on; what takes longer is looked at by a person first.
  - use: time_limit
    max_s: 3600
"""
FLOW: Final = """
  # What a text asks for that the user did not is stopped: a recipient, an amount, a command.
  - use: flow
"""
HOSTS: Final = """
  # The only hosts that it may reach; take the # away and name yours.
  # - use: egress
  #   allowed_hosts: [api.example.com]
"""


def pack_for(answers: dict[str, str]) -> tuple[str, str, str]:
    """The pack for these answers, why, and a call that it does not let go ahead."""
    job = answers["job"]
    return PACKS["container" if job == "coding" and answers["workspace"] == "container" else job]


def first_policy(answers: dict[str, str], file: str) -> str:
    """The policy for these answers, by the options of the questions."""
    pack, why, _ = pack_for(answers)
    command = " ".join(["stanchion init", *[f"--{name} {said}" for name, said in answers.items()]])
    flows = answers["strangers"] == "yes" and pack not in ("research", "support")
    return "".join(
        [
            HEAD.format(
                command=command, file="policy.yaml" if file == "-" else file, why=why, pack=pack
            ),
            NOBODY if answers["asks"] == "nobody" else "",
            TOOLS,
            GUARDS,
            FLOW if flows else "",
            HOSTS,
        ]
    )
