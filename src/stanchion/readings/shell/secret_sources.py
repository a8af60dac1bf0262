"""Sources of secrets: commands whose output is a key, a password, a token or all variables."""

from __future__ import annotations

from typing import Final

from stanchion.readings.shell.effects import Said

SOURCE: Final = "<a store of secrets>"
"""What stands among the origins of a text that such a command printed."""

STORES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "terraform": (("state", "pull|show"), ("output",), ("show",)),
    "tofu": (("state", "pull|show"), ("output",)),
    "pulumi": (("stack", "export|output"), ("config",)),
    "aws": (
        ("secretsmanager", "get-secret-value|batch-get-secret-value"),
        ("ssm", "get-parameter|get-parameters|get-parameters-by-path"),
        ("sts", "get-session-token|assume-role|get-federation-token"),
        ("configure", "get|export-credentials"),
        ("iam", "create-access-key"),
        ("ecr|ecr-public", "get-login-password"),
    ),
    "gcloud": (
        ("auth", "print-access-token|print-identity-token|application-default"),
        ("secrets", "versions"),
    ),
    "az": (("account", "get-access-token"), ("keyvault", "secret"), ("acr", "credential")),
    "kubectl": (("get", "secret|secrets|secret/*"), ("config", "view"), ("create", "token")),
    "oc": (("get", "secret|secrets|secret/*"), ("whoami",), ("sa", "get-token")),
    "vault": (("kv", "get"), ("read",), ("token",), ("print", "token")),
    "op": (("read",), ("item", "get"), ("signin",)),
    "bw": (("get",), ("export",), ("list",)),
    "pass": (("show",), ("*",)),
    "gopass": (("show",),),
    "security": (("find-generic-password|find-internet-password|dump-keychain|export",),),
    "gh": (("auth", "token"),),
    "glab": (("auth", "token"), ("config", "get")),
    "git": (("credential", "fill"), ("credential-*",)),
    "heroku": (("config|auth:token|config:get",),),
    "doppler": (("secrets",), ("configure", "get")),
    "infisical": (("export|secrets",),),
    "sops": (("-d|--decrypt|decrypt|exec-env",),),
    "ansible-vault": (("view|decrypt",),),
    "secret-tool": (("lookup|search",),),
    "keyring": (("get",),),
    "lpass": (("show|export",),),
    "keepassxc-cli": (("show|export|clip",),),
    "chamber": (("read|export|list",),),
    "history": ((),),
    "fc": ((),),
    "gpg": (("--export-secret-keys|--export-secret-subkeys|-d|--decrypt",),),
    "reg": (("save", "*hklm*"),),
    "mimikatz": ((),),
    "lazagne": ((),),
    "secretsdump.py": ((),),
    "compgen": (("-v|-e",),),
}
"""Programs that hold secrets, with the words that make them tell one: `|` parts alternatives, `*`
stands for more."""


def tells_secret(command: Said) -> bool:
    """Whether what a command prints is a secret."""
    ways = STORES.get(command.name)
    if ways is None:
        return False
    words = [word.lower() for word in command.argv[1:] if word[:1] != "-" or len(ways[0]) == 1]
    return any(_follow(words, way) for way in ways)


def _follow(words: list[str], way: tuple[str, ...]) -> bool:
    """Whether the words have those of a way, in their order, whatever stands between."""
    at = 0
    for piece in way:
        options = piece.split("|")
        at = next((place + 1 for place in range(at, len(words)) if _fits(words[place], options)), 0)
        if not at:
            return False
    return True


def _fits(word: str, options: list[str]) -> bool:
    for option in options:
        bare = option.strip("*")
        if word == option or (
            option != bare and (word.startswith(bare) or (option[0] == "*" and bare in word))
        ):
            return True
    return False
