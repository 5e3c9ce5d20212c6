# Steps of checks, each with its own seconds, which are printed as a table at the end, be it good or bad. Sourced by
# `run` and `full`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# What is built once only need not be built so that it can be built again.
export CARGO_INCREMENTAL=0
# Nor are places in sources needed where nothing is debugged: who looks into a failure builds it with them.
export CARGO_PROFILE_DEV_DEBUG=false
scratch=$(mktemp -d)
names=() seconds=() began=

finish() {
    if [ -n "$began" ]; then
        seconds+=($((SECONDS - began)))
        began=
    fi
}

step() {
    finish
    names+=("$*")
    began=$SECONDS
    printf '\n== %s\n' "$*"
}

report() {
    local code=$? i
    finish
    jobs -p | xargs -r kill 2> /dev/null || true
    rm -rf "$scratch"
    printf '\n   s  step\n'
    for i in "${!names[@]}"; do printf '%4d  %s\n' "${seconds[i]}" "${names[i]}"; done
    local outcome="all passed"
    [ "$code" = 0 ] || outcome="FAILED in the last step ($code)"
    printf '%4d  in all: %s\n' "$SECONDS" "$outcome"
}
trap report EXIT

# Whether Python can make environments; it is said if not.
has_venv() {
    if python3 -c 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11)' 2> /dev/null; then
        return 0
    elif [ "${LIFTING_REQUIRE_PYTHON:-}" = 1 ]; then
        echo "LIFTING_REQUIRE_PYTHON=1, and there is no python3 of 3.11 or later with venv: apt install python3-venv"
        exit 1
    else
        echo "the Python package is skipped: there is no python3 of 3.11 or later with venv"
        return 1
    fi
}

# A fresh environment with what the Python package is said to need, with these extras. Modules are compiled when they
# are imported, which most never are.
make_venv() {
    python3 -m venv "$scratch/venv"
    python_needs "$@" > "$scratch/needs.txt"
    "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --no-compile -r "$scratch/needs.txt"
}

# The packages of the CUDA compilers, by the environment's pip, so that `xtask` need not wait for the network.
fetch_cuda() {
    local installed="${CARGO_TARGET_DIR:-target}/cuda/installed" pip="$scratch/venv/bin/pip"
    if [ -z "${LIFTING_CUDA_HOME:-}" ] && ! cmp --silent xtask/cuda.txt "$installed"; then
        "$pip" download --quiet --disable-pip-version-check --no-deps -r xtask/cuda.txt -d "$scratch/cuda"
    fi
}

# What the Python package is said to need, with these extras, a line each.
python_needs() {
    python3 - python/pyproject.toml "$@" <<'END'
import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
extras = (line for name in sys.argv[2:] for line in project["optional-dependencies"][name])
print(*project["dependencies"], *extras, sep="\n")
END
}

# The tests of the Python package; with a folder, of the package that is there.
python_tests() {
    local site=${1:-}
    (cd python/tests && PYTHONPATH="$site" "$scratch/venv/bin/python" -m pytest --quiet -p no:cacheprovider .)
}

# A CPU-only user's crates, this one included.
count_crates() {
    cargo tree -p lifting --no-default-features -e normal --prefix none --no-dedupe | sort -u | wc -l
}
