#!/bin/sh
# Entry of the image. initdb, which creates the embedded database, needs a user name. A platform that chooses the user id
# (docker run --user, OpenShift) may give one that /etc/passwd does not have, and the root file system may be read-only:
# nss_wrapper then takes the name from a file in the data directory.
set -eu

if [ -z "${DATABASE_URL:-}" ] && ! getent passwd "$(id -u)" >/dev/null; then
  library=$(find /usr/lib -name 'libnss_wrapper.so*' | head -n 1)
  if [ -z "$library" ]; then
    echo "The user id $(id -u) has no name, and libnss_wrapper is missing: set DATABASE_URL, or use another user id." >&2
    exit 1
  fi
  NSS_WRAPPER_PASSWD="$DATA_DIR/.passwd"
  NSS_WRAPPER_GROUP=/etc/group
  printf 'plinth:x:%s:%s:Plinth:%s:/bin/false\n' "$(id -u)" "$(id -g)" "$DATA_DIR" >"$NSS_WRAPPER_PASSWD"
  LD_PRELOAD="$library"
  export NSS_WRAPPER_PASSWD NSS_WRAPPER_GROUP LD_PRELOAD
fi

exec "$@"
