# What bench.sh and costs.sh begin with: both are called with the command and a directory.

raddle=$(readlink -f "$1")
out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$out"

field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2], ""))' "$1" "$2"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

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
