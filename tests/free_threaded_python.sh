#!/usr/bin/env bash
# Builds CPython 3.13 without its global lock into a folder, from Debian's sources, with what the
# library's tests need from PyPI. Nothing is installed elsewhere. It takes four minutes of a core.
set -euo pipefail
mkdir -p "$1"
folder=$(realpath "$1")
test ! -e "$folder/whole" || exit 0
made=$(mktemp --directory)
trap 'rm -r "$made"' EXIT
mkdir -p "$made/lists/partial"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [signed-by=$keys] http://deb.debian.org/debian trixie main" > "$made/sources.list"
sources=(-qq -o APT::Sandbox::User=root -o Dir::State::Lists="$made/lists"
  -o Dir::Etc::SourceList="$made/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
cd "$made"
apt-get "${sources[@]}" update
apt-get "${sources[@]}" source --download-only --tar-only python3.13
tar --extract --file python3.13_*.orig.tar.xz --strip-components 1 --one-top-level=python
cd python
./configure --quiet --disable-gil --disable-test-modules --with-ensurepip=install --prefix="$folder"
make --silent -j "$(nproc)" > "$made/log" 2>&1 || { tail -n 50 "$made/log"; exit 1; }
make --silent install >> "$made/log" 2>&1 || { tail -n 50 "$made/log"; exit 1; }
# Of each package the newest version that has a build for it: none is compiled. chess is Python.
"$folder/bin/python3.13t" -m pip install --quiet --no-compile --only-binary :all: --no-binary chess \
  chess filelock gymnasium hypothesis numpy platformdirs pytest
touch "$folder/whole"
