// Host ports. Source: plugins/nodeports, framework/types.go (HostPortInfo).
#include <algorithm>

#include "feasibility/filters.h"

namespace podium {
namespace {

bool Clash(const HostPort& a, const HostPort& b) {
  const std::string every = HostPort{}.ip;
  return a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || a.ip == every || b.ip == every);
}

}  // namespace

FilterResult FilterPorts(const Overlay& node) {
  for (const HostPort& wanted : node.cycle().spec->host_ports)
    if (std::any_of(node.used_ports().begin(), node.used_ports().end(),
                    [&](const HostPort& used) { return Clash(wanted, used); }))
      return {.code = FilterCode::kUnschedulable, .reasons = Bit(Reason::kPorts)};
  return {};
}

}  // namespace podium
