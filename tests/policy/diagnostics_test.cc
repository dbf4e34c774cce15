// What the compiler says about each place of a file that is not as it should be, to the column.
#include <gtest/gtest.h>

#include "policy/lint_text.h"

namespace podium {
namespace {

struct Row {
  std::string_view name;
  std::string_view text;  // of a spec: below `spec:`, beginning at line 5
  std::string_view want;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class FileTest : public testing::TestWithParam<Row> {};
class SpecTest : public testing::TestWithParam<Row> {};

TEST_P(FileTest, Says) { EXPECT_EQ(LintText(GetParam().text), GetParam().want); }
TEST_P(SpecTest, Says) { EXPECT_EQ(LintSpec(GetParam().text), GetParam().want); }

std::string RowName(const testing::TestParamInfo<Row>& info) { return std::string(info.param.name); }

constexpr Row kFiles[] = {
    {"Empty", "",
     "p.yaml:1:1: error: the file is empty; a policy begins with apiVersion: podium.gpu/v1 and kind: PriorityPolicy\n"},
    {"CommentOnly", "# nothing\n",
     "p.yaml:1:1: error: the file is empty; a policy begins with apiVersion: podium.gpu/v1 and kind: PriorityPolicy\n"},
    {"AText", "hello\n",
     "p.yaml:1:1: error: the file is 'hello'; allowed: a policy, a mapping with the keys apiVersion, kind, metadata, "
     "spec\n"},
    {"NothingInIt", "{}\n",
     "p.yaml:1:1: error: missing key 'apiVersion'; a policy needs apiVersion, kind, spec\n"
     "p.yaml:1:1: error: missing key 'kind'; a policy needs apiVersion, kind, spec\n"
     "p.yaml:1:1: error: missing key 'spec'; a policy needs apiVersion, kind, spec\n"
     "p.yaml:1:1: error: the policy has no name; add metadata: {name: ...}\n"},
    {"AnotherKind", "apiVersion: podium.gpu/v2\nkind: Policy\nmetadata: {name: t}\nspec: {}\n",
     "p.yaml:1:13: error: apiVersion is 'podium.gpu/v2'; allowed: podium.gpu/v1\n"
     "p.yaml:2:7: error: kind is 'Policy'; allowed: PriorityPolicy\n"},
    {"NoName", "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nspec: {}\n",
     "p.yaml:1:1: error: the policy has no name; add metadata: {name: ...}\n"},
    {"NoNameInMetadata", "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nmetadata: {}\nspec: {}\n",
     "p.yaml:3:11: error: missing key 'name'; metadata needs name\n"},
    {"MetadataOfAnObject",
     "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nmetadata: {name: GPU Tiers, labels: {a: b}}\nspec: {}\n",
     "p.yaml:3:18: error: metadata.name is 'GPU Tiers'; allowed: 1 to 253 lower-case letters, digits, '-' and '.', "
     "with "
     "a letter or digit at both ends of each part\n"
     "p.yaml:3:29: error: unknown key 'labels'; allowed: name\n"},
    {"SpecIsAList", "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nmetadata: {name: t}\nspec: [gpus]\n",
     "p.yaml:4:7: error: spec is a list; allowed: spec, a mapping with the keys gpus, classes, workloadTypes, rules, "
     "exemptions, onInternalError, onStaleCluster, staleAfterSeconds, advice\n"},
    {"SpecIsNothing", "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nmetadata: {name: t}\nspec:\n",
     "p.yaml:4:1: error: spec is empty; allowed: spec, a mapping with the keys gpus, classes, workloadTypes, rules, "
     "exemptions, onInternalError, onStaleCluster, staleAfterSeconds, advice\n"},
    {"KeysOfAnotherPlace",
     "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nmetadata: {name: t}\nspec: {}\nrules: {}\n",
     "p.yaml:5:1: error: unknown key 'rules'; allowed: apiVersion, kind, metadata, spec\n"},
};
INSTANTIATE_TEST_SUITE_P(Policy, FileTest, testing::ValuesIn(kFiles), RowName);

constexpr Row kGpus[] = {
    {"Gpus",
     R"(  gpus:
    - {resource: nvidia.com/gpu}
    - {resource: cpu, unit: devices}
    - {resource: requests.nvidia.com/gpu, unit: device}
    - nvidia.com/gpu
    - {resource: "", unit: device}
)",
     "p.yaml:6:7: error: missing key 'unit'; a GPU resource needs resource, unit\n"
     "p.yaml:7:18: error: spec.gpus[1].resource is 'cpu'; allowed: a resource name with its domain; '*' stands for any "
     "run of characters: nvidia.com/mig-*\n"
     "p.yaml:7:29: error: spec.gpus[1].unit is 'devices'; allowed: device, slice, shared; did you mean 'device'?\n"
     "p.yaml:8:18: error: spec.gpus[2].resource is 'requests.nvidia.com/gpu', which is how a ResourceQuota writes it; "
     "write 'nvidia.com/gpu'\n"
     "p.yaml:9:7: error: spec.gpus[3] is 'nvidia.com/gpu'; allowed: a GPU resource, a mapping with the keys resource, "
     "unit\n"
     "p.yaml:10:18: error: spec.gpus[4].resource is ''; allowed: a resource name with its domain; '*' stands for any "
     "run of characters: nvidia.com/mig-*\n"},
    {"GpusAreNoMapping", "  gpus: {resource: nvidia.com/gpu, unit: device}\n",
     "p.yaml:5:9: error: spec.gpus is a mapping; allowed: a list\n"},
};
INSTANTIATE_TEST_SUITE_P(Gpus, SpecTest, testing::ValuesIn(kGpus), RowName);

constexpr Row kClasses[] = {
    {"Values",
     R"(  classes:
    - {name: a, value: "5"}
    - {name: b, value: 010}
    - {name: c, value: +7}
    - {name: d, value: 1e3}
    - {name: e, value: -2147483649}
    - {name: f, value: 99999999999999999999}
    - {name: g, value:}
    - {name: h, value: [1]}
    - {name: i, value: -2147483648}
    - {name: j, value: -10}
    - {name: k, value: 1_000}
    - {name: l, value: 0x10}
)",
     "p.yaml:6:24: error: spec.classes[0].value is '5'; allowed: a whole number from -2147483648 to 1000000000, "
     "without "
     "quotes\n"
     "p.yaml:7:24: error: spec.classes[1].value is 010; allowed: a whole number from -2147483648 to 1000000000, in "
     "decimal and without '+' or a leading 0\n"
     "p.yaml:8:24: error: spec.classes[2].value is +7; allowed: a whole number from -2147483648 to 1000000000, in "
     "decimal and without '+' or a leading 0\n"
     "p.yaml:9:24: error: spec.classes[3].value is 1e3; allowed: a whole number from -2147483648 to 1000000000\n"
     "p.yaml:10:24: error: spec.classes[4].value is -2147483649; allowed: a whole number from -2147483648 to "
     "1000000000\n"
     "p.yaml:11:24: error: spec.classes[5].value is 99999999999999999999; allowed: a whole number from -2147483648 to "
     "1000000000\n"
     "p.yaml:12:23: error: spec.classes[6].value is empty; allowed: a whole number from -2147483648 to 1000000000\n"
     "p.yaml:13:24: error: spec.classes[7].value is a list; allowed: a whole number from -2147483648 to 1000000000\n"
     "p.yaml:14:24: warning: spec.classes[8].value is -2147483648; below -10 the cluster autoscaler's default neither "
     "adds nodes for such pods nor keeps nodes because of them (--expendable-pods-priority-cutoff)\n"
     "p.yaml:16:24: error: spec.classes[10].value is '1_000'; allowed: a whole number from -2147483648 to 1000000000\n"
     "p.yaml:17:24: error: spec.classes[11].value is 0x10; allowed: a whole number from -2147483648 to 1000000000, in "
     "decimal and without '+' or a leading 0\n"},
    {"Booleans",
     R"(  classes:
    - {name: a, value: 1, globalDefault: yes}
    - {name: b, value: 2, globalDefault: "true"}
    - {name: c, value: 3, globalDefault: True}
    - {name: d, value: 4, globalDefault: 1}
)",
     "p.yaml:6:42: error: spec.classes[0].globalDefault is 'yes'; allowed: true or false\n"
     "p.yaml:7:42: error: spec.classes[1].globalDefault is 'true'; allowed: true or false, without quotes\n"
     "p.yaml:8:42: error: spec.classes[2].globalDefault is True; allowed: true or false\n"
     "p.yaml:9:42: error: spec.classes[3].globalDefault is 1; allowed: true or false\n"},
    {"Names",
     R"(  classes:
    - {name: Inference, value: 1}
    - {name: system-gpu, value: 2}
    - {name: 7, value: 3}
    - {name: a..b, value: 4}
    - {value: 5}
)",
     "p.yaml:6:14: error: spec.classes[0].name is 'Inference'; allowed: 1 to 253 lower-case letters, digits, '-' and "
     "'.', with a letter or digit at both ends of each part\n"
     "p.yaml:7:14: error: spec.classes[1].name is 'system-gpu'; names that begin with 'system-' are Kubernetes' own "
     "and "
     "need no entry here\n"
     "p.yaml:8:14: error: spec.classes[2].name is 7; allowed: a text; put it in quotes: \"7\"\n"
     "p.yaml:9:14: error: spec.classes[3].name is 'a..b'; allowed: 1 to 253 lower-case letters, digits, '-' and '.', "
     "with a letter or digit at both ends of each part\n"
     "p.yaml:10:7: error: missing key 'name'; a class needs name, value\n"},
    {"Words", "  classes: [{name: a, value: 1, tier: hihg, preemptionPolicy: never, description: 2024}]\n",
     "p.yaml:5:39: error: spec.classes[0].tier is 'hihg'; allowed: high, standard, preemptible; did you mean 'high'?\n"
     "p.yaml:5:63: error: spec.classes[0].preemptionPolicy is 'never'; allowed: PreemptLowerPriority, Never; did you "
     "mean 'Never'?\n"
     "p.yaml:5:83: error: spec.classes[0].description is 2024; allowed: a text; put it in quotes: \"2024\"\n"},
    {"TheSystemTierIsNotOurs", "  classes: [{name: a, value: 1, tier: system}]\n",
     "p.yaml:5:39: error: spec.classes[0].tier is 'system'; allowed: high, standard, preemptible\n"},
    {"LongAndUglyTextsAreCut",
     "  classes: [{name: \"a\\nb\\x1b"
     "ccccccccccccccccccccccccccccccccccccccccccccccccccccccc\xc3\xa4\xc3\xa4\", value: 1}]\n",
     "p.yaml:5:20: error: spec.classes[0].name is 'a?b?ccccccccccccccccccccccccccccccccccccccccccccccccccccccc...'; "
     "allowed: 1 to 253 lower-case letters, digits, '-' and '.', with a letter or digit at both ends of each part\n"},
};
INSTANTIATE_TEST_SUITE_P(Classes, SpecTest, testing::ValuesIn(kClasses), RowName);

