#!/bin/sh
# Checks the tools that `make run` or `make test` needs, and prints how to install the missing ones.
# Usage: tools.sh run|test

missing=
need() { # need COMMAND HOW-TO-GET-IT
    command -v "$1" >/dev/null 2>&1 || missing="$missing
  $1: $2"
}

[ "$(uname -s)" = Linux ] || { echo "Longhaul emulates on Linux only; this is $(uname -s)." >&2; exit 1; }

# Runs apt-get. Waits up to ten minutes for another package manager.
apt() { # apt ARGUMENT...
    tries=0
    until said=$(apt-get -qq -o DPkg::Lock::Timeout=600 "$@" 2>&1 >/dev/null); do
        case $said in
            *"Could not get lock"* | *"Unable to acquire the dpkg"* | *"Unable to lock"*) ;;
            *) echo "$said" >&2; return 1 ;;
        esac
        [ $tries -gt 0 ] || echo "waiting for another package manager, up to ten minutes"
        tries=$((tries + 1))
        [ $tries -lt 120 ] || { echo "$said" >&2; return 1; }
        sleep 5
    done
}

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
    want nginx nginx-light
    want nats-server nats-server
    want python3 python3
    python3 -c 'import ensurepip' 2>/dev/null || packages="$packages python3-venv"
    if [ -n "$packages" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing what the tests need:$packages"
        export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
        # Services of the packages are neither started nor enabled: the tests start their own.
        had_nginx=$(command -v nginx)
        had_nats=$(command -v nats-server)
        # shellcheck disable=SC2086 # a list of packages
        { apt update && apt install -y --no-install-recommends $packages; } || exit 1
        if [ -z "$had_nginx" ] && [ -d /run/systemd/system ]; then
            systemctl --quiet disable --now nginx.service
        fi
        if [ -z "$had_nats" ] && [ -d /run/systemd/system ]; then
            systemctl --quiet disable --now nats-server.service
        fi
    elif [ -n "$packages" ]; then
        missing="$missing
  $packages: sudo apt-get install$packages"
    fi
    # Servers for the tests of `longhaul probe`.
    peers=target/peers
    if command -v python3 >/dev/null 2>&1 && ! $peers/bin/python -c 'import aioquic, h2' 2>/dev/null; then
        echo "installing servers to measure into $peers: aioquic, h2"
        { python3 -m venv $peers && $peers/bin/pip install --quiet --disable-pip-version-check aioquic==1.7.2 h2==4.4.1; } \
            || missing="$missing
  aioquic and h2 in $peers: python3 -m venv $peers && $peers/bin/pip install aioquic h2"
    fi
    # The ACME server of the tests of certificates.
    pebble=target/pebble
    if [ ! -x $pebble/pebble ] || [ ! -x $pebble/pebble-challtestsrv ]; then
        go=$(command -v go || echo /usr/local/go/bin/go)
        source=github.com/letsencrypt/pebble/v2/cmd
        if [ -x "$go" ]; then
            echo "installing an ACME server into $pebble: pebble"
            GOBIN=$PWD/$pebble "$go" install $source/pebble@v2.10.3 $source/pebble-challtestsrv@v2.10.3 \
                || missing="$missing
  pebble in $pebble: GOBIN=\$PWD/$pebble go install $source/pebble@v2.10.3 $source/pebble-challtestsrv@v2.10.3"
        else
            missing="$missing
  go: version 1.25 or newer, https://go.dev/dl, for the ACME server of the tests"
        fi
    fi
    cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1 || missing="$missing
  clippy and rustfmt: rustup component add clippy rustfmt"
fi

[ -z "$missing" ] || { echo "These tools are missing:$missing" >&2; exit 1; }
