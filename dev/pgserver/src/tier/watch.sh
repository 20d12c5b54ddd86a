# Waits until the test that owns a tier closes the standard input of this script, which also happens
# when that test ends in whatever way. Then kills all processes of the tier, which have its directory
# or one in it as their working directory, and removes the directory.
home=$1
cat >/dev/null
while :; do
    found=
    for process in /proc/[0-9]*; do
        case $(readlink "$process/cwd" 2>/dev/null) in
        "$home" | "$home"/*)
            found=1
            kill -KILL "${process#/proc/}" 2>/dev/null
            ;;
        esac
    done
    [ "$found" ] || break
    sleep 0.1
done
rm -rf "$home"
