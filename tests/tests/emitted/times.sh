#!/usr/bin/env bash
# Times functions of emitted files, for any shape (few: of files with few kernels) and for one, as multiples of a copy,
# and compares their results with the emitted C. `times.sh [CASE]` runs all cases whose names contain CASE; `times.sh
# build` only compiles. If LIFTC is the path of `liftc`, plans of the same transforms are timed too. TIMES_OF, if set,
# selects files, e.g. cdf97_f32.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
what=${1:-} failed=0

build() { # STEM WAVELET SUFFIX TYPE
    local stem=$1 kind define=(-DWAVELET="$2" -DSUFFIX="$3" -DSAMPLE="$4")
    gcc -O2 -c "$stem.times.c" -o "$stem.times.o" &
    for kind in any few one; do
        (
            start=$SECONDS
            nvcc -O3 -arch=sm_90 -c "$stem.$kind.cu" -o "$stem.$kind.o"
            echo "$stem.$kind: nvcc $((SECONDS - start)) s, beside others"
        ) &
        [ "$kind" != one ] || define+=(-DONE)
        nvcc -O2 -arch=sm_90 -include "$stem.times.h" "${define[@]}" -DCASES="\"$stem.$kind.inc\"" -c times.cu \
            -o "$stem.$kind.times.o" &
    done
    wait
    for kind in any few one; do
        nvcc -arch=sm_90 "$stem.$kind.times.o" "$stem.$kind.o" "$stem.times.o" -o "$stem.$kind"
    done
}

stems=()
while read -r stem wavelet suffix type; do
    [ -z "${TIMES_OF:-}" ] || [[ " $TIMES_OF " = *" $stem "* ]] || continue
    stems+=("$stem")
    [ -x "$stem.one" ] || build "$stem" "$wavelet" "$suffix" "$type" &
done < times.stems
wait
[ "$what" = build ] && exit 0

# Forward and inverse of each plan, in copies; nothing without liftc.
plans() { # STEM
    grep -F -- "$what" "$1.suite" > "$1.asked"
    [ -n "${LIFTC:-}" ] || return 0
    "$LIFTC" bench -q --device cuda --repeats 9 --suite "$1.asked" --json "$1.json" > "$1.log" 2>&1 ||
        { tail -n 3 "$1.log"; return 1; }
}

for stem in "${stems[@]}"; do
    echo "== $stem: for any shape, with few kernels, for one shape"
    "./$stem.any" ${what:+"$what"} | tee "$stem.any.txt" || failed=1
    "./$stem.few" ${what:+"$what"} | tee "$stem.few.txt" || failed=1
    plans "$stem" || failed=1
    "./$stem.one" ${what:+"$what"} | tee "$stem.one.txt" || failed=1
done

echo "== in copies, each call a graph of its own: forward for any shape, with few kernels, for one shape, plan; inverse"
for stem in "${stems[@]}"; do
    echo "$stem"
    ratios=$(grep -o '"ratio": *[0-9.]*' "$stem.json" 2> /dev/null | grep -o '[0-9.]*$' | paste -d ' ' - -)
    paste -d ' ' <(awk '{ print $1, $7, $8 }' "$stem.any.txt") <(awk '{ print $7, $8 }' "$stem.few.txt") \
        <(awk '{ print $7, $8 }' "$stem.one.txt") <(echo "$ratios") | awk '
            function copies(time) { return time > 0 ? sprintf("%.2f", time) : "-" }
            NF > 1 {
                printf "  %-22s", $1
                for (way = 0; way < 2; ++way) {
                    any = $(2 + way); few = $(4 + way); one = $(6 + way); plan = $(8 + way)
                    printf "  %5s %5s %5s %5s", copies(any), copies(few), copies(one), copies(plan)
                }
                print ""
            }'
done
exit $failed
