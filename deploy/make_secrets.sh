#!/usr/bin/env bash
# Makes the secrets that docker-compose.yml reads, once: passwords of the database and the broker, and the URLs with them.
set -euo pipefail
umask 077
folder=${1:-$(dirname "${BASH_SOURCE[0]}")/secrets}
mkdir -p "$folder"
random() { head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
for name in database broker; do
  [ -s "$folder/${name}_password" ] || random > "$folder/${name}_password"
done
printf 'postgresql+psycopg://hamtune:%s@database/hamtune' "$(cat "$folder/database_password")" > "$folder/database_url"
printf 'redis://:%s@broker:6379/0' "$(cat "$folder/broker_password")" > "$folder/broker_url"
# Containers run as other users than the one who makes these; the folder keeps everybody else out.
chmod 0444 "$folder"/*
