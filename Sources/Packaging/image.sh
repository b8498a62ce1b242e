#!/usr/bin/env bash
# Makes an OCI image of mpind without a daemon, in build/image, with the tag VERSION. It contains mpind, the libraries that it
# needs and the authorities' certificates: no shell, no package manager. The server runs as user 10001 and writes only
# into /var/lib/mpind. The Makefile sets VERSION and SOURCE_DATE_EPOCH. The same inputs make the same image.
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022
root=$(cd "$(dirname "$0")/../.." && pwd)
image=${IMAGE:-$root/build/image}
work=$(mktemp -d)
# Unpacked folders may not be writable.
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT

# dpkg knows some libraries by /lib and others by /usr/lib, so only their names are looked up.
packages=$(ldd "$root/build/mpind" | sed -n 's|.*=> /.*/\([^ ]*\).*|*/\1|p' | xargs dpkg -S | cut -d: -f1 | sort -u)
mmdebstrap --quiet --variant=extract --include="$(tr '\n' ',' <<<"$packages")libcurl4,libhiredis0.14,libpq5,ca-certificates" \
    bookworm "$work/root"

tree=$work/root
install -s -m 755 "$root/build/mpind" "$tree/usr/bin/mpind"
# Debian's package makes this file when it is installed.
install -d "$tree/etc/ssl/certs"
cat "$tree"/usr/share/ca-certificates/mozilla/*.crt >"$tree/etc/ssl/certs/ca-certificates.crt"
echo 'mpind:x:10001:10001::/var/lib/mpind:/usr/sbin/nologin' >"$tree/etc/passwd"
echo 'mpind:x:10001:' >"$tree/etc/group"
echo 'passwd: files
group: files
hosts: files dns' >"$tree/etc/nsswitch.conf"
install -d -m 700 "$tree/var/lib/mpind"
[ "$(id -u)" -ne 0 ] || chown 10001:10001 "$tree/var/lib/mpind"
# Nothing in the image runs these, and their content differs from one download to the next.
rm -rf "$tree"/var/{cache,log,tmp,lib/apt,lib/dpkg} "$tree"/usr/share/{man,info,locale,bash-completion,lintian} "$tree"/{dev,proc,sys,run,tmp}
mkdir -m 755 "$tree"/{dev,proc,sys,run}
mkdir -m 1777 "$tree/tmp"
find "$tree" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

rm -rf "$image"
created=$(date --iso-8601=seconds --date="@$SOURCE_DATE_EPOCH")
umoci init --layout "$image"
umoci new --image "$image:$VERSION"
umoci config --image "$image:$VERSION" --no-history --created "$created" --author libmpin --os linux \
    --config.user 10001:10001 --config.entrypoint /usr/bin/mpind --config.workingdir /var/lib/mpind \
    --config.volume /var/lib/mpind --config.exposedports 8005/tcp --config.stopsignal SIGTERM \
    --config.env PATH=/usr/bin --config.label org.opencontainers.image.version="$VERSION"
umoci insert --image "$image:$VERSION" --history.created "$created" "$tree" /
umoci gc --layout "$image"
du -sh "$image" | cut -f1
