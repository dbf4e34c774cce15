"""Random clusters and the pods that arrive in them. The same seed and number give the same situation anywhere."""

import random
from dataclasses import dataclass, field

# Beside Kubernetes' own. Every pod without a class gets the global default.
PRIORITY_CLASSES = {
    "urgent": {"value": 2000000}, "interactive": {"value": 1000000},
    "training": {"value": 500000, "preemptionPolicy": "Never"}, "batch": {"value": 1000},
    "default": {"value": 100, "globalDefault": True}, "spare": {"value": -10}}
NAMESPACES = {"red": {"team": "red"}, "blue": {"team": "blue", "shared": "yes"}}

DEVICE, SLICE = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
IMAGE = "registry.example.com/app:2.1"
APPS = ("chat", "embed", "speech", "train")
TOLERATIONS = ({"key": "dedicated", "operator": "Exists"}, {"key": "dedicated", "value": "gpu"}, {"operator": "Exists"})
NAMESPACE_SELECTORS = ({}, {"matchLabels": {"shared": "yes"}},
                       {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["red"]}]})
LIMITS = ({"maxUnavailable": 0}, {"maxUnavailable": 1}, {"maxUnavailable": "50%"}, {"minAvailable": "50%"})
# None: the global default.
HELD_BY = {"batch": 40, None: 15, "spare": 10, "training": 12, "interactive": 12, "system-cluster-critical": 3}
ARRIVES_AS = {"interactive": 45, "urgent": 12, "training": 13, "batch": 13, None: 7, "system-cluster-critical": 5,
              "spare": 5}


@dataclass
class Situation:
    number: int
    nodes: list = field(default_factory=list)
    pods: list = field(default_factory=list)       # each names its node
    sets: list = field(default_factory=list)       # ReplicaSets: they adopt pods
    budgets: list = field(default_factory=list)
    leaving: list = field(default_factory=list)    # of `pods`: (namespace, name), deleted before anybody arrives
    arrivals: list = field(default_factory=list)   # pods without a node, in order


def weighted(rng, weights):
    return rng.choices(list(weights), list(weights.values()))[0]


def make_situation(seed, number):
    rng = random.Random(f"{seed}/{number}")
    made = Situation(number)
    # Some clusters are of one kind: equal nodes, one class. There the later criteria and plain chance choose the node.
    size, held_by = (rng.choice((1, 2, 4)), {"batch": 1}) if rng.random() < 0.4 else (0, HELD_BY)
    for i in range(rng.randint(1, 6)):
        made.nodes.append(make_node(rng, f"s{number}-{'abcdef'[i]}", size or rng.choice((1, 2, 2, 4, 4, 8))))
        fill_node(rng, made, made.nodes[-1], held_by)
    for namespace in NAMESPACES:
        for app in APPS:
            protect(rng, made, namespace, app)
    if rng.random() < 0.25:  # who came before is often still waiting for its victims
        made.arrivals.append(make_arrival(rng, made, "earlier"))
    made.arrivals.append(make_arrival(rng, made, "preemptor"))
    return made


# --- nodes ----------------------------------------------------------------------------------------------------------

def make_node(rng, name, size):
    labels = {HOST: name, ZONE: rng.choice("abc"), "gpu.model": rng.choice(("a100", "h100")),
              "gpu.memory": str(rng.choice((40, 80)))}
    if rng.random() < 0.1:
        del labels[ZONE]
    resources = {"cpu": str(8 * size), "memory": "256Gi", "pods": str(weighted(rng, {110: 8, 4: 1})), DEVICE: str(size)}
    if rng.random() < 0.25:
        resources[SLICE] = str(rng.choice((2, 4, 7)))
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {},
            "status": {"allocatable": resources, "capacity": resources}}
    if rng.random() < 0.2:
        effect = weighted(rng, {"NoSchedule": 5, "PreferNoSchedule": 2, "NoExecute": 2})
        node["spec"]["taints"] = [{"key": "dedicated", "value": rng.choice(("gpu", "research")), "effect": effect}]
    if rng.random() < 0.08:
        node["spec"]["unschedulable"] = True
    return node


def fill_node(rng, made, node, held_by):
    allocatable = node["status"]["allocatable"]
    free = int(allocatable[DEVICE])
    slices = int(allocatable.get(SLICE, 0))
    # No two pods of a node started in the same second: between those the scheduler goes by the order of its cache.
    # In clusters of one kind the first pods of all nodes did, and so on, so that nodes tie.
    started = iter(range(20) if len(held_by) == 1 else rng.sample(range(40), 20))
    while free > 0 and rng.random() < 0.95:
        gpus = rng.choice([n for n in (1, 1, 2, 4) if n <= free])
        pod = make_bound(rng, made, node, weighted(rng, held_by), {DEVICE: gpus}, next(started))
        if "test.podium.gpu/run-time" not in pod["metadata"]["annotations"]:
            free -= gpus
    while slices > 0 and rng.random() < 0.6:
        make_bound(rng, made, node, weighted(rng, held_by), {SLICE: 1}, next(started))
        slices -= 1
    if rng.random() < 0.3:
        make_bound(rng, made, node, weighted(rng, HELD_BY), {}, next(started))


# --- pods -----------------------------------------------------------------------------------------------------------

