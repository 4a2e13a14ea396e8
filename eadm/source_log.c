// SPDX-License-Identifier: GPL-2.0-or-later
/* ERDMA_DIAG_LOG: entries of a recorder. */
#include <errno.h>

#include "source.h"

static int log_broken(struct source *src, const char *why)
{
	src->why = why;
	return -EPROTO;
}

/**
 * source_log - entries of a recorder
 * @src: source
 * @dev: open device
 * @kind: ERDMA_DIAG_LOG_*
 * @seq: first number wanted; moved behind what was read
 * @lost: entries that were replaced before they were read are added
 * @fn: called for each record; records before a broken one are handed over
 * @arg: its first argument
 *
 * Return: 0 or -errno.
 */
int source_log(struct source *src, struct dev *dev, uint32_t kind, uint64_t *seq, uint64_t *lost,
	       void (*fn)(void *arg, uint32_t kind, const struct rec *rec), void *arg)
{
	uint8_t *buf = pool_alloc(src->pool, ERDMA_DIAG_LIST_MAX_BYTES);
	struct erdma_diag_log l;
	uint32_t pos, count;
	struct rec rec;
	int ret;

	do {
		l = (struct erdma_diag_log){ .size = sizeof(l), .kind = kind, .seq = *seq,
					     .buf = (uintptr_t)buf,
					     .buf_len = ERDMA_DIAG_LIST_MAX_BYTES };
		ret = source_call(src, dev, ERDMA_DIAG_LOG, &l, sizeof(l));
		if (ret)
			return ret;
		if (l.out_len > l.buf_len)
			return log_broken(src, "more bytes than there was room for");
		for (pos = 0, count = 0;
		     (ret = rec_next(buf, l.out_len, &pos, &rec, &src->why)) == 1; count++)
			if (rec.type == ERDMA_DIAG_REC_LOG(kind))
				fn(arg, kind, &rec);
		if (ret)
			return ret;
		if (count != l.out_count)
			return log_broken(src, "the number of records is not the one promised");
		if (l.out_next < *seq || (l.out_more && l.out_next == *seq))
			return log_broken(src, "the log does not get on");
		*seq = l.out_next;
		*lost += l.out_lost;
	} while (l.out_more);
	return 0;
}
