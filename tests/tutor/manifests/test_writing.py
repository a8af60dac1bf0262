"""What a run of the Tutor leaves: a manifest that vouches for its trace and its recording, known to
the trail."""

from __future__ import annotations

import json
import stat
import subprocess
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.manifest_check import file_faults, hash_faults, read
from stanchion.audit.reader import TrailReader
from stanchion.ops.views.runs import checked
from stanchion.tutor.bundles.canonical import digest
from stanchion.tutor.bundles.file import BundleFault, BundleRefusal
from stanchion.tutor.envelope.envelope import Episode, ModelQuestion
from stanchion.tutor.envelope.trace import EpisodeTrace, TraceTurn
from stanchion.tutor.law.v2 import Outcome
from stanchion.tutor.manifests.manifest import (
    Benchmark,
    ManifestError,
    Model,
    field_hashes,
    manifest_in,
)
from stanchion.tutor.playing.bundle_files import ChosenBundle
from stanchion.tutor.playing.manifests import ManifestWriter, game_hash, repository, tutor_hash
from stanchion.tutor.playing.recordings import (
    GameLine,
    Playback,
    RecordedExecutor,
    RecordedRunner,
    Recorder,
    RecordingError,
    read_recording,
    to_lines,
)
from tests.tutor.manifests.made import HASH
from tests.tutor.worlds import Scripted

GAME = {"name": "count", "goal": "count", "claims": []}


def turn(number: int, attempts: int) -> TraceTurn:
    """A turn of a trace."""
    return TraceTurn(number, "p", "o", "PROPOSE", {}, None, "LEGAL", 0, "s", attempts, "read")


def episode(*turns: TraceTurn) -> Episode:
    """A game that was won."""
    return Episode(EpisodeTrace(turns), (), True, max((one.turn for one in turns), default=0), 7)


def recorder(calls: int) -> Recorder:
    """A recorder of so many calls."""
    made = Recorder()
    for number in range(calls):
        made.reply(f"prompt {number}", 0.0, None, "{}")
    return made


def writer(
    path: Path | None, config: dict[str, Any] | None = None, **options: Any
) -> ManifestWriter:
    """What writes the manifest of a game under the second law."""
    played = GameLine(law="2", game=GAME, config={} if config is None else config, turns=5)
    ticks = count(1_700_000_000)
    options = {
        "model": Model(temperature=0.0, model_id="m"),
        "clock": lambda: next(ticks),
        **options,
    }
    return ManifestWriter(
        played, benchmark=Benchmark(benchmark_files_hash=HASH), path=path, **options
    )


def test_a_manifest_vouches_for_what_stands_beside_it(tmp_path: Path) -> None:
    config = {"layer2_repair": "bestofn", "repair_max_attempts": 2}
    made = writer(tmp_path / "m.json", config).finish(
        episode(turn(1, 3), turn(1, 0), turn(2, 1)), recorder(4)
    )
    data = read(tmp_path / "m.json")
    assert data == json.loads(json.dumps(made))
    assert hash_faults(data) == []
    assert file_faults(data, tmp_path) == []
    manifest = manifest_in(data)
    assert manifest.repair_stats is not None
    assert manifest.repair_stats.retries_per_turn == (2, 0)
    assert manifest.result is not None
    assert (manifest.result.model_calls, manifest.result.turns, manifest.result.score) == (4, 2, 7)
    assert manifest.environment.duration_seconds == 1
    assert manifest.tutor is not None
    assert (manifest.tutor.law, manifest.tutor.envelope_enabled) == ("2", True)
    assert manifest.tutor.tutor_file_hash == tutor_hash()
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (tmp_path / "m.trace.jsonl").write_text("")
    assert [one.field for one in file_faults(data, tmp_path)] == ["outputs.jsonl_log"]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "m.recording.jsonl").write_text("kept")
    with pytest.raises(ManifestError, match="is there already"):
        writer(tmp_path / "m.json")
    assert [file.name for file in tmp_path.iterdir()] == ["m.recording.jsonl"]


def test_without_a_path_it_goes_to_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value, folder in (
        ("STANCHION_STATE_DIR", str(tmp_path / "mine"), tmp_path / "mine"),
        ("STANCHION_STATE_DIR", "", tmp_path / "stanchion"),
    ):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        monkeypatch.setenv(variable, value)
        one = writer(None)
        one.finish(episode(), Recorder())
        assert one.path == folder / "tutor" / one.run_id / "manifest.json"
        assert hash_faults(read(one.path)) == []


def test_what_cannot_be_written_is_said_before_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ManifestError, match="there is no folder"):
        writer(tmp_path / "missing" / "m.json")
    monkeypatch.setenv("STANCHION_STATE_DIR", "here")
    with pytest.raises(ManifestError, match=r"not an absolute path.*set `manifest_path`"):
        writer(None)


def test_calls_that_do_not_agree_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="the trace has 1, the recording 2"):
        writer(tmp_path / "m.json").finish(episode(turn(1, 1)), recorder(2))
    assert not list(tmp_path.iterdir())


def test_chance_without_a_seed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"model\.seed"):
        writer(tmp_path / "m.json", model=Model(temperature=0.5)).finish(episode(), Recorder())
    assert not list(tmp_path.iterdir())


def test_a_bundle_that_was_refused_is_told(tmp_path: Path) -> None:
    chosen = ChosenBundle(refusal=BundleRefusal(BundleFault.WRONG_HASH, "it was changed"))
    made = writer(tmp_path / "m.json", chosen=chosen).finish(episode(), Recorder())
    assert made["policy"]["bundle_enabled"] is False
    assert made["policy"]["bundle_refused"] == "wrong-hash: it was changed"


