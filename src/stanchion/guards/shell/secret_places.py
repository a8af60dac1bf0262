"""Secret places: files and folders in which keys, passwords, tokens and traces of people are
kept."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.secret_sources import SOURCE

PUBLIC: Final = (
    ".pub", ".example", ".sample", ".template", ".dist", ".tmpl", ".crt", ".md", ".ssh/config",
    ".ssh/known_hosts", ".ssh/authorized_keys",
)  # fmt: skip
"""How the names of files end that tell no secret."""

FOLDERS: Final = (
    r"\.(?:ssh|gnupg|aws|azure|oci|aliyun|kube|docker|terraform\.d|password-store)",
    r"\.config/(?:gcloud|gh|hub|op|doctl|rclone|sops|helm|heroku|stripe|netlify|configstore)",
    (
        r"\.local/share/keyrings|keychains?|(?:var/)?run/secrets|etc/(?:ssl/private|wireguard|"
        r"kubernetes/pki)"
    ),
    (
        r"(?:google/chrome|google-chrome|chromium|bravesoftware|microsoft/edge|\.mozilla|mozilla/"
        r"firefox|firefox/profiles)"
    ),
    r"\.(?:ethereum|bitcoin|electrum|solana|exodus)",
)
"""Folders that are secret as a whole: of keys, of tools and clouds, of browsers, of money."""

FILES: Final = (
    (
        r"\.ssh/(?:id_\w+|identity|\*.*)|id_(?:rsa|ed25519|ecdsa|dsa)\w*|[\w.*-]*(?:\.pem|\.key|"
        r"-key\.txt)"
    ),
    (
        r"[\w.*-]*\.(?:kdbx|keytab|jks|p12|pfx|ppk|keystore)|master\.key|wallet\.dat|"
        r"login\.keychain(?:-db)?"
    ),
    (
        r"\.aws/(?:credentials|config|sso|\*).*|\.docker/(?:config\.json|\*)|\.kube/\S+|\.config/\w+/"
        r"\S+|\.gnupg/.*"
    ),
    (
        r"\.(?:netrc|pgpass|git-credentials|npmrc|pypirc|my\.cnf|htpasswd|boto|s3cfg|vault-token|"
        r"terraformrc)"
    ),
    (
        r"(?:\.(?:gem|cargo)/)?credentials(?:\.(?:json|toml|ya?ml|xml|db|ini))?|\.m2/settings\S*|"
        r"\.composer/auth\S*"
    ),
    r"\.(?:claude|codex|gemini|cursor|continue|aider)/[^/]*(?:auth|credential|token|key)\S*",
    (
        r"\.env(?:\.\w+|rc)?|[\w-]+\.env|secrets?\.(?:ya?ml|json|toml|txt)|"
        r"service[-_]?account[\w.-]*\.json"
    ),
    r"[\w.*-]*\.(?:tfstate(?:\.backup)?|tfvars)",
    r"\.\w+_history|fish_history|consolehost_history\.txt",
    (
        r"etc/(?:g?shadow|sudoers\S*|krb5\.keytab|ssh/ssh_host\S*)|proc/[^/]+/environ|(?:var/)?run/"
        r"secrets/\S+"
    ),
    r"login data|local state|cookies(?:\.sqlite)?|key[34]\.db|logins\.json|web data",
    r"sam|ntds\.dit|lsass\.dmp|system32/config/\w+|\.terraform\.d/\S+|\.azure/\S+",
)
"""Files: keys, stores of keys, what tools keep, settings with secrets, histories, what the system
keeps, browsers'."""

_SECRET: Final = regex(rf"(?:^|[/@=:])(?:(?:{'|'.join(FOLDERS)})(?:/.*)?|{'|'.join(FILES)})$")


def is_secret(path: str) -> bool:
    """Whether a path is where keys, passwords or traces of people are usually kept."""
    if path == SOURCE[1:]:
        return True
    low = path.lower().replace("\\", "/").rstrip("/")
    return not low.endswith(PUBLIC) and _SECRET.search(low) is not None
