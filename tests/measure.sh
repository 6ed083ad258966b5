# What bench.sh, costs.sh and compile.sh begin with: all are called with the command and a directory.

raddle=$(readlink -f "$1")
out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$out"

field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2], ""))' "$1" "$2"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

# Seconds of processor time that a command and all its processes take; the machine may have other
# things to do. A finding is no error here.
seconds() {
    python3 -c '
import resource, subprocess, sys
run = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
if run.returncode not in (0, 66, 69):
    sys.exit(f"{sys.argv[1:]}: exit {run.returncode}")
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)' "$@"
}

# Runs raddle and leaves the summary in summary.json; a finding is no error here.
measure() {
    rm -f summary.json
    status=0
    "$raddle" run --quiet --json summary.json --witness-dir "$out" "$@" >log 2>&1 || status=$?
    case $status in
        0 | 66 | 69) ;;
        *) cat log >&2; exit "$status" ;;
    esac
}
