"""An agent behind a broker that wants a payment: nothing that it tries changes anything, and a
signed yes works."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.approvals.act import Answer
from stanchion.approvals.ticket import wish_of
from stanchion.kernel.autonomy import OPERATOR
from stanchion.runtime.shield import Shield
from stanchion.stores.memory import wall_ms
from stanchion.testing.operators import MemoryKey
from tests.ops.broker.brokers import AGENT_UID, BROKER_UID, Running, interpreter, python_as, running

pytestmark = pytest.mark.skipif(
    interpreter(AGENT_UID) is None,
    reason="only root can be other users, and they need an interpreter that they can run",
)

POLICY = """\
name: payments
tools: {{pay: {{risk: critical}}}}
operators: {{ann: {{key: {key}}}}}
guards:
  - {{use: tool_denylist, id: ask-first, tools: [pay], action: escalate}}
"""

ASKS = """
import os, subprocess, sys
from stanchion import Refused, Shield
def pay(amount):
    return f"paid {amount}"
def asked():
    with Shield.load("broker:" + sys.argv[1]).run("bot", "invoices") as run:
        try:
            return run.call(pay, amount=5)
        except Refused as refused:
            return "refused" if refused.decision.action.name in ("ESCALATE", "BLOCK") else repr(refused)
print(asked())
"""  # noqa: E501

TRIES = {
    "approve": "Shield.load('broker:' + sys.argv[1]).approve('a' * 12, by='ann')",
    "resume": "Shield.load('broker:' + sys.argv[1]).resume()",
    "enrol": "Shield.load('broker:' + sys.argv[1]).enrol('add', None, 'me')",
    "reload": "Shield.load('broker:' + sys.argv[1]).reload({'name': 'p'})",
    "state": "Shield.load('default', store=sys.argv[2] + '/state.db').approve('a' * 12, by='ann')",
    "noise": "Shield.load('broker:' + sys.argv[1]).answer(b'{}')",
    "unproven": "Shield.load('broker:' + sys.argv[1]).answer(sys.argv[3].encode())",
    "replace": "os.rename(sys.argv[2], sys.argv[2] + '.x')",
    "halt": "Shield.load('broker:' + sys.argv[1]).halt(scope='fleet')",
    "command": (
        "subprocess.run([sys.executable, '-m', 'stanchion', 'tickets', 'list'], check=True, "
        "capture_output=True, env={**os.environ, 'STANCHION_STATE_DIR': sys.argv[2]})"
    ),
    "environment": (
        "os.environ.update(STANCHION_STATE_DIR=sys.argv[2]) or Shield.load('default').resume()"
    ),
}
"""What it tries, one after the other; each has to fail, and so does the payment after it."""

TRY = """
try:
    {attempt}
    print("done")
except BaseException as error:
    print(type(error).__name__)
"""


class Scene:
    """A broker whose policy pins an operator, and what it has on its disk."""

    def __init__(self, broker: Running, key: MemoryKey) -> None:
        self.broker = broker
        self.key = key

    def asks(self, code: str = "", *more: str) -> str:
        """What the agent's program says, which asks for the payment after what it tries."""
        words = (
            "-c",
            ASKS.replace("print(asked())", code + "\nprint(asked())"),
            str(self.broker.socket),
        )
        program = python_as(AGENT_UID, *words, str(self.broker.state), *more)
        said, trouble = program.communicate()
        assert program.returncode == 0, trouble
        return said.strip()

    def shield(self) -> Shield:
        """A shield on the broker's state, as its own user could have one."""
        folder = self.broker.state
        return Shield.load(
            folder / "policy.yaml", store=str(folder / "state.db"), journal="memory:"
        )


@pytest.fixture
def scene() -> Iterator[Scene]:
    key = MemoryKey()
    with running("default", f"{AGENT_UID}", uid=BROKER_UID) as broker:
        broker.end()
        policy = broker.state / "policy.yaml"
        policy.write_text(POLICY.format(key=key.public.line), encoding="utf-8")
        os.chown(policy, BROKER_UID, BROKER_UID)
        broker._command[broker._command.index("default")] = str(policy)
        broker.start()
        yield Scene(broker, key)


def test_nothing_that_it_tries_lets_the_payment_happen_or_changes_anything(scene: Scene) -> None:
    assert scene.asks() == "refused"
    with scene.shield() as shield:
        (ticket,) = shield.tickets()
    act = wish_of(ticket).act("ann", OPERATOR, wall_ms() + 60_000, True, "")
    forged = json.dumps(json.loads(Answer(act=act, way="terminal").bytes))  # type: ignore[arg-type]
    code = "print(asked())".join(TRY.format(attempt=attempt) for attempt in TRIES.values())
    said = scene.asks(code, forged).splitlines()
    for name, tried, asked in zip(TRIES, said[::2], said[1::2], strict=True):
        assert tried != "done", name
        assert asked == "refused", name
    with scene.shield() as shield:
        (still,) = shield.tickets()
        assert (still.state, still.generation, still.answer) == ("open", 1, None)


def test_an_operators_signed_answer_can_be_carried_by_the_agent_itself(
    scene: Scene, tmp_path: Path
) -> None:
    assert scene.asks() == "refused"
    with scene.shield() as shield:
        (ticket,) = shield.tickets()
    act = wish_of(ticket).act("ann", OPERATOR, wall_ms() + 60_000, True, "")
    signature = scene.key.sign(act.message).hex()
    answer = Answer(act=act, way="key", key=scene.key.public.fingerprint, signature=signature)  # type: ignore[arg-type]
    carries = "Shield.load('broker:' + sys.argv[1]).answer(sys.argv[3].encode())"
    assert scene.asks(carries, answer.bytes.decode()) == "paid 5"
    assert scene.asks() == "refused", "it was for one call"
