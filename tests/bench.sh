#!/bin/sh
# Measures raddle: bench.sh RADDLE DIRECTORY. Prints one line a number; ./dev bench calls it.
set -eu
. "$(dirname "$0")/measure.sh"

for name in spawn threads compute; do
    gcc -O2 -g -pthread "$here/bench/$name.c" -o "$name"
done

echo "== executions a second"
for args in "2 1" "4 80"; do
    # shellcheck disable=SC2086
    plain=$(./spawn 2000 ./threads $args)
    echo "threads $args: plain fork+exec, one after the other, $plain"
    for workers in 1 2; do
        # shellcheck disable=SC2086
        measure -n 10000 -j "$workers" --policy random -- "$out/threads" $args
        rate=$(field summary.json executions_per_second)
        echo "threads $args: raddle -j $workers $rate, ratio $(ratio "$rate" "$plain")"
    done
done

echo "== executions a second by number of threads: each from the start, and in processes put back"
for n in 2 4 8 16 32 64; do
    measure -n 500 --policy random --no-snapshots -- "$out/threads" "$n" 1
    anew=$(field summary.json executions_per_second)
    measure -n 5000 --policy random -- "$out/threads" "$n" 1
    rate=$(field summary.json executions_per_second)
    echo "threads $n 1: $anew from the start, $rate, ratio $(ratio "$rate" "$anew")"
done

echo "== cost of an execution of exhaustive searches, as a multiple of random's"
"$raddle" cc -O1 -g -pthread "$here/bench/classes.c" -o classes
for rounds in 2 20; do
    measure -n 3000 --policy random -- "$out/classes" "$rounds"
    random=$(field summary.json executions_per_second)
    echo "3 threads, $rounds rounds: random $random a second"
    for policy in dfs pcb:2 dpor dpor:source; do
        measure -n 3000 --policy "$policy" -- "$out/classes" "$rounds"
        rate=$(field summary.json executions_per_second)
        echo "3 threads, $rounds rounds: $policy $rate a second, cost ratio $(ratio "$random" "$rate")"
    done
done

echo "== slowdown of instrumented code, run by itself and under raddle"
"$raddle" cc -O2 -g -pthread "$here/bench/compute.c" -o compute-raddle
seconds() {
    from=$(date +%s%N)
    for _ in 1 2 3 4 5; do "$@" >/dev/null; done
    to=$(date +%s%N)
    echo $(((to - from) / 5000))
}
base=$(seconds ./compute)
alone=$(seconds ./compute-raddle)
echo "-O2: $base us; instrumented, without raddle: $alone us, factor $(ratio "$alone" "$base")"
measure -n 3 --policy rr --max-steps 0 -- "$out/compute-raddle"
under=$(awk -v s="$(field summary.json seconds)" -v n="$(field summary.json executions)" \
    'BEGIN { printf "%d", s * 1e6 / n }')
echo "under raddle: $under us, factor $(ratio "$under" "$base")"

echo "== pbzip2, 1,000 executions each way"
head -c 380000 /bin/bash >original
pbzip2 -k -c -p2 -b1 original >original.bz2
cp -rLT "$here/../.deps/pbzip2" build
CXXFLAGS="-g -O2 -std=gnu++98" make -s -C build CXX="$raddle c++" pbzip2 >log 2>&1 || { cat log >&2; exit 1; }
for program in /usr/bin/pbzip2 "$out/build/pbzip2"; do
    for way in "-b1 original original.bz2" "-d original.bz2 original"; do
        # shellcheck disable=SC2086
        set -- $way
        plain=$(./spawn 50 "$program" -k -c -p2 "$1" "$2")
        measure -n 1000 --keep-going --expect-output "$3" -- "$program" -k -c -p2 "$1" "$out/$2"
        echo "$program $1: $(field summary.json verdict), $(field summary.json outcomes)," \
            "raddle $(field summary.json executions_per_second), plain $plain"
    done
done
