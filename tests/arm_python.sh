#!/usr/bin/env bash
# Brings Debian's Python and musl for ARM into a folder, for qemu-aarch64 to run: nothing is
# installed.
set -euo pipefail
mkdir -p "$1"
folder=$(realpath "$1")
test ! -x "$folder/usr/bin/python3" || test ! -e "$folder/lib/ld-musl-aarch64.so.1" || exit 0
fetched=$(mktemp --directory)
trap 'rm -r "$fetched"' EXIT
mkdir -p "$fetched"/{lists,archives}/partial
arm=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
  -o Dir::State::Lists="$fetched/lists" -o Dir::Cache::Archives="$fetched/archives"
  -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Dir::State::status=/dev/null)
apt-get "${arm[@]}" update
apt-get "${arm[@]}" install --yes --no-install-recommends --download-only python3 libstdc++6 musl
for package in "$fetched"/archives/*.deb; do dpkg --extract "$package" "$folder"; done
