"""Options and operands: which words of a command are which."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.word_lists import listed

AWS: Final = listed(
    "--profile --region --endpoint-url --output --query --color --cli-read-timeout --ca-bundle "
    "--count --backup-retention-period"
)
KUBE: Final = listed(
    "-n --namespace --context --cluster --kubeconfig --user --token -s --server --as --as-group "
    "--request-timeout -c --container -l --selector -o --output -f --filename --field-selector "
    "--grace-period --timeout --replicas --address --accept-hosts --type --verb --nodes "
    "--max --min"
)
DOCKER: Final = listed(
    "-H --host -c --context --config -l --log-level -f --file -p --project-name --profile "
    "--env-file --project-directory --cap-add --pid --userns --device --security-opt --mount "
    "--volume --availability --replicas --filter --format --namespace --address"
)
VALUED: Final[dict[str, frozenset[str]]] = {
    "git": listed(
        "-C -c -b -B --git-dir --work-tree --namespace --config-env --exec-path --super-prefix -m "
        "-F --message --file"
    ),
    "aws": AWS,
    "kubectl": KUBE,
    "oc": KUBE,
    "k3s": KUBE,
    "helm": KUBE,
    "docker": DOCKER,
    "podman": DOCKER,
    "nerdctl": DOCKER,
    "docker-compose": DOCKER,
    "podman-compose": DOCKER,
    "eksctl": KUBE,
    "argocd": KUBE,
    "flux": KUBE,
    "istioctl": KUBE,
    "velero": KUBE,
    "gcloud": listed(
        "--project --account --region --zone --format --configuration --location --filter"
    ),
    "az": listed(
        "--subscription -g --resource-group -n --name --query -o --output --method -m --mode "
        "--public-access --allow-blob-public-access --default-action --anonymous-pull-enabled "
        "--admin-enabled --public-network-access --source-address-prefixes --https-only --enabled"
    ),
    "heroku": listed("-a --app -r --remote"),
    "fly": listed("-a --app -c --config -t --target"),
    "flyctl": listed("-a --app -c --config"),
    "ansible": listed("-i --inventory -m --module-name -a --args -u -l --limit -e -f"),
    "doctl": listed("-t --access-token --context -c --config -o --output"),
    "etcdctl": listed("--endpoints --cacert --cert --key --user --password"),
    "curl": listed(
        "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode --data-ascii "
        "--json -F --form -o --output -u --user -T --upload-file -A --user-agent -e --referer -b "
        "--cookie -c --cookie-jar -x --proxy -m --max-time --connect-timeout --retry -w "
        "--write-out --cacert --cert --key --resolve -K --config -E --form-string --limit-rate -r "
        "--range -C --continue-at --interface --url --unix-socket -Y -y -z --oauth2-bearer --proto "
        "--proto-default --proto-redir --ciphers --tls-max --noproxy --max-redirs --max-filesize "
        "--retry-delay --retry-max-time --preproxy --socks4 --socks5 --socks5-hostname --stderr "
        "--connect-to --dns-servers --doh-url --netrc-file --pass --trace --trace-ascii "
        "--abstract-unix-socket"
    ),
    "wget": listed(
        "-O --output-document -o --output-file -P --directory-prefix -U --user-agent --header "
        "--post-data --post-file --user --password -t --tries -T --timeout -i --input-file "
        "--method --body-data --body-file --limit-rate -e --save-cookies --load-cookies -a "
        "--append-output -Q -A -R --referer --execute"
    ),
    "ssh": listed("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"),
    "scp": listed("-c -F -i -J -l -o -P -S -D -X"),
    "sftp": listed("-b -c -F -i -J -l -o -P -S -B -R"),
    "rsync": listed(
        "-e --rsh --exclude --include --exclude-from --include-from --files-from --filter -f "
        "--password-file --log-file --bwlimit --timeout --port --rsync-path -T --temp-dir "
        "--backup-dir --suffix --chmod --chown --partial-dir -B"
    ),
    "rm": frozenset(),
    "chmod": listed("--reference"),
    "chown": listed("--reference --from"),
    "chgrp": listed("--reference"),
    "mysql": listed(
        "-u --user -h --host -P --port -D --database -S --socket -e --execute "
        "--default-character-set"
    ),
    "mariadb": listed("-u --user -h --host -P --port -D --database -S --socket -e --execute"),
    "mysqladmin": listed("-u --user -h --host -P --port -S --socket"),
    "psql": listed(
        "-U --username -h --host -p --port -d --dbname -c --command -f --file -v --set --variable "
        "-F -o --output -P -R -T"
    ),
    "redis-cli": listed("-h -p -a -n -u -s --user --pass -r -i -D"),
    "mongo": listed("--host --port -u -p --eval --username --password --authenticationdatabase"),
    "mongosh": listed("--host --port -u -p --eval --username --password --authenticationdatabase"),
    "truncate": listed("-s --size -r --reference"),
    "shred": listed("-n --iterations -s --size --random-source"),
    "head": listed("-n -c --lines --bytes"),
    "tail": listed("-n -c --lines --bytes"),
    "grep": listed("-e -f -m -A -B -C --regexp --file --max-count --include --exclude --color"),
    "tee": frozenset(),
    "cp": listed("-t --target-directory -S --suffix"),
    "mv": listed("-t --target-directory -S --suffix"),
    "ln": listed("-t --target-directory -S --suffix"),
    "install": listed("-m --mode -o --owner -g --group -t -S"),
    "nc": listed("-p -s -w -q -e -c -i -X -x -I -O -T -V -g -G"),
    "ncat": listed("-p -s -w -q -e -c -i -m -d -o -x --exec --sh-exec"),
    "netcat": listed("-p -s -w -q -e -c -i -X -x -I -O -T -V -g -G"),
    "crontab": listed("-u"),
    "kill": listed("-s -n"),
    "pkill": listed("-u -U -g -G -P -s -t --signal"),
    "killall": listed("-u -s --signal -o -y -Z"),
    "systemctl": listed(
        "-H --host -M --machine -t --type -s --signal -p --property -n -o --output"
    ),
    "terraform": frozenset(),
    "gh": listed("-R --repo"),
    "glab": listed("-R --repo"),
    "vault": listed("-address -namespace -ca-cert -versions"),
    "tar": listed("-C --directory -T -X --exclude -f --file"),
    "zip": listed("-b -t -x -i"),
    "dig": listed("-p -q -t -c -k -y"),
    "find": frozenset(),
    "useradd": listed(
        "-b -c -d -e -f -g -G -k -p -s -u -K -R --uid --gid --groups --shell --home-dir --password"
    ),
    "usermod": listed(
        "-c -d -e -f -g -G -l -p -s -u -R --uid --gid --groups --shell --login --password"
    ),
    "iptables": frozenset(),
    "sed": listed("-e -f -l --expression --file"),
    "borg": listed("--rsh --remote-path --lock-wait"),
    "restic": listed("-r --repo -p --password-file -o"),
    "mc": listed("--config-dir -C --limit-upload"),
    "nats": listed("-s --server --context --user --password --creds"),
    "java": listed("-cp -classpath --class-path -s -auth -jar"),
    "deck": listed("--kong-addr --config --select-tag -s --state"),
    "wrangler": listed("--config -c --env -e --namespace-id --binding"),
}
"""Options that take the next word as their value, by command; a long option with `=` carries it."""

SLASHED: Final = listed(
    "del erase rd rmdir robocopy xcopy copy move format cipher schtasks bitsadmin reg shutdown net "
    "takeown icacls diskpart bcdedit wbadmin vssadmin attrib taskkill wmic sc"
)
"""Programs of Windows, whose options begin with a slash."""
SLASH: Final = 12
"""How long such an option may be; more is a path."""
NONE: Final[frozenset[str]] = frozenset()


class Sorted(NamedTuple):
    """A command's options, its operands, and the values options took."""

    flags: frozenset[str]
    operands: tuple[str, ...]
    values: tuple[tuple[str, str], ...]


