#!/usr/bin/env python3
"""Checks the compose file and the Kubernetes manifests: against their schemas, against the rules below, and by running them
with the mpind of this tree, with the keys that the lines of docs/operating.md make.

The last line is "N passed, N failed".
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import kubernetes_validate
import yaml
from containers import ROOT, Container, Mount, Pod, Ports, pod
from kubernetes_validate.utils import all_versions

import checks
from cluster import Database, Roaming
from node import PIN
from phone import Phone, wait_until
from two_nodes import refusal

DEPLOY = ROOT / "Sources/Packaging/deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
#: The oldest release of Kubernetes in which all fields are stable: ReadWriteOncePod is from 1.29.
OLDEST = (1, 29)
#: What every container has.
LOCKED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
#: The user of the image.
USER = {"runAsNonRoot": True, "runAsUser": 10001, "runAsGroup": 10001, "fsGroup": 10001}
COMPOSE = DEPLOY / "compose.yaml"


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


def of_kind(path: Path, kind: str) -> list[dict[str, Any]]:
    return [each for each in documents(path) if each["kind"] == kind]


def workload_of(path: Path) -> dict[str, Any]:
    """What a manifest runs: servers, or a command that ends."""
    [workload] = [*of_kind(path, "StatefulSet"), *of_kind(path, "Job")]
    return workload


def containers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [*spec.get("initContainers", []), *spec["containers"]]


def schemas() -> str:
    """Checks all documents with the schemas of each release of Kubernetes, in which no unknown field may be."""
    versions = [each for each in all_versions() if tuple(map(int, each.split(".")[:2])) >= OLDEST]
    assert len(versions) > 5, versions
    count = 0
    for path in MANIFESTS:
        for document in documents(path):
            for version in versions:
                kubernetes_validate.validate(document, version, strict=True)
            count += 1
    vendored = files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text()
    jsonschema.validate(yaml.safe_load(COMPOSE.read_text()), json.loads(vendored))
    return f"{count} documents with the schemas of Kubernetes {versions[0]} to {versions[-1]}, and the compose file with its own"


def references() -> str:
    """Checks that everything that a manifest names is in it: volumes, configurations, ports, labels. Secrets are made by
    the lines of the guide."""
    made = set(re.findall(r"kubectl create secret \S+ (\S+)", guide()))
    count = 0
    for path in MANIFESTS:
        workload = workload_of(path)
        spec = workload["spec"]["template"]["spec"]
        claims = {each["metadata"]["name"] for each in workload["spec"].get("volumeClaimTemplates", [])}
        configs = {each["metadata"]["name"]: each["data"] for each in of_kind(path, "ConfigMap")}
        volumes = {each["name"]: each for each in spec["volumes"]}
        mounted = {each["name"] for about in containers(spec) for each in about.get("volumeMounts", [])}
        assert mounted == claims | set(volumes), f"{path.name}: {mounted ^ (claims | set(volumes))}"
        for volume in volumes.values():
            if "secret" in volume:
                assert volume["secret"]["secretName"] in made, f"{path.name}: who makes {volume['secret']}?"
                assert volume["secret"]["defaultMode"] == 0o400, volume
            if "configMap" in volume:
                assert volume["configMap"]["name"] in configs, volume
        labels = workload["spec"]["template"]["metadata"]["labels"].items()
        services = {each["metadata"]["name"]: each["spec"] for each in of_kind(path, "Service")}
        named = {port["name"] for about in spec["containers"] for port in about.get("ports", [])}
        for service in services.values():
            assert service["selector"].items() <= labels, service
            assert {port["targetPort"] for port in service["ports"]} <= named, service
        assert workload["kind"] == "Job" or workload["spec"]["serviceName"] in services
        for ingress in of_kind(path, "Ingress"):
            for rule in ingress["spec"]["rules"]:
                for way in rule["http"]["paths"]:
                    backend = way["backend"]["service"]
                    ports = {port["name"] for port in services[backend["name"]]["ports"]}
                    assert backend["port"]["name"] in ports, backend
        budgets = of_kind(path, "PodDisruptionBudget")
        assert bool(budgets) == (workload["spec"].get("replicas", 1) > 1), f"{path.name}: budgets are for several replicas"
        for budget in budgets:
            assert budget["spec"]["selector"]["matchLabels"].items() <= labels and budget["spec"]["maxUnavailable"] == 1
        count += len(mounted) + len(services) + len(budgets)
    compose = yaml.safe_load(COMPOSE.read_text())
    for name, service in compose["services"].items():
        used = {
            "configs": [each["source"] for each in service.get("configs", [])],
            "secrets": [each["source"] for each in service.get("secrets", [])],
            "volumes": [each.partition(":")[0] for each in service.get("volumes", [])],
            "networks": service.get("networks", []),
        }
        for kind, names in used.items():
            assert set(names) <= set(compose.get(kind, {})), f"{name}: {kind} {names}"
            count += len(names)
    return f"{count} names lead somewhere"


def hardening() -> str:
    """Checks the user, the file system, the rights, the limits and the probes of each container."""
    count = 0
    for path in MANIFESTS:
        workload = workload_of(path)
        spec = workload["spec"]["template"]["spec"]
        assert spec["automountServiceAccountToken"] is False, path.name
        expected = USER | {"seccompProfile": {"type": "RuntimeDefault"}}
        assert spec["securityContext"] == expected, (path.name, spec["securityContext"])
        for about in containers(spec):
            assert about["securityContext"] == LOCKED, (path.name, about["name"])
            assert {"cpu", "memory"} <= set(about["resources"]["requests"]), about["name"]
            assert "memory" in about["resources"]["limits"], about["name"]
            for each in about.get("volumeMounts", []):
                is_fixed = each["mountPath"].startswith(("/etc", "/run"))
                assert each.get("readOnly", False) == is_fixed, each
            count += 1
        if workload["kind"] == "Job":
            continue
        assert spec["terminationGracePeriodSeconds"] >= 20, path.name
        for about in (each for each in spec["containers"] if "mpind" in each["image"]):
            config = about["args"][-1]
            for probe, words in {"startupProbe": [], "readinessProbe": [], "livenessProbe": ["--live"]}.items():
                command = about[probe]["exec"]["command"]
                assert command == ["/usr/bin/mpind", "health", *words, "--config", config], command
                # `mpind health` itself waits for three seconds at most.
                assert about[probe]["timeoutSeconds"] > 3, (about["name"], probe)
    service = yaml.safe_load(COMPOSE.read_text())["services"]["mpind"]
    assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["user"] == "10001:10001", service
    assert service["security_opt"] == ["no-new-privileges:true"], service
    return f"{count + 1} containers without rights"


def guide() -> str:
    """The lines of docs/operating.md that make the keys and the secrets."""
    _, _, rest = (ROOT / "docs/operating.md").read_text().partition("## Kubernetes")
    _, _, lines = rest.partition("```sh\n")
    return lines.partition("```")[0]


def make_secrets(folder: Path) -> Path:
    """Runs the lines of the guide. In the place of `kubectl`, a function puts the secrets into folders."""
    secrets, work = folder / "secrets", folder / "keys"
    secrets.mkdir()
    work.mkdir()
    stand_in = """
        set -eu
        umask 077
        mpind() { "$MPIND" "$@"; }
        kubectl() {
            local name=$4 option
            mkdir "$SECRETS/$name"
            shift 4
            for option; do
                case $option in
                    --from-file=*) cp -r "${option#*=}/." "$SECRETS/$name" ;;
                    --cert=*) cp "${option#*=}" "$SECRETS/$name/tls.crt" ;;
                    --key=*) cp "${option#*=}" "$SECRETS/$name/tls.key" ;;
                    *) exit 1 ;;
                esac
            done
        }
    """
    for name in ("dta1", "dta2"):
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost"]
        command += ["-keyout", str(work / f"{name}.key.pem"), "-out", str(work / f"{name}.pem")]
        subprocess.run(command, check=True, capture_output=True)
    (work / "mail-password").write_text("secret\n")
    for role in ("postgres", "postgres-owner"):
        (work / role).mkdir()
        for name in ("ca.crt", "tls.crt", "tls.key"):
            (work / role / name).write_text("not used: the database of the test is on this machine\n")
    environment = os.environ | {"MPIND": str(ROOT / "build/mpind"), "SECRETS": str(secrets)}
    done = subprocess.run(
        ["bash", "-c", stand_in + guide()], cwd=work, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (folder / "ca.pem").write_text("".join((work / f"{name}.pem").read_text() for name in ("dta1", "dta2")))
    return secrets


def pod_of(
    path: Path, folder: Path, secrets: Path, changed: Callable[[str], str], more: list[Mount]
) -> Pod:  # fmt: skip
    workload = workload_of(path)
    claims = [each["metadata"]["name"] for each in workload["spec"].get("volumeClaimTemplates", [])]
    configs = {each["metadata"]["name"]: each["data"] for each in of_kind(path, "ConfigMap")}
    return pod(workload["spec"]["template"]["spec"], claims, configs, secrets, folder, changed, more)


def configurations(folder: Path, secrets: Path) -> str:
    """Has mpind check the configurations of the manifests as they are, with their secrets."""
    count = 0
    for path in MANIFESTS:
        for container in pod_of(path, folder / f"{path.stem}-checked", secrets, lambda text: text, []).containers:
            words = container.command[1:]
            if container.command[0] != "/usr/bin/mpind" or words[0] == "migrate":
                continue
            words = ["config", "check", *([] if words[0] in ("dta", "rps", "rpa") else ["serve"]), *words]
            done = container.run(["/usr/bin/mpind", *words])
            assert (done.returncode, done.stdout) == (0, "the configuration is good\n"), (words, done.stdout, done.stderr)
            count += 1
    return f"{count} configurations are good"


class Roam(Roaming):
    """A phone each of whose requests goes to any of several addresses."""

    def __init__(self, backends: list[str], user: str, like: Phone | None = None) -> None:
        super().__init__([SimpleNamespace(backend=each) for each in backends], user, like)  # type: ignore[misc]


def life(backends: list[str], user: str) -> Roam:
    """Registers somebody, and logs in: a wrong PIN, and the right one."""
    phone = Roam(backends, user)
    phone.start_registration()
    phone.finish_registration(PIN)
    assert refusal(phone, "4321") == 401
    phone.login(PIN)
    return phone


def local(text: str) -> str:
    """A configuration for this machine: without mails, and with the URLs of clients on loopback addresses."""
    mails = r"^smtp-url: .*\nsmtp-user: .*\nsmtp-password-file: .*\nmail-from: .*$"
    text = re.sub(mails, "force-activate: true", text, flags=re.MULTILINE)
    text = text.replace("https://login.example.org", "http://127.0.0.1:8005")
    # A server with all parts has ports inside its container that its configuration does not name.
    inside = "host: 127.0.0.1\nprivate-port: 8011\ndta1-port: 8001\ndta2-port: 8002\n"
    return text.replace("host: 0.0.0.0\n", inside)


def alone(node: Pod) -> str:
    """Registers somebody at the only server, logs in, and again after a restart."""
    backend = f"http://127.0.0.1:{node.ports['8005']}"
    [container] = node.containers
    try:
        node.start()
        phone = life([backend], "alone@example.com")
        node.stop()
        assert not any(container.passes(probe) for probe in container.probes), "a probe passes without a server"
        node.start()
        phone.login(PIN)
        node.stop()
    finally:
        node.kill()
    return "a registration, logins, a restart; the probes tell whether it runs"


def composed(folder: Path) -> Pod:
    """The mpind of the compose file as a pod with one container. Its mail password is the only secret."""
    compose = yaml.safe_load(COMPOSE.read_text())
    service = compose["services"]["mpind"]
    folder.mkdir()
    ports = Ports()
    mounts = [Mount(path) for path in service["tmpfs"]]
    for each in service["configs"]:
        (folder / each["source"]).write_text(ports.replace(local(compose["configs"][each["source"]]["content"])))
        mounts.append(Mount(each["target"], folder / each["source"], is_writable=False))
    for each in service["secrets"]:
        (folder / each["source"]).touch(0o400)
        mounts.append(Mount(f"/run/secrets/{each['source']}", folder / each["source"], is_writable=False))
    for each in service["volumes"]:
        name, _, path = each.partition(":")
        (folder / name).mkdir()
        mounts.append(Mount(path, folder / name))
    kind, *check = service["healthcheck"]["test"]
    assert kind == "CMD", kind
    container = Container("mpind", ["/usr/bin/mpind", *service["command"]], mounts, {"healthcheck": check})
    return Pod(ports, [], [container], folder / "log")


def three_nodes(folder: Path, secrets: Path, authorities: Path) -> str:
    """Runs both D-TAs and three nodes with a PostgreSQL database, whose tables the Job has made. Each request may go to any
    node. One node is replaced meanwhile, and Prometheus gets the metrics, and nothing else."""
    database = Database()
    roles = (ROOT / "docs/postgres.md").read_text().partition("```sql\n")[2].partition("```")[0]
    subprocess.run(database.psql("-c", roles), check=True)
    trusted = Mount("/etc/ssl/certs/ca-certificates.crt", authorities, is_writable=False)
    # The user in the containers is another one than that of the database.
    database.folder.chmod(0o711)
    place = Mount(str(database.folder), database.folder)
    dtas = [pod_of(DEPLOY / f"kubernetes/dta{n}.yaml", folder / f"dta{n}", secrets, local, []) for n in (1, 2)]

    def changed(text: str) -> str:
        address = database.url.replace("user=mpin", "user=")
        text = re.sub(r"postgres://(\w+)@[^\"]*", lambda found: address + found[1], local(text))
        for number, dta in enumerate(dtas, 1):
            text = text.replace(f"https://dta{number}.example.org", f"https://localhost:{dta.ports[f'800{number}']}")
        return text

    path = DEPLOY / "kubernetes/three-nodes.yaml"
    nodes = [
        pod_of(path, folder / f"node{number}", secrets, changed, [trusted, place])
        for number in range(workload_of(path)["spec"]["replicas"])
    ]
    [migration] = pod_of(DEPLOY / "kubernetes/migrate.yaml", folder / "migrate", secrets, changed, [trusted, place]).containers
    backends = [f"http://127.0.0.1:{node.ports['8005']}" for node in nodes]
    try:
        done = migration.run(migration.command)
        assert done.returncode == 0 and "done: step 1" in done.stdout, (done.stdout, done.stderr)
        for each in [*dtas, *nodes]:
            each.start()
        phones = [life(backends, f"somebody{number}@example.com") for number in range(5)]
        metrics(nodes[0])
        for node in nodes:
            node.stop()
            rest = [backend for backend in backends if not backend.endswith(f":{node.ports['8005']}")]
            for phone in phones:
                Roam(rest, phone.user, like=phone).login(PIN)
            node.start()
        for phone in phones:
            phone.login(PIN)
        for each in [*nodes, *dtas]:
            each.stop()
    finally:
        for each in [*nodes, *dtas]:
            each.kill()
        database.close()
    return "registrations and logins, each request at any node, while each node was replaced; the metrics"


def metrics(node: Pod) -> None:
    """Asks the proxy in a pod for the metrics of both parts. It refuses everything else."""
    place = f"http://127.0.0.1:{node.ports['9100']}"
    wait_until(lambda: is_listening(node.ports["9100"]))
    for part in ("rps", "rpa"):
        with urllib.request.urlopen(f"{place}/metrics/{part}", timeout=20) as answer:
            assert b"mpin_build_info{" in answer.read(), part
    for wrong in ("/metrics", "/health/ready", "/admin/users", "/metrics/rps/../../admin/users"):
        try:
            urllib.request.urlopen(place + wrong, timeout=20)
        except urllib.error.HTTPError as refused:
            assert refused.code == 403, (wrong, refused.code)
        else:
            raise AssertionError(f"{wrong} was answered")


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        secrets = make_secrets(folder)
        os.environ["SSL_CERT_FILE"] = str(folder / "ca.pem")
        kubernetes = DEPLOY / "kubernetes"
        named: list[checks.Check] = [
            ("schemas", schemas),
            ("references", references),
            ("hardening", hardening),
            ("configurations", lambda: configurations(folder, secrets)),
            ("compose", lambda: alone(composed(folder / "compose"))),
            ("one node", lambda: alone(pod_of(kubernetes / "one-node.yaml", folder / "one", secrets, local, []))),
            ("three nodes", lambda: three_nodes(folder, secrets, folder / "ca.pem")),
        ]
        return checks.run(named)


if __name__ == "__main__":
    sys.exit(main())
