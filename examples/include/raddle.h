/* What a program can tell raddle about itself.
 *
 * Build with `raddle cc` or `raddle c++`, or with any compiler and link libraddle.so. Without
 * raddle in control the functions do nothing: inputs keep the content that they have, and an
 * assumption that does not hold ends the process with status 0.
 */
#ifndef RADDLE_H
#define RADDLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes `size` bytes at `address` an input: `raddle verify` tries all contents that matter,
 * `raddle run` and `raddle replay` fill in those of the job (zero if it lists none). `name` (may be
 * NULL) is what reports call it; the first 24 bytes count. Inputs of 1, 2, 4 or 8 bytes are one
 * number, others are a row of bytes.
 *
 *     int i;
 *     raddle_symbolic(&i, sizeof i, "i");
 */
void raddle_symbolic(void *address, size_t size, const char *name);

/* Only executions in which `condition` is not 0 are of interest: in others the process ends here,
 * and nothing counts as found.
 *
 *     raddle_assume(0 <= i && i < 10);
 */
void raddle_assume(int condition);

#ifdef __cplusplus
}
#endif

#endif
