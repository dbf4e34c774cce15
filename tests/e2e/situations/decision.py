"""What the running kube-scheduler does with a pod, and whether that is what Podium said."""

from dataclasses import asdict, dataclass, field

from api import wait_until
from stage import all_pods, condition, is_terminating

DECISION_SECONDS = 20
EVENT_BYTES = 1024
REFUSALS = ("PreemptionForbidden", "PreemptionCannotHelp", "ShapeNeverFits")


@dataclass
class Decision:
    verdict: str                                 # fit, preempt, refused
    node: str = ""                               # bound or nominated
    message: str = ""                            # of the PodScheduled condition
    events: list = field(default_factory=list)   # texts of FailedScheduling
    victims: list = field(default_factory=list)  # "namespace/name", of those that were not going already
    count: int = -1                              # of all victims, by the scheduler's own figures; -1: cannot be told

    def json(self):
        return asdict(self)


def named(names):
    return f"{names['namespace']}/{names['name']}"


def key(pod):
    return named(pod["metadata"])


def let_schedule(api, scheduler, arrival, report):
    """Creates the pod and returns the first decision about it. The report only says for whose end to wait."""
    pods = all_pods(api)
    before = {key(pod) for pod in pods if "nodeName" in pod["spec"] and not is_terminating(pod)}
    alone = not any("nominatedNodeName" in pod["status"] and "nodeName" not in pod["spec"] for pod in pods)
    finished, chosen = scheduler.preemptions()
    created = api.create(arrival)
    pod = first_decided(api, created)
    if "nodeName" in pod["spec"]:
        return Decision("fit", pod["spec"]["nodeName"])
    made = Decision("refused", message=condition(pod, "PodScheduled")["message"])
    made.events = failed_scheduling(api, created)
    if "nominatedNodeName" not in pod["status"]:
        return made
    made.verdict, made.node = "preempt", pod["status"]["nominatedNodeName"]
    if before & set(victims_on(report, made.node)):
        wait_for_evictions(scheduler, finished)
    victims = scheduler.preemptions()[1] - chosen
    # 1.36 counts no victims when all of them are going already; and a pod that lost its promise makes new ones.
    made.count = victims if alone and victims else -1
    made.victims = evicted_for(api, created, before)
    return made


def wait_for_evictions(scheduler, finished):
    try:
        wait_until("evictions", DECISION_SECONDS, lambda: scheduler.preemptions()[0] == finished and "not finished")
    except TimeoutError:
        pass  # nobody was evicted: the comparison says so


def first_decided(api, created):
    for pod in api.watch_one("Pod", created, DECISION_SECONDS):
        if "nodeName" in pod["spec"] or condition(pod, "PodScheduled").get("status") == "False":
            return pod
    raise TimeoutError(f"{key(created)}: no decision within {DECISION_SECONDS} s")


def failed_scheduling(api, created):
    """The texts of its FailedScheduling events; they are written behind the condition."""
    found = []

    def none_yet():
        events = api.list("Event", created["metadata"]["namespace"],
                          fieldSelector=f"reason=FailedScheduling,involvedObject.uid={created['metadata']['uid']}")
        found[:] = [event["message"] for event in events]
        return not found and "no event"

    wait_until(key(created), DECISION_SECONDS, none_yet)
    return found


def evicted_for(api, preemptor, before):
    """Who had to go for this pod: another one may have evicted meanwhile, the events tell them apart."""
    by = {}

    def untold():
        here = {key(pod) for pod in all_pods(api) if not is_terminating(pod)}
        for namespace in {name.split("/")[0] for name in before}:
            for event in api.list("Event", namespace, fieldSelector="reason=Preempted"):
                by[f"{namespace}/{event['involvedObject']['name']}"] = event["message"]
        return before - here - by.keys()

    wait_until("events of victims", DECISION_SECONDS, untold)
    told = f"by pod {preemptor['metadata']['uid']} on"
    return sorted(name for name in before if told in by.get(name, ""))


# --- the comparison: pure -------------------------------------------------------------------------------------------

def cut(message):
    """As the scheduler cuts the text of an event."""
    text = message.encode()
    return message if len(text) <= EVENT_BYTES else text[:EVENT_BYTES - 4].decode(errors="ignore") + " ..."


def differences(report, decision, terminating):
    """What Podium said and the scheduler did not do; empty: they agree. `terminating`: keys of pods that leave."""
    found = []

    def expect(what, said, did):
        if said != did:
            found.append(f"{what}: Podium {said!r}, kube-scheduler {did!r}")

    if any(caveat["kind"] == "BudgetOrder" for caveat in report["caveats"]):
        expect("verdict", verdict_of(report), decision.verdict)  # the rest is drawn by lot, and Podium says so
        return found
    expect("verdict", verdict_of(report), decision.verdict)
    if found:
        return found
    if decision.verdict == "fit":
        allowed = [report["nodes"]["bindNode"]] if "bindNode" in report["nodes"] else report["nodes"]["fit"]
        if decision.node not in allowed:
            expect("node", allowed, decision.node)
        return found
    message = report["message"]
    if decision.verdict == "preempt":
        if decision.node not in report["chosen"]:
            expect("nominated node", report["chosen"], decision.node)
            return found
        victims = victims_on(report, decision.node)
        expect("victims", sorted(set(victims) - terminating), decision.victims)
        if decision.count >= 0:
            expect("number of victims", len(victims), decision.count)
        planned = [named(victim) for victim in report["plan"]["victims"]]
        expect("victims of the plan", planned, victims_on(report, report["plan"]["node"]))
        # Of nodes that are equal the scheduler draws one, and names it (1.37).
        message = message.replace(f"for pod on node {report['plan']['node']}, ", f"for pod on node {decision.node}, ")
    expect("message", message, decision.message)
    if cut(message) not in decision.events:
        expect("event", cut(message), decision.events)
    return found


def verdict_of(report):
    named = {"FitsNow": "fit", "FitsAfterPreemption": "preempt", **{refusal: "refused" for refusal in REFUSALS}}
    return named.get(report["verdict"], report["verdict"])


def victims_on(report, node):
    return [named(victim) for candidate in report["candidates"] if candidate["node"] == node
            for victim in candidate["victims"]]
