# Steps of checks, each with its own seconds, which are printed as a table at the end, be it good or bad. Sourced by `run` and `full`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# What is built once only need not be built so that it can be built again.
export CARGO_INCREMENTAL=0
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
    rm -rf "$scratch"
    printf '\n   s  step\n'
    for i in "${!names[@]}"; do printf '%4d  %s\n' "${seconds[i]}" "${names[i]}"; done
    printf '%4d  in all: %s\n' "$SECONDS" "$([ "$code" = 0 ] && echo 'all passed' || echo "FAILED in the last step ($code)")"
}
trap report EXIT

# A CPU-only user's crates, this one included.
count_crates() {
    cargo tree -p lifting --no-default-features -e normal --prefix none --no-dedupe | sort -u | wc -l
}
