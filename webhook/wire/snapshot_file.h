// A snapshot as a file that DecodeClusterFile reads back.
#pragma once

#include <string>

#include "podium/snapshot.h"

namespace podium {

struct SnapshotFileOptions {
  bool redact = false;  // RedactSnapshot first
};

// A `kind: List` of Kubernetes objects, one on a line, ending in a newline. Reading it back gives equal tables and
// waiting pods; generation, time and sources are not in it. Big clusters: read it with kMaxSnapshotFileBytes.
std::string EncodeSnapshot(const ClusterSnapshot& snapshot, const SnapshotFileOptions& options = {});

// The same cluster with pseudonyms for the names of namespaces, nodes, pods, workloads, budgets, quotas, autoscalers,
// containers and service accounts, for UIDs and for label values. Equal texts get equal pseudonyms wherever they are,
// so that owners, node names, selectors and budgets keep matching, and "kubernetes.io/hostname" still is the node's
// name; numbering follows the alphabet, so that ties break as before. The same snapshot gives the same pseudonyms.
// Kept: label keys, values of podium.gpu/ and of what describes hardware (nvidia.com/, kubernetes.io/arch, ...), values
// that are a truth value or a short number, annotations, resource names, priority classes, Kubernetes' own namespaces.
ClusterSnapshot RedactSnapshot(const ClusterSnapshot& snapshot);

}  // namespace podium
