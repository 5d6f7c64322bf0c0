#!/bin/sh
# Looks for the tools that `make run` or `make test` needs; says what is missing and how to get it.
# Usage: tools.sh run|test

missing=
need() { # need COMMAND HOW-TO-GET-IT
    command -v "$1" >/dev/null 2>&1 || missing="$missing
  $1: $2"
}

[ "$(uname -s)" = Linux ] || { echo "Longhaul emulates on Linux only; this is $(uname -s)." >&2; exit 1; }
need cargo "https://rustup.rs, or: apt-get install rustup && rustup default stable"
need cc "a C compiler, for example: apt-get install gcc"
need node "version 20.19 or newer: https://nodejs.org, or your distribution's package"
need npm "comes with node"

if [ "$1" = test ]; then
    packages=
    want() { command -v "$1" >/dev/null 2>&1 || packages="$packages $2"; }
    want chromium chromium
    want iperf3 iperf3
    want ping iputils-ping
    want ip iproute2
    want setpriv util-linux
    want tcpdump tcpdump
    want nft nftables
    want zsh zsh
    want fish fish
    if [ -n "$packages" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing what the tests need:$packages"
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086 # a list of packages
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages; } >/dev/null || exit 1
    elif [ -n "$packages" ]; then
        missing="$missing
  $packages: sudo apt-get install$packages"
    fi
    cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1 || missing="$missing
  clippy and rustfmt: rustup component add clippy rustfmt"
fi

[ -z "$missing" ] || { echo "These tools are missing:$missing" >&2; exit 1; }
