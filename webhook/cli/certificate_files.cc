#include "cli/certificate_files.h"

#include <utility>

#include "core/regular_file.h"
#include "serving/engine.h"

namespace podium {
CertificateFiles::CertificateFiles(std::string cert_file, std::string key_file)
    : cert_file_(std::move(cert_file)), key_file_(std::move(key_file)), mark_(Mark()) {}

std::string CertificateFiles::Mark() const { return FileMark(cert_file_) + ' ' + FileMark(key_file_); }

Result<std::shared_ptr<const TlsMaterial>> CertificateFiles::ReadIfChanged() {
  std::string mark = Mark();
  if (mark == mark_) return std::shared_ptr<const TlsMaterial>();
  mark_ = std::move(mark);
  return LoadTlsMaterial(cert_file_, key_file_);
}

}  // namespace podium
