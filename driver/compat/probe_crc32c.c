// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Under which name the kernel has the Castagnoli CRC without a module of its own. */
#include <linux/crc32.h>

u32 probe(const void *p, size_t len);

u32 probe(const void *p, size_t len)
{
#ifdef ERDMA_PROBE_CRC32C_LE
	return __crc32c_le(0, p, len);
#endif
#ifdef ERDMA_PROBE_CRC32C_PLAIN
	return crc32c(0, p, len);
#endif
}
