// Result<T>: a value or the error that stands in its place. Expected failure is a return value; a throw is a bug or a
// foreign library, and foreign exceptions are caught where they are born.
//
//   Result<Policy> policy = CompilePolicy(tree);
//   if (!policy) return policy.error().WithContext("loading policy.yaml");
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace podium {

enum class ErrorKind {
  kInvalidInput,  // what was given is wrong; giving it again changes nothing
  kNotFound,
  kConflict,
  kUnavailable,  // a dependency is away; trying again may help
  kTimeout,
  kPermission,
  kCorrupt,   // stored data is not what was written
  kInternal,  // a bug in Podium
};

// A message says what was found, what was wanted, where (file:line:column or JSON pointer) and what to do.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;

  // The same error, told from one level further out: "loading policy.yaml: ...".
  [[nodiscard]] Error WithContext(const std::string& context) const { return {kind, context + ": " + message}; }

  bool operator==(const Error&) const = default;
};

// Requires: value() only when it holds a value, error() only when it does not (checked by the standard library's
// variant access, which throws; tests rely on it, code never does).
template <typename T>
class [[nodiscard]] Result {
 public:
  // Not explicit on purpose (here and in Status): `return value;` and `return Error{...};` are the point of the type.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// A Result without a value: success, or the error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace podium
