// Asking for less: of the GPUs, or of what a node lacks beside them.
#include <algorithm>
#include <set>
#include <utility>

#include "feasibility/change_search.h"
#include "feasibility/changed_pod.h"
#include "feasibility/cycle.h"
#include "feasibility/holdings.h"
#include "feasibility/request.h"
#include "feasibility/usable_nodes.h"

namespace podium {
namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20;
constexpr std::int64_t kGibi = std::int64_t{1} << 30;

bool IsInBytes(const std::string& resource) { return resource == "memory" || resource == "ephemeral-storage"; }

// Of an amount as the scheduler counts it.
Quantity QuantityOf(const std::string& resource, std::int64_t amount) {
  return resource == "cpu" ? Quantity::FromNano(Int128(amount) * 1'000'000) : Quantity::FromUnits(amount);
}

// "3.5 cpu", "12Gi memory"
std::string AmountText(const std::string& resource, std::int64_t amount) {
  if (!IsInBytes(resource)) return FormatQuantity(QuantityOf(resource, amount)) + ' ' + resource;
  if (amount % kGibi == 0) return std::to_string(amount / kGibi) + "Gi " + resource;
  if (amount % kMebi == 0) return std::to_string(amount / kMebi) + "Mi " + resource;
  return std::to_string(amount) + ' ' + resource;
}

struct Cut {
  std::size_t demand = 0;
  std::int64_t amount = 0;                       // > 0
  auto operator<=>(const Cut&) const = default;  // NOLINT(modernize-use-nullptr): misread by clang-tidy 14
};

// What has to be cut on one node, and how much of the pod is lost at most: 0.25 is a quarter of a request.
struct Cuts {
  double loss = 0;
  std::vector<Cut> cuts;
  auto operator<=>(const Cuts&) const = default;  // NOLINT(modernize-use-nullptr): misread
};

class CutSearch {
 public:
  explicit CutSearch(const SearchInput& input) : input_(&input), demands_(DemandsOf(input.cluster, input.incoming)) {
    const std::vector<GpuRequest> gpus = EffectiveGpuRequest(*input.incoming.spec, input.options.gpus);
    for (const Demand& demand : demands_) {
      is_gpu_.push_back(
          std::any_of(gpus.begin(), gpus.end(), [&](auto& gpu) { return gpu.resource == demand.resource; }));
      holdings_.emplace_back(input.cluster, input.incoming, demand.resource, input.options.evaluate.scheduler_name);
    }
  }

  // Smallest loss first, none twice.
  [[nodiscard]] std::set<Cuts> Run() const {
    std::set<Cuts> all;
    const std::vector<char> usable = UsableNodes(input_->report);
    for (std::uint32_t node = 0; node < usable.size(); ++node) {
      if (usable[node] == 0) continue;
      AddCuts(all, node, [](const NodeAmounts& amounts) { return amounts.free; });
      if (input_->MayPreempt())
        AddCuts(all, node, [](const NodeAmounts& amounts) { return WrappingAdd(amounts.free, amounts.freeable); });
    }
    return all;
  }

  [[nodiscard]] std::string TextOf(const Cuts& cuts) const {
    std::string text = "ask for ";
    for (const Cut& cut : cuts.cuts) {
      const Demand& demand = demands_[cut.demand];
      text += (text.size() > 8 ? ", " : "") + AmountText(demand.resource, cut.amount) + " instead of " +
              AmountText(demand.resource, demand.amount);
    }
    return text;
  }

  [[nodiscard]] Pod Apply(const Cuts& cuts) const {
    Pod changed = input_->incoming;
    for (const Cut& cut : cuts.cuts) {
      const std::string& resource = demands_[cut.demand].resource;
      changed = WithAtMost(std::move(changed), resource, QuantityOf(resource, cut.amount));
    }
    return changed;
  }

 private:
  template <typename Room>
  void AddCuts(std::set<Cuts>& all, std::uint32_t node, Room room) const {
    Cuts cuts;
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      std::int64_t amount = room(holdings_[i].On(node));
      if (demands_[i].amount <= amount) continue;
      if (IsInBytes(demands_[i].resource)) amount -= amount % kMebi;
      if (is_gpu_[i] || amount <= 0) return;
      cuts.cuts.push_back({i, amount});
      cuts.loss = std::max(cuts.loss, 1.0 - static_cast<double>(amount) / static_cast<double>(demands_[i].amount));
    }
    if (!cuts.cuts.empty()) all.insert(std::move(cuts));
  }

  const SearchInput* input_;
  std::vector<Demand> demands_;
  std::vector<bool> is_gpu_;  // by demand, as is the next
  std::vector<Holdings> holdings_;
};

bool IsSplit(const PodSpec& spec, const std::string& resource) {
  return std::count_if(spec.containers.begin(), spec.containers.end(),
                       [&](const Container& container) { return container.requests.contains(resource); }) > 1;
}

// More than the largest node has needs no trial.
std::int64_t MostToTry(const SearchInput& input, const GpuRequest& gpu) {
  const Holdings holdings(input.cluster, input.incoming, gpu.resource, input.options.evaluate.scheduler_name);
  std::int64_t most = 0;
  for (std::uint32_t node = 0; node < input.cluster.nodes.size(); ++node)
    most = std::max(most, holdings.On(node).allocatable);
  return std::min(most, gpu.count - 1);
}

}  // namespace

std::vector<Proposal> AskLessOfAnother(const SearchInput& input) {
  const CutSearch search(input);
  Trials trials(input, ChangeKind::kLessOfAnother);
  for (const Cuts& cuts : search.Run()) {
    if (trials.used_up()) break;
    std::optional<Proposal> proposal = trials.Try(search.Apply(cuts), search.TextOf(cuts));
    if (proposal) return ListOf(std::move(proposal));
  }
  return {};
}

// Where some number fits, every smaller one does: the filters only compare it with what is free.
std::vector<Proposal> AskFewerGpus(const SearchInput& input) {
  const std::vector<GpuRequest> gpus = EffectiveGpuRequest(*input.incoming.spec, input.options.gpus);
  if (gpus.empty()) return {};
  const GpuRequest& gpu = gpus.front();
  const std::string ending = std::string(" instead of ") + std::to_string(gpu.count) +
                             (IsSplit(*input.incoming.spec, gpu.resource) ? ", over all containers of the pod" : "");
  std::optional<Proposal> best;
  Trials trials(input, ChangeKind::kFewerGpus);
  std::int64_t fits = 0;
  std::int64_t most = MostToTry(input, gpu);
  while (fits < most) {
    const std::int64_t count = fits + (most - fits + 1) / 2;
    const std::string text = "ask for " + std::to_string(count) + ' ' + gpu.resource + ending;
    Pod changed = WithAtMost(input.incoming, gpu.resource, Quantity::FromUnits(count));
    std::optional<Proposal> proposal = trials.Try(std::move(changed), text);
    if (!proposal) {
      most = count - 1;
      continue;
    }
    fits = count;
    best = std::move(proposal);
  }
  return ListOf(std::move(best));
}

}  // namespace podium
