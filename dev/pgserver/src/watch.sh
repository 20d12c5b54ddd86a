# Runs the server, and ends it when no test process has the lock of its users any more. Every test
# process has that lock, shared, until it ends in whatever way. Nothing of the server remains then.
folder=$1
shift
# Locked as long as this script runs: there is a server.
exec 9>"$folder/alive.lock" 8>"$folder/starting.lock" 7>"$folder/users.lock"
flock 9

# Takes the locks with which nobody can start or join a server. Whoever joins takes the first one
# and then, shared, the second, so nobody joins a server that is about to end.
is_unused() {
    flock --nonblock 8 && flock --nonblock 7
}

"$@" 7>&- 8>&- 9>&- &
server=$!
(
    while sleep 2 7>&- 8>&-; do
        if is_unused; then
            kill -INT "$server"
            exit
        fi
        flock --unlock 8
    done
) 9>&- &
watch=$!
wait "$server"
kill "$watch" 2>/dev/null

pooler=$folder/home/pgbouncer.pid
if kill "$(cat "$pooler" 2>/dev/null)" 2>/dev/null; then
    # It removes this file when it ends.
    looks=0
    while [ -e "$pooler" ] && [ "$looks" -lt 100 ]; do
        sleep 0.05
        looks=$((looks + 1))
    done
fi
# The folder of a server that ended while it was in use remains, with its log, until another server
# starts in it.
if is_unused; then
    # Moved first: who comes meanwhile would lock a file of a folder that is half removed.
    mv "$folder" "$folder.$$" && rm -rf "$folder.$$"
fi
