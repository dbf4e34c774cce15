#!/usr/bin/env python3
"""Random clusters with random pods on the running control plane: does kube-scheduler do what `podium feasibility` said?

Ends with one line, "50 situations: 12 fit, 21 preempt, 17 refused; 50 agreed"; exit code 1 when they do not all agree
or when one of the three is too rare to prove anything. What both said is kept in a folder with the snapshot Podium saw.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from api import Api, Scheduler
from decision import differences, key, let_schedule
from generate import make_situation
from stage import all_pods, build, clear, is_terminating, set_up, tear_down, wait_until_quiet

VERDICTS = ("fit", "preempt", "refused")
ONE_IN = 10  # at least, of each verdict
PODIUM_SECONDS = 30
EXIT_CODES = (0, 4)  # it fits; it does not
POLICY = pathlib.Path(__file__).resolve().parent / "policy.yaml"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--controlplane", required=True, help="folder of the running control plane")
    parser.add_argument("--apiserver-port", type=int, required=True)
    parser.add_argument("--scheduler-port", type=int, required=True)
    parser.add_argument("--podium", required=True, help="the binary")
    parser.add_argument("--again", required=True, help="the command that plays situations of this cluster")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--only", type=int, help="the situation of this number alone")
    return parser.parse_args()


class Podium:
    def __init__(self, arguments):
        self._binary = arguments.podium
        self._cluster = ["--kubeconfig", f"{arguments.controlplane}/kubeconfig"]

    def snapshot(self):
        return self._run(["snapshot", *self._cluster], (0,))

    def feasibility(self, file):
        command = ["feasibility", "-f", str(file), *self._cluster, "--policy", str(POLICY), "-o", "json"]
        return json.loads(self._run(command, EXIT_CODES))

    def _run(self, command, allowed):
        run = subprocess.run([self._binary, *command], capture_output=True, text=True, timeout=PODIUM_SECONDS,
                             check=False)
        if run.returncode not in allowed:
            raise RuntimeError(f"podium {' '.join(command)}: exit code {run.returncode}: {run.stderr}{run.stdout}")
        return run.stdout


def write(folder, name, value):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(value if isinstance(value, str) else json.dumps(value, indent=1) + "\n")
    return file


def decide(api, scheduler, podium, arrival, folder):
    """Asks both about one pod. Returns the scheduler's decision and what Podium said differently."""
    terminating = {key(pod) for pod in all_pods(api) if is_terminating(pod)}
    file = write(folder, "pod.json", arrival)
    write(folder, "snapshot.json", podium.snapshot())
    report = podium.feasibility(file)
    decision = let_schedule(api, scheduler, arrival, report)
    write(folder, "report.json", report)
    write(folder, "decision.json", decision.json())
    return decision, differences(report, decision, terminating)


def play(api, scheduler, podium, made, folder):
    """One situation from nothing to nothing. Returns the verdict about its last pod and all differences."""
    clear(api)
    build(api, made)
    found = []
    for arrival in made.arrivals:
        wait_until_quiet(api, made)
        decision, differing = decide(api, scheduler, podium, arrival, folder / arrival["metadata"]["name"])
        words = [f"{made.number:4} {decision.verdict:8}", arrival["metadata"]["name"], decision.node]
        if decision.verdict == "preempt":
            words.append(f"after {', '.join(decision.victims) or 'those that are going'}")
        print(*words, flush=True)
        found += differing
    return decision.verdict, found


def play_all(arguments, numbers):
    """Returns how often each verdict was given, and how many situations were agreed on."""
    pki = f"{arguments.controlplane}/pki"
    api, scheduler = Api(arguments.apiserver_port, pki), Scheduler(arguments.scheduler_port, pki)
    counts, agreed = dict.fromkeys(VERDICTS, 0), 0
    set_up(api)
    try:
        for number in numbers:
            folder = pathlib.Path(arguments.controlplane) / "situations" / str(number)
            made = make_situation(arguments.seed, number)
            verdict, found = play(api, scheduler, Podium(arguments), made, folder)
            counts[verdict] += 1
            agreed += not found
            if found:
                print(*found, f"again: {arguments.again} --seed {arguments.seed} --only {number}",
                      f"what was there: {folder}", sep="\n", flush=True)
    finally:
        tear_down(api)
    return counts, agreed


def main():
    arguments = parse_arguments()
    numbers = range(1, arguments.count + 1) if arguments.only is None else [arguments.only]
    counts, agreed = play_all(arguments, numbers)
    rare = [name for name in VERDICTS if counts[name] < len(numbers) // ONE_IN]
    if rare:
        print(f"less than one in {ONE_IN} of: {', '.join(rare)}")
    mix = ", ".join(f"{counts[name]} {name}" for name in VERDICTS)
    print(f"{len(numbers)} situations: {mix}; {agreed} agreed")
    return 0 if agreed == len(numbers) and not rare else 1


if __name__ == "__main__":
    sys.exit(main())
