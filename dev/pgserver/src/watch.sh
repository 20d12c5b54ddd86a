# Runs the server, and ends it when no test process has the lock of its users any more. Every test
# process has that lock, shared, until it ends in whatever way.
users=$1
state=$2
home=$3
shift 3
"$@" &
server=$!
while kill -0 "$server" 2>/dev/null; do
    sleep 2
    # Whoever joins takes the lock first and looks for the state then, so nobody joins a server that
    # is about to end.
    flock --nonblock --exclusive "$users" rm -f "$state" || continue
    kill -INT "$server"
    wait "$server"
done
rm -f "$state"
rm -rf "$home"
