#!/usr/bin/env bash
# Makes the secrets that docker-compose.yml reads: passwords of the database and the broker, and the URLs with them.
# What is there already stays as it is.
set -euo pipefail
umask 077
folder=${1:-$(dirname "${BASH_SOURCE[0]}")/secrets}
mkdir -p "$folder"
chmod 0700 "$folder"  # also where somebody else has made it
random() { head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
make() { # name, content: whole or not at all
  [ -s "$folder/$1" ] && return
  # Containers run as other users than the one who makes these; the folder keeps everybody else out.
  printf '%s' "$2" > "$folder/.$1.new" && chmod 0444 "$folder/.$1.new" && mv -f "$folder/.$1.new" "$folder/$1"
}
make database_password "$(random)"
make broker_password "$(random)"
make database_url "postgresql+psycopg://hamtune:$(cat "$folder/database_password")@database/hamtune"
make broker_url "redis://:$(cat "$folder/broker_password")@broker:6379/0"
