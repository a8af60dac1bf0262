"""Each project has a state of its own, however it is reached; what is shared is asked for by name,
with a tenant."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stanchion import NoTenant, Shield
from stanchion.runtime.standing.places import owner_of
from stanchion.stores.protocol import StoreError
from stanchion.stores.redis import RedisStore
from tests.operators import ANN, KNOWN
from tests.sampling import some
from tests.stores import redis_server, servers

POLICY = "name: p\nguards:\n  - {use: breaker, failure_threshold: 2, cooldown_s: 3600, runs: 1}\n"

AGENT = """
import json, sys
from stanchion import Refused, Shield

def search():
    raise ConnectionError("503 Service Unavailable")

with Shield.load(json.loads(sys.argv[1]), **json.loads(sys.argv[2])) as shield, shield.run("ann") as run:
    codes = []
    for _ in range(int(sys.argv[3])):
        try:
            run.call(search)
        except Refused as refused:
            codes.append(refused.decision.code)
        except ConnectionError:
            codes.append("failed")
print(json.dumps(codes))
"""  # noqa: E501
GUARDED = {
    "name": "p",
    "guards": [{"use": "breaker", "failure_threshold": 2, "cooldown_s": 3600, "runs": 1}],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home, with nothing in the environment that names a state."""
    made = tmp_path / "home"
    made.mkdir()
    for name in ("STANCHION_STATE_DIR", "STANCHION_STORE", "STANCHION_AUDIT"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.setenv("XDG_STATE_HOME", str(made / ".state"))
    return made


def project(at: Path, marker: str = ".git") -> Path:
    """A project with a policy, a folder in it, and a marker."""
    (at / "src" / "deep").mkdir(parents=True)
    (at / marker).touch()
    (at / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return at


def called(cwd: Path, times: int = 1, policy: Any = GUARDED, **options: Any) -> list[str]:
    """What became of an agent's calls of a tool that always fails, in a process of its own."""
    words = [sys.executable, "-c", AGENT, json.dumps(policy), json.dumps(options), str(times)]
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ}, capture_output=True, text=True, check=True
    )
    codes: list[str] = json.loads(done.stdout)
    return codes


def states(home: Path) -> list[str]:
    """The roots of the projects that keep a state."""
    folder = home / ".state" / "stanchion" / "projects"
    return sorted(str(owner_of(each)) for each in folder.iterdir()) if folder.exists() else []


def test_a_breaker_of_one_project_leaves_another_alone(home: Path) -> None:
    one, two = project(home / "work" / "one"), project(home / "work" / "two", "package.json")
    assert called(one, 3) == ["failed", "failed", "breaker.open"]
    assert called(two) == ["failed"]
    assert called(one) == ["breaker.open"]
    assert states(home) == [str(one), str(two)]


def test_every_way_to_a_project_leads_to_one_state(home: Path) -> None:
    one = project(home / "one")
    (home / "link").symlink_to(one)
    (home / "into").symlink_to(one / "src")
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    assert called(one, 2) == ["failed", "failed"]
    ways: list[tuple[Path, Any, dict[str, str]]] = [
        (one / "src" / "deep", GUARDED, {}),
        (home / "link", GUARDED, {}),
        (home / "into" / "deep", GUARDED, {}),
        (one, "policy.yaml", {}),
        (elsewhere, str(one / "policy.yaml"), {}),
        (elsewhere, "../link/policy.yaml", {}),
        (elsewhere, GUARDED, {"project": str(one / "src")}),
    ]
    for cwd, policy, options in some(ways, 2, "ways"):
        assert called(cwd, 1, policy, **options) == ["breaker.open"], (cwd, policy, options)
    assert states(home) == [str(one)]


def test_a_nested_project_has_its_own(home: Path) -> None:
    outer = project(home / "outer")
    inner = project(outer / "vendor" / "inner", "pyproject.toml")
    assert called(outer, 2) == ["failed", "failed"]
    assert called(inner / "src") == ["failed"]
    assert called(outer / "vendor") == ["breaker.open"]


def test_a_policy_that_several_projects_link_to_is_each_ones_own(home: Path) -> None:
    one, two = project(home / "one"), project(home / "two")
    common = home / "common.yaml"
    common.write_text(POLICY, encoding="utf-8")
    for each in (one, two):
        (each / "linked.yaml").symlink_to(common)
    assert called(one, 2, "linked.yaml") == ["failed", "failed"]
    assert called(two, 1, "linked.yaml") == ["failed"]
    assert called(one, 1, "linked.yaml") == ["breaker.open"]


def test_a_project_that_is_moved_is_another(home: Path) -> None:
    one = project(home / "one")
    assert called(one, 2) == ["failed", "failed"]
    one.rename(home / "moved")
    assert called(home / "moved") == ["failed"]
    assert states(home) == [str(home / "moved"), str(one)]


