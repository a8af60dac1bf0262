"""What a contained run sees and does, behind each kind of walls that holds a network."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from stanchion.kernel.shown import StanchionError
from stanchion.runtime.sandbox.contained import NEEDED, Contained
from stanchion.runtime.sandbox.guarded import RUNS_OUTSIDE, UnfitFolder, repositories
from stanchion.runtime.sandbox.inside import HOME, Inside
from stanchion.runtime.sandbox.refused import SETTINGS, how_to_allow
from stanchion.runtime.sandbox.sandbox import SandboxError, WallKind
from tests.runtime.contained.conftest import Runs
from tests.runtime.sandbox.conftest import lacking

PORTS = [(3128, True)]


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137), ("true", 0)],
)
def test_it_ends_as_the_command_does(runs: Runs, script: str, status: int) -> None:
    assert runs(script)[0] == status


def test_the_project_is_written_and_the_system_is_not(runs: Runs, project: Path) -> None:
    status, said = runs("pwd; echo x >made && touch ~/made /tmp/made && ! touch /usr/made /made")
    assert (status, said.splitlines()[0]) == (0, str(project))
    assert (project / "made").read_text() == "x\n"
    assert "Read-only file system" in said


def test_a_home_goes_with_the_run_or_is_kept(runs: Runs, project: Path) -> None:
    kept = project.parent / "kept"
    kept.mkdir()
    assert runs("echo one >~/note; echo ~") == (0, f"{HOME}\n")
    assert runs("cat ~/note")[0] == 1
    assert runs("echo two >~/note", home=kept)[0] == 0
    assert runs("cat ~/note", home=kept) == (0, "two\n")


def test_roots_are_written_and_what_is_shown_is_read(runs: Runs, project: Path) -> None:
    root, shown = project.parent / "root", project.parent / "shown"
    for folder in (root, shown):
        folder.mkdir()
        (folder / "a").write_text("a\n")
    status, said = runs(
        f"cat {shown}/a; echo b >{root}/a; ! echo b >{shown}/a", roots=[root], shown=[shown]
    )
    assert (status, said.splitlines()[0]) == (0, "a")
    assert ((root / "a").read_text(), (shown / "a").read_text()) == ("b\n", "a\n")
    assert runs(f"cat {root}/a")[0] == 1


def test_what_is_closed_is_not_seen_and_what_is_kept_is_not_written(
    runs: Runs, project: Path
) -> None:
    for name in ("state/trail", "rules/policy.yaml", ".git/hooks/pre-commit", ".git/index"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("old\n")
    script = "cat state/trail; ls -A state; echo new >rules/policy.yaml; mv rules gone; "
    script += "echo new >.git/hooks/pre-commit; mv .git gone; echo new >.git/index"
    closed = [f"{project}/state", f"{project}/state/trail", f"{project}/rules/not-there"]
    _, said = runs(script, closed=closed, kept=[f"{project}/rules/policy.yaml"])
    assert "No such file" in said.splitlines()[0]
    assert said.count("Read-only file system") == said.count("busy") + 1 == 3
    assert {path.read_text() for path in project.rglob("p*.yaml")} == {"old\n"}
    assert (project / ".git/hooks/pre-commit").read_text() == "old\n"
    assert (project / ".git/index").read_text() == "old\n"


GIT_RUNS = """
touch .git/commondir .git/config.worktree lib/.git/config lib/.git/hooks bare.git/config tree/.git
mkdir .git/x; mv lib gone
"""


def test_nothing_that_git_outside_takes_settings_from_is_written(runs: Runs, project: Path) -> None:
    for name in (".git/HEAD", "lib/.git/HEAD", "tree/.git", "bare.git/HEAD"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("old\n")
    for name in ("objects", "refs"):
        (project / "bare.git" / name).mkdir()
    before = {*project.rglob("*")}
    _, said = runs(GIT_RUNS)
    assert len(said.splitlines()) == 8
    assert {*project.rglob("*")} == before | {project / "out"}


def test_a_submodule_that_is_not_there_is_not_put_there(runs: Runs, project: Path) -> None:
    zeros = "0123456789abcdef0123456789abcdef01234567"
    adds = [f"git update-index --add --cacheinfo 160000,{zeros},{one}" for one in ("a", "b/c")]
    subprocess.run(["sh", "-ec", f"git init -q; {'; '.join(adds)}"], cwd=project, check=True)
    (project / "a").mkdir()
    assert len(runs("mkdir a/.git; mkdir -p b/c/.git; mv a gone")[1].splitlines()) == 3
    assert {one.name for one in project.iterdir()} == {".git", "a", "out"}
    assert not [*(project / "a").iterdir()]
    (project / "b").symlink_to("/")
    with pytest.raises(UnfitFolder, match=r"put a folder in its place"):
        Inside(project)


def test_git_reads_and_does_not_commit(runs: Runs, project: Path) -> None:
    made = "git init -q; echo a >a; git add a; git -c user.name=a -c user.email=a@b commit -qm One"
    subprocess.run(["sh", "-c", made], cwd=project, check=True)
    reads = (
        "git status -s && git diff && git log --oneline && git show && git grep a && git blame a"
    )
    assert runs(f"touch a; {reads}")[0] == 0
    status, said = runs("echo b >>a; git add a")
    assert (status, "index.lock': Read-only file system" in said) == (128, True)
    assert runs("git add a", roots=[project / ".git"])[0] == 0
    assert Inside(project, [project / ".git"]).run_outside == [f"{project}/.git"]


def test_where_nothing_is_that_runs_outside_nothing_comes_or_is_left(
    runs: Runs, project: Path
) -> None:
    tries = "; ".join(f"mkdir {one}; touch {one}/x; mv {one} gone" for one in RUNS_OUTSIDE)
    _, said = runs(tries)
    assert len(said.splitlines()) == 3 * len(RUNS_OUTSIDE)
    assert [one.name for one in project.iterdir()] == ["out"]


def test_runs_side_by_side_hold_the_same_names(project: Path) -> None:
    first, last = Inside(project).names, Inside(project).names
    first.hold()
    last.hold()
    first.let_go()
    assert {one.name for one in project.iterdir()} == {*RUNS_OUTSIDE}
    left = Inside(project).names
    assert left.paths == last.paths, "what a killed run has left is held, too"
    last.let_go()
    assert not [*project.iterdir()]


def test_a_way_that_can_be_led_elsewhere_from_inside_is_refused(project: Path) -> None:
    (project.parent / "vault").mkdir()
    (project / "deep").symlink_to(project.parent)
    (project / "policy.yaml").symlink_to("/etc/passwd")
    (project.parent / "link").symlink_to(project / "deep")
    for way in (project / "deep/vault", project.parent / "link/vault"):
        for given in ({"roots": [way]}, {"home": way}, {"shown": [way]}):
            with pytest.raises(UnfitFolder, match=r"over the link `.*/project/deep`"):
                Inside(project, **given)
    with pytest.raises(UnfitFolder, match=r"over the link `.*/policy\.yaml`"):
        Inside(project, kept=[f"{project}/policy.yaml"])
    (project / ".git").symlink_to("../vault")
    with pytest.raises(UnfitFolder, match=r"put what it leads to in its place"):
        Inside(project)
    (project.parent / "straight").symlink_to(project.parent / "vault")
    vault = project.parent / "vault"
    assert Inside(vault, [project.parent / "straight"]).writable == [str(vault)]


def test_what_lies_in_a_home_that_is_kept_is_guarded_there(runs: Runs, project: Path) -> None:
    home = project / "home"
    (home / "lib/.git").mkdir(parents=True)
    (home / "state").mkdir()
    (home / "state/key").write_text("key\n")
    given = {"home": home, "closed": [f"{home}/state"]}
    status, said = runs("cat ~/state/key; touch ~/lib/.git/x ~/x; mv ~/lib ~/gone", **given)
    assert (status, len(said.splitlines())) == (1, 3)
    assert (home / "x").exists()


def test_too_many_folders_to_look_through_are_refused(project: Path) -> None:
    for name in ("a", "b", "c"):
        (project / name).mkdir()
    assert not [*repositories(str(project), 4)]
    with pytest.raises(UnfitFolder, match="too many folders"):
        list(repositories(str(project), 3))


def test_nothing_in_proc_tells_of_others(runs: Runs) -> None:
    assert runs("cat /proc/keys /proc/key-users /proc/locks 2>/dev/null")[1] == ""


def test_only_what_tells_of_the_terminal_comes_from_our_environment(runs: Runs) -> None:
    ours = {
        "TERM": "vt100",
        "LC_TIME": "C",
        "API_KEY": "k",
        "STANCHION_STORE": "s",
        "LD_PRELOAD": "x",
    }
    _, said = runs(
        "env",
        ours
        | {"SSH_AUTH_SOCK": "/x", "DBUS_SESSION_BUS_ADDRESS": "y", "PATH": "/nowhere:/usr/bin"},
    )
    found = dict(line.split("=", 1) for line in said.splitlines())
    own = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert set(found) - own == {"TERM", "LC_TIME", "PATH", "HOME", "USER", "LOGNAME", "TMPDIR"} | {
        "GIT_OPTIONAL_LOCKS"
    }
    assert found["PATH"].startswith("/usr/bin:")
    assert "/nowhere" not in found["PATH"]


def test_a_variable_that_is_named_is_passed() -> None:
    given = Inside(Path("/tmp/..") / "usr/share").environment(
        {"ONE": "1", "TWO": "2"}, ["ONE", "NO"]
    )
    assert (given.get("ONE"), "TWO" in given, "NO" in given) == ("1", False, False)


def test_it_has_processes_devices_and_terminals_of_its_own(runs: Runs) -> None:
    script = "ps -eo args | grep -c stanchion; test -c /dev/null && echo x >/dev/shm/x; ls /run; "
    script += "/usr/bin/python3 -c 'import os; print(os.openpty())'; cat /etc/resolv.conf; id -un"
    status, said = runs(script)
    assert status == 0
    assert said.splitlines()[-2:] == ["nameserver 127.0.0.1", "agent"]
    assert "(3, 4)" in said


def test_what_is_left_behind_is_reaped(runs: Runs) -> None:
    left = "for i in 1 2 3; do (sleep 0.05 &); done; while ps -eo args | grep -q ^sleep; do :; done"
    assert runs(f"{left}; ps -eo stat,args | grep ^Z")[1] == ""


def test_the_door_accepts_from_inside_and_nobody_else_does(project: Path, kind: WallKind) -> None:
    code = "import socket; s = socket.create_connection(('127.0.0.1', 3128)); print(s.recv(9))"
    made = Inside(project)
    with Contained() as contained:
        walls = contained.build(made, project, PORTS, "hello", [kind])
        said, numbers, _, _ = socket.recv_fds(contained.line, 16, 4)
        assert (said, len(numbers), walls.missing) == (b"hello", 1, ())
        assert set(NEEDED) <= set(walls.walls)
        with socket.socket(fileno=numbers[0]) as door:
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(door.getsockname())
            door.settimeout(30)
            contained.go(["/usr/bin/python3", "-c", code], made.environment({}))
            came, _ = door.accept()
            with came:
                came.sendall(b"from door")
            assert contained.wait() == 0


@pytest.mark.parametrize("words", [["no-such-program"], ["./not-there"], ["/etc/passwd"]])
def test_a_program_that_is_not_there_is_said(project: Path, words: list[str]) -> None:
    if why := lacking(WallKind.NAMESPACES):
        pytest.skip(why)
    made = Inside(project)
    with Contained() as contained:
        contained.build(made, project, [], "hello", [WallKind.NAMESPACES])
        contained.line.recv(16)
        with pytest.raises(SandboxError, match=r"it cannot be started: (no such|Permission)"):
            contained.go(words, made.environment({}))


LIVES = """
import socket, sys
from pathlib import Path
from stanchion.runtime.sandbox.contained import Contained
from stanchion.runtime.sandbox.inside import Inside
from stanchion.runtime.sandbox.sandbox import WallKind
project = Path(sys.argv[1])
inside = Inside(project)
contained = Contained()
contained.build(inside, project, [(3128, True)], "hello", [WallKind(sys.argv[2])])
socket.recv_fds(contained.line, 16, 1)
contained.go(["sh", "-c", sys.argv[3]], inside.environment({}))
sys.exit(contained.wait())
"""


def lives(project: Path, kind: WallKind, script: str) -> subprocess.Popen[bytes]:
    """A process with a contained run, whose script has said that it is up."""
    words = [sys.executable, "-c", LIVES, str(project), kind, f"{script}"]
    started = subprocess.Popen(
        words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"up\n"
    return started


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT])
def test_signals_are_passed_on(project: Path, kind: WallKind, number: signal.Signals) -> None:
    """As a container's first process is told to end."""
    script = "trap 'exit 9' TERM HUP USR1 INT; echo up; while :; do sleep 0.02; done"
    with lives(project, kind, script) as started:
        started.send_signal(number)
        assert started.wait() == 9