def test_the_trail_knows_a_manifest(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    with (
        Shield.load("default", store="memory:", journal=tmp_path / "trail") as shield,
        shield.run("ann") as run,
    ):
        writer(path, run=run).finish(episode(turn(1, 1)), recorder(1))
    reader = TrailReader(tmp_path / "trail")
    data = read(path)
    found = checked(data, reader, tmp_path)
    assert (found.wrong, found.known) == ((), True)
    data["model"]["max_tokens"] = 5
    data["result"]["won"] = False
    bare = {
        name: one for name, one in data.items() if name not in ("field_hashes", "manifest_hash")
    }
    data["field_hashes"] = field_hashes(bare)
    data["manifest_hash"] = digest(data["field_hashes"])
    assert hash_faults(data) == []
    named = [one.field for one in checked(data, reader, tmp_path).wrong]
    assert named == ["model.max_tokens", "result.won", "manifest_hash"]
    assert checked({**data, "kind": "run"}, reader, tmp_path).known


def git(folder: Path, *words: str) -> None:
    """Run git in a folder."""
    who = ("-c", "user.email=a@b", "-c", "user.name=a")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_git_is_asked_and_its_absence_is_said(tmp_path: Path) -> None:
    none = repository(tmp_path)
    assert (none.git_commit, none.git_dirty) == (None, None)
    assert none.git_missing
    git(tmp_path, "init", "-b", "main")
    assert repository(tmp_path).git_commit is None
    (tmp_path / "a").write_text("a")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-m", "a")
    git(tmp_path, "tag", "v1")
    clean = repository(tmp_path)
    assert (clean.git_dirty, clean.git_branch, clean.git_tags, clean.git_missing) == (
        False,
        "main",
        ("v1",),
        None,
    )
    assert clean.git_commit is not None
    assert len(clean.git_commit) == 40
    (tmp_path / "b").write_text("b")
    assert repository(tmp_path).git_dirty is True
    assert repository(tmp_path / "gone").git_missing


def test_the_hash_of_a_game_knows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("a")
    (tmp_path / "link").symlink_to("/etc/passwd")
    known = game_hash(GAME, [], tmp_path)
    assert game_hash(GAME, [], tmp_path) == known
    assert game_hash({**GAME, "goal": "other"}, [], tmp_path) != known
    (tmp_path / "m.json").write_text("m")
    assert game_hash(GAME, [], tmp_path) != known
    assert game_hash(GAME, [], tmp_path, apart=[tmp_path / "m.json"]) == known
    (tmp_path / "in" / "a").rename(tmp_path / "in" / "b")
    assert game_hash(GAME, [], tmp_path, apart=[tmp_path / "m.json"]) != known


class Running:
    """Runs nothing, and shows the command."""

    def refused(self, argv: tuple[str, ...], _write: bool, /) -> str:
        """Refuses `rm`."""
        return "no" if argv[0] == "rm" else ""

    def run(self, argv: tuple[str, ...], _write: bool, /) -> Outcome:
        """Shows the words."""
        return Outcome(True, 0, " ".join(argv))


def test_a_recording_is_played_as_it_was(tmp_path: Path) -> None:
    tape = Recorder()
    runner, executor = (
        RecordedRunner(Running(), tape),
        RecordedExecutor(Scripted({"ls": (1, "x", "y")}), tape),
    )
    for _ in range(2):
        assert runner.refused(("rm", "a"), False) == "no"
    assert runner.refused(("wc", "a"), False) == ""
    said = runner.run(("wc", "a"), False)
    assert executor.execute("ls", "write") == (1, "x", "y")
    tape.reply("prompt", 0.0, 4, "half \ud800")
    (tmp_path / "r.jsonl").write_bytes(
        to_lines(GameLine(law="2", game=GAME, config={}, turns=3), tape)
    )
    played, lines = read_recording(tmp_path / "r.jsonl")
    assert played.game == GAME
    assert list(lines) == tape.lines
    assert len(lines) == 5
    again = Playback(lines)
    assert again.refused(("rm", "a"), False) == "no"
    assert again.run(("wc", "a"), False) == said
    assert again.execute("ls", "write") == (1, "x", "y")
    assert again.came(ModelQuestion(1, 0, "another prompt", 0.0, 4)) == "half \ud800"
    assert again.left() == (0, 0)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda one: one.refused(("mv", "a"), False), "was not asked for"),
        (lambda one: one.run(("wc", "b"), False), "`wc b` is run: it was `wc a`"),
        (lambda one: one.run(("wc", "a"), True), "is run"),
        (lambda one: [one.run(("wc", "a"), False) for _ in range(2)], "it was nothing"),
        (lambda one: one.came(ModelQuestion(1, 0, "p", 0.5, None)), "temperature 0.5"),
        (
            lambda one: [one.came(ModelQuestion(1, 0, "p", 0.0, None)) for _ in range(2)],
            "once more",
        ),
    ],
)
def test_what_goes_another_way_is_said(act: Any, says: str) -> None:
    tape = recorder(1)
    tape.ran(("wc", "a"), False, Outcome(True))
    with pytest.raises(RecordingError, match=says):
        act(Playback(tape.lines))


@pytest.mark.parametrize("text", ["", "{", '{"type":"reply"}', '{"type":"other"}', "[" * 100_000])
def test_what_is_no_recording_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(text)
    with pytest.raises(RecordingError):
        read_recording(tmp_path / "r.jsonl")
    with pytest.raises(RecordingError):
        read_recording(tmp_path / "missing.jsonl")
