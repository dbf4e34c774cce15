#include "cli/certificate_files.h"

#include <sys/stat.h>

#include <utility>

#include "serving/engine.h"

namespace podium {
namespace {

// A mounted Secret is exchanged by renaming a link, so the file behind it is another one.
std::string MarkOf(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return "-";
  return std::to_string(file.st_dev) + '/' + std::to_string(file.st_ino) + '/' + std::to_string(file.st_size) + '/' +
         std::to_string(file.st_mtim.tv_sec) + '.' + std::to_string(file.st_mtim.tv_nsec);
}

}  // namespace

CertificateFiles::CertificateFiles(std::string cert_file, std::string key_file)
    : cert_file_(std::move(cert_file)), key_file_(std::move(key_file)), mark_(Mark()) {}

std::string CertificateFiles::Mark() const { return MarkOf(cert_file_) + ' ' + MarkOf(key_file_); }

Result<std::shared_ptr<const TlsMaterial>> CertificateFiles::ReadIfChanged() {
  std::string mark = Mark();
  if (mark == mark_) return std::shared_ptr<const TlsMaterial>();
  mark_ = std::move(mark);
  return LoadTlsMaterial(cert_file_, key_file_);
}

}  // namespace podium
