"""Real programs in a contained run, against a server that a policy names and one that it does not.
Run as root, where nobody else's names and networks are:

    unshare --net --mount --uts --ipc python -m tests.runtime.contained.programs [PROGRAM ...]

It prints a line of JSON for each program: what it could do, and with whom.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

HOST: Final = "198.51.100.1"
NAMED, OTHER = "service.example", "other.example"
POLICY: Final = f"""\
name: programs
guards:
  - use: egress
    allowed_hosts: [{NAMED}]
    internal_hosts: [{NAMED}]
"""
HIDES: Final = "door: {hidden_names: allow}\n"
"""What a browser needs: it hides something in each greeting, even where there is nothing to
hide."""
HELLO: Final = "hello from the service"
TRUSTS: Final = (
    "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT",
    "NODE_EXTRA_CA_CERTS", "npm_config_cafile",
)  # fmt: skip
"""By which variable a program learns whom to trust."""
PYTHON: Final = sys.executable
BASE: Final = str(Path(sys.base_prefix).resolve())
VENV: Final = sys.prefix

REQUESTS: Final = "import sys, requests; print(requests.get(sys.argv[1]).text)"
HTTPX: Final = "import sys, httpx; print(httpx.get(sys.argv[1]).text)"
URLLIB: Final = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
AIOHTTP: Final = """
import asyncio, sys, aiohttp
async def main():
    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.get(sys.argv[1]) as came:
            print(await came.text())
asyncio.run(main())
"""
FETCH: Final = "fetch(process.argv[1]).then(r => r.text()).then(t => console.log(t))"

PROGRAMS: Final[dict[str, list[str]]] = {
    "curl": ["curl", "-sS", "--fail", "{url}/hello"],
    "curl over SOCKS": [
        "env",
        "-u",
        "https_proxy",
        "-u",
        "HTTPS_PROXY",
        "curl",
        "-sS",
        "--fail",
        "--proxy",
        "socks5h://127.0.0.1:1080",
        "{url}/hello",
    ],
    "rclone, a program in Go": [
        "rclone",
        "cat",
        ":http:hello",
        "--http-url",
        "{url}",
        "--low-level-retries=1",
        "--retries=1",
    ],
    "wget": ["wget", "-qO-", "--tries=1", "--ca-certificate=ca.pem", "{url}/hello"],
    "git": ["sh", "-c", "rm -rf copy; git clone -q {url}/demo.git copy && cat copy/hello"],
    "pip": [
        PYTHON,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--no-cache-dir",
        "--retries=0",
        "--disable-pip-version-check",
        "--index-url",
        "{url}/simple",
        "-d",
        "wheels",
        "demo",
    ],
    "npm": [
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--fetch-retries=0",
        "--registry",
        "{url}/npm",
        "demo",
    ],
    "uv, a static program in Rust": [
        "uv",
        "pip",
        "install",
        "-q",
        "--no-cache",
        "--native-tls",
        "--target",
        "uvs",
        "--index-url",
        "{url}/simple",
        "--python",
        PYTHON,
        "demo",
    ],
    "Python's urllib": [PYTHON, "-c", URLLIB, "{url}/hello"],
    "Python's requests": [PYTHON, "-c", REQUESTS, "{url}/hello"],
    "Python's httpx": [PYTHON, "-c", HTTPX, "{url}/hello"],
    "Python's aiohttp": [PYTHON, "-c", AIOHTTP, "{url}/hello"],
    "Node's fetch": ["node", "-e", FETCH, "{url}/hello"],
    "Chromium": [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--ignore-certificate-errors",
        "--user-data-dir=/tmp/chromium",
        "--dump-dom",
        "{url}/hello.html",
    ],
}
"""Programs as anybody starts them; `{url}` is the server's."""


def lacking(program: str) -> str:
    """What is missing for a program; empty if nothing is."""
    words = PROGRAMS[program]
    named = {"wget", "git", "npm", "uv", "node", "chromium", "curl", "rclone"} & {
        *words,
        words[0],
        program,
    }
    missing = [one for one in named if shutil.which(one) is None]
    return f"there is no `{missing[0]}`" if missing else ""


