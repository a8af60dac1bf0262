"""Passwords and tokens that programs keep for their users."""

from __future__ import annotations

from typing import Final

from stanchion.guards.files.protected.rule import Protected, Shown, homes

RULES: Final = (
    Protected(
        "credentials of a cloud",
        (
            "**/.aws/credentials*", "**/.aws/sso/**", "**/.azure/**", "**/.config/gcloud/**",
            "**/gcloud/credentials.db", "**/.kube/**", "kubeconfig", "**/.docker/config.json", "**/.oci/**",
            "**/.terraform.d/credentials*",
            "**/.config/gh/hosts.yml", "**/.config/doctl/**", "service-account*.json", "service_account*.json",
            "credentials.json", "client_secret*.json", "application_default_credentials.json", ".vault-token",
        ),
    ),
    Protected(
        "a file of passwords",
        (
            ".netrc", "_netrc", ".pgpass", ".my.cnf", ".git-credentials", ".pypirc", ".htpasswd", ".dockercfg",
            ".s3cfg", ".boto", "unattend.xml", "sysprep.xml", "sysprep.inf", *homes(".npmrc", ".cargo/credentials*"),
        ),
    ),
    Protected(
        "a history of commands",
        (
            ".bash_history", ".zsh_history", ".sh_history", ".mysql_history", ".psql_history", ".python_history",
            "ConsoleHost_history.txt",
        ),
    ),
    Protected(
        "what a browser keeps",
        (
            "Login Data", "**/Chrome/**/Cookies", "**/Chromium/**/Cookies", "**/google-chrome/**/Cookies",
            "**/.mozilla/**/cookies.sqlite", "**/Firefox/**/cookies.sqlite", "**/.mozilla/**/logins.json",
            "**/Firefox/**/logins.json", "**/.mozilla/**/key4.db", "**/Firefox/**/key4.db",
        ),
    ),
)  # fmt: skip

HITS: Final[Shown] = (
    ("~/.aws/credentials", "read"),
    ("/home/ada/.kube/config", "read"),
    ("/root/.docker/config.json", "write"),
    ("~/.netrc", "read"),
    (".git-credentials", "read"),
    ("infra/service-account-prod.json", "read"),
    ("~/.npmrc", "read"),
    ("/var/www/.bash_history", "read"),
    ("user/.htpasswd", "read"),
    ("~/Library/Application Support/Google/Chrome/Default/Cookies", "read"),
    ("~/.mozilla/firefox/x.default/logins.json", "read"),
    ("C:/unattend.xml", "read"),
)
MISSES: Final[Shown] = (
    ("~/.aws/config", "read"),
    (".npmrc", "write"),
    ("src/credentials.py", "write"),
    ("docs/credentials.md", "read"),
    ("cookies.sqlite", "read"),
    ("kube/deployment.yaml", "write"),
    ("docker/config.json", "write"),
    ("bash_history.md", "read"),
)
