// Ports: how pure code meets the world. Each has one production adapter, and in tests an in-memory fake with state.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podium/policy.h"
#include "podium/result.h"
#include "podium/snapshot.h"

namespace podium {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint Now() const = 0;
};

// The picture of the cluster that decisions are made on. Thread-safe.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  // Null: not synced yet (or there is no cluster to look at). One load per request; keep the pointer for its duration.
  [[nodiscard]] virtual std::shared_ptr<const ClusterSnapshot> Current() const = 0;
};

struct AppendOutcome {
  std::size_t bytes = 0;       // of whole lines that are recorded now: the front of what was given
  std::optional<Error> error;  // why it is not all of it
};

// Takes finished audit lines. Thread-safe.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  // `lines` are JSON objects, each ended by a newline: usually those of several decisions, because a write costs more
  // than its bytes. In strict mode "recorded" means handed to the operating system; in relaxed mode queued. Decisions
  // behind outcome.bytes are not recorded.
  virtual AppendOutcome Append(std::string_view lines) = 0;
};

// One object of the API.
struct ObjectRef {
  std::string api_version;     // "policy/v1"
  std::string resource;        // plural, as in the URL: "poddisruptionbudgets"
  std::string namespace_name;  // empty: not namespaced
  std::string name;
  bool operator==(const ObjectRef&) const = default;
};

// Whose the object of an apply is, as far as the caller has seen.
enum class Ownership {
  kNew,   // nobody's yet: where somebody else has made one of that name meanwhile, that is a kConflict
  kOurs,  // Podium's: its fields are set right whoever changed them
};

// What the cluster is changed through. Thread-safe. Errors: kConflict (somebody else changed it, or owns a field),
// kNotFound, kPermission, kInvalidInput (the API server refuses the object), kUnavailable, kTimeout.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  // Server-side apply as field manager "podium", forced only for what is Podium's own. `json` is the whole object with
  // only the fields Podium owns; with a metadata.uid in it an object that is gone or another by now is a kConflict, not
  // made anew. Returns the stored object as JSON.
  virtual Result<std::string> Apply(const ObjectRef& object, std::string_view json, Ownership ownership) = 0;
  // Only the object with this uid; one that is gone already is success.
  virtual Status Delete(const ObjectRef& object, std::string_view uid) = 0;
  // POST to the collection of `object` (its name is in `json` or generated). For events.
  virtual Status Create(const ObjectRef& object, std::string_view json) = 0;
};

// Whether this process may do what only one replica does. Thread-safe. There is no fencing token: what a leader writes
// must be harmless when written twice.
class Leadership {
 public:
  virtual ~Leadership() = default;
  // False as soon as the lease may have run out by the local monotonic clock, also when nobody has taken it yet.
  [[nodiscard]] virtual bool IsLeader() const = 0;
};

// Somebody the API server knows. Holds no credential.
struct Caller {
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;  // what authorizers may ask for beside: scopes, for example
  bool operator==(const Caller&) const = default;
};

// What somebody wants to do with objects of the core group.
struct AccessQuestion {
  std::string verb;            // "create"
  std::string resource;        // plural: "pods"
  std::string namespace_name;  // empty: in all of them
  bool operator==(const AccessQuestion&) const = default;
};

// Authentication and authorization as the cluster does them. Thread-safe; a call may take as long as a request to the
// API server. Any error means "not known", whatever its kind: never read one as a yes or as a no.
class AccessReviewer {
 public:
  virtual ~AccessReviewer() = default;
  // Whose bearer token this is; nothing: nobody's (or not any more). The token appears in no error.
  virtual Result<std::optional<Caller>> WhoIs(std::string_view token) = 0;
  virtual Result<bool> May(const Caller& caller, const AccessQuestion& question) = 0;
};

}  // namespace podium
