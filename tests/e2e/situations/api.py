"""The API server and the scheduler's own figures, over one kept connection each. Standard library only."""

import http.client
import json
import ssl
import time
import urllib.parse


class ApiError(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


class _Endpoint:
    def __init__(self, port, pki, verify):
        context = ssl.create_default_context(cafile=f"{pki}/ca.crt")
        context.load_cert_chain(f"{pki}/admin.crt", f"{pki}/admin.key")
        if not verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        self._port, self._context = port, context
        self._kept = self.connect()

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self._port, context=self._context, timeout=30)

    def ask(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        try:
            self._kept.request(method, path, text, {"Content-Type": kind})
            answer = self._kept.getresponse()
            status, said = answer.status, answer.read().decode()
        except (http.client.HTTPException, OSError):
            self._kept.close()  # the next request connects again
            raise
        if status >= 400:
            raise ApiError(status, said)
        return said


# Where the objects of a kind are: by kind, "{}" stands for the namespace.
PATHS = {
    "Namespace": "/api/v1/namespaces",
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/{}/pods",
    "Event": "/api/v1/namespaces/{}/events",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{}/poddisruptionbudgets",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
}


class Api:
    """The API server, as its administrator."""

    def __init__(self, port, pki):
        self._endpoint = _Endpoint(port, pki, verify=True)

    def create(self, thing):
        path = PATHS[thing["kind"]].format(thing["metadata"].get("namespace"))
        return json.loads(self._endpoint.ask("POST", path, thing))

    def list(self, kind, namespace="", **options):
        query = urllib.parse.urlencode(options)
        items = json.loads(self._endpoint.ask("GET", f"{PATHS[kind].format(namespace)}?{query}"))["items"]
        return [{**item, "kind": kind} for item in items]  # items of a list do not say what they are

    def annotate(self, thing, key, value):
        meta = thing["metadata"]
        path = f"{PATHS[thing['kind']].format(meta['namespace'])}/{meta['name']}"
        self._endpoint.ask("PATCH", path, {"metadata": {"annotations": {key: value}}})

    def delete(self, kind, namespace, name):
        self._endpoint.ask("DELETE", f"{PATHS[kind].format(namespace)}/{name}")

    def delete_all(self, kind, namespace=""):
        """Without a grace period: pods are gone at once, whatever their kubelet thinks."""
        options = "gracePeriodSeconds=0&propagationPolicy=Background"
        self._endpoint.ask("DELETE", f"{PATHS[kind].format(namespace)}?{options}")

    def watch_one(self, kind, thing, seconds):
        """Yields every version of `thing` from the one after it on, until `seconds` have passed."""
        meta = thing["metadata"]
        query = urllib.parse.urlencode({
            "watch": 1, "fieldSelector": f"metadata.name={meta['name']}",
            "resourceVersion": meta["resourceVersion"], "timeoutSeconds": seconds})
        connection = self._endpoint.connect()
        try:
            connection.request("GET", f"{PATHS[kind].format(meta.get('namespace'))}?{query}")
            for line in connection.getresponse():
                yield json.loads(line)["object"]
        finally:
            connection.close()


class Scheduler:
    """What kube-scheduler says of itself."""

    def __init__(self, port, pki):
        self._endpoint = _Endpoint(port, pki, verify=False)

    def preemptions(self):
        """(how often it has finished evicting for a pod, how many victims it chose so far)"""
        finished = victims = 0.0
        for line in self._endpoint.ask("GET", "/metrics").splitlines():
            if line.startswith("scheduler_preemption_goroutines_execution_total"):
                finished += float(line.split()[-1])
            elif line.startswith("scheduler_preemption_victims_sum"):
                victims += float(line.split()[-1])
        return int(finished), int(victims)


def wait_until(what, seconds, ask):
    """Asks until `ask` returns nothing to complain about; what it last complained about is the error."""
    deadline = time.monotonic() + seconds
    while True:
        missing = ask()
        if not missing:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: after {seconds} s still {missing}")
        time.sleep(0.02)  # between two questions to the API server, which tells nobody when a budget's status is right