def sort(name: str, args: tuple[str, ...]) -> Sorted:
    """Sort a command's words; short options that stand together count each."""
    valued = VALUED.get(name, NONE)
    flags: set[str] = set()
    operands: list[str] = []
    values: list[tuple[str, str]] = []
    at, count = 0, len(args)
    while at < count:
        arg = args[at]
        at += 1
        if arg[:1] == "/" and name in SLASHED and len(arg) <= SLASH and "/" not in arg[1:]:
            flag, colon, value = arg.partition(":")
            flags.add(flag.lower())
            if colon:
                values.append((flag.lower(), value))
        elif arg[:1] != "-" or arg == "-":
            operands.append(arg)
        elif arg == "--":
            operands += args[at:]
            break
        elif arg[:2] == "--":
            flag, equals, value = arg.partition("=")
            flag = flag.lower()
            flags.add(flag)
            if equals:
                values.append((flag, value))
            elif flag in valued:
                at = _take(flag, args, at, values)
        else:
            at = _short(arg, args, at, valued, flags, values)
    return Sorted(frozenset(flags), tuple(operands), tuple(values))


def _short(
    arg: str,
    args: tuple[str, ...],
    at: int,
    valued: frozenset[str],
    flags: set[str],
    values: list[tuple[str, str]],
) -> int:
    """Sort short options that stand in one word; where to go on."""
    flag, equals, value = arg.partition("=")
    flags.add(flag)
    if equals:
        values.append((flag, value))
    elif flag in valued:
        return _take(flag, args, at, values)
    for place in range(1, min(len(arg), 24)):
        letter = "-" + arg[place]
        flags.add(letter)
        if letter in valued:
            rest = arg[place + 1 :]
            if not rest:
                return _take(letter, args, at, values)
            values.append((letter, rest))
            break
    return at


def _take(flag: str, args: tuple[str, ...], at: int, values: list[tuple[str, str]]) -> int:
    """Take the next word as an option's value; where to go on. A long option is none: in `docker
    system prune -f --volumes` the letter is a switch, while it names a file elsewhere."""
    if at == len(args) or (args[at][:2] == "--" and len(args[at].split()) == 1):
        return at
    values.append((flag, args[at]))
    return at + 1
