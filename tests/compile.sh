#!/bin/sh
# What raddle cc costs beside clang 19, and where the time goes: compile.sh RADDLE DIRECTORY [FILE…]; the
# files are measured beside its own. ./dev costs calls it. Takes some minutes.
set -eu
. "$(dirname "$0")/measure.sh"
shift 2

# A large file: functions that walk lists, look things up and lock.
python3 >large.c <<'END'
print("""#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next; int key, value; char text[16]; };
extern struct node *heads[64];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;""")
for n in range(300):
    print(f"""
int walk{n}(struct node *from, int key, char *out)
{{
    int found = 0;
    pthread_mutex_lock(&lock);
    for (struct node *at = from ? from : heads[{n % 64}]; at; at = at->next) {{
        switch ((at->key ^ {n}) % 5) {{
        case 0: found += at->value; break;
        case 1: at->value = key + found; break;
        case 2: if (out) out[found & 7] = at->text[key & 15]; break;
        case 3: heads[(key + {n}) & 63] = at; break;
        default: at->key += {n % 7} * key;
        }}
    }}
    pthread_mutex_unlock(&lock);
    return found > key ? {f"walk{n - 1}(from, found, out)" if n else "found"} : found;
}}""")
END

# The compiler for a file.
driver() {
    case $1 in
        *.c) echo cc ;;
        *) echo c++ ;;
    esac
}
clang_for() {
    case $1 in
        *.c) echo clang-19 ;;
        *) echo clang++-19 ;;
    esac
}

# The least of three measurements of each command, in turn, so that other work on the machine distorts
# both: FILE LEVEL OPTION.
both() {
    base=
    used=
    for _ in 1 2 3; do
        now=$(seconds "$(clang_for "$1")" "$2" -g -w -c "$1" -o clang.o)
        base=$(least "$now" "$base")
        # shellcheck disable=SC2086
        now=$(seconds "$raddle" "$(driver "$1")" $3 "$2" -g -w -c "$1" -o raddle.o)
        used=$(least "$now" "$used")
    done
}
least() { awk -v a="$1" -v b="${2:-$1}" 'BEGIN { print (a < b ? a : b) }'; }

set -- large.c "$here/correct/structures.c" "$here/../compiler-plugin/tests/programs/containers.cpp" "$@"

echo "== seconds to compile, and raddle cc as a multiple of clang"
echo "| file | level | clang | raddle cc | raddle cc --no-symbolic | raddle cc --symbolic |"
echo "|---|---|---|---|---|---|"
for file; do
    for level in -O0 -O1 -O2; do
        row="| $(basename "$file") | $level"
        first=yes
        for option in "" --no-symbolic --symbolic; do
            both "$file" $level "$option"
            [ -z "$first" ] || row="$row | $(awk -v s="$base" 'BEGIN { printf "%.2f", s }')"
            first=
            row="$row | $(awk -v s="$used" 'BEGIN { printf "%.2f", s }') ($(ratio "$used" "$base"))"
        done
        echo "$row |"
    done
done

echo "== where raddle cc -O1 spends its time, milliseconds"
for file; do
    for option in "" --symbolic; do
        # shellcheck disable=SC2086
        "$raddle" "$(driver "$file")" $option -O1 -g -w -ftime-trace=trace.json -c "$file" -o raddle.o
        echo "$(basename "$file") $option: $(python3 -c '
import json
events = json.load(open("trace.json"))["traceEvents"]
total = {e["name"][6:]: e["dur"] / 1e3 for e in events if e["name"].startswith("Total ")}
hooks = total["raddle: hooks"]
parts = {name: total.get("raddle: " + name, 0) for name in ("what is private", "scheduling bodies", "symbolic bodies")}
rows = {"front end": total["Frontend"], "optimiser": total["Optimizer"] - hooks, "plugin": hooks}
rows |= {"of that " + name: time for name, time in parts.items()}
rows["code generation"] = total["CodeGenPasses"]
print(", ".join(f"{name} {time:.0f}" for name, time in rows.items()))')"
    done
done
