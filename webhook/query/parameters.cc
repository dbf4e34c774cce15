#include "query/parameters.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/text.h"

namespace podium {
namespace {

std::optional<std::int64_t> ParseCount(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

class Reader {
 public:
  explicit Reader(std::int64_t most_replicas) : most_replicas_(most_replicas) {}

  void Take(std::string_view name, std::string_view value) {
    if (name == "replicas") return TakeReplicas(value);
    if (name == "gang") return TakeGang(value);
    Complain("there is no parameter " + Quoted(name) + "; allowed: replicas, gang");
  }

  Result<QueryParameters> Finish() const {
    if (problems_.empty()) return parameters_;
    return Error{ErrorKind::kInvalidInput, problems_};
  }

 private:
  void TakeReplicas(std::string_view value) {
    const std::optional<std::int64_t> count = ParseCount(value);
    if (parameters_.replicas) return Complain("replicas is given twice; give it once");
    if (!count || *count < 1 || *count > most_replicas_)
      return Complain("replicas is " + Quoted(value) + "; allowed: a whole number from 1 to " +
                      std::to_string(most_replicas_));
    parameters_.replicas = count;
  }

  void TakeGang(std::string_view value) {
    if (parameters_.placing) return Complain("gang is given twice; give it once");
    if (value != "true" && value != "false") return Complain("gang is " + Quoted(value) + "; allowed: true, false");
    parameters_.placing = value == "true" ? Placing::kAllOrNothing : Placing::kOneByOne;
  }

  void Complain(const std::string& problem) { problems_ += (problems_.empty() ? "" : "; ") + problem; }

  const std::int64_t most_replicas_;
  QueryParameters parameters_;
  std::string problems_;
};

}  // namespace

Result<QueryParameters> ParseQueryParameters(std::string_view query, std::int64_t most_replicas) {
  Reader reader(most_replicas);
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    const std::string_view value = equals == std::string_view::npos ? "true" : pair.substr(equals + 1);
    reader.Take(pair.substr(0, equals), value);
  }
  return reader.Finish();
}

}  // namespace podium
