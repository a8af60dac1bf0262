"""A shield keeps agents off its own files wherever they are, and its policy's hash says nothing of where."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stanchion import Action, Shield
from stanchion.policy.load import load_policy

POLICY = """
name: shop
version: "1"
guards:
  - {id: files, use: files, real_paths: true}
  - {id: shell, use: shell}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of work with a policy of any name, in which the store and the records are kept, too."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "rules.yaml").write_text(POLICY)
    (folder / "signing.txt").write_text("x" * 64)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("STANCHION_AUDIT_KEY", "signing.txt")
    return folder


def decide(shield: Shield, tool: str, **args: str) -> Action:
    """What the shield decides on a call."""
    with shield.run("a") as run:
        return run.check(tool, args).action


def test_store_trail_key_and_policy_are_out_of_reach(shop: Path) -> None:
    with Shield.load("rules.yaml", store="kept.db", journal=shop / "records") as shield:
        for path in ("kept.db", "./x/../kept.db-wal", f"{shop}/kept.db", "records/ab/00000001.jsonl", "signing.txt"):
            assert decide(shield, "bash", command=f"cat {path}") is Action.BLOCK, path
            assert decide(shield, "read_file", path=path) is Action.BLOCK, path
            assert decide(shield, "write_file", path=path, content="x") is Action.BLOCK, path
        for command in ("rm rules.yaml", "echo > ./rules.yaml", "mv ../shop ../else", "rm -rf records", "rm *.yaml"):
            assert decide(shield, "bash", command=command) >= Action.ESCALATE, command
        assert decide(shield, "write_file", path="rules.yaml", content="x") is Action.BLOCK
        assert decide(shield, "read_file", path="rules.yaml") is Action.ALLOW
        assert decide(shield, "bash", command="cat rules.yaml other.db") is Action.ALLOW
        assert decide(shield, "write_file", path="other.yaml", content="x") is Action.ALLOW


def test_a_link_that_leads_there_is_followed(shop: Path) -> None:
    with Shield.load("rules.yaml", store="kept.db") as shield:
        (shop / "innocent").symlink_to(shop / "kept.db")
        assert decide(shield, "read_file", path="innocent") is Action.BLOCK
        assert decide(shield, "read_file", path="rules.yaml") is Action.ALLOW


def test_the_state_folder_is_closed_wherever_the_environment_has_it(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "elsewhere"
    real.mkdir()
    (tmp_path / "named").symlink_to(real)
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path / "named"))
    with Shield.load("rules.yaml") as shield:
        for command in (f"ls; cat {real}/state.db", "cat $STANCHION_STATE_DIR/state.db", "cat ../named/epochs/x"):
            assert decide(shield, "bash", command=command) is Action.BLOCK, command


def test_the_hash_is_the_same_wherever_the_files_are(shop: Path, tmp_path: Path) -> None:
    bare = load_policy("rules.yaml").hash
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(shop / "rules.yaml", other / "another.yaml")
    with Shield.load("rules.yaml", store="kept.db") as one, Shield.load(other / "another.yaml") as two:
        assert one.policy.hash == two.policy.hash == bare


def test_a_policy_that_takes_its_place_is_as_well_guarded(shop: Path) -> None:
    (shop / "later.yaml").write_text(POLICY.replace("shop", "later"))
    with Shield.load("rules.yaml", store="kept.db") as shield:
        assert decide(shield, "write_file", path="later.yaml", content="x") is Action.ALLOW
        shield.reload("later.yaml")
        assert decide(shield, "write_file", path="later.yaml", content="x") is Action.BLOCK
        assert decide(shield, "bash", command="sqlite3 kept.db .dump") is Action.BLOCK
        before = shield.policy.placed("shell")
        shield.renew()
        after = shield.policy.placed("shell")
        assert before is not None
        assert after is not None
        assert before.guard is after.guard


def test_a_script_for_later_is_not_written(shop: Path) -> None:
    with Shield.load("rules.yaml", store="kept.db") as shield:
        assert decide(shield, "write_file", path="Makefile", content="go:\n\tstanchion resume\n") is Action.BLOCK
        code = "import sqlite3\nsqlite3.connect('kept.db').execute('delete from cells')\n"
        assert decide(shield, "write_file", path="fix.py", content=code) is Action.BLOCK
        api = "from stanchion import Shield\nShield.load().approve('x', by='ann')\n"
        assert decide(shield, "write_file", path="fix.py", content=api) is Action.ESCALATE
        assert decide(shield, "write_file", path="app.py", content="from stanchion import Shield\n") is Action.ALLOW


@pytest.mark.skipif("sys.platform != 'linux'", reason="elsewhere no variable says where settings are")
def test_the_users_own_policy_is_out_of_reach_where_the_environment_puts_it(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = shop / "settings"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(settings))
    with Shield.load("rules.yaml", store="kept.db") as shield:
        for path in (f"{settings}/stanchion/policy.yaml", "settings/stanchion/policy.yaml"):
            assert decide(shield, "write_file", path=path, content="x") is Action.BLOCK, path
            assert decide(shield, "bash", command=f"echo x > {path}") is Action.BLOCK, path
            assert decide(shield, "read_file", path=path) is Action.ALLOW, path
        assert decide(shield, "bash", command="cp x $XDG_CONFIG_HOME/stanchion/policy.yaml") is Action.BLOCK
        assert decide(shield, "write_file", path="settings/other/policy.yaml", content="x") is Action.ALLOW
