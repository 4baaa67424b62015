#!/bin/sh
# Normalize all five runs of the example into one ledger: sh docs/example-study/all-runs.sh LEDGER
# Prints the totals. `normalizer normalize` ends with status 1 where a bundle has INVALID entries, which is no failure here.
runs="$(dirname "$0")/runs"
ledger="${1:?name the folder of the ledger}"

normalize() {
    eval-normalizer normalize "$@" --out "$ledger" 2>"$ledger.log" || [ $? = 1 ] || { cat "$ledger.log" >&2; exit 2; }
}

normalize "$runs/cedar-0/bundle.json" --manifest "$runs/cedar-0/manifest.json"
normalize "$runs/cedar-1/bundle.json" --manifest "$runs/cedar-1/manifest.json"
normalize "$runs/cedar-2/bundle.json" --manifest "$runs/cedar-2/manifest.json"
normalize "$runs/birch-1/bundle.json" --manifest "$runs/birch-1/manifest.json" --dialect "$runs/birch-1/dialect.json"
normalize "$runs/birch-1-first-try/bundle.json"
grep "^ledger: " "$ledger.log"
rm "$ledger.log"