def test_the_users_state_is_shared_by_name_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = project(home / "one"), project(home / "two")
    assert called(one, 2, store="user:") == ["failed", "failed"]
    assert called(two) == ["failed"]
    assert called(two, 1, store="user:") == ["breaker.open"]
    monkeypatch.setenv("STANCHION_STORE", "user:")
    assert called(two) == ["breaker.open"]
    shared = home / ".state" / "stanchion" / "shared"
    assert {each.name for each in shared.iterdir()} >= {"state.db", "trail", "epochs"}
    assert states(home) == [str(two)]


def test_a_folder_that_is_named_is_the_state_itself(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = project(home / "one"), project(home / "two")
    monkeypatch.setenv("STANCHION_STATE_DIR", str(home / "named"))
    assert called(one, 2) == ["failed", "failed"]
    assert called(two, 1, project=str(two)) == ["breaker.open"]
    assert {each.name for each in (home / "named").iterdir()} >= {"state.db", "trail", "epochs"}
    assert states(home) == []


def test_a_named_store_is_remembered_for_every_project(home: Path) -> None:
    one, two, store = project(home / "one"), project(home / "two"), home / "named.db"
    assert called(one, 1, store=str(store)) == ["failed"]
    for file in home.glob("named.db*"):
        file.unlink()
    assert called(two, 1, store=str(store)) == ["kernel.store_forgot"]


def test_what_is_kept_in_memory_leaves_no_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with Shield.load(GUARDED, store="memory:", journal="memory:") as shield:
        assert shield.run("ann").check("t", {}).proceeds
    assert not (home / ".state").exists()
    with pytest.raises(OSError, match="the current folder no longer exists"):
        Shield.load(GUARDED)


def test_a_place_that_cannot_be_made_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(home / "one"))
    (home / ".state").mkdir()
    (home / ".state" / "stanchion").touch()
    with pytest.raises(
        StoreError, match=r"state\.db` cannot be created .*: let this user write to its folder"
    ):
        Shield.load(GUARDED)
    with pytest.raises(OSError, match="the project `nowhere` is not a folder: give its root"):
        Shield.load(GUARDED, project="nowhere")


def test_many_processes_that_begin_a_project_share_it(home: Path) -> None:
    one = project(home / "one")
    words = [sys.executable, "-c", AGENT, json.dumps(GUARDED), "{}", "1"]
    each = [subprocess.Popen(words, cwd=one, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    said = [json.loads(process.communicate()[0])[0] for process in each]
    assert [process.returncode for process in each] == [0] * 6
    assert called(one) == ["breaker.open"]
    assert "failed" in said
    assert states(home) == [str(one)]
    (state,) = (home / ".state" / "stanchion" / "projects").iterdir()
    assert [file.name for file in state.iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize("kind", ["redis", "postgres"])
def test_a_fleet_names_its_tenant(kind: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    if kind == "redis":
        url = redis_server.shared().url
        redis_server.shared().ask("FLUSHALL")
    else:
        url = servers.server().url
        servers.server().do("DROP SCHEMA IF EXISTS stanchion CASCADE")
    with Shield.load(GUARDED, store=url, operators=[KNOWN]) as shield:
        for use in (
            shield.run,
            shield.halt,
            shield.resume,
            shield.standing,
            lambda: shield.quarantine("tool:t"),
        ):
            with pytest.raises(
                NoTenant, match=r"give the tenant, with `tenant=` .*STANCHION_TENANT"
            ):
                use()
        assert shield.run("ann", tenant="a").check("t", {}).proceeds
        shield.halt("drill", scope="fleet")
        assert shield.run("ann", tenant="a").check("t", {}).code == "kernel.halted"
        shield.resume(scope="fleet", by=ANN)
        shield.halt("drill", tenant="a")
    with (
        Shield.load(GUARDED, store=url, tenant="b") as other,
        Shield.load(GUARDED, store=url, tenant="a") as halted,
    ):
        assert other.run("ann").check("t", {}).proceeds
        assert halted.run("ann").check("t", {}).code == "kernel.halted"
    monkeypatch.setenv("STANCHION_TENANT", "a")
    monkeypatch.setenv("STANCHION_STORE", url)
    with Shield.load(GUARDED, operators=[KNOWN]) as shield:
        assert shield.run("ann").check("t", {}).code == "kernel.halted"
        shield.resume(by=ANN)
        assert shield.run("ann").check("t", {}).proceeds


def test_a_store_that_is_handed_in_stays_as_it_is() -> None:
    server = redis_server.shared()
    server.ask("FLUSHALL")
    with Shield.load(GUARDED, store=RedisStore(server.url)) as shield:
        assert shield.tenant == "default"
        assert shield.run("ann").check("t", {}).proceeds
