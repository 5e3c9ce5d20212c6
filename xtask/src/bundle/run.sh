#!/usr/bin/env bash
# Checks and measures Lifting on this machine's CUDA device. Needs a driver and CUDA 13 (in /usr/local/cuda, or
# CUDA_HOME); no Rust.
#
#   run.sh [PART]...        each PART with its argument; by default, those of the first four that are here:
#     conformance [SECONDS] plans on the device against plans on the CPU, bit for bit (default: 120 s)
#     ir                    the kernel IR's own suite, compiled by nvcc
#     faults                every fault gives an error and harms nothing else
#     bench [quick|full]    times as multiples of a copy (full)
#     several [N]           transforms and codec frames on one device and on N (2); on request only
#     emitted               emitted .cu files, compiled by nvcc, against the oracle; on request only, as are
#     times [CASE]          their times as multiples of a copy, for any shape and for one, and of plans if `liftc` is
#                           here; TIMES_OF selects files, e.g. "cdf97_f32 dd137_i16"
#     papers [TABLES]       tables of papers, e.g. "kucis-1 kucis-3" (all)
#
# Logs and numbers go to $OUT (default: here/out). The exit code is 1 if anything failed; a missing device is a
# failure.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cuda=${CUDA_HOME:-/usr/local/cuda}
export LD_LIBRARY_PATH=$cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PATH=$cuda/bin:$PATH LIFTING_REQUIRE_GPU=1
out=${OUT:-$here/out}
mkdir -p "$out" || exit 1
# Compile kernels again: only the bundle's contents count.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export LIFTING_CACHE_DIR=$scratch/cache
parts='conformance|ir|faults|bench|several|emitted|times|papers|'
failed=()

part() { # NAME COMMAND...: runs it and logs its output
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    "$@" 2>&1 | tee "$out/$name.log" || failed+=("$name")
    echo "== $name: $((SECONDS - start)) s"
}

has() { # FILE PART: fails if the bundle lacks this part
    [ -e "$here/$1" ] || { echo "run.sh: not in this bundle; gpu-bundle --only $2 makes it" >&2; exit 2; }
}

if [ $# = 0 ]; then
    [ ! -e "$here/bin/gpu-conformance" ] || set -- conformance ir faults
    [ ! -e "$here/bin/liftc" ] || set -- "$@" bench
    [ $# -gt 0 ] || set -- emitted
fi
while [ $# -gt 0 ]; do
    name=$1 argument=
    shift
    # The next word is an argument unless it names a part.
    if [ $# -gt 0 ] && [[ "$parts" != *"$1|"* ]]; then
        argument=$1
        shift
    fi
    case $name in
    conformance | ir | faults) has bin/gpu-conformance conformance ;;
    bench | several) has bin/liftc bench ;;
    papers) has bin/papers papers ;;
    emitted | times) has emitted.tar.gz emitted ;;
    esac
    case $name in
    conformance) part conformance "$here/bin/gpu-conformance" "${argument:-120}" ;;
    ir) part ir "$here/bin/gpu-conformance" ir ;;
    faults) part faults "$here/bin/gpu-conformance" faults ;;
    bench)
        suite=$here/${argument:-full}.suite
        [ -f "$suite" ] || { echo "run.sh: bench $argument: there are quick and full" >&2; exit 2; }
        part bench "$here/bin/liftc" bench --device cuda --suite "$suite" --json "$out/bench.json" \
            --svg "$out/bench.svg"
        ;;
    several)
        part several "$here/bin/liftc" bench --devices "${argument:-2}" --suite "$here/several.suite" --repeats 5
        ;;
    papers)
        # shellcheck disable=SC2086 # several tables
        part papers "$here/bin/papers" $argument --device cuda --json "$out/papers.json"
        ;;
    emitted | times)
        mkdir -p "$scratch/emitted" && tar xzf "$here/emitted.tar.gz" -C "$scratch/emitted"
        [ "$name" = emitted ] && script=run.sh || script=times.sh
        [ ! -x "$here/bin/liftc" ] || export LIFTC=$here/bin/liftc
        part "$name" bash "$scratch/emitted/$script" $argument
        ;;
    *)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
done

echo "== summary"
for log in "$out"/conformance.log "$out"/faults.log "$out"/emitted.log; do
    [ -f "$log" ] && echo "$(basename "$log" .log): $(tail -n 2 "$log" | tr '\n' ' ')"
done
[ ${#failed[@]} = 0 ] && echo "all passed" && exit 0
echo "FAILED: ${failed[*]}"
exit 1
