#!/usr/bin/env bash
# Writes the image of tagnet as an OCI layout: tagnet.sh CRANE BIN VERSION ARCHITECTURE... BIN has tagnet-ARCHITECTURE, and gets
# the folder tagnet-image. make tagnet-image runs it at the top of the repository. SOURCE is the address of the source, if any.
set -euo pipefail
crane=$1 bin=$2 version=$3
shift 3

work=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server"; fi; rm -rf "$work"' EXIT

# The log is there before its reader, who does not wait for the server.
: >"$work/log"
# crane changes the configuration of an image only in a registry. This one is local and ends with the script.
"$crane" registry serve --address 127.0.0.1:0 --disk "$work" 2>"$work/log" &
server=$!
for _ in $(seq 100); do
	port=$(sed -n 's/.*serving on port \([0-9]*\).*/\1/p' "$work/log")
	if [ -n "$port" ]; then break; fi
	sleep 0.1
done
image=127.0.0.1:${port:?the registry does not start}/tagnet

labels=(
	--label "org.opencontainers.image.title=tagnet"
	--label "org.opencontainers.image.description=Completes knowledge graphs"
	--label "org.opencontainers.image.licenses=Apache-2.0"
	--label "org.opencontainers.image.version=$version"
	--label "org.opencontainers.image.documentation=/usr/share/doc/tagnet/README.md"
)
if [ -n "${SOURCE:-}" ]; then labels+=(--label "org.opencontainers.image.source=$SOURCE"); fi

manifests=()
for architecture in "$@"; do
	root=$work/$architecture
	install -d -m 755 "$root/etc" "$root/usr/local/bin" "$root/usr/share/doc/tagnet"
	install -d -m 1777 "$root/tmp"
	install -m 755 "$bin/tagnet-$architecture" "$root/usr/local/bin/tagnet"
	install -m 644 LICENSE THIRD_PARTY_LICENSES README.md "$root/usr/share/doc/tagnet"
	# Beam's runner and its worker, both in this process, find each other by that name. Most container runtimes write their own.
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
	chmod 644 "$root/etc/hosts"
	tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$root" -cf "$work/files.tar" etc usr tmp
	# A user's workspace, and the folder in which the program starts.
	install -d -m 755 "$root/data"
	tar --mtime=@0 --owner=65532 --group=65532 --numeric-owner -C "$root" -rf "$work/files.tar" data
	"$crane" append --oci-empty-base --new_layer "$work/files.tar" --new_tag "$image:$architecture" >/dev/null
	"$crane" mutate "$image:$architecture" --tag "$image:$architecture" --set-platform "linux/$architecture" \
		--user 65532:65532 --workdir /data --env HOME=/tmp --env USER=tagnet --env PATH=/usr/local/bin \
		--entrypoint /usr/local/bin/tagnet --cmd playground,--listen,0.0.0.0:8080,--open=false --exposed-ports 8080/tcp "${labels[@]}" >/dev/null
	manifests+=(--manifest "$image:$architecture")
done
"$crane" index append "${manifests[@]}" --tag "$image:index" >/dev/null
"$crane" validate --remote "$image:index"
rm -rf "$bin/tagnet-image"
"$crane" pull --format oci "$image:index" "$bin/tagnet-image"
