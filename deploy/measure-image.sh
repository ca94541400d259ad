#!/usr/bin/env bash
# Builds deploy/Dockerfile without pulling an image, and tries the result: size, user, read-only root, health check, a call,
# and the end on SIGTERM. Its base is made here, of Debian's packages and the Node of node_modules, in place of
# node:24-bookworm-slim. Needs root, debootstrap and buildah; registries are reached as this machine reaches them.
#   deploy/measure-image.sh [FOLDER for its files; default: a temporary one]
set -euo pipefail
cd "$(dirname "$0")/.."
work=${1:-$(mktemp -d)}
base="$work/base"
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
port=${PORT:-18787}
key=mgw-measured-0123456789abcdef0123456789abcdef

if [ ! -d "$base/usr" ]; then
  debootstrap --variant=minbase bookworm "$base" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.log"
  rm -rf "$base"/var/cache/apt/archives/*.deb "$base"/var/lib/apt/lists/*
  chroot "$base" useradd --uid 1000 --user-group --create-home node
  cp node_modules/node-linux-*/bin/node "$base/usr/local/bin/node"
  mkdir -p "$base/usr/local/lib/node_modules" "$base/usr/local/etc" "$base/etc/ssl/certs"
  cp -aL "$(dirname "$(readlink -f "$(command -v npm)")")/.." "$base/usr/local/lib/node_modules/npm"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$base/usr/local/bin/npm"
  # The machine's own authorities, for the build alone: an image for others has those of its base.
  cp -L /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/"
  echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >"$base/usr/local/etc/npmrc"
fi
container=$(buildah from scratch)
mounted=$(buildah mount "$container")
cp -a "$base/." "$mounted/"
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
buildah umount "$container" >/dev/null
buildah commit --quiet "$container" localhost/measured-base >/dev/null
buildah rm "$container" >/dev/null

buildah bud --quiet --format docker --layers --network host --build-arg NODE_IMAGE=localhost/measured-base \
  --file deploy/Dockerfile --tag localhost/measured-gateway . >/dev/null
container=$(buildah from localhost/measured-gateway)
root=$(buildah mount "$container")
data=$(mktemp -d)
cleanup() {
  [ -n "${gateway:-}" ] && kill -KILL "$gateway" 2>/dev/null || true
  buildah umount "$container" >/dev/null
  buildah rm "$container" >/dev/null
  rm -rf "$data"
}
trap cleanup EXIT
chown 1000:1000 "$data"

echo "beside the base: $(($(du -sk "$root/app" | cut -f1) / 1024)) MB in $(find "$root/app" -type f | wc -l) files"
echo "user: $(buildah inspect --type image --format '{{.Docker.Config.User}}' localhost/measured-gateway)"
echo "health check: $(buildah inspect --type image --format '{{.Docker.Config.Healthcheck.Test}}' localhost/measured-gateway | cut -c1-60)..."

# As `docker run --read-only --tmpfs /tmp --volume ...:/data --user node` would start it.
cat >"$data/.start" <<START
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root"
mount --bind "$data" "$root/data" && mount -t tmpfs tmpfs "$root/tmp" && mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc"
exec chroot --userspec=1000:1000 "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production \
  GATEWAY_HOST=127.0.0.1 GATEWAY_PORT=$port GATEWAY_DATA_DIR=/data GATEWAY_API_KEY=$key GATEWAY_MANAGEMENT_KEY=$key-admin \
  node --max-semi-space-size=32 /app/dist/main.js serve
START
before=$(date +%s%N)
unshare --mount bash "$data/.start" >"$work/gateway.log" 2>&1 &
gateway=$!
for _ in $(seq 100); do
  curl --silent --fail "http://127.0.0.1:$port/health/ready" >/dev/null && break
  sleep 0.1
done
echo "ready after $((($(date +%s%N) - before) / 1000000)) ms"
echo "a call: $(curl --silent --fail "http://127.0.0.1:$port/v1/chat/completions" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "from the image"}]}' | grep -o '"content":"[^"]*"')"
echo "dashboard: $(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$port/ui/")"
pid=$(pgrep --parent "$gateway" --full dist/main.js || echo "$gateway")
echo "runs as uid $(awk '/^Uid/ {print $2}' "/proc/$pid/status"), $(awk '/^VmRSS/ {print int($2 / 1024)}' "/proc/$pid/status") MB at rest"
if nsenter --mount --target "$pid" chroot --userspec=1000:1000 "$root" touch /app/written 2>/dev/null; then
  echo 'the root can be written to' >&2
  exit 1
fi
echo 'the root is read-only'
nsenter --mount --target "$pid" chroot --userspec=1000:1000 "$root" /usr/bin/env GATEWAY_PORT="$port" /usr/local/bin/node -e \
  'fetch(`http://127.0.0.1:${process.env.GATEWAY_PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))'
echo "health check passes"
before=$(date +%s%N)
kill -TERM "$pid"
code=0
wait "$gateway" || code=$?
gateway=
echo "SIGTERM: exit code $code after $((($(date +%s%N) - before) / 1000000)) ms"
[ "$code" = 0 ]
