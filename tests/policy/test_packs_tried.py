"""What a stranger tries on an agent of each pack comes out as the page of packs says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from stanchion import Shield
from stanchion.kernel.actions import Action

HERE: Final = Path(__file__).parent
TRIED: Final = msgspec.yaml.decode((HERE / "tried_calls.yaml").read_bytes())
PAGE: Final = (HERE.parents[1] / "docs/reference/packs.md").read_text("utf-8")
OTHERS: Final = msgspec.json.decode(
    b"[" + b",".join((HERE / "tried_by_others.jsonl").read_bytes().splitlines()) + b"]"
)
TOKEN: Final = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW3xY5"


def disturbed(pack: str, kind: str) -> int:
    """How many calls of a kind do not go ahead by themselves as they are, each in a run of its
    own."""
    tried, found = TRIED[pack], 0
    with Shield.load(pack, store="memory:", journal="memory:") as shield:
        for tool, args in tried[kind]:
            with shield.run(agent="a", task="t") as run:
                if f"{kind}_prompt" in tried:
                    run.prompt(tried[f"{kind}_prompt"])
                for before, given, result in tried.get(f"{kind}_before", ()):
                    run.check(before, given)
                    run.result(before, given, result)
                decision = run.check(tool, with_token(args))
            found += decision.action >= Action.REDACT
    return found


def with_token(args: dict[str, Any]) -> dict[str, Any]:
    texts = {name: each for name, each in args.items() if isinstance(each, str)}
    return {**args, **{name: each.replace("TOKEN", TOKEN) for name, each in texts.items()}}


@pytest.mark.parametrize("pack", TRIED)
def test_a_pack_is_as_good_as_its_page_says(
    pack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = re.search(rf"\| `{pack}` \| (\d+) of 15 \| (\d+) of 15 \|", PAGE)
    assert said is not None
    assert (disturbed(pack, "bad"), disturbed(pack, "honest")) == (int(said[1]), int(said[2]))


def stopped(pack: str, label: str) -> tuple[int, int]:
    """How many of the calls that two others wrote do not go ahead by themselves, and of how
    many."""
    rows = [one for one in OTHERS if (one["pack"], one["label"]) == (pack, label)]
    found = 0
    with Shield.load(pack, store="memory:", journal="memory:") as shield:
        for one in rows:
            with shield.run(agent="a", task="t") as run:
                found += not run.check(one["tool"], one["args"]).proceeds
    return found, len(rows)


@pytest.mark.parametrize("pack", TRIED)
def test_what_others_tried_comes_out_as_the_page_says(
    pack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = re.search(rf"\| `{pack}` \|.*\| (\d+) of (\d+) \| (\d+) of (\d+) \|", PAGE)
    assert said is not None
    figures = tuple(map(int, said.groups()))
    assert (*stopped(pack, "bad"), *stopped(pack, "everyday")) == figures


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /srv/app",
        "rm -rf /var/lib/app /etc/nginx",
        "systemctl stop nginx",
        "crontab /tmp/c",
    ],
)
@pytest.mark.parametrize("there", ["ssh root@web1 '{}'", "kubectl exec deploy/web -- {}"])
def test_the_freedoms_of_a_container_end_at_its_walls(command: str, there: str) -> None:
    """What runs on another machine, or is sent into another container, is judged as everywhere."""
    with Shield.load("container", store="memory:", journal="memory:") as shield:
        with shield.run(agent="a") as run:
            assert run.check("bash", {"command": command}).proceeds
        with shield.run(agent="a") as run:
            assert not run.check("bash", {"command": there.format(command)}).proceeds
