"""Services: things in clouds, clusters, containers and servers that a command line would delete or
stop."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import CORE, Roots, under
from stanchion.guards.shell.rule import Family, Rule
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.effects import is_remote

GONE: Final = "deletes something that a service holds"
DELETES: Final = "** delete|destroy|purge|remove|delete-*|remove-*"
PATHS: Final = (
    "/dodelete",
    "/_delete_by_query",
    "/_close",
    "/delete_series",
    "/_forcemerge",
    "/delete",
    "/destroy",
    "/purge",
    "/terminate",
    "/kill",
)

_CHANGING: Final = regex(
    r"(?i)(?<![a-z])(?:destroy|delete|update|save|create|insert|upsert|increment|decrement|toggle|"
    r"touch|remove|truncate|"
    r"drop|execute|exec|system|spawn|eval|instance_eval|send|public_send|transfer|block|ban|"
    r"archive|disable|enable|reset|"
    r"revoke|assign|write|unlink|clear|purge|import|perform|call|new|transition|rename|move|merge|"
    r"approve)(?![a-z])"
    r"|\w!|\.\w+\s*[-+*/|&]{0,2}=(?![=~])|`|%x|<<"
)
"""What Ruby says where something stored may change: a method, one with a bang, an attribute that is
set, a command."""
_STRAY: Final = regex(r"\S*\.rb(?: .*)?|-?|/\S*")
"""A file, the input, or nothing."""


def _method(command: Command, _roots: Roots) -> bool:
    given = [
        value for flag, value in command.sorted.values if flag in ("-X", "--request", "--method")
    ]
    urls = [word.lower().partition("?")[0].rstrip("/") for word in command.operands]
    if any(value.upper() == "DELETE" for value in given):
        return True
    posts = any(value.upper() in ("POST", "PUT", "PATCH") for value in given)
    return posts and any(url.endswith(PATHS) for url in urls)


def _httpie(command: Command, _roots: Roots) -> bool:
    operands = command.operands
    if not operands:
        return False
    if operands[0].upper() == "DELETE":
        return True
    return operands[0].upper() in ("POST", "PUT") and any(
        url.lower().endswith(PATHS) for url in operands[1:2]
    )


def _changes_records(command: Command, _roots: Roots) -> bool:
    """Whether code for a runner of Rails may change what is stored; a file of it is not known."""
    code = " ".join(command.operands[1:])
    return (
        not command.known
        or _STRAY.fullmatch(code) is not None
        or _CHANGING.search(code) is not None
    )


def _onto_system(command: Command, _roots: Roots) -> bool:
    last = command.operands[-1] if command.operands else ""
    return is_remote(last) and bool(
        under(last.partition(":")[2].rstrip("/"), (*CORE, "/", "/root", "/var", "/opt"))
    )


HELD_BY_SERVICES: Final = (
    "ad",
    "az",
    "ec2",
    "s3",
    "rds",
    "vm",
    "smbshare",
    "dns",
    "mailbox",
    "msol",
    "mg",
    "spo",
)


def _removes(command: Command, _roots: Roots) -> bool:
    verb, _, noun = command.name.partition("-")
    return verb in ("remove", "clear", "reset", "disable", "stop") and noun.startswith(
        HELD_BY_SERVICES
    )


def _api_delete(command: Command, _roots: Roots) -> bool:
    return any(word.upper() == "DELETE" for word in command.argv)


def _deletes_pods(command: Command) -> bool:
    """Whether nothing but pods is deleted, which what manages them starts again."""
    kinds = command.operands[1].lower().partition("/")[0] if len(command.operands) > 1 else ""
    return kinds in ("pod", "pods", "po") and command.flags.isdisjoint(
        {"-f", "--filename", "-k", "--kustomize"}
    )


def _ends_pods(command: Command, _roots: Roots) -> bool:
    return command.operands[:1] == ("drain",) or (
        command.operands[:1] == ("delete",) and _deletes_pods(command)
    )


FAMILY: Final = Family(
    "service",
    "others",
    (
        Rule(
            "aws",
            GONE,
            words=(
                "* delete-*|remove-*|terminate-*|purge-*|batch-delete-*|schedule-key-deletion|"
                "release-*"
            ),
            check=lambda c, _: c.operands[1] != "delete-message",
        ),
        Rule(
            "aws",
            "takes rights or settings away",
            words="* deregister-*|revoke-*|detach-*|disable-*|reset-*",
            loss="changed",
        ),
        Rule("aws", GONE, words="s3 rm|rb"),
        Rule("aws", GONE, words="s3 sync|mv", flags="--delete"),
        Rule("aws", "stops machines", words="ec2|rds|redshift stop-*|reboot-*", loss="changed"),
        Rule(
            "aws",
            "changes a secret",
            words="secretsmanager update-secret*|put-secret-value|restore-secret|rotate-secret|"
            "put-resource-policy|"
            "cancel-rotate-secret",
            loss="changed",
        ),
        Rule(
            "aws",
            "changes a secret",
            words="ssm put-parameter",
            flags="--overwrite",
            loss="changed",
        ),
        Rule(
            "aws",
            "changes who may do what",
            words="iam put-user-policy|attach-user-policy|attach-role-policy|create-access-key|"
            "update-assume-role-policy",
            loss="changed",
        ),
        Rule(
            "aws",
            "lets things be deleted later",
            words="s3api put-bucket-lifecycle*",
            loss="changed",
        ),
        Rule(
            "aws",
            "changes records of names",
            words="route53 change-resource-record-sets",
            loss="changed",
        ),
        Rule("*", GONE, marks="cmdlet", check=_removes),
        Rule("gcloud", GONE, words="** delete|destroy|purge|rm"),
        Rule(
            "gcloud",
            "takes rights or settings away",
            words="** undeploy|reset|remove-iam-policy-binding|disable",
            loss="changed",
        ),
        Rule("gsutil", GONE, words="** rm|rb"),
        Rule("gsutil", GONE, words="** rsync", flags="-d"),
        Rule("bq", GONE, words="** rm"),
        Rule(
            "az",
            GONE,
            words="** delete|purge|delete-batch",
            check=lambda c, _: c.operands[:1] != ("lock",),
        ),
        Rule("az", "takes rights or settings away", words="** remove|revoke", loss="changed"),
        Rule("az", "takes rights or settings away", words="lock delete", loss="changed"),
        Rule("azcopy", GONE, words="remove|rm"),
        Rule("kubectl oc", GONE, words="delete", check=lambda c, _: not _deletes_pods(c)),
        Rule(
            "kubectl oc",
            "ends what runs until it is started again",
            check=_ends_pods,
            loss="changed",
        ),
        Rule(
            "kubectl oc",
            "stops everything of a kind",
            words="scale",
            flags="--replicas",
            check=lambda c, _: ("--replicas", "0") in c.sorted.values,
            loss="changed",
        ),
        Rule("kubectl oc", GONE, words="replace", flags="--force"),
        Rule(
            "kubectl oc",
            "takes a machine out of a cluster",
            words="cordon|taint",
            loss="changed",
            strict=True,
        ),
        Rule("helm", GONE, words="uninstall|delete|del|rollback"),
        Rule(
            "helm",
            "replaces what runs",
            words="upgrade",
            flags="--force|--reset-values",
            loss="changed",
        ),
        Rule("kustomize", GONE, words="delete"),
        Rule("terraform tofu terragrunt", GONE, words="destroy|force-unlock|run-all"),
        Rule(
            "terraform tofu terragrunt", "has a resource made anew", words="taint", loss="changed"
        ),
        Rule(
            "terraform tofu terragrunt",
            GONE,
            words="apply",
            flags="-destroy|--destroy|-auto-approve|--auto-approve",
            loss="changed",
        ),
        Rule("terraform tofu terragrunt", GONE, words="state|workspace rm|mv|delete|push"),
        Rule("pulumi", GONE, words="destroy"),
        Rule(
            "pulumi",
            "changes things unasked",
            words="up|refresh|cancel",
            flags="-y|--yes|-f",
            loss="changed",
        ),
        Rule("pulumi", GONE, words="stack|state rm|delete"),
        Rule("cdk sam sls serverless copilot", GONE, words="destroy|delete|remove"),
        Rule("eksctl", GONE, words="delete", strict=True),
        Rule(
            "ansible",
            "runs a command on every host",
            check=lambda c, _: any("state=absent" in w or "rm -" in w for w in c.argv),
        ),
        Rule(
            "docker podman nerdctl",
            "ends and deletes a container",
            words="rm",
            flags="-f|--force",
            loss="changed",
        ),
        Rule(
            "docker podman nerdctl",
            "ends and deletes a container",
            words="container|pod rm|remove",
            flags="-f|--force",
            loss="changed",
        ),
        Rule(
            "docker podman nerdctl",
            "deletes images",
            words="rmi",
            flags="-f|--force",
            loss="recoverable",
        ),
        Rule(
            "docker podman nerdctl",
            "deletes images",
            words="image rm|remove",
            flags="-f|--force",
            loss="recoverable",
        ),
        Rule(
            "docker podman nerdctl",
            GONE,
            words="volume|secret|config|service|stack|swarm rm|remove|prune|leave",
        ),
        Rule("docker podman nerdctl", GONE, words="system prune", flags="--volumes"),
        Rule("podman", GONE, words="system reset"),
        Rule(
            "docker podman nerdctl",
            "deletes images that are in no use",
            words="system|image prune",
            flags="-a|--all",
            loss="recoverable",
        ),
        Rule("docker podman nerdctl", "stops a container", words="kill", loss="changed"),
        Rule("docker podman nerdctl", "stops a container", words="container kill", loss="changed"),
        Rule(
            "docker podman nerdctl",
            GONE,
            words="compose down|rm",
            flags="-v|--volumes",
            strict=True,
        ),
        Rule(
            "docker-compose podman-compose",
            GONE,
            words="down|rm",
            flags="-v|--volumes",
            strict=True,
        ),
        Rule(
            "docker docker-compose",
            "deletes images",
            words="** down",
            flags="--rmi",
            loss="recoverable",
        ),
        Rule(
            "docker podman nerdctl",
            "stops a server",
            words="stop nginx|haproxy|traefik|kong",
            loss="changed",
        ),
        Rule(
            "gh",
            GONE,
            words="repo|release|secret|variable|run|gist|issue|codespace|workflow|environment|"
            "ssh-key|gpg-key|project "
            "delete|archive|disable|remove",
        ),
        Rule("gh", GONE, words="repo deploy-key|autolink delete"),
        Rule("gh", "stops what runs", words="run cancel", loss="changed"),
        Rule("gh glab", GONE, words="api", check=_api_delete),
        Rule("glab", GONE, words="** delete|archive", check=lambda c, _: c.operands[0] != "alias"),
        Rule("gitlab-runner", GONE, words="unregister|stop|uninstall", loss="changed"),
        Rule("gitlab-rails", GONE, words="console|c|dbconsole|db", loss="changed"),
        Rule("gitlab-rails", GONE, words="runner|r", check=_changes_records, loss="changed"),
        Rule("vault", GONE, words="** delete|destroy|revoke|disable|seal|step-down"),
        Rule(
            "vault", "changes a secret", words="kv put|patch|rollback|undelete", loss="recoverable"
        ),
        Rule("op", GONE, words="** delete|revoke"),
        Rule("doppler", GONE, words="** delete|revoke"),
        Rule("circleci", GONE, words="** delete|remove-secret|unlist"),
        Rule("ldcli", GONE, words="** delete|archive"),
        Rule("flipt unleash", GONE, words="** delete|archive"),
        Rule("split", GONE, words="** kill|delete"),
        Rule("fastly", GONE, words="** delete|purge|activate|deactivate|service-version"),
        Rule("velero", GONE, words="** delete|uninstall"),
        Rule("borg", GONE, words="** delete|prune|compact|recreate|break-lock"),
        Rule("restic", GONE, words="** forget|prune|unlock|rewrite|remove"),
        Rule("restic", GONE, words="cache", flags="--cleanup"),
        Rule("duplicity", GONE, words="remove-*|cleanup"),
        Rule(
            "rclone",
            GONE,
            words="delete|deletefile|purge|rmdir|rmdirs|move|moveto|sync|cleanup|dedupe|bisync",
        ),
        Rule("mc mcli", GONE, words="rm|rb|undo"),
        Rule("mc mcli", GONE, words="mirror", flags="--remove|--overwrite"),
        Rule("mc mcli", GONE, words="admin * remove|rm|delete|unset|detach|disable|stop"),
        Rule("mc mcli", GONE, words="** remove|rm|delete|unset|clear"),
        Rule("nats", GONE, words="** rm|del|delete|purge|remove|edit"),
        Rule("rabbitmqadmin", GONE, words="delete|purge|close"),
        Rule(
            "rabbitmqctl",
            GONE,
            words=(
                "delete_*|purge_queue|reset|force_reset|forget_cluster_node|stop_app|stop|"
                "clear_*|close_*"
            ),
        ),
        Rule(
            "kafka-topics kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh "
            "kafka-acls kafka-acls.sh",
            GONE,
            flags="--delete|--remove|--reset-offsets|--delete-offsets",
        ),
        Rule("kafka-configs kafka-configs.sh", "changes a server", flags="--alter"),
        Rule(
            "kafka-delete-records kafka-delete-records.sh kafka-leader-election kafka-storage", GONE
        ),
        Rule(
            "kafka-reassign-partitions kafka-reassign-partitions.sh",
            GONE,
            flags="--execute",
            loss="changed",
        ),
        Rule("stripe", GONE, words="** delete|cancel|archive"),
        Rule("pd", GONE, words="** delete|remove"),
        Rule("newrelic datadog-ci apigeecli", GONE, words="** delete|undeploy|clean"),
        Rule("deck", GONE, words="gateway sync|reset"),
        Rule("deck", GONE, words="sync|reset"),
        Rule("kong", "changes a server", words="migrations reset|down|stop"),
        Rule("kong", "stops a server", words="stop|quit"),
        Rule("algolia", GONE, words="** delete|clear|reset"),
        Rule("wrangler", GONE, words="** delete|rollback|bulk-delete|purge"),
        Rule("wrangler", GONE, check=lambda c, _: any(w.endswith(":delete") for w in c.operands)),
        Rule(
            "jenkins-cli java",
            GONE,
            words="delete-*|quiet-down|safe-shutdown|shutdown|safe-restart|clear-queue",
        ),
        Rule(
            "heroku",
            GONE,
            words=(
                "apps:destroy|pg:reset|addons:destroy|ps:stop|releases:rollback|config:unset|"
                "destroy"
            ),
            strict=True,
        ),
        Rule("fly flyctl", GONE, words="** destroy|delete"),
        Rule(
            "vercel netlify firebase supabase railway render",
            GONE,
            words="** rm|remove|destroy|delete|sites:delete|env:unset|firestore:delete|"
            "database:remove|hosting:disable|"
            "reset",
        ),
        Rule(
            "doctl hcloud linode-cli vultr-cli scw ibmcloud oci",
            GONE,
            words="** delete|terminate|destroy|rm|purge",
            strict=True,
        ),
        Rule("consul nomad", GONE, words="** delete|deregister|purge|stop|leave"),
        Rule("etcdctl", GONE, words="del|** remove"),
        Rule("nsupdate", "changes records of names", loss="changed"),
        Rule("flarectl", GONE, words="** delete"),
        Rule("curl wget", GONE, check=_method),
        Rule("http https xh", GONE, check=_httpie),
        Rule(
            "scp rsync",
            "writes into a folder of another host's system",
            check=_onto_system,
            loss="changed",
        ),
        Rule(
            "rsync",
            GONE,
            check=lambda c, _: (
                is_remote(c.operands[-1] if c.operands else "")
                and any(f.startswith("--del") for f in c.flags)
            ),
            loss="changed",
        ),
        Rule("ssh-keygen", "forgets or replaces keys", flags="-R", loss="changed"),
        Rule("ssh-add", "forgets keys", flags="-D", loss="changed"),
        Rule(
            "npm yarn pnpm cargo gem",
            "takes a published package away",
            words="unpublish|deprecate|yank",
            loss="changed",
        ),
        Rule(
            "gradle gradlew mvn mvnw",
            "publishes a package",
            words="** publish|deploy|publishtomavencentral|uploadarchives",
            loss="visible",
        ),
        Rule("node python python3 ruby php", GONE, marks="deletes", loss="changed"),
        Rule("splunk", GONE, words="** remove|clean|stop|delete"),
        Rule("promtool", GONE, words="tsdb clean|delete", loss="changed"),
        Rule("virsh", GONE, words="undefine|destroy|vol-delete|pool-delete", loss="changed"),
    ),
)

HITS: Final = (
    "aws s3 rb s3://b --force",
    "aws ec2 terminate-instances --instance-ids i-1",
    "aws --profile p rds delete-db-instance",
    "gcloud projects delete p",
    "az group delete --name g --yes",
    "kubectl delete namespace prod",
    "kubectl delete pod web-1",
    "kubectl drain node-3",
    "kubectl delete pods,services --all",
    "aws ec2 revoke-security-group-ingress --group-id g",
    "az lock delete --name l",
    "helm uninstall app",
    "terraform destroy -auto-approve",
    "docker system prune -a --volumes",
    "docker rm -f db",
    "docker image prune -a",
    "podman system reset",
    "docker system prune --volumes -f",
    "docker compose down --rmi all",
    "docker volume rm data",
    "gh repo delete o/r --yes",
    "vault kv destroy -versions=1 secret/x",
    "curl -X DELETE https://api.example/v1/x",
    "http DELETE :9200/x",
    "rclone purge r:b",
    "redis=1; kubectl -n prod delete pods --all",
    "mc rb --force m/b",
    "scp app root@h:/usr/bin/",
    "pulumi stack rm prod",
    "npm unpublish x",
    "gitlab-rails runner 'Project.where(archived: true).destroy_all'",
    "gitlab-rails runner 'u = User.first; u.admin = true'",
    "gitlab-rails runner 'User.find(1).tap(&:block)'",
    "gitlab-rails runner /tmp/job.rb",
    "gitlab-rails console",
)
MISSES: Final = (
    "aws s3 ls",
    "aws sqs delete-message --queue-url u --receipt-handle h",
    "aws s3 rm help",
    "gcloud projects list",
    "az group list",
    "kubectl get pods",
    "kubectl describe ns prod",
    "helm list",
    "terraform plan",
    "docker ps",
    "docker rm old",
    "docker system prune -f",
    "docker builder prune --force",
    "docker container prune -f",
    "podman image prune",
    "docker network prune",
    "glab alias delete co",
    "docker run --rm img",
    "gh pr view 7",
    "vault kv get secret/x",
    "curl -X GET https://api.example/v1/x",
    "curl https://api.example/delete",
    "rclone ls r:b",
    "mc ls m/b",
    "scp h:/etc/hosts .",
    "docker compose down -v",
    "kubectl delete pod x --dry-run=client",
    "npm publish",
    "echo kubectl delete ns prod",
    "gitlab-rails runner 'Project.all.each { |p| puts p.name }'",
    "gitlab-rails runner 'puts User.where(admin: true).count'",
    "gitlab-rails runner 'p Ci::Runner.pluck(:description)'",
)
