"""Makes a situation real, waits until nothing in it moves any more, and takes it away again."""

import uuid

from api import wait_until
from generate import NAMESPACES, PRIORITY_CLASSES

QUIET_SECONDS = 30
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
OF_A_NAMESPACE = ("ReplicaSet", "PodDisruptionBudget", "Pod")


def set_up(api):
    for name, labels in NAMESPACES.items():
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    for name, values in PRIORITY_CLASSES.items():
        api.create({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, **values})


def tear_down(api):
    clear(api)
    for name in PRIORITY_CLASSES:
        api.delete("PriorityClass", "", name)


def build(api, made):
    for thing in made.nodes + made.pods:
        api.create(thing)
    wait_until_quiet(api, made)
    for thing in made.sets + made.budgets:
        api.create(thing)
    for namespace, name in made.leaving:
        api.delete("Pod", namespace, name)
    wait_until_quiet(api, made)


def wait_until_quiet(api, made):
    what = f"situation {made.number}"
    wait_until(what, QUIET_SECONDS, lambda: unrest(api))
    # When a pod changes, the disruption controller counts again for one of its budgets only: all are made to change.
    for item in everywhere(api, "PodDisruptionBudget"):
        api.annotate(item, "test.podium.gpu/recount", uuid.uuid4().hex)
    wait_until(what, QUIET_SECONDS, lambda: uncounted(api))


def clear(api):
    for kind in OF_A_NAMESPACE:  # owners first: they would make new pods
        for namespace in NAMESPACES:
            api.delete_all(kind, namespace)
    wait_until("clearing", QUIET_SECONDS, lambda: [pod["metadata"]["name"] for pod in all_pods(api)])
    api.delete_all("Node")
    wait_until("clearing", QUIET_SECONDS, lambda: [node["metadata"]["name"] for node in api.list("Node")])


def everywhere(api, kind):
    return [item for namespace in NAMESPACES for item in api.list(kind, namespace)]


def all_pods(api):
    return everywhere(api, "Pod")


# --- what is not yet as it will be ----------------------------------------------------------------------------------

def unrest(api):
    """Names what still moves; empty when the kubelets and the owners of pods have done what they will do."""
    pods = all_pods(api)
    restless = [node for node in api.list("Node") if not is_settled_node(node)]
    restless += [pod for pod in pods if not is_settled_pod(pod)]
    restless += [item for item in everywhere(api, "ReplicaSet") if not is_settled_set(item, pods)]
    return [thing["metadata"]["name"] for thing in restless]


def uncounted(api):
    pods = all_pods(api)
    return [f"budget {item['metadata']['name']}" for item in everywhere(api, "PodDisruptionBudget")
            if not is_settled_budget(item, pods)]


def condition(thing, kind):
    return next((each for each in thing["status"].get("conditions", []) if each["type"] == kind), {})


def is_settled_node(node):
    """Ready, and the taints of its lifecycle are those of a ready node: they go a moment after."""
    keys = {taint["key"] for taint in node["spec"].get("taints", []) if taint["key"] != "dedicated"}
    wanted = {CORDON["key"]} if node["spec"].get("unschedulable") else set()
    return condition(node, "Ready").get("status") == "True" and keys == wanted


def is_terminating(pod):
    return "deletionTimestamp" in pod["metadata"]


def is_settled_pod(pod):
    if "nodeName" not in pod["spec"]:
        return bool(condition(pod, "PodScheduled"))  # gated, or refused
    if is_terminating(pod):
        return True
    notes = pod["metadata"].get("annotations", {})
    if "test.podium.gpu/run-time" in notes:
        return pod["status"]["phase"] == "Succeeded"
    return condition(pod, "Ready").get("status") == notes.get("test.podium.gpu/ready", "True")


def matching(item, pods):
    wanted = item["spec"]["selector"]["matchLabels"].items()
    return [pod for pod in pods if pod["metadata"]["namespace"] == item["metadata"]["namespace"]
            and wanted <= pod["metadata"].get("labels", {}).items()]


def is_settled_set(item, pods):
    owned = [pod for pod in pods if not is_terminating(pod)
             and any(owner["uid"] == item["metadata"]["uid"] for owner in pod["metadata"].get("ownerReferences", []))]
    return len(owned) == item["spec"]["replicas"] == item["status"]["replicas"]


def is_settled_budget(item, pods):
    """The disruption controller has counted what is there now."""
    covered = matching(item, pods)
    healthy = [pod for pod in covered if condition(pod, "Ready").get("status") == "True" and not is_terminating(pod)]
    status = item.get("status", {})
    counted = [status.get(each) for each in ("observedGeneration", "currentHealthy", "expectedPods")]
    return counted == [item["metadata"]["generation"], len(healthy), expected_pods(item, covered)]


def expected_pods(item, covered):
    if isinstance(item["spec"].get("minAvailable"), int):
        return len(covered)
    # By its owner's replicas: the pods that count, as the set is settled.
    return len([pod for pod in covered if not is_terminating(pod) and "ownerReferences" in pod["metadata"]])
