#!/usr/bin/env bash
# Leaves of a checkout that was set up what an image needs to run it. Not to be undone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# Of the environment: what installs it, tests of its libraries, descriptions of services that no artifact lies in, and
# what headers and debuggers want.
.venv/bin/python -m pip uninstall -q -y nanobind wheel pip
find "$site" -type d \( -name tests -o -name test \) -prune -exec rm -rf {} +
find "$site" -type f \( -name '*.pyi' -o -name '*.pxd' -o -name '*.pyx' -o -name '*.h' -o -name '*.hpp' -o -name '*.a' \) -delete
find "$site/botocore/data" -mindepth 1 -maxdepth 1 -type d \
  ! -name s3 ! -name sts ! -name sso ! -name sso-oidc ! -name signin -exec rm -rf {} +
rm -rf "$site"/bin/ "$site"/kahip/*.a .venv/include
find "$site" .simgrid/lib -type f \( -name '*.so' -o -name '*.so.*' \) -exec strip --strip-unneeded {} +
# Every module must still load.
.venv/bin/python - "$site" <<'EOF'
import ctypes, pathlib, sys
import numpy, scipy.linalg, sklearn.ensemble, matplotlib.pyplot  # with what they load beside them
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.so*")):
    if path.is_file() and b"ELF" == path.read_bytes()[1:4]:
        ctypes.CDLL(str(path))
EOF

# Of the build: programs, and what is linked into programs that are recorded.
find build -type f ! -perm -u+x ! -name '*.o' ! -name '*.a' -delete
find build -path '*/CMakeFiles/*' -delete
find build -type d -empty -delete
rm -rf .simgrid/share .simgrid/doc tests benchmarks docs/studies