constexpr Row kTypes[] = {
    {"Keys",
     R"(  classes: [{name: a, value: 1}]
  workloadTypes:
    - {name: chat_bot, match: {gpus: 1}, class: a, respects: user}
    - {name: x, respect: users, advice: refuse}
    - {name: y, match: {gpus: 1}, class: b}
)",
     "p.yaml:7:14: error: spec.workloadTypes[0].name is 'chat_bot'; allowed: 1 to 63 lower-case letters, digits and "
     "'-', with a letter or digit at both ends\n"
     "p.yaml:7:52: error: unknown key 'respects'; allowed: name, match, class, respect, budget, advice; did you mean "
     "'respect'?\n"
     "p.yaml:8:7: error: missing key 'match'; a workload type needs name, match, class\n"
     "p.yaml:8:7: error: missing key 'class'; a workload type needs name, match, class\n"
     "p.yaml:8:26: error: spec.workloadTypes[1].respect is 'users'; allowed: user, policy, ceiling; did you mean "
     "'user'?\n"
     "p.yaml:8:41: error: spec.workloadTypes[1].advice is 'refuse'; allowed: off, audit, warn, enforce\n"
     "p.yaml:9:42: error: class 'b' is not in spec.classes; allowed: a\n"},
    {"Matches",
     R"(  classes: [{name: a, value: 1}]
  workloadTypes:
    - {name: t0, match: {}, class: a}
    - {name: t1, match: {any: []}, class: a}
    - {name: t2, match: {any: [{gpus: 1}], labels: {app: x}}, class: a}
    - {name: t3, match: {any: {gpus: 1}}, class: a}
    - {name: t4, match: {any: [{}, {label: {app: x}}]}, class: a}
    - {name: t5, match: gpus, class: a}
)",
     "p.yaml:7:25: error: spec.workloadTypes[0].match is an empty mapping; allowed: a clause with at least one "
     "condition; for every pod, write namespaces: [\"*\"]\n"
     "p.yaml:8:31: error: spec.workloadTypes[1].match.any is an empty list; allowed: a list with at least one clause\n"
     "p.yaml:9:44: error: unknown key 'labels'; allowed: any; beside any there is nothing: write it into the clauses "
     "of "
     "any\n"
     "p.yaml:10:31: error: spec.workloadTypes[3].match.any is a mapping; allowed: a list\n"
     "p.yaml:11:32: error: spec.workloadTypes[4].match.any[0] is an empty mapping; allowed: a clause with at least one "
     "condition; for every pod, write namespaces: [\"*\"]\n"
     "p.yaml:11:37: error: unknown key 'label'; allowed: labels, namespaces, namespaceLabels, kinds, ownerKinds, "
     "serviceAccounts, gpus; did you mean 'labels'?\n"
     "p.yaml:12:25: error: spec.workloadTypes[5].match is 'gpus'; allowed: a clause, a mapping with the keys labels, "
     "namespaces, namespaceLabels, kinds, ownerKinds, serviceAccounts, gpus\n"},
    {"Conditions",
     R"(  classes: [{name: a, value: 1}]
  workloadTypes:
    - name: t
      class: a
      match:
        any:
          - {labels: {app: 1, -x: y, z: "no value"}}
          - {labels: {}}
          - {namespaces: []}
          - {namespaces: [Team-A, ""]}
          - {serviceAccounts: ["system:serviceaccount:ci:bot", bot]}
          - {kinds: Deployment}
          - {kinds: ["apps/v1"]}
)",
     "p.yaml:11:28: error: spec.workloadTypes[0].match.any[0].labels.app is 1; allowed: a text; put it in quotes: "
     "\"1\"\n"
     "p.yaml:11:31: error: the key in spec.workloadTypes[0].match.any[0].labels is '-x'; allowed: a label key such as "
     "app or example.com/team\n"
     "p.yaml:11:41: error: spec.workloadTypes[0].match.any[0].labels.z is 'no value'; allowed: a label value (at most "
     "63 "
     "letters, digits, '-', '_' and '.'), or \"*\" for any value\n"
     "p.yaml:12:22: error: spec.workloadTypes[0].match.any[1].labels is an empty mapping; allowed: a mapping with at "
     "least one label; to set no condition, leave the key out\n"
     "p.yaml:13:26: error: spec.workloadTypes[0].match.any[2].namespaces is an empty list; allowed: a list with at "
     "least "
     "one entry; to set no condition, leave the key out\n"
     "p.yaml:14:27: error: spec.workloadTypes[0].match.any[3].namespaces[0] is 'Team-A'; allowed: a namespace name; "
     "'*' "
     "stands for any run of characters: team-* or kube-system\n"
     "p.yaml:14:35: error: spec.workloadTypes[0].match.any[3].namespaces[1] is ''; allowed: a namespace name; '*' "
     "stands "
     "for any run of characters: team-* or kube-system\n"
     "p.yaml:15:32: error: spec.workloadTypes[0].match.any[4].serviceAccounts[0] is 'system:serviceaccount:ci:bot'; "
     "allowed: \"namespace:name\"; '*' stands for any run of characters: \"ci:*\"\n"
     "p.yaml:15:64: error: spec.workloadTypes[0].match.any[4].serviceAccounts[1] is 'bot'; allowed: "
     "\"namespace:name\"; "
     "'*' stands for any run of characters: \"ci:*\"\n"
     "p.yaml:16:21: error: spec.workloadTypes[0].match.any[5].kinds is 'Deployment'; allowed: a list\n"
     "p.yaml:17:22: error: spec.workloadTypes[0].match.any[6].kinds[0] is 'apps/v1'; allowed: a Kubernetes kind such "
     "as "
     "Deployment\n"},
    {"Counts",
     R"(  classes: [{name: a, value: 1}]
  workloadTypes:
    - name: t
      class: a
      match:
        any:
          - {gpus: ">1"}
          - {gpus: 4-2}
          - {gpus: -1}
          - {gpus: 1000001}
          - {gpus: two}
          - {gpus: [1]}
          - {gpus: {counts: 1}}
          - {gpus: {count: 1.5, unit: mig, resource: "nvidia com"}}
          - {gpus: "01"}
          - {gpus: ""}
)",
     R"(p.yaml:11:20: error: spec.workloadTypes[0].match.any[0].gpus is '>1'; allowed: "2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000
