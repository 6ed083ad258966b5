#!/bin/sh
# What raddle costs, as ratios: costs.sh RADDLE DIRECTORY; ./dev costs calls it. Takes some minutes.
set -eu
. "$(dirname "$0")/measure.sh"

# Seconds of processor time of one execution under raddle, without looking for races: POLICY PROGRAM ARGS.
under() {
    policy=$1
    shift
    seconds "$raddle" run -q -n 1 --max-steps 0 --races off --policy "$policy" -- "$@"
}

# Executions a second of processor time, from the difference between few and N, with how many there
# were if they were not N: N OPTIONS -- PROGRAM ARGS.
rate() {
    n=$1
    shift
    few=$(seconds "$raddle" run -q -j 1 -n 10 --witness-dir "$out" "$@")
    rm -f summary.json
    many=$(seconds "$raddle" run -q -j 1 -n "$n" --json summary.json --witness-dir "$out" "$@")
    awk -v n="$(field summary.json executions)" -v a="$few" -v b="$many" \
        'BEGIN { if (n > 100 && b > a) printf "%.0f", (n - 10) / (b - a); else printf "-" }'
}

# Nanoseconds of an operation, from the difference between few and N: N COMMAND ARGS.
nanoseconds() {
    n=$1
    shift
    few=$("$@" 1000)
    many=$("$@" $((n + 1000)))
    awk -v a="$few" -v b="$many" -v n="$n" \
        'BEGIN { t = (b - a) * 1e9 / n; printf "%.1f", (t > 0.1 ? t : 0.1) }'
}

events=$here/bench/events.c
gcc -O1 -g -pthread "$events" -o events
gcc -O1 -g -pthread -DRAW "$events" -o events-raw
gcc -O1 -g -pthread -fsanitize=thread "$events" -o events-tsan
"$raddle" cc -O1 -g -pthread "$events" -o events-raddle

echo "== nanoseconds an operation, and as a multiple of gcc's program run by itself"
echo "| operation | gcc | ThreadSanitizer | raddle cc by itself | raddle, rr | raddle, random |"
echo "|---|---|---|---|---|---|"
for row in "plain 3000000" "atomic 3000000" "lock 3000000" "switch 300000"; do
    what=${row% *}
    n=${row#* }
    base=$(nanoseconds "$n" seconds ./events "$what")
    row="| $what | $base |"
    for column in "seconds ./events-tsan" "seconds ./events-raddle" \
        "under rr $out/events-raddle" "under random $out/events-raddle"; do
        # shellcheck disable=SC2086
        ns=$(nanoseconds $((n / 3)) $column "$what")
        row="$row $ns ($(ratio "$ns" "$base")) |"
    done
    echo "$row"
done

# Microseconds of a round, from the difference between one and N more: N COMMAND ARGS.
round() {
    n=$1
    shift
    few=$("$@" 1)
    many=$("$@" $((n + 1)))
    awk -v a="$few" -v b="$many" -v n="$n" 'BEGIN { t = (b - a) * 1e6 / n; printf "%.2f", (t > 0.01 ? t : 0.01) }'
}

# Seconds of processor time of a symbolic execution: PROGRAM WHAT MORE ROUNDS. There may be a second
# one, since the first one may expect too much memory to be shared.
symbolic() {
    # shellcheck disable=SC2086
    used=$(seconds "$raddle" verify -q --max-steps 0 --timeout 1000 --json summary.json \
        -- "$1" "$2" "$4" $3)
    awk -v t="$used" -v n="$(field summary.json executions)" 'BEGIN { print t / n }'
}
natively() { seconds "$1" "$2" "$4"; }

echo "== a symbolic run: microseconds a round, as a multiple of gcc -O2; all concrete, then 64 symbolic bytes"
gcc -O2 -g "$here/bench/sequential.c" -o sequential
"$raddle" cc -O2 -g "$here/bench/sequential.c" -o sequential-raddle
for row in "hash 20000 " "table 20000 " "sort 300 " "matrix 3000 " "sieve 2000 " "common 500 " "bytes 3000 symbolic"; do
    # shellcheck disable=SC2086
    set -- $row
    base=$(round $(($2 * 20)) natively ./sequential "$1" "")
    used=$(round "$2" symbolic "$out/sequential-raddle" "$1" "${3:-}")
    echo "$1 ${3:-}: $base, symbolic run $used ($(ratio "$used" "$base"))"
done

echo "== nanoseconds a system call (getppid): by itself, under raddle, and with the filter for raw futexes"
base=$(nanoseconds 300000 seconds ./events call)
plain=$(nanoseconds 300000 under rr "$out/events" call)
raw=$(nanoseconds 300000 under rr "$out/events-raw" call)
echo "call: $base, under raddle $plain ($(ratio "$plain" "$base")), with the filter $raw ($(ratio "$raw" "$base"))"

echo "== 10,000 threads in one execution, 100 at once"
gcc -O1 -g -pthread "$here/churn/churn.c" -o churn
base=$(seconds ./churn 100 100 1000)
for substrate in fiber kernel; do
    used=$(seconds "$raddle" run -q -n 1 --max-steps 0 --policy random --threads $substrate -- \
        "$out/churn" 100 100 1000)
    echo "churn: by itself $base s, raddle --threads $substrate $used s, factor $(ratio "$used" "$base")"
done

echo "== executions a second of processor time: each from the start, from copies, in processes put back"
gcc -O1 -g -pthread "$here/bench/threads.c" -o threads
rustc --edition 2024 -O -g "$here/snapshots/threads.rs" -o threads-rust
for program in "threads 2 1" "threads 4 80" "threads-rust"; do
    rates=
    for how in --no-snapshots --no-rewind --max-steps=0; do
        # shellcheck disable=SC2086
        rates="$rates $(rate 1000 --policy random $how -- "$out"/$program)"
    done
    # shellcheck disable=SC2086
    set -- $rates
    echo "$program: $1, $2, $3; ratios 1, $(ratio "$2" "$1"), $(ratio "$3" "$1")"
done

echo "== executions a second of processor time, programs without their bug, and the cost as a multiple of random's"
policies="random pct:3 pos steer dpor pcb:2 hapset"
echo "| program |$(for policy in $policies; do printf ' %s |' "$policy"; done)"
echo "|---|$(for policy in $policies; do printf -- '---|'; done)"
for program in reorder:5 twostage:10 bluetooth string_buffer work_stealing philosophers; do
    name=${program%%:*}
    args=
    [ "$name" = "$program" ] || args=${program#*:}
    "$raddle" cc -O1 -g -pthread -DFIXED "$here/corpus/$name.c" -o "fixed-$name"
    row="| $name $args |"
    random=
    for policy in $policies; do
        # shellcheck disable=SC2086
        now=$(rate 2000 --policy "$policy" -- "$out/fixed-$name" $args)
        random=${random:-$now}
        case $now in
            -) row="$row - ($(field summary.json executions) executions) |" ;;
            *) row="$row $now ($(ratio "$random" "$now")) |" ;;
        esac
    done
    echo "$row"
done

echo "== mean executions to the first finding over 3 seeds, steer, by number of threads"
for name in reorder twostage; do
    "$raddle" cc -O1 -g -pthread "$here/corpus/$name.c" -o "$name"
    row="$name:"
    for threads in 2 4 8 16 32 64; do
        sum=0
        for seed in 1 2 3; do
            measure -n 2000 -j 1 --no-shrink --seed $seed -- "$out/$name" $threads
            sum=$((sum + $(field summary.json executions)))
        done
        row="$row $threads threads $(ratio $sum 3),"
    done
    echo "${row%,}"
done
