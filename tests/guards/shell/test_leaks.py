"""Secrets that go out are found wherever they come from, and by whatever way they go."""

from __future__ import annotations

import pytest

from stanchion.guards.shell.places import is_secret
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.secret_sources import SOURCE


@pytest.mark.parametrize(
    "path",
    [
        "~/.ssh", "/root/.ssh/id_ed25519_work", "deploy.pem", ".env.production", "prod.env",
        "infra/terraform.tfstate", "~/.config/gcloud/x.db", "/proc/1/environ",
        "C:\\Users\\a\\AppData\\Local\\Google\\Chrome\\User Data", "~/.zsh_history", "vault.kdbx",
        "/var/run/secrets/kubernetes.io/token", "~/.cargo/credentials.toml", SOURCE[1:],
    ],
)  # fmt: skip
def test_a_secret_place(path: str) -> None:
    assert is_secret(path)


@pytest.mark.parametrize(
    "path",
    [
        "~/.ssh/id_rsa.pub", "~/.ssh/config", ".env.example", "src/environment.ts",
        "docs/credentials.md", "keys.py", "monkey", "tests/env.py", "server.crt", "cookies.py",
        "src/secrets/index.ts", "history.md",
    ],
)  # fmt: skip
def test_no_secret_place(path: str) -> None:
    assert not is_secret(path)


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("cp a b; cat b", "<a"),
        ("cp a b; cp b c; cat c", "<a"),
        ("gh auth token > t; cat ./t", SOURCE),
        ("tar cf x.tar folder; cat x.tar", "<folder"),
        ("ln -s a b; cat b", "<a"),
        ("cp a d/b; tar cf - d", "<a"),
    ],
)
def test_a_file_carries_where_it_comes_from(text: str, origin: str) -> None:
    assert origin in analysed(text).commands[-1].carries


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("aws secretsmanager get-secret-value --secret-id x | cat", True),
        ("aws --profile p ssm get-parameter --name x | cat", True),
        ("aws s3 ls | cat", False),
        ("kubectl -n a get secret/x -o yaml | cat", True),
        ("kubectl get pods | cat", False),
        ("vault status | cat", False),
        ("gpg --export-secret-keys | cat", True),
        ("gpg --verify a | cat", False),
    ],
)
def test_a_store_tells_a_secret(text: str, told: bool) -> None:
    assert (SOURCE in analysed(text).commands[-1].origin) is told
