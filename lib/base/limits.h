/*
 * limits.h - every ceiling, with its reason.
 *
 * Over a limit is an error, never a cut. Those marked (config) are defaults of the
 * `limits` section of retape.json.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#define KIB(n) ((size_t)(n)*1024)
#define MIB(n) ((size_t)(n)*1024 * 1024)

#define LIMIT_HTTP_POOL KIB(32)      /* libmicrohttpd zeroes it all per request */
#define LIMIT_REQUEST_HEAD KIB(30)   /* what fits that pool */
#define LIMIT_QUERY_ARGS 250         /* more and libmicrohttpd never answers */
#define LIMIT_REQUEST_BODY MIB(64)   /* (config) providers stop at 32 MB */
#define LIMIT_RESPONSE_BODY MIB(256) /* (config) kept in memory until recorded */
#define LIMIT_DECODED_BODY MIB(512)  /* after Content-Encoding: stops bombs */
#define LIMIT_STREAM_AHEAD KIB(256)  /* upstream pauses when a client lags this far */
#define LIMIT_LINE MIB(1400)         /* one cassette line: a full body in base64 */
#define LIMIT_JSON_DEPTH 512         /* deeper bodies are matched as raw bytes */
#define LIMIT_PAIRS 100000           /* of a form; larger ones are matched as raw */
#define LIMIT_CONFIG_FILE MIB(1)     /* retape.json */
#define LIMIT_CONFIG_ENTRIES 1000    /* of one list in it: longer ones are mistakes */
#define LIMIT_REGEX 1024             /* characters; compiled size grows much faster */
#define LIMIT_TOKEN 256              /* characters; it travels in every CONNECT head */
#define LIMIT_WORKERS 256            /* threads, each with its own loop and sockets */
#define LIMIT_PEM_FILE MIB(8)        /* system trust bundles are about 220 KB */
#define LIMIT_PEM_CERTS 8192         /* in one bundle: each is compared with all */
#define LIMIT_KEY_FILE KIB(16)       /* ca.key: a P-256 key is 230 bytes */
#define LIMIT_LEAVES 1024            /* cached certificates; oldest leaves first */
#define LIMIT_SESSIONS 100000        /* one proxy, many runs; each holds a file open */
#define LIMIT_CHAIN 240              /* request bodies that build on one another */
#define LIMIT_CODINGS 4              /* content codings on one body; real ones have one */
#define LIMIT_BODY_STEPS                                                                 \
    1000000                       /* pieces looked at to join one body; ours need < 2000 \
                                   */
#define LIMIT_SCRUB_NAMES 1000    /* names of scrub rules and places in one cassette */
#define LIMIT_MISS_BODY KIB(256)  /* a miss report is read by people */
#define LIMIT_MISS_NEAREST 3      /* recordings shown in a miss report */
#define LIMIT_MISS_DIFFERENCES 20 /* differences shown for each of them */
#define LIMIT_MISS_CANDIDATES 64  /* recordings ranked for a miss report */
#define LIMIT_MISS_COMPARED 8     /* best of them compared in full */
#define LIMIT_MISS_WORK MIB(4)    /* bytes each step of that may look at: ~15 ms */
#define LIMIT_MISS_KEPT 1000      /* misses kept for /__retape/misses */
#define LIMIT_SCRUB_PATTERNS 64   /* user patterns; each is one more pass */
#define LIMIT_FDS_SPARE 200       /* descriptors kept free of client connections */
#define LIMIT_FIRST_BYTE_MS 30000 /* a client that connects and says nothing */
#define LIMIT_GOODBYE_MS 30000    /* a client that does not take our last bytes */
#define LIMIT_IDLE_MS 300000      /* a kept-alive connection between requests */
#define LIMIT_CONNECT_MS 30000    /* upstream connect and handshake */
#define LIMIT_UPSTREAM_IDLE_S 600 /* upstream says nothing: reasoning models think */

/* Bundles: the ceilings of the format (docs/FORMATS.md), the same for all its readers. */
#define LIMIT_BUNDLE_SOURCE MIB(100)   /* the archive, with whatever is behind it */
#define LIMIT_BUNDLE_DECODED MIB(1024) /* the tar stream: stops bombs */
#define LIMIT_BUNDLE_MEMBER MIB(500)   /* one member */
#define LIMIT_BUNDLE_MANIFEST MIB(10)  /* manifest.json */
#define LIMIT_BUNDLE_PATH 256          /* bytes of a member's path, read */
#define LIMIT_BUNDLE_PATH_ROOM 1024    /* what a caller may raise that to */
#define LIMIT_BUNDLE_ENTRIES 100000    /* members, the manifest included */
#define LIMIT_BUNDLE_DEPTH 64          /* nesting of manifest.json */
#define LIMIT_BUNDLE_PAX KIB(64) /* one extended header: names and times are short */
#define LIMIT_RUN_FILE MIB(16)   /* run.json and summary.json, looked into */
#define LIMIT_SCRUB_FILE MIB(16) /* a foreign cassette scrubbed on its way in */
#define LIMIT_FINDINGS 1000      /* kept of one bundle; the rest is counted */
#define LIMIT_SCAN_HITS 32       /* kept of one member; the rest is counted */
#define LIMIT_SCAN_RULES_FILE KIB(256) /* --rules FILE */

#endif
