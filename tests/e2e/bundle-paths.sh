#!/bin/sh
# Paths of members, cases 10 to 23.
. "${srcdir:-.}/tests/e2e/bundles.sh"

trace='files/trace.jsonl=[]'
# taken PATH NORMAL: a member of this name is good, and unpacks to that name.
taken() {
    by_hand p.tar.gz "$1=x" files/a.jsonl=
    verdict 0 p.tar.gz ''
    rm -rf unpacked
    bundle 0 extract --output unpacked p.tar.gz
    is "$(cat "unpacked/$2")" x "$label: $1"
}
# refused CODE WORDS PATH: refused with this code, in these words, unpacking too; and
# create will not write it.
refused() {
    by_hand p.tar.gz "$trace" --unlisted "$3=x"
    bundle 2 verify --json p.tar.gz
    is "$(pick out findings.0.code)" "E_BUNDLE_$1" "$label: $3"
    has "$2" out
    bundle 2 extract --output jail/a/b/unpacked p.tar.gz
    is "$(find jail -type f | sort | tr '\n' ' ')" 'jail/a/x jail/x ' "$label: written outside"
    printf x >x
    bundle 2 create --trace x --run-id p --output made.tar.gz --file "x=$3"
    [ ! -e made.tar.gz ] || fail "$label: create wrote $3"
}
mkdir -p jail/a/b
: >jail/x
: >jail/a/x

case_ '10 ordinary paths, unchanged'
for path in files/trace.jsonl outputs/run.json cassettes/openai/embed.json files/a..b.txt \
    files/deep/nested/dir/file.json files/a:b files/...; do taken $path $path; done
case_ '11 backslashes turn, leading slashes go'
for path in 'files\trace.jsonl' /files/trace.jsonl '\files\trace.jsonl' '//files\trace.jsonl'; do
    taken "$path" files/trace.jsonl
done

case_ '12 empty'
refused PATH_EMPTY 'empty path' ''
case_ '13 empty segment'
for path in files//x.json files/ files/x/; do
    case $path in
    */) by_hand p.tar.gz "$trace" --unlisted "$path=x"
        bundle 2 verify --json p.tar.gz ;; # an old-style folder to tar: refused as one or the other
    *) refused PATH_SEGMENT 'empty segment' $path ;;
    esac
done
case_ '14 traversal segments'
for path in files/./x.json files/../x.json outputs/..; do
    refused PATH_TRAVERSAL 'traversal segment' $path
done
case_ '15 drive letters'
for path in C:/foo 'C:\foo' D:bar; do refused PATH_DRIVE 'first segment' "$path"; done
case_ '16 prefixes'
for path in evil.txt x/y/z output/run.json file/x.json; do
    refused PATH_PREFIX 'invalid bundle path prefix' $path
done
case_ '17 out of the folder'
for path in ../secrets.txt files/../../etc/passwd outputs/../leak; do
    refused PATH_TRAVERSAL 'invalid bundle path' $path
done

case_ '18 one bad path among good ones: no bundle at all'
printf x >x
bundle 2 create --run-id p --output made.tar.gz --trace x --file x=files/good --file x=../bad
[ ! -e made.tar.gz ] || fail "$label"

case_ '19 a leading slash is not kept, and unpacks inside'
taken /files/x files/x
is "$(find unpacked -type f | LC_ALL=C sort | tr '\n' ' ')" \
    'unpacked/files/a.jsonl unpacked/files/x unpacked/manifest.json ' "$label"

case_ '20 two members of one path: a matter of the format, not of a limit, and no name is told'
for path in files/x /files/x; do
    by_hand p.tar.gz files/x=x "$path=x"
    verdict 2 p.tar.gz 'E_BUNDLE_DUPLICATE_PATH -'
done
case_ '21 two manifests'
"$python" "$tools/make_hostile.py" hostile twice-manifest manifest-missing
verdict 2 hostile/twice-manifest.tar.gz 'E_BUNDLE_DUPLICATE_MANIFEST -'
case_ '22 no manifest'
verdict 2 hostile/manifest-missing.tar.gz 'E_BUNDLE_MANIFEST_MISSING -'
has 'manifest.json missing' out

# The reference keeps what it unpacked before the bad entry. We verify first, so that
# nothing of a bad bundle is ever on disk.
case_ '23 unpacking leaves nothing outside, and nothing of a bundle that is refused'
for path in /tmp/x ../x; do
    by_hand p.tar.gz "$trace" --unlisted "$path=x"
    rm -rf jail/a/b/unpacked
    bundle 2 extract --output jail/a/b/unpacked p.tar.gz
    is "$(find jail -type f | sort | tr '\n' ' ')" 'jail/a/x jail/x ' "$label"
done
case_ '23 unpacking never overwrites'
by_hand p.tar.gz files/x=new
mkdir -p full/files
echo old >full/files/x
bundle 2 extract --output full p.tar.gz
is "$(cat full/files/x)" old "$label"
