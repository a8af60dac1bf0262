"""Secrets that go out are found wherever they come from, and by whatever way they go."""

from __future__ import annotations

import pytest

from stanchion.guards.shell.places import KEY_SIGNS, KEYS, KeyPlace, is_key, is_secret
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


@pytest.mark.parametrize("key", KEYS, ids=lambda key: "/".join([key.below, *key.parts]))
def test_each_key_has_its_signs(key: KeyPlace) -> None:
    path = "/".join(["~" if key.below else "", *key.parts]).replace("*", "x").replace("?", " ")
    assert is_key(path)
    assert KEY_SIGNS.search(path)


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("~/.ss[h]/id_rsa", True),
        ("/home/*/.ssh/id_*", True),
        ("../.n?trc", True),
        ("/var/root/.a*/credentials", True),
        ("/proc/*/task/*/environ", True),
        ("~/.s?h/*", True),
        ("src/.n?trc", False),
        ("~/*/credentials", False),
        ("~/*", False),
        ("/srv/*/.netrc*", False),
        ("~/.ssh/id_*.pub", False),
        ("/etc/*.conf", False),
        ("/opt/etc/sh*dow", False),
        ("/proc/*/cmdline", False),
    ],
)
def test_wildcards_name_the_keys_that_they_can_match(path: str, known: bool) -> None:
    assert is_key(path) is known


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
