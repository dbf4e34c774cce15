#include "kube/cluster_access.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "core/regular_file.h"
#include "core/text.h"

namespace podium {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody here sets variables
  return value == nullptr ? "" : value;
}

std::string Trimmed(std::string text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && is_blank(text.back())) text.pop_back();
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_blank));
  return text;
}

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// -1 for a character that is none of base64's.
int Base64Digit(char c) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t digit = kDigits.find(c);
  return digit == std::string_view::npos ? -1 : static_cast<int>(digit);
}

}  // namespace

Result<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes) {
  Result<std::string> text = ReadRegularFile(path, max_bytes);
  if (!text) return text.error().WithContext("cannot read '" + path + "'");
  if (text->size() <= max_bytes) return text;
  return Error{ErrorKind::kInvalidInput, "'" + path + "' is over the limit of " + std::to_string(max_bytes) + " bytes"};
}

Result<std::string> ReadPem(const PemSource& source, std::string_view what) {
  constexpr std::size_t kMaxPemBytes = 1 << 20;
  if (!source.text.empty() || source.file.empty()) return source.text;
  Result<std::string> text = ReadSmallFile(source.file, kMaxPemBytes);
  if (!text) return text.error().WithContext("reading the " + std::string(what));
  return text;
}

Result<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const int digit = c == '=' ? 0 : Base64Digit(c);
    if (c == '=') ++padding;
    if (digit < 0 || padding > 2 || (padding > 0 && c != '='))
      return Error{ErrorKind::kInvalidInput, "this is no base64 text"};
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    if (++digits % 4 != 0) continue;
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>((bits >> shift) & 0xFF);
  }
  if (digits % 4 != 0) return Error{ErrorKind::kInvalidInput, "this base64 text is cut off"};
  bytes.resize(bytes.size() - static_cast<std::size_t>(padding));
  return bytes;
}

Result<std::string> FindKubeconfig() {
  const std::string list = Environment("KUBECONFIG");
  for (std::string_view rest = list; !rest.empty();) {
    const std::string path(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
    if (!path.empty() && Exists(path)) return path;
  }
  if (!list.empty())
    return Error{ErrorKind::kNotFound,
                 "none of the files of KUBECONFIG exists: '" + list + "'; correct it or unset it"};
  const std::string path = Environment("HOME") + "/.kube/config";
  if (Exists(path)) return path;
  return Error{ErrorKind::kNotFound,
               "there is no kubeconfig: KUBECONFIG is not set and '" + path + "' does not exist; name a file"};
}

Result<ClusterAccess> InClusterAccess(const std::string& folder) {
  const std::string host = Environment("KUBERNETES_SERVICE_HOST");
  const std::string port = Environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Error{ErrorKind::kNotFound,
                 "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set, so this is no pod; name a "
                 "kubeconfig instead"};
  }
  for (const std::string& file : {folder + "/token", folder + "/ca.crt"}) {
    if (Exists(file)) continue;
    return Error{ErrorKind::kNotFound, "the service account file '" + file +
                                           "' does not exist; the pod needs automountServiceAccountToken: true"};
  }
  ClusterAccess access;
  access.server = "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  access.ca.file = folder + "/ca.crt";
  access.token = {TokenSource::Kind::kFile, folder + "/token", {}};
  const Result<std::string> name = ReadSmallFile(folder + "/namespace", 256);
  if (name && !Trimmed(*name).empty()) access.namespace_name = Trimmed(*name);
  access.origin = "the service account in " + folder;
  return access;
}

}  // namespace podium
