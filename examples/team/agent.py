"""A team of agents on one budget: the lead carves parts of it for writers, who lock files and hand
their work over."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stanchion import Refused, Run, Shield

HERE = Path(__file__).parent


def model(messages: list[Any]) -> dict[str, Any]:
    """A model that costs something for each question, and says how much. Put your own in its
    place."""
    question = messages[-1]["content"]
    return {"content": f"a paragraph about {question}", "usage": {"cost_usd": PRICES[question]}}


PRICES = {"the harbour": 0.08, "the mayor": 0.12, "the mayor's dog": 0.12, "the dog's diet": 0.12}
"""What the model takes for its answers."""


def tools_in(folder: Path) -> tuple[Callable[..., str], Callable[..., str]]:
    """Tools that read and write files of one folder."""

    def read_file(path: str) -> str:
        return (folder / path).read_text(encoding="utf-8")

    def write_file(path: str, content: str) -> str:
        (folder / path).write_text(content, encoding="utf-8")
        return f"{path} is written"

    return read_file, write_file


def said(run: Run, what: str, act: Callable[[], Any]) -> bool:
    """Do something and show what becomes of it; says whether it went ahead."""
    try:
        result = act()
    except Refused as refused:
        decision = refused.decision
        print(
            f"  {run.agent:<10} {what}: {decision.action.name} {decision.code}: "
            f"{told(decision.message)}"
        )
        return False
    print(f"  {run.agent:<10} {what}: {result}")
    return True


def told(message: str) -> str:
    """A message without the time in it, which is another at every run of this example."""
    return message.partition(" until ")[0]


def ask(run: Run, question: str) -> bool:
    """Ask the model. A bound on the price is reserved before it is asked; what it really took is
    settled after."""

    def act() -> str:
        reply = run.model(
            model, [{"role": "user", "content": question}], cost_usd=0.12, ended="raise"
        )
        return f"{reply['content']}, for ${PRICES[question]:.2f}"

    return said(run, "asks", act)


def hand_over(run: Run, receiver: str, payload: dict[str, Any]) -> None:
    """Hand work over; what is accepted belongs to the receiver, locks included."""
    decision = run.handoff(receiver, payload, required_capabilities=["review"])
    if decision.proceeds:
        run.handoff_done(receiver, cost_usd=0)
        print(f"  {run.agent:<10} hands over to {receiver}: accepted")
    else:
        print(
            f"  {run.agent:<10} hands over to {receiver}: {decision.action.name} {decision.code}: "
            f"{decision.message}"
        )


def main() -> int:
    """Play a morning of the team, then verify what was recorded."""
    with tempfile.TemporaryDirectory(prefix="team-") as made:
        place = Path(made)
        desk = place / "desk"
        desk.mkdir()
        read_file, write_file = tools_in(desk)
        shield = Shield.load(
            HERE / "policy.yaml", store=str(place / "state.db"), journal=str(place / "trail")
        )
        with shield, shield.run(agent="lead", task="front-page") as lead:
            print("the lead has $1.00, and carves $0.30 out of it for each writer")
            ann = lead.spawn(agent="writer-ann", budget={"cost_usd": 0.30})
            bob = lead.spawn(agent="writer-bob", budget={"cost_usd": 0.30})
            said(
                lead,
                "carves $0.50 more",
                lambda: lead.spawn(agent="writer-cid", budget={"cost_usd": 0.50}),
            )

            print("\nann keeps to her part, bob does not")
            ask(ann, "the harbour")
            for subject in ("the mayor", "the mayor's dog", "the dog's diet"):
                ask(bob, subject)

            print("\nboth want the same file")
            said(
                ann,
                "writes",
                lambda: ann.call(write_file, path="front.md", content="The harbour is open again."),
            )
            said(
                bob,
                "writes",
                lambda: bob.call(write_file, path="front.md", content="The mayor has a dog."),
            )
            said(
                bob,
                "writes",
                lambda: bob.call(write_file, path="dog.md", content="The mayor has a dog."),
            )

            print("\nann hands her page over")
            page = {
                "context": {"page": 1},
                "artifacts": ["front.md"],
                "rationale": "it is written and wants a second look",
            }
            for receiver, payload in (
                ("printer", page),
                ("reviewer", {"reason": "look"}),
                ("reviewer", page),
            ):
                hand_over(ann, receiver, payload)
            ann.close()
            mayor = {"path": "front.md", "content": "The harbour is open again, says the mayor."}
            said(bob, "writes", lambda: bob.call(write_file, **mayor))
            with shield.run(agent="reviewer", task="front-page") as reviewer:
                said(reviewer, "reads", lambda: reviewer.call(read_file, path="front.md"))
            said(bob, "writes", lambda: bob.call(write_file, **mayor))
            bob.close()

            print("\nwhat the writers have not used is the lead's again")
            said(
                lead,
                "carves $0.50 once more",
                lambda: lead.spawn(agent="writer-cid", budget={"cost_usd": 0.50}).agent,
            )
        print("\nfront.md:", (desk / "front.md").read_text(encoding="utf-8"))
        return verified(place / "trail")


def verified(trail: Path) -> int:
    """Have the trail checked by the command that checks any trail, and print its last line; gives
    its exit status."""
    store = trail.with_name("state.db")
    command = [
        sys.executable,
        "-m",
        "stanchion",
        "audit",
        "verify",
        str(trail),
        "--store",
        str(store),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print("the trail is", (done.stdout or done.stderr).splitlines()[-1])
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
