#!/usr/bin/env python3
"""What the situations rest on: the generator repeats itself, and the comparison notices every disagreement."""

import unittest

from decision import Decision, cut, differences
from generate import make_situation

REFUSED = {"verdict": "PreemptionCannotHelp", "message": "0/1 nodes are available: no.", "nodes": {"fit": []},
           "candidates": [], "chosen": [], "caveats": []}
FITS = {**REFUSED, "verdict": "FitsNow", "message": "", "nodes": {"fit": ["a", "b"]}}
ON_A, ON_B = ([{"namespace": "red", "name": name} for name in names] for names in (("x", "going"), ("y", "z")))
PREEMPTS = {**REFUSED, "verdict": "FitsAfterPreemption",
            "message": "found a potential placement for pod on node a, preempting 2 victims",
            "candidates": [{"node": "a", "victims": ON_A}, {"node": "b", "victims": ON_B}],
            "chosen": ["a", "b"], "plan": {"node": "a", "victims": ON_A}}


def refused(**changes):
    return Decision(**{"verdict": "refused", "message": REFUSED["message"], "events": [REFUSED["message"]], **changes})


def preempts(**changes):
    return Decision(**{"verdict": "preempt", "node": "a", "message": PREEMPTS["message"],
                       "events": [PREEMPTS["message"]], "victims": ["red/x"], "count": 2, **changes})


class GeneratorTest(unittest.TestCase):
    def test_the_same_numbers_give_the_same_situation(self):
        self.assertEqual(make_situation(1, 7), make_situation(1, 7))
        self.assertNotEqual(make_situation(1, 7), make_situation(2, 7))

    def test_no_two_pods_of_a_node_start_at_once(self):
        for number in range(1, 51):
            starts = [(pod["spec"]["nodeName"], pod["metadata"]["annotations"]["test.podium.gpu/start-time"])
                      for pod in make_situation(1, number).pods]
            self.assertEqual(len(starts), len(set(starts)))


class ComparisonTest(unittest.TestCase):
    def test_agreement(self):
        on_b = PREEMPTS["message"].replace("node a", "node b")
        rows = [(FITS, Decision("fit", "b")),
                (REFUSED, refused()),
                (PREEMPTS, preempts()),
                (PREEMPTS, preempts(count=-1)),
                (PREEMPTS, preempts(node="b", victims=["red/y", "red/z"], message=on_b, events=[on_b]))]
        for report, decision in rows:
            with self.subTest(decision=decision):
                self.assertEqual(differences(report, decision, {"red/going"}), [])

    def test_every_disagreement_is_noticed(self):
        shorter = {**PREEMPTS, "plan": {"node": "a", "victims": ON_A[:1]}}
        rows = [("verdict", FITS, refused()),
                ("verdict", REFUSED, preempts()),
                ("verdict", {**REFUSED, "verdict": "Unknown"}, refused()),
                ("node", FITS, Decision("fit", "c")),
                ("node", {**FITS, "nodes": {"fit": ["a", "b"], "bindNode": "a"}}, Decision("fit", "b")),
                ("message", REFUSED, refused(message="0/1 nodes are available: no")),
                ("event", REFUSED, refused(events=["something else"])),
                ("nominated node", PREEMPTS, preempts(node="c")),
                ("victims", PREEMPTS, preempts(victims=["red/x", "red/y"])),
                ("number of victims", PREEMPTS, preempts(count=3)),
                ("victims of the plan", shorter, preempts())]
        for what, report, decision in rows:
            with self.subTest(what=what, decision=decision):
                self.assertEqual([line.split(":")[0] for line in differences(report, decision, {"red/going"})], [what])

    def test_what_is_drawn_by_lot_is_compared_by_verdict_only(self):
        drawn = {**PREEMPTS, "caveats": [{"kind": "BudgetOrder", "text": "..."}]}
        self.assertEqual(differences(drawn, preempts(victims=["red/y"]), set()), [])
        self.assertEqual(len(differences(drawn, refused(), set())), 1)

    def test_an_event_is_cut_by_bytes(self):
        self.assertEqual(cut("x" * 1024), "x" * 1024)
        self.assertEqual(cut("x" * 1025), "x" * 1020 + " ...")


if __name__ == "__main__":
    unittest.main()