def make_service(base: Path) -> Path:
    """A folder that a server serves: a text, a repository, an index of Python and one of npm."""
    served = base / "served"
    (served / "simple/demo").mkdir(parents=True)
    (served / "npm").mkdir()
    (served / "hello").write_text(HELLO)
    (served / "hello.html").write_text(HELLO)
    source = base / "source"
    quiet = {"cwd": base, "check": True, "capture_output": True}
    run: Any = partial(subprocess.run, **quiet)
    run(["git", "init", "-q", str(source)])
    (source / "hello").write_text(HELLO)
    for words in (
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "One"],
    ):
        run(["git", "-C", str(source), *words])
    run(["git", "clone", "-q", "--bare", str(source), str(served / "demo.git")])
    run(["git", "-C", str(served / "demo.git"), "update-server-info"])
    wheel = served / "simple/demo/demo-1.0-py3-none-any.whl"
    made = base / "wheel"
    (made / "demo-1.0.dist-info").mkdir(parents=True)
    (made / "demo.py").write_text("")
    (made / "demo-1.0.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
    )
    (made / "demo-1.0.dist-info/WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    (made / "demo-1.0.dist-info/RECORD").write_text(
        "demo.py,,\ndemo-1.0.dist-info/METADATA,,\ndemo-1.0.dist-info/WHEEL,,\ndemo-1.0.dist-info/RECORD,,\n"
    )
    run([PYTHON, "-c", f"import shutil; shutil.make_archive({str(wheel)!r}, 'zip', {str(made)!r})"])
    Path(f"{wheel}.zip").rename(wheel)
    (served / "simple/demo/index.html").write_text(f"<a href='{wheel.name}'>{wheel.name}</a>")
    package = base / "package"
    package.mkdir()
    (package / "package.json").write_text('{"name": "demo", "version": "1.0.0"}')
    run(["tar", "-czf", str(served / "npm/demo.tgz"), "package"])
    tarball = {
        "dist": {"tarball": f"https://{NAMED}/npm/demo.tgz"},
        "name": "demo",
        "version": "1.0.0",
    }
    told = {"name": "demo", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": tarball}}
    (served / "npm/demo").write_text(json.dumps(told))
    return served


@contextmanager
def serving(base: Path, served: Path) -> Iterator[Path]:
    """Both servers, which are one; gives the certificate that is to be trusted."""
    ca, key, made = base / "ca.pem", base / "key.pem", base / "made.pem"
    begins = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = [
        "-addext",
        f"subjectAltName=DNS:{NAMED},DNS:{OTHER}",
        "-CA",
        str(ca),
        "-CAkey",
        str(base / "ca.key"),
    ]
    leaf = [
        *names,
        "-addext",
        "basicConstraints=critical,CA:FALSE",
        "-keyout",
        str(key),
        "-out",
        str(made),
    ]
    for words in (
        ["-subj", "/CN=root", "-keyout", str(base / "ca.key"), "-out", str(ca)],
        ["-subj", "/CN=service", *leaf],
    ):
        subprocess.run([*begins, *words], check=True, capture_output=True)
    hosts = base / "hosts"
    hosts.write_text(f"127.0.0.1 localhost\n{HOST} {NAMED} {OTHER}\n")
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
    for line in ("link set lo up", f"address add {HOST}/24 dev lo"):
        subprocess.run(["ip", *line.split()], check=True)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(made, key)
    with ThreadingHTTPServer((HOST, 443), partial(Quiet, directory=str(served))) as server:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield ca
        server.shutdown()


def tried(words: list[str], host: str, project: Path, given: dict[str, str]) -> tuple[bool, str]:
    """Whether a program does its work with a host, and what it says."""
    filled = [word.replace("{url}", f"https://{host}") for word in words]
    passed = [word for name in TRUSTS for word in ("--pass", name)]
    shown = [word for one in (BASE, VENV) for word in ("--show", one)]
    if uv := shutil.which("uv"):
        shown += ["--show", str(Path(uv).resolve().parent)]
    run = [
        PYTHON,
        "-m",
        "stanchion",
        "run",
        "--require",
        "--policy",
        "../policy.yaml",
        *passed,
        *shown,
        "--",
    ]
    done = subprocess.run(
        [*run, *filled],
        cwd=project,
        env=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    works = {
        "uv": "uvs/demo.py",
        "pip": "wheels/demo-1.0-py3-none-any.whl",
        "npm": "node_modules/demo",
    }
    made = next((path for name, path in works.items() if name in filled), None)
    if made is None:
        return HELLO in done.stdout, done.stdout[-500:] + done.stderr[-1500:]
    found = (project / made).exists()
    for folder in ("wheels", "node_modules", "uvs"):
        shutil.rmtree(project / folder, ignore_errors=True)
    for name in ("package.json", "package-lock.json"):
        (project / name).unlink(missing_ok=True)
    return found, done.stdout[-500:] + done.stderr[-1500:]


def main(names: list[str]) -> None:
    """Try programs, each with both hosts."""
    base = Path(tempfile.mkdtemp(prefix="stanchion-programs-"))
    project = base / "project"
    project.mkdir()
    try:
        with serving(base, make_service(base)) as ca:
            shutil.copy(ca, project / "ca.pem")
            given = {**os.environ, **dict.fromkeys(TRUSTS, str(project / "ca.pem"))}
            given |= {"STANCHION_STATE_DIR": str(base / "state")}
            for name in names:
                (base / "policy.yaml").write_text(POLICY + (HIDES if name == "Chromium" else ""))
                named, said = tried(PROGRAMS[name], NAMED, project, given)
                other, _ = tried(PROGRAMS[name], OTHER, project, given)
                print(json.dumps([name, named, other, said]), flush=True)
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:] or [name for name in PROGRAMS if not lacking(name)])