def test_everything_inside_dies_with_whoever_has_started_it(project: Path, kind: WallKind) -> None:
    with lives(project, kind, "setsid sleep 3141 & sleep 3141 & echo up; wait") as started:
        started.kill()
        assert started.stdout is not None
        # Whoever is inside has it open: it ends with the last of them.
        assert started.stdout.read() == b""


def at_once(project: Path, kind: WallKind, many: int) -> None:
    """Have runs side by side, which end each in its own way."""
    made = Inside(project)
    with ExitStack() as open_now:
        each = [open_now.enter_context(Contained()) for _ in range(many)]
        for number, contained in enumerate(each):
            contained.build(made, project, PORTS, "hello", [kind])
            _, numbers, _, _ = socket.recv_fds(contained.line, 16, 1)
            open_now.enter_context(socket.socket(fileno=numbers[0]))
            contained.go(["sh", "-c", f"exit {number % 100}"], made.environment({}))
        assert [one.wait() for one in each] == [number % 100 for number in range(many)]


def test_some_run_at_once(project: Path, kind: WallKind) -> None:
    at_once(project, kind, 6)


def test_two_hundred_run_at_once(project: Path, kind: WallKind) -> None:
    at_once(project, kind, 200)


@pytest.mark.parametrize("folder", ["/", "~", "/usr", "/home", "/not-there-at-all"])
def test_a_folder_that_holds_more_than_a_project_is_refused(folder: str) -> None:
    with pytest.raises(StanchionError, match=r"holds more than one project|is no folder"):
        Inside(Path(folder).expanduser())


@pytest.mark.parametrize(("name", "forbids", "allows"), SETTINGS)
def test_what_forbids_namespaces_is_named(name: str, forbids: str, allows: str) -> None:
    def read(path: str) -> str:
        if path == f"/proc/sys/{name}":
            return f"{forbids}\n"
        raise FileNotFoundError(path)

    refused = "namespaces: [Errno 1] unshare: Operation not permitted"
    assert how_to_allow(refused, read) == f": `sysctl {name.replace('/', '.')}={allows}` allows it"
    assert how_to_allow("bubblewrap: Operation not permitted", read) == ""
    assert how_to_allow("namespaces: mount /tmp: No such file", read) == ""
