/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How large a structure is that others read: a mistake does not compile.
 */
#ifndef ERDMA_SIZE_H
#define ERDMA_SIZE_H

#ifdef __cplusplus
#define ERDMA_SIZE_IS(type, size) \
	static_assert(sizeof(type) == (size), #type)
#else
#define ERDMA_SIZE_IS(type, size) \
	_Static_assert(sizeof(type) == (size), #type)
#endif

#endif /* ERDMA_SIZE_H */
