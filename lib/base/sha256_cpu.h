/*
 * sha256_cpu.h - the inner loop of SHA-256 with the CPU's own instructions.
 *
 * Debian's mbedTLS is built without them and hashes a sixth as fast; bundles are hashed
 * three times over. digest.c uses this where the CPU has it and mbedTLS elsewhere.
 *
 * Threads: any.
 */
#ifndef BASE_SHA256_CPU_H
#define BASE_SHA256_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_BLOCK 64

/* Does this CPU have the instructions? False on other architectures than x86-64. */
bool sha256_cpu_has(void);
/* Take in so many whole blocks (FIPS 180-4, 6.2.2). Only where the CPU has it. */
void sha256_cpu_blocks(uint32_t state[8], const uint8_t *data, size_t blocks);

#endif
