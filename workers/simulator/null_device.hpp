// Where nothing comes from and all output may go, opened while opening is allowed.
#pragma once

#include <fcntl.h>

namespace hamtune {

/// A descriptor of /dev/null, for reading and writing, of this process and its children.
inline int null_device() {
  static const int file = open("/dev/null", O_RDWR | O_CLOEXEC);
  return file;
}

}  // namespace hamtune