p.yaml:12:20: error: spec.workloadTypes[0].match.any[1].gpus is '4-2'; allowed: "2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000
p.yaml:13:20: error: spec.workloadTypes[0].match.any[2].gpus is -1; allowed: "2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000
p.yaml:14:20: error: spec.workloadTypes[0].match.any[3].gpus is 1000001; allowed: "2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000
p.yaml:15:20: error: spec.workloadTypes[0].match.any[4].gpus is 'two'; allowed: "2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000
p.yaml:16:20: error: spec.workloadTypes[0].match.any[5].gpus is a list; allowed: "2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000
p.yaml:17:21: error: unknown key 'counts'; allowed: count, unit, resource; did you mean 'count'?
p.yaml:18:28: error: spec.workloadTypes[0].match.any[7].gpus.count is 1.5; allowed: "2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000
p.yaml:18:39: error: spec.workloadTypes[0].match.any[7].gpus.unit is 'mig'; allowed: device, slice, shared
p.yaml:18:54: error: spec.workloadTypes[0].match.any[7].gpus.resource is 'nvidia com'; allowed: a resource name; '*' stands for any run of characters: nvidia.com/*
p.yaml:19:20: error: spec.workloadTypes[0].match.any[8].gpus is '01'; allowed: "2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000
p.yaml:20:20: error: spec.workloadTypes[0].match.any[9].gpus is ''; allowed: "2", ">=1", "<=4" or "1-8", with numbers from 0 to 1000000
)"},
    {"Budgets",
     R"(  classes: [{name: a, value: 1}]
  workloadTypes:
    - {name: t0, class: a, match: {labels: {l: "0"}}, budget: {}}
    - {name: t1, class: a, match: {labels: {l: "1"}}, budget: {minAvailable: 1, maxUnavailable: 1}}
    - {name: t2, class: a, match: {labels: {l: "2"}}, budget: {minAvailable: "1"}}
    - {name: t3, class: a, match: {labels: {l: "3"}}, budget: {maxUnavailable: 101%}}
    - {name: t4, class: a, match: {labels: {l: "4"}}, budget: {maxUnavailable: -1}}
    - {name: t5, class: a, match: {labels: {l: "5"}}, budget: {maxUnavailable: half, unhealthyPods: Always}}
    - {name: t6, class: a, match: {labels: {l: "6"}}, budget: {maxUnavailable: 0}}
    - {name: t7, class: a, match: {labels: {l: "7"}}, budget: {minAvailable: "100%"}}
    - {name: t8, class: a, match: {labels: {l: "8"}}, budget: {maxUnavailable: 0%}}
    - {name: t9, class: a, match: {labels: {l: "9"}}, budget: {maxUnavailable: 2.5%}}
)",
     R"(p.yaml:7:63: error: spec.workloadTypes[0].budget has no limit; allowed: exactly one of minAvailable, maxUnavailable
p.yaml:8:63: error: spec.workloadTypes[1].budget has both minAvailable and maxUnavailable; allowed: exactly one of minAvailable, maxUnavailable
p.yaml:9:78: error: spec.workloadTypes[2].budget.minAvailable is '1'; allowed: a whole number from 0 to 1000000 without quotes, or a percentage from "0%" to "100%"
p.yaml:10:80: error: spec.workloadTypes[3].budget.maxUnavailable is '101%'; allowed: a whole number from 0 to 1000000 without quotes, or a percentage from "0%" to "100%"
p.yaml:11:80: error: spec.workloadTypes[4].budget.maxUnavailable is -1; allowed: a whole number from 0 to 1000000 without quotes, or a percentage from "0%" to "100%"
p.yaml:12:80: error: spec.workloadTypes[5].budget.maxUnavailable is 'half'; allowed: a whole number from 0 to 1000000 without quotes, or a percentage from "0%" to "100%"
p.yaml:12:101: error: spec.workloadTypes[5].budget.unhealthyPods is 'Always'; allowed: IfHealthyBudget, AlwaysAllow
p.yaml:13:80: warning: spec.workloadTypes[6].budget.maxUnavailable is 0, which allows no disruption: node drains and upgrades would hang
p.yaml:14:78: warning: spec.workloadTypes[7].budget.minAvailable is 100%, which allows no disruption: node drains and upgrades would hang
p.yaml:15:80: warning: spec.workloadTypes[8].budget.maxUnavailable is 0%, which allows no disruption: node drains and upgrades would hang
p.yaml:16:80: error: spec.workloadTypes[9].budget.maxUnavailable is '2.5%'; allowed: a whole number from 0 to 1000000 without quotes, or a percentage from "0%" to "100%"
)"},
};
INSTANTIATE_TEST_SUITE_P(Types, SpecTest, testing::ValuesIn(kTypes), RowName);

constexpr Row kRules[] = {
    {"Rules",
     R"(  rules:
    multi-gpu-premptible: {mode: enforce}
    multi-gpu-preemptible: {mode: enforced, limit: 1025, slicelimit: 1, sharedLimit: "1"}
    unknown-workload-type: off
    uncharged-quota-key: {limit: 1}
    inconsistent-priority: {mode: "off"}
    inject-priority-class:
)",
     "p.yaml:6:5: error: unknown rule 'multi-gpu-premptible'; allowed: copy-workload-type-label, "
     "inject-priority-class, "
     "unknown-priority-class, disallowed-priority-class, inconsistent-priority, multi-gpu-preemptible, "
     "unknown-workload-type, "
     "unscoped-high-priority-quota, uncharged-quota-key; did you mean 'multi-gpu-preemptible'?\n"
     "p.yaml:7:35: error: spec.rules.multi-gpu-preemptible.mode is 'enforced'; allowed: off, audit, warn, enforce; did "
     "you mean 'enforce'?\n"
     "p.yaml:7:52: error: spec.rules.multi-gpu-preemptible.limit is 1025; allowed: a whole number from 0 to 1024\n"
     "p.yaml:7:58: error: unknown key 'slicelimit'; allowed: mode, limit, sliceLimit, sharedLimit; did you mean "
     "'sliceLimit'?\n"
     "p.yaml:7:86: error: spec.rules.multi-gpu-preemptible.sharedLimit is '1'; allowed: a whole number from 0 to 1024, "
     "without quotes\n"
     "p.yaml:8:28: error: spec.rules.unknown-workload-type is 'off'; allowed: a rule, a mapping with the keys mode\n"
     "p.yaml:9:27: error: unknown key 'limit'; allowed: mode\n"
     "p.yaml:11:5: error: spec.rules.inject-priority-class is empty; allowed: a rule, a mapping with the keys mode\n"},
    {"RulesAreNoList", "  rules: [multi-gpu-preemptible]\n",
     "p.yaml:5:10: error: spec.rules is a list; allowed: a mapping\n"},
    {"Exemptions",
     R"(  exemptions:
    - {rules: [multi-gpu], namespace: a, owner: o, reason: "", expires: 2027-02-30}
    - {rules: [], namespace: Research, owner: 5, reason: "two\nlines", expires: soon}
    - {rules: multi-gpu-preemptible, name: ""}
    - {rules: [inconsistent-priority, 1], kinds: [], namespace: a, owner: o, reason: r, expire: 2027-01-31}
)",
     "p.yaml:6:16: error: unknown rule 'multi-gpu'; allowed: copy-workload-type-label, inject-priority-class, "
     "unknown-priority-class, disallowed-priority-class, inconsistent-priority, multi-gpu-preemptible, "
     "unknown-workload-type, "
     "unscoped-high-priority-quota, uncharged-quota-key\n"
     "p.yaml:6:60: error: spec.exemptions[0].reason is ''; allowed: a text of 1 to 256 bytes on one line\n"
     "p.yaml:6:73: error: spec.exemptions[0].expires is '2027-02-30'; allowed: a date from 1970 to 2261 such as "
     "2027-01-31; the exemption counts to the end of that day (UTC)\n"
     "p.yaml:7:15: error: spec.exemptions[1].rules is an empty list; allowed: a list with at least one rule: "
     "copy-workload-type-label, inject-priority-class, unknown-priority-class, disallowed-priority-class, "
     "inconsistent-priority, "
     "multi-gpu-preemptible, unknown-workload-type, unscoped-high-priority-quota, uncharged-quota-key\n"
     "p.yaml:7:30: error: spec.exemptions[1].namespace is 'Research'; allowed: a namespace name; '*' stands for any "
     "run "
     "of characters: team-* or kube-system\n"
     "p.yaml:7:47: error: spec.exemptions[1].owner is 5; allowed: a text; put it in quotes: \"5\"\n"
     "p.yaml:7:58: error: spec.exemptions[1].reason is 'two?lines'; allowed: a text of 1 to 256 bytes on one line\n"
     "p.yaml:7:81: error: spec.exemptions[1].expires is 'soon'; allowed: a date from 1970 to 2261 such as 2027-01-31; "
     "the exemption counts to the end of that day (UTC)\n"
     "p.yaml:8:7: error: missing key 'owner'; an exemption needs rules, owner, reason, expires\n"
     "p.yaml:8:7: error: missing key 'reason'; an exemption needs rules, owner, reason, expires\n"
     "p.yaml:8:7: error: missing key 'expires'; an exemption needs rules, owner, reason, expires\n"
     "p.yaml:8:15: error: spec.exemptions[2].rules is 'multi-gpu-preemptible'; allowed: a list\n"
     "p.yaml:8:44: error: spec.exemptions[2].name is ''; allowed: an object name; '*' stands for any run of "
     "characters: "
     "llm-eval-*\n"
     "p.yaml:9:7: error: missing key 'expires'; an exemption needs rules, owner, reason, expires\n"
     "p.yaml:9:39: error: spec.exemptions[3].rules[1] is 1; allowed: a text; put it in quotes: \"1\"\n"
     "p.yaml:9:50: error: spec.exemptions[3].kinds is an empty list; allowed: a list with at least one entry; to set "
     "no "
     "condition, leave the key out\n"
     "p.yaml:9:89: error: unknown key 'expire'; allowed: rules, namespace, name, kinds, owner, reason, expires; did "
     "you "
     "mean 'expires'?\n"},
    {"Posture", "  onInternalError: deny\n",
     "p.yaml:5:20: error: spec.onInternalError is 'deny'; allowed: allow, refuse\n"},
    {"Advice", "  advice: refuse\n",
     "p.yaml:5:11: error: spec.advice is 'refuse'; allowed: off, audit, warn, enforce\n"},
    {"StaleCluster", "  onStaleCluster: ignore\n  staleAfterSeconds: 60\n",
     "p.yaml:5:19: error: spec.onStaleCluster is 'ignore'; allowed: use, ladder, refuse\n"
     "p.yaml:6:22: error: spec.staleAfterSeconds is 60; allowed: a whole number from 120 to 86400\n"},
};
INSTANTIATE_TEST_SUITE_P(Rules, SpecTest, testing::ValuesIn(kRules), RowName);

TEST(FormatDiagnostic, PlacesAndKinds) {
  EXPECT_EQ(FormatDiagnostic({DiagnosticSeverity::kError, {"a.yaml", 2, 5}, "text"}), "a.yaml:2:5: error: text");
  EXPECT_EQ(FormatDiagnostic({DiagnosticSeverity::kWarning, {"a.yaml", 2, 5}, "text"}), "a.yaml:2:5: warning: text");
  EXPECT_EQ(FormatDiagnostic({DiagnosticSeverity::kError, {"a.yaml", 0, 0}, "text"}), "a.yaml: error: text");
  EXPECT_EQ(Lint({}),
            "policy: error: there is no policy file; a policy begins with apiVersion: podium.gpu/v1 and kind: "
            "PriorityPolicy\n");
}

}  // namespace
}  // namespace podium