def make_pod(rng, name, klass, gpus, cpu):
    requests = {"cpu": str(cpu), "memory": "1Gi"}
    resources = {"requests": requests, "limits": {key: str(count) for key, count in gpus.items()}}
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": name, "namespace": rng.choice(list(NAMESPACES)), "labels": {"app": rng.choice(APPS)},
                        "annotations": {}},
           "spec": {"terminationGracePeriodSeconds": weighted(rng, {30: 6, 120: 2, 5: 2, 0: 1}),
                    "containers": [{"name": "main", "image": IMAGE, "resources": resources}]}}
    if klass:
        pod["spec"]["priorityClassName"] = klass
    if rng.random() < 0.12:
        port = rng.choice((8080, 9090))
        pod["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]
    if rng.random() < 0.15:
        affinity_of(pod)["podAntiAffinity"] = must([term(rng)])
    return pod


def make_bound(rng, made, node, klass, gpus, started):
    pod = make_pod(rng, f"{node['metadata']['name']}-{started}", klass, gpus, rng.choice((1, 1, 1, 4)))
    pod["spec"]["nodeName"] = node["metadata"]["name"]
    pod["spec"]["tolerations"] = [{"operator": "Exists"}]  # else NoExecute would evict it
    notes = pod["metadata"]["annotations"]
    notes["test.podium.gpu/start-time"] = f"2025-01-01T10:00:{started:02}Z"
    notes["test.podium.gpu/exit-time"] = "90s"  # whoever has to go is still there when the next pod arrives
    fate = weighted(rng, {"runs": 78, "loads": 10, "is over": 6, "leaves": 6})
    if fate == "loads":
        notes["test.podium.gpu/ready"] = "False"
    elif fate == "is over":
        notes["test.podium.gpu/run-time"] = "1ms"
    elif fate == "leaves":
        pod["spec"]["terminationGracePeriodSeconds"] = 120  # 0 would end it at once
        made.leaving.append((pod["metadata"]["namespace"], pod["metadata"]["name"]))
    made.pods.append(pod)
    return pod


def make_arrival(rng, made, name):
    largest = max(int(node["status"]["allocatable"][DEVICE]) for node in made.nodes)
    count = min(rng.choice((1, 1, 2, 2, 4, 8)), largest + rng.choice((0, 0, 0, 1)))
    has_slices = any(SLICE in node["status"]["allocatable"] for node in made.nodes)
    gpus = {SLICE: rng.choice((1, 2))} if has_slices and rng.random() < 0.3 else {DEVICE: count}
    pod = make_pod(rng, f"s{made.number}-{name}", weighted(rng, ARRIVES_AS), gpus, rng.choice((1, 1, 1, 1, 4, 12)))
    spec = pod["spec"]
    if rng.random() < 0.4:
        spec["tolerations"] = [rng.choice(TOLERATIONS)]
    if rng.random() < 0.15:
        spec["nodeSelector"] = {"gpu.model": rng.choice(("a100", "h100"))}
    if rng.random() < 0.15:
        terms = [{"matchExpressions": [expression(rng)]} for _ in range(rng.choice((1, 2)))]
        affinity_of(pod)["nodeAffinity"] = must({"nodeSelectorTerms": terms})
    if rng.random() < 0.12:
        affinity_of(pod)["podAffinity"] = must([term(rng)])
    if rng.random() < 0.3:
        spec["topologySpreadConstraints"] = [spread(rng, pod)]
    return pod


def affinity_of(pod):
    return pod["spec"].setdefault("affinity", {})


def must(terms):
    return {"requiredDuringSchedulingIgnoredDuringExecution": terms}


def term(rng):
    made = {"topologyKey": rng.choice((HOST, HOST, ZONE)), "labelSelector": {"matchLabels": {"app": rng.choice(APPS)}}}
    if rng.random() < 0.3:
        made["namespaceSelector"] = rng.choice(NAMESPACE_SELECTORS)
    return made


def expression(rng):
    return rng.choice((
        {"key": ZONE, "operator": "In", "values": rng.sample("abc", 2)},
        {"key": ZONE, "operator": "NotIn", "values": [rng.choice("abc")]},
        {"key": "gpu.memory", "operator": "Gt", "values": ["60"]},
        {"key": ZONE, "operator": "Exists"}))


def spread(rng, pod):
    app = rng.choice((pod["metadata"]["labels"]["app"], rng.choice(APPS)))
    return {"maxSkew": rng.choice((1, 1, 2)), "topologyKey": rng.choice((HOST, ZONE)),
            "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": app}},
            "nodeTaintsPolicy": rng.choice(("Ignore", "Honor"))}


# --- owners and budgets ---------------------------------------------------------------------------------------------

def protect(rng, made, namespace, app):
    pods = [pod for pod in made.pods
            if pod["metadata"]["namespace"] == namespace and pod["metadata"]["labels"]["app"] == app]
    if not pods or rng.random() < 0.5:
        return
    if rng.random() < 0.4:
        own(made, namespace, app, pods)
        made.budgets.append(budget(namespace, f"{app}-set", {"set": app}, rng.choice(LIMITS)))
    if rng.random() < 0.6:
        made.budgets.append(budget(namespace, app, {"app": app}, {"minAvailable": rng.randint(0, len(pods))}))


def budget(namespace, name, labels, limit):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": {"matchLabels": labels}, **limit}}


def own(made, namespace, app, pods):
    """A ReplicaSet that finds its pods already there. Those that it makes later stay gated: nothing moves by itself."""
    lasting = [pod for pod in pods if (namespace, pod["metadata"]["name"]) not in made.leaving
               and "test.podium.gpu/run-time" not in pod["metadata"]["annotations"]]
    for pod in lasting:
        pod["metadata"]["labels"]["set"] = app
    template = {"metadata": {"labels": {"set": app, "app": app}},
                "spec": {"schedulingGates": [{"name": "example.com/replacement"}],
                         "containers": [{"name": "main", "image": IMAGE}]}}
    made.sets.append({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": app, "namespace": namespace},
        "spec": {"replicas": len(lasting), "selector": {"matchLabels": {"set": app}}, "template": template}})
