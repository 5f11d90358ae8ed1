// A folder for files that nobody misses. Whoever is killed leaves it behind; the next one that makes such a folder
// removes it.
#pragma once

#include <string>

namespace banyan::store {

class TemporaryFolder {
 public:
  /// Throws ConfigError where none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;  ///< as long as the process lives
};

}  // namespace banyan::store
