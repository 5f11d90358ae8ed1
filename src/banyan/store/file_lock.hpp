// A lock that one program at a time can hold. The kernel drops it when the program ends, however it ends, so that a
// killed one blocks nobody.
#pragma once

#include <string>

namespace banyan::store {

class FileLock {
 public:
  /// Creates the file, writes this process' number into it and locks it. Throws ConfigError when another program
  /// holds it ("<what> is being written by process N"), or when the file cannot be written.
  FileLock(std::string path, const std::string& what);
  /// Removes the file, then lets go.
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace banyan::store
