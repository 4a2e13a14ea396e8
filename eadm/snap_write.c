// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing a snapshot file: under another name beside the target, which it replaces as
 * a whole when it is complete. Only its owner may read it.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "erdma/erdma_snapshot.h"
#include "uapi/erdma_diag.h"

#include "clock.h"
#include "outfile.h"
#include "snap.h"

#define FILE_MODE	0600

struct snap_out {
	struct pool *pool;
	struct redact *redact;
	FILE *f;
	struct outfile file;
	const char *path;
	char *mem;
	size_t mem_len;
	uint32_t crc;
	uint32_t records;
	uint64_t bytes;
	int err;
};

/**
 * snap_crc32c - checksum
 * @crc: of what comes before, 0 at first
 * @p: bytes
 * @len: their number
 *
 * Return: CRC-32C (Castagnoli, reflected, as in iSCSI).
 */
uint32_t snap_crc32c(uint32_t crc, const void *p, size_t len)
{
	static uint32_t table[256];
	const uint8_t *b = p;
	uint32_t i, j, c;

	if (!table[1])
		for (i = 0; i < 256; i++) {
			for (c = i, j = 0; j < 8; j++)
				c = c & 1 ? 0x82f63b78 ^ (c >> 1) : c >> 1;
			table[i] = c;
		}
	crc = ~crc;
	while (len--)
		crc = table[(crc ^ *b++) & 0xff] ^ (crc >> 8);
	return ~crc;
}

static void put(struct snap_out *s, const void *p, size_t len)
{
	if (s->err || !len)
		return;
	if (fwrite(p, 1, len, s->f) != len) {
		s->err = errno ? errno : EIO;
		return;
	}
	s->crc = snap_crc32c(s->crc, p, len);
	s->bytes += len;
}

static void put_header(struct snap_out *s)
{
	struct erdma_snap_header h = {
		.version = htole32(ERDMA_SNAP_VERSION), .len = htole32(sizeof(h)),
	};

	memcpy(h.magic, ERDMA_SNAP_MAGIC, ERDMA_SNAP_MAGIC_LEN);
	put(s, &h, sizeof(h));
}

static int open_memory(struct snap_out *s)
{
	s->f = open_memstream(&s->mem, &s->mem_len);
	return s->f ? 0 : errno;
}

/**
 * snap_create - begin a file
 * @p: memory
 * @path: its name; a regular file of that name is replaced in the end; NULL: in memory
 * @redact: applied to each record, or NULL
 * @err: positive error number, if there is no file
 *
 * Return: file for snap_finish() or snap_abort(), or NULL.
 */
struct snap_out *snap_create(struct pool *p, const char *path, struct redact *redact, int *err)
{
	struct snap_out *s = pool_alloc(p, sizeof(*s));

	*s = (struct snap_out){ .pool = p, .redact = redact, .path = path };
	*err = path ? -outfile_open(&s->file, p, path, FILE_MODE) : open_memory(s);
	if (path)
		s->f = s->file.f;
	if (*err)
		return NULL;
	put_header(s);
	return s;
}

/* A structure as it is in the file; returns its flags */
static uint16_t prepare(struct snap_out *s, const struct snap_key *k, uint8_t *body, size_t len)
{
	const struct layout *l = layout_of_record(k->type);
	uint16_t flags = k->flags;

	if (s->redact && redact_record(s->redact, k->type, body, len))
		flags |= ERDMA_DIAG_REC_F_HIDDEN;
	if (l && __BYTE_ORDER == __BIG_ENDIAN)
		layout_swap(l, body, len);
	return flags;
}

/**
 * snap_put - add a record
 * @s: file
 * @k: what it is about
 * @body: structure in the byte order of this machine, or lines
 * @len: its bytes
 * @tail: what follows it, as it is; or NULL
 * @tail_len: its bytes
 *
 * Errors are reported by snap_finish().
 */
void snap_put(struct snap_out *s, const struct snap_key *k, const void *body, size_t len,
	      const void *tail, size_t tail_len)
{
	static const uint8_t zeros[8];
	size_t pad = -(len + tail_len) & 7;
	struct erdma_snap_rec r;
	uint8_t *copy;

	if (len + tail_len > ERDMA_SNAP_MAX_BODY) {
		s->err = s->err ? s->err : EFBIG;
		return;
	}
	copy = pool_alloc(s->pool, len + 1);
	memcpy(copy, body, len);
	r = (struct erdma_snap_rec){
		.len = htole32((uint32_t)(sizeof(r) + len + tail_len + pad)),
		.type = htole16(k->type),
		.flags = htole16(prepare(s, k, copy, len)),
		.dev = htole32(k->dev), .obj = htole32(k->obj), .id = htole32(k->id),
		.seq = htole32(s->records), .time_ns = htole64(clock_ns(CLOCK_MONOTONIC)),
	};
	put(s, &r, sizeof(r));
	put(s, copy, len);
	put(s, tail, tail_len);
	put(s, zeros, pad);
	s->records++;
}

/* Both return a positive error number, or 0 */
static int close_memory(struct snap_out *s)
{
	int err = fclose(s->f) ? errno : 0;

	if (!s->err && !err)
		return 0;
	free(s->mem);
	s->mem = NULL;
	return s->err ? s->err : err;
}

/* It is on the disk before it gets its name */
static int close_file(struct snap_out *s)
{
	if (!s->err && (fflush(s->f) || fsync(fileno(s->f))))
		s->err = errno;
	if (!s->err)
		return -outfile_finish(&s->file);
	outfile_drop(&s->file);
	return s->err;
}

/**
 * snap_finish - the last record; the file gets its name
 * @s: file, not to be used any more
 *
 * Return: 0, or the positive error number of the first failure: then there is no file.
 */
int snap_finish(struct snap_out *s)
{
	const struct snap_key key = { .type = ERDMA_SNAP_END, .dev = ERDMA_SNAP_NO_DEV };
	struct erdma_snap_end end = { .records = htole32(s->records), .crc = htole32(s->crc) };

	snap_put(s, &key, &end, sizeof(end), NULL, 0);
	return s->path ? close_file(s) : close_memory(s);
}

/**
 * snap_memory - the bytes of a file in memory
 * @s: file, after snap_finish(); not to be used any more
 * @len: filled
 *
 * Return: bytes, in the pool.
 */
uint8_t *snap_memory(struct snap_out *s, size_t *len)
{
	uint8_t *bytes = pool_alloc(s->pool, s->mem_len);

	memcpy(bytes, s->mem, s->mem_len);
	*len = s->mem_len;
	free(s->mem);
	s->mem = NULL;
	return bytes;
}

/**
 * snap_abort - there is to be no file
 * @s: file, not to be used any more
 */
void snap_abort(struct snap_out *s)
{
	if (s->path) {
		outfile_drop(&s->file);
		return;
	}
	fclose(s->f);
	free(s->mem);
}

/**
 * snap_records - how many records were put
 * @s: file
 *
 * Return: their number.
 */
uint32_t snap_records(const struct snap_out *s)
{
	return s->records;
}

/**
 * snap_bytes - how long the file is
 * @s: file
 *
 * Return: bytes.
 */
uint64_t snap_bytes(const struct snap_out *s)
{
	return s->bytes;
}
