"""A timestamp service on this machine, made of `openssl ts`."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

OPENSSL = shutil.which("openssl")

SETTINGS = """
[req]
distinguished_name = who
prompt = no
[who]
CN = a witness for tests
[signs]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[stamps]
basicConstraints = CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
authorityKeyIdentifier = keyid
[service]
serial = {folder}/serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
"""


class Service:
    """Signs what it is asked to; `root` is the certificate of who vouches for it, `stranger` one
    that does not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.root, self.stranger = folder / "root.pem", folder / "stranger.pem"
        self.answers: Callable[[bytes], bytes] = self._signed
        (folder / "settings").write_text(SETTINGS.format(folder=folder), encoding="ascii")
        (folder / "serial").write_text("01\n", encoding="ascii")
        for name in ("root", "stranger"):
            self._key(name)
            signs = ("-config", "settings", "-extensions", "signs", "-days", "3650")
            self._run("req", "-x509", "-new", "-key", f"{name}.key", *signs, "-out", f"{name}.pem")
        self._key("service")
        self._run(
            "req", "-new", "-key", "service.key", "-config", "settings", "-out", "service.csr"
        )
        by = ("-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-extfile", "settings")
        self._run(
            "x509",
            "-req",
            "-in",
            "service.csr",
            *by,
            "-extensions",
            "stamps",
            "-out",
            "service.pem",
        )

    def _key(self, name: str) -> None:
        self._run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")

    def _run(self, *words: str) -> bytes:
        assert OPENSSL is not None
        return subprocess.run(
            [OPENSSL, *words], cwd=self._folder, capture_output=True, check=True
        ).stdout

    def _signed(self, query: bytes) -> bytes:
        (self._folder / "query").write_bytes(query)
        by = (
            "-config",
            "settings",
            "-section",
            "service",
            "-signer",
            "service.pem",
            "-inkey",
            "service.key",
        )
        return self._run("ts", "-reply", "-queryfile", "query", *by)


@contextlib.contextmanager
def serving(service: Service) -> Iterator[str]:
    """Let it listen; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            answer = service.answers(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
