"""Services: things in clouds, clusters, containers and servers that a command line would delete or stop."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import CORE, Roots, under
from stanchion.guards.shell.rule import Family, Rule
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


def _method(command: Command, _roots: Roots) -> bool:
    given = [value for flag, value in command.sorted.values if flag in ("-X", "--request", "--method")]
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
    return operands[0].upper() in ("POST", "PUT") and any(url.lower().endswith(PATHS) for url in operands[1:2])


def _onto_system(command: Command, _roots: Roots) -> bool:
    last = command.operands[-1] if command.operands else ""
    return is_remote(last) and bool(under(last.partition(":")[2].rstrip("/"), (*CORE, "/", "/root", "/var", "/opt")))


def _api_delete(command: Command, _roots: Roots) -> bool:
    return any(word.upper() == "DELETE" for word in command.argv)


FAMILY: Final = Family(
    "service",
    (
        Rule(
            "aws",
            GONE,
            words="* delete-*|remove-*|terminate-*|purge-*|deregister-*|batch-delete-*|revoke-*|detach-*|disable-*|"
            "schedule-key-deletion|reset-*|release-*",
            level="danger",
        ),
        Rule("aws", GONE, words="s3 rm|rb"),
        Rule("aws", GONE, words="s3 sync|mv", flags="--delete"),
        Rule("aws", "stops machines", words="ec2|rds|redshift stop-*|reboot-*", level="doubt"),
        Rule(
            "aws",
            "changes a secret",
            words="secretsmanager update-secret*|put-secret-value|restore-secret|rotate-secret|put-resource-policy|"
            "cancel-rotate-secret",
            level="doubt",
        ),
        Rule("aws", "changes a secret", words="ssm put-parameter", flags="--overwrite", level="doubt"),
        Rule(
            "aws",
            "changes who may do what",
            words="iam put-user-policy|attach-user-policy|attach-role-policy|create-access-key|"
            "update-assume-role-policy",
            level="doubt",
        ),
        Rule("aws", "changes records of names", words="route53 change-resource-record-sets", level="doubt"),
        Rule("gcloud", GONE, words="** delete|undeploy|destroy|reset|purge|rm|remove-iam-policy-binding|disable"),
        Rule("gsutil", GONE, words="** rm|rb"),
        Rule("gsutil", GONE, words="** rsync", flags="-d"),
        Rule("bq", GONE, words="** rm"),
        Rule("az", GONE, words="** delete|purge|delete-batch|remove|revoke"),
        Rule("azcopy", GONE, words="remove|rm"),
        Rule("kubectl oc", GONE, words="delete|drain"),
        Rule(
            "kubectl oc",
            "stops everything of a kind",
            words="scale",
            flags="--replicas",
            check=lambda c, _: ("--replicas", "0") in c.sorted.values,
            level="doubt",
        ),
        Rule("kubectl oc", GONE, words="replace", flags="--force"),
        Rule("kubectl oc", "takes a machine out of a cluster", words="cordon|taint", level="doubt", strict=True),
        Rule("helm", GONE, words="uninstall|delete|del|rollback"),
        Rule("helm", "replaces what runs", words="upgrade", flags="--force|--reset-values", level="doubt"),
        Rule("kustomize", GONE, words="delete"),
        Rule("terraform tofu terragrunt", GONE, words="destroy|taint|force-unlock|run-all"),
        Rule(
            "terraform tofu terragrunt",
            GONE,
            words="apply",
            flags="-destroy|--destroy|-auto-approve|--auto-approve",
            level="doubt",
        ),
        Rule("terraform tofu terragrunt", GONE, words="state|workspace rm|mv|delete|push"),
        Rule("pulumi", GONE, words="destroy"),
        Rule("pulumi", "changes things unasked", words="up|refresh|cancel", flags="-y|--yes|-f", level="doubt"),
        Rule("pulumi", GONE, words="stack|state rm|delete"),
        Rule("cdk sam sls serverless copilot", GONE, words="destroy|delete|remove"),
        Rule("eksctl", GONE, words="delete", strict=True),
        Rule(
            "ansible",
            "runs a command on every host",
            check=lambda c, _: any("state=absent" in w or "rm -" in w for w in c.argv),
        ),
        Rule("docker podman nerdctl", GONE, words="rm|rmi", flags="-f|--force"),
        Rule("docker podman nerdctl", GONE, words="container|image|pod rm|remove", flags="-f|--force"),
        Rule("docker podman nerdctl", GONE, words="volume|secret|config|service|stack|swarm rm|remove|prune|leave"),
        Rule("docker podman nerdctl", GONE, words="system|container|image|network|builder|buildx prune|reset"),
        Rule("docker podman nerdctl", "stops a container", words="kill", level="doubt"),
        Rule("docker podman nerdctl", "stops a container", words="container kill", level="doubt"),
        Rule("docker podman nerdctl", GONE, words="compose down|rm", flags="-v|--volumes", strict=True),
        Rule("docker-compose podman-compose", GONE, words="down|rm", flags="-v|--volumes", strict=True),
        Rule("docker docker-compose", GONE, words="** down", flags="--rmi", level="doubt"),
        Rule("docker podman nerdctl", "stops a server", words="stop nginx|haproxy|traefik|kong", level="doubt"),
        Rule(
            "gh",
            GONE,
            words="repo|release|secret|variable|run|gist|issue|codespace|workflow|environment|ssh-key|gpg-key|project "
            "delete|archive|disable|remove",
        ),
        Rule("gh", GONE, words="repo deploy-key|autolink delete"),
        Rule("gh", "stops what runs", words="run cancel", level="doubt"),
        Rule("gh glab", GONE, words="api", check=_api_delete),
        Rule("glab", GONE, words="** delete|archive"),
        Rule("gitlab-runner", GONE, words="unregister|stop|uninstall", level="doubt"),
        Rule("gitlab-rails", GONE, words="console|runner", level="doubt"),
        Rule("vault", GONE, words="** delete|destroy|revoke|disable|seal|step-down"),
        Rule("vault", "changes a secret", words="kv put|patch|rollback|undelete", level="note"),
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
        Rule("rclone", GONE, words="delete|deletefile|purge|rmdir|rmdirs|move|moveto|sync|cleanup|dedupe|bisync"),
        Rule("mc mcli", GONE, words="rm|rb|undo"),
        Rule("mc mcli", GONE, words="mirror", flags="--remove|--overwrite"),
        Rule("mc mcli", GONE, words="admin * remove|rm|delete|unset|detach|disable|stop"),
        Rule("mc mcli", GONE, words="** remove|rm|delete|unset|clear"),
        Rule("nats", GONE, words="** rm|del|delete|purge|remove|edit"),
        Rule("rabbitmqadmin", GONE, words="delete|purge|close"),
        Rule(
            "rabbitmqctl",
            GONE,
            words="delete_*|purge_queue|reset|force_reset|forget_cluster_node|stop_app|stop|clear_*|close_*",
        ),
        Rule(
            "kafka-topics kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-acls kafka-acls.sh",
            GONE,
            flags="--delete|--remove|--reset-offsets|--delete-offsets",
        ),
        Rule("kafka-configs kafka-configs.sh", "changes a server", flags="--alter"),
        Rule("kafka-delete-records kafka-delete-records.sh kafka-leader-election kafka-storage", GONE),
        Rule("kafka-reassign-partitions kafka-reassign-partitions.sh", GONE, flags="--execute", level="doubt"),
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
        Rule("jenkins-cli java", GONE, words="delete-*|quiet-down|safe-shutdown|shutdown|safe-restart|clear-queue"),
        Rule(
            "heroku",
            GONE,
            words="apps:destroy|pg:reset|addons:destroy|ps:stop|releases:rollback|config:unset|destroy",
            strict=True,
        ),
        Rule("fly flyctl", GONE, words="** destroy|delete"),
        Rule(
            "vercel netlify firebase supabase railway render",
            GONE,
            words="** rm|remove|destroy|delete|sites:delete|env:unset|firestore:delete|database:remove|hosting:disable|"
            "reset",
        ),
        Rule(
            "doctl hcloud linode-cli vultr-cli scw ibmcloud oci",
            GONE,
            words="** delete|terminate|destroy|rm|purge",
            strict=True,
        ),
        Rule("consul nomad", GONE, words="** delete|deregister|purge|stop|leave"),
        Rule("etcdctl", GONE, words="del|** remove", level="danger"),
        Rule("nsupdate", "changes records of names", level="doubt"),
        Rule("flarectl", GONE, words="** delete"),
        Rule("curl wget", GONE, check=_method),
        Rule("http https xh", GONE, check=_httpie),
        Rule("scp rsync", "writes into a folder of another host's system", check=_onto_system, level="doubt"),
        Rule(
            "rsync",
            GONE,
            check=lambda c, _: (
                is_remote(c.operands[-1] if c.operands else "") and any(f.startswith("--del") for f in c.flags)
            ),
            level="doubt",
        ),
        Rule("ssh-keygen", "forgets or replaces keys", flags="-R", level="doubt"),
        Rule("ssh-add", "forgets keys", flags="-D", level="doubt"),
        Rule(
            "npm yarn pnpm cargo gem", "takes a published package away", words="unpublish|deprecate|yank", level="doubt"
        ),
        Rule(
            "gradle gradlew mvn mvnw",
            "publishes a package",
            words="** publish|deploy|publishtomavencentral|uploadarchives",
            level="note",
        ),
        Rule("node python python3 ruby php", GONE, marks="deletes", level="doubt"),
        Rule("splunk", GONE, words="** remove|clean|stop|delete"),
        Rule("promtool", GONE, words="tsdb clean|delete", level="doubt"),
        Rule("virsh", GONE, words="undefine|destroy|vol-delete|pool-delete", level="doubt"),
    ),
)

HITS: Final = (
    "aws s3 rb s3://b --force",
    "aws ec2 terminate-instances --instance-ids i-1",
    "aws --profile p rds delete-db-instance",
    "gcloud projects delete p",
    "az group delete --name g --yes",
    "kubectl delete namespace prod",
    "helm uninstall app",
    "terraform destroy -auto-approve",
    "docker system prune -a --volumes",
    "docker rm -f db",
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
)
MISSES: Final = (
    "aws s3 ls",
    "aws s3 rm help",
    "gcloud projects list",
    "az group list",
    "kubectl get pods",
    "kubectl describe ns prod",
    "helm list",
    "terraform plan",
    "docker ps",
    "docker rm old",
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
)
