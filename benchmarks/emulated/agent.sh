#!/bin/sh
# Open MPI's remote shell: runs its daemon in the network namespace that has the name of the host.
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
