/*
 * jsonrpc.h - JSON-RPC ids: they do not count in matching, and a replayed answer
 * carries the caller's.
 *
 * A body is JSON-RPC when it is an object with "jsonrpc":"2.0", or a batch: an array of
 * such objects. Ids are compared and moved as canonical JSON texts, so 1, "1" and 1.0
 * stay three different ids.
 *
 * Threads: any.
 */
#ifndef TAPE_JSONRPC_H
#define TAPE_JSONRPC_H

#include "base/json.h"

bool jsonrpc_is(const char *body, size_t len);
/* The same of a parsed body. */
bool jsonrpc_is_message(yyjson_val *root);

/*
 * Append to `out` the recorded response with each id that answers the recorded request
 * replaced by the id of the asked request (position by position in a batch). Response
 * may be JSON or an event stream whose data lines are JSON-RPC; everything else stays
 * byte for byte. Messages with a "method" are the server's own requests: their ids are
 * its own and stay. Returns true when anything was replaced (buf_check(out) says whether
 * there was room); false leaves out untouched (the recorded bytes are right as they are).
 * chunk_lens, when given, are the lengths of the pieces of a streamed response and are
 * adjusted in place; a piece that held nothing but a part of an id may become empty.
 */
bool jsonrpc_answer(const char *recorded_request, size_t recorded_len,
                    const char *asked_request, size_t asked_len, const char *response,
                    size_t response_len, uint64_t *chunk_lens, size_t n_chunks,
                    struct buf *out);

#endif
