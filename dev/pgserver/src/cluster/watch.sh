# Runs a server of a cluster until the test that owns it closes the standard input of this script,
# which also happens when that test ends in whatever way. Then ends the server with all its
# processes, and removes the folder of the cluster with the last server.
home=$1
shift
"$@" </dev/null &
server=$!
cat >/dev/null
kill -QUIT "$server" 2>/dev/null
wait "$server"
# The owner removes the folder itself, if it can.
[ -e "$home/owned" ] && [ -d "/proc/$(cat "$home/owned")" ] || rm -rf "$home"
