# Functions for the check scripts `run` and `full`, which source this file: steps, a final table of their times, and
# set-up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Checks build everything once, so incremental data would be wasted.
export CARGO_INCREMENTAL=0
scratch=$(mktemp -d)
names=() seconds=() processor=() budgets=() began= began_cpu=

# Sets `cpu` to the processor seconds of this shell's ended children. In a pipe, `times` would be a subshell's.
count_cpu() {
    times > "$scratch/times"
    cpu=$(awk 'NR == 2 { split($1 "m" $2, t, /[ms]+/); printf "%d", t[1] * 60 + t[2] + t[3] * 60 + t[4] }' \
        "$scratch/times")
}

finish() {
    if [ -n "$began" ]; then
        seconds+=($((SECONDS - began)))
        count_cpu
        processor+=($((cpu - began_cpu)))
        began=
    fi
}

# step NAME [BUDGET]: the budget is in seconds of processor time. Passing it prints a warning, and is an error with
# LIFTING_HOLD_BUDGETS=1.
step() {
    finish
    names+=("$1")
    budgets+=("${2:-0}")
    began=$SECONDS
    count_cpu
    began_cpu=$cpu
    printf '\n== %s\n' "$1"
}

report() {
    local code=$? i over=0 note
    finish
    jobs -p | xargs -r kill 2> /dev/null || true
    rm -rf "$scratch"
    printf '\n   s  cpu s  step\n'
    for i in "${!names[@]}"; do
        note=
        if [ "${budgets[i]}" -gt 0 ]; then
            note=" (budget: ${budgets[i]} s of processor time)"
            [ "${processor[i]:-0}" -le "${budgets[i]}" ] || { note=" OVER BUDGET$note"; over=1; }
        fi
        printf '%4d  %5d  %s%s\n' "${seconds[i]:-0}" "${processor[i]:-0}" "${names[i]}" "$note"
    done
    local outcome="all passed"
    if [ "$code" = 0 ] && [ "$over" = 1 ] && [ "${LIFTING_HOLD_BUDGETS:-}" = 1 ]; then code=1; fi
    [ "$code" = 0 ] || outcome="FAILED ($code)"
    printf '%4d  in all: %s\n' "$SECONDS" "$outcome"
    exit "$code"
}
trap report EXIT

# Checks that the workspace compiles with the `rust-version` of Cargo.toml, if that toolchain is installed. Debian's
# `rustc-web` is newer than it and does not count.
minimum_rust() {
    local msrv
    msrv=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    step "the minimum Rust version, $msrv"
    if rustup toolchain list 2> /dev/null | grep -q "^$msrv"; then
        CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/msrv" cargo "+$msrv" check --workspace --quiet
    elif [ "${LIFTING_REQUIRE_MSRV:-}" = 1 ]; then
        echo "LIFTING_REQUIRE_MSRV=1, and Rust $msrv is not installed: rustup toolchain install $msrv"
        exit 1
    else
        echo "skipped: Rust $msrv is not installed"
    fi
}

# Succeeds if Python can make environments; prints the reason if not, and what is skipped [the Python package].
has_venv() {
    if python3 -c 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11)' 2> /dev/null; then
        return 0
    elif [ "${LIFTING_REQUIRE_PYTHON:-}" = 1 ]; then
        echo "LIFTING_REQUIRE_PYTHON=1, and there is no python3 of 3.11 or later with venv: apt install python3-venv"
        exit 1
    else
        echo "${1:-the Python package} is skipped: there is no python3 of 3.11 or later with venv"
        return 1
    fi
}

# Makes a fresh environment with the dependencies of the Python package and the given extras. Modules are compiled on
# import: most are never imported.
make_venv() {
    python3 -m venv "$scratch/venv"
    python_needs "$@" > "$scratch/needs.txt"
    "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --no-compile -r "$scratch/needs.txt"
}

# Downloads the packages of the CUDA compilers with the environment's pip, so that `xtask` need not wait.
fetch_cuda() {
    local installed="${CARGO_TARGET_DIR:-target}/cuda/installed" pip="$scratch/venv/bin/pip"
    if [ -z "${LIFTING_CUDA_HOME:-}" ] && ! cmp --silent xtask/cuda.txt "$installed"; then
        "$pip" download --quiet --disable-pip-version-check --no-deps -r xtask/cuda.txt -d "$scratch/cuda"
    fi
}

# Prints the dependencies of the Python package and of the given extras, one per line.
python_needs() {
    python3 - python/pyproject.toml "$@" <<'END'
import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
extras = (line for name in sys.argv[2:] for line in project["optional-dependencies"][name])
print(*project["dependencies"], *extras, sep="\n")
END
}

# Runs the tests of the Python package, or of the one in the given folder.
python_tests() {
    local site=${1:-}
    (cd python/tests && PYTHONPATH="$site" "$scratch/venv/bin/python" -m pytest --quiet -p no:cacheprovider .)
}

# Counts the crates of a CPU-only user, including this one.
count_crates() {
    cargo tree -p lifting --no-default-features -e normal --prefix none --no-dedupe | sort -u | wc -l
}
