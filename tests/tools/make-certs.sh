#!/bin/sh
# make-certs.sh DIR NAME... - a throw-away authority and a leaf for scripted origins.
#
# Leaves in DIR: ca.pem, leaf.pem (leaf and authority), leaf.key, and stranger.pem and
# stranger.key, a leaf for the same names that nobody has reason to trust. A NAME that
# is an IP address becomes an address, anything else a DNS name.
set -eu
dir=$1
shift
mkdir -p "$dir"

names=
for name in "$@"; do
    case $name in
    *:* | *[0-9].[0-9]*.[0-9]*.[0-9]*) names="$names${names:+,}IP:$name" ;;
    *) names="$names${names:+,}DNS:$name" ;;
    esac
done

quiet() {
    "$@" 2>"$dir/openssl.log" || {
        cat "$dir/openssl.log" >&2
        exit 1
    }
}
new_key() { quiet openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

new_key "$dir/ca.key"
quiet openssl req -x509 -new -key "$dir/ca.key" -days 30 -out "$dir/ca.pem" \
    -subj "/CN=test authority" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign

new_key "$dir/leaf.key"
cat >"$dir/leaf.ext" <<EXT
subjectAltName=$names
basicConstraints=CA:FALSE
extendedKeyUsage=serverAuth
EXT
quiet openssl req -new -key "$dir/leaf.key" -subj "/CN=test origin" -out "$dir/leaf.csr"
quiet openssl x509 -req -in "$dir/leaf.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" \
    -CAcreateserial -days 30 -extfile "$dir/leaf.ext" -out "$dir/leaf.crt"
cat "$dir/leaf.crt" "$dir/ca.pem" >"$dir/leaf.pem"

new_key "$dir/stranger.key"
quiet openssl req -x509 -new -key "$dir/stranger.key" -days 30 -out "$dir/stranger.pem" \
    -subj "/CN=stranger" -addext "subjectAltName=$names"
