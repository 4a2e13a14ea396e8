// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading a snapshot file. Nothing in it is trusted. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "erdma/erdma_snapshot.h"

#include "snap.h"

#define FILE_MAX	(1ULL << 30)
#define FIRST_ITEMS	256		/* room for so many records at first */
#define FIRST_BYTES	4096		/* of a file that does not say how long it is */

/* ---- records -------------------------------------------------------------- */

static int by_key(const struct snap_item *a, const struct snap_item *b)
{
	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->obj != b->obj)
		return a->obj < b->obj ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static int compare(const void *a, const void *b)
{
	return by_key(a, b);
}

static void add_item(struct snap_in *in, struct pool *p, size_t *cap, const struct snap_item *i)
{
	struct snap_item *grown;

	if (in->n == *cap) {
		*cap *= 2;
		grown = pool_alloc(p, *cap * sizeof(*grown));
		memcpy(grown, in->item, in->n * sizeof(*grown));
		in->item = grown;
	}
	in->item[in->n++] = *i;
}

static const char *check_end(const struct snap_item *i, uint32_t records, uint32_t crc)
{
	struct erdma_snap_end end;

	if (i->len < sizeof(end))
		return "its last record is too short";
	memcpy(&end, i->body, sizeof(end));
	if (le32toh(end.records) != records)
		return "records are missing";
	return le32toh(end.crc) == crc ? NULL : "its checksum is wrong";
}

/* The record at @pos: 1; 0: the file ends within it, or it makes no sense */
static int item_at(uint8_t *bytes, size_t len, size_t pos, struct snap_item *i)
{
	struct erdma_snap_rec r;
	uint32_t n;

	if (len - pos < sizeof(r))
		return 0;
	memcpy(&r, bytes + pos, sizeof(r));
	n = le32toh(r.len);
	if (n < sizeof(r) || n % 8 || n > len - pos)
		return 0;
	*i = (struct snap_item){
		.type = le16toh(r.type), .flags = le16toh(r.flags), .dev = le32toh(r.dev),
		.obj = le32toh(r.obj), .id = le32toh(r.id), .time_ns = le64toh(r.time_ns),
		.body = bytes + pos + sizeof(r), .len = n - (uint32_t)sizeof(r),
	};
	return 1;
}

static void to_native(struct snap_item *i)
{
	const struct layout *l = layout_of_record(i->type);

	if (l && __BYTE_ORDER == __BIG_ENDIAN)
		layout_swap(l, i->body, i->len);
}

static bool check_header(const uint8_t *bytes, size_t len, size_t *start)
{
	struct erdma_snap_header h;

	if (len < sizeof(h))
		return false;
	memcpy(&h, bytes, sizeof(h));
	*start = le32toh(h.len);
	return !memcmp(h.magic, ERDMA_SNAP_MAGIC, ERDMA_SNAP_MAGIC_LEN) &&
	       le32toh(h.version) == ERDMA_SNAP_VERSION && *start >= sizeof(h) && *start <= len &&
	       *start % 8 == 0;
}

/**
 * snap_parse - the records of a file
 * @p: memory
 * @bytes: the file; changed in place, and used as long as the result
 * @len: its bytes
 *
 * Return: records up to the first that makes no sense; NULL: it is no such file.
 */
struct snap_in *snap_parse(struct pool *p, uint8_t *bytes, size_t len)
{
	struct snap_in *in = pool_alloc(p, sizeof(*in));
	size_t pos, from, cap = FIRST_ITEMS;
	struct snap_item item;
	uint32_t crc, seq = 0, moment = 0, moment_dev = ERDMA_SNAP_NO_DEV;

	if (!check_header(bytes, len, &pos))
		return NULL;
	/* Also of a file without records: its end is a place in the array */
	*in = (struct snap_in){ .damage = "it was cut off",
				.item = pool_alloc(p, cap * sizeof(*in->item)) };
	crc = snap_crc32c(0, bytes, pos);
	while (item_at(bytes, len, pos, &item)) {
		from = pos;
		pos += sizeof(struct erdma_snap_rec) + item.len;
		if (item.type == ERDMA_SNAP_END) {
			in->damage = check_end(&item, seq, crc);
			break;
		}
		crc = snap_crc32c(crc, bytes + from, pos - from);
		item.seq = seq++;
		if (item.type == ERDMA_SNAP_MOMENT)
			moment = item.dev == moment_dev ? moment + 1 : 1;
		if (item.type == ERDMA_SNAP_MOMENT)
			moment_dev = item.dev;
		item.moment = item.dev == moment_dev ? moment : 0;
		to_native(&item);
		add_item(in, p, &cap, &item);
	}
	if (in->n)
		qsort(in->item, in->n, sizeof(*in->item), compare);
	return in;
}

/**
 * snap_devices - how many adapters a file has
 * @in: file
 *
 * Return: their number.
 */
uint32_t snap_devices(const struct snap_in *in)
{
	uint32_t n = 0;

	while (snap_find(in, n, ERDMA_SNAP_DEVICE, 0, 0))
		n++;
	return n;
}

/* Its adapters get the numbers from @dev on, its record of the file the number @nr */
static void join_one(struct snap_in *to, const struct snap_in *from, uint32_t dev, uint32_t nr)
{
	uint32_t devices = snap_devices(from);
	struct snap_item *i;
	size_t k;

	for (k = 0; k < from->n; k++) {
		i = &to->item[to->n];
		*i = from->item[k];
		if (i->dev == ERDMA_SNAP_NO_DEV)
			i->id = nr;
		else if (i->dev < devices)
			i->dev += dev;
		else
			continue;
		to->n++;
	}
	to->damage = to->damage ? to->damage : from->damage;
}

/**
 * snap_join - files as if they were one
 * @p: memory
 * @in: files; in use as long as the result
 * @n: their number
 *
 * Return: records; ERDMA_SNAP_FILE of file @i has the number @i.
 */
struct snap_in *snap_join(struct pool *p, struct snap_in *const *in, size_t n)
{
	struct snap_in *to = pool_alloc(p, sizeof(*to));
	size_t i, items = 0;
	uint32_t dev = 0;

	for (i = 0; i < n; i++)
		items += in[i]->n;
	*to = (struct snap_in){ .item = pool_alloc(p, (items + 1) * sizeof(*to->item)) };
	for (i = 0; i < n; i++) {
		join_one(to, in[i], dev, (uint32_t)i);
		dev += snap_devices(in[i]);
	}
	if (to->n)
		qsort(to->item, to->n, sizeof(*to->item), compare);
	return to;
}

/* ---- the file ------------------------------------------------------------- */

/**
 * struct bytes - a file as far as it was read
 * @p: memory
 * @at: bytes
 * @room: for so many
 * @len: of them read
 */
struct bytes {
	struct pool *p;
	uint8_t *at;
	size_t room;
	size_t len;
};

static void make_room(struct bytes *b)
{
	uint8_t *grown = pool_alloc(b->p, 2 * b->room);

	memcpy(grown, b->at, b->len);
	b->at = grown;
	b->room *= 2;
}

/* To its end: files of sysfs have no size. Returns 0 or a positive error number */
static int read_all(int fd, struct bytes *b)
{
	ssize_t n;

	for (;;) {
		if (b->len == b->room)
			make_room(b);
		n = read(fd, b->at + b->len, b->room - b->len);
		if (n < 0 && errno != EINTR)
			return errno;
		if (!n)
			return 0;
		if (n > 0)
			b->len += (size_t)n;
		if (b->len > FILE_MAX)
			return EFBIG;
	}
}

/* open() of a FIFO without a writer returns at once. A regular file with a lease is waited for */
static int open_file(const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags | O_NONBLOCK);

	return fd < 0 && errno == EWOULDBLOCK ? open(path, flags) : fd;
}

/**
 * snap_load - read a file
 * @p: memory
 * @path: its name
 * @err: positive error number: of the system; EINVAL: it is no regular file; EFBIG above
 *	1 GiB; EBADMSG: it is no snapshot, or of a version that is not known
 *
 * Return: its records, or NULL.
 */
struct snap_in *snap_load(struct pool *p, const char *path, int *err)
{
	int fd = open_file(path);
	struct bytes b = { .p = p, .room = FIRST_BYTES };
	struct snap_in *in = NULL;
	struct stat st;

	*err = 0;
	if (fd < 0 || fstat(fd, &st))
		*err = errno;
	else if (!S_ISREG(st.st_mode))
		*err = EINVAL;
	else if ((uint64_t)st.st_size > FILE_MAX)
		*err = EFBIG;
	if (!*err) {
		if ((size_t)st.st_size >= b.room)
			b.room = (size_t)st.st_size + 1;
		b.at = pool_alloc(p, b.room);
		*err = read_all(fd, &b);
		in = *err ? NULL : snap_parse(p, b.at, b.len);
		if (!*err && !in)
			*err = EBADMSG;
	}
	if (fd >= 0)
		close(fd);
	return in;
}

/* ---- finding -------------------------------------------------------------- */

/* The first item that is not before @key */
static size_t lower_bound(const struct snap_in *s, const struct snap_item *key)
{
	size_t lo = 0, hi = s->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (by_key(&s->item[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * snap_find - the first record about an object
 * @s: file
 * @dev: device
 * @type: type of the record
 * @obj: kind
 * @id: number
 *
 * Return: record, or NULL; those that follow in @s->item may be about it, too.
 */
const struct snap_item *snap_find(const struct snap_in *s, uint32_t dev, uint16_t type,
				  uint32_t obj, uint32_t id)
{
	const struct snap_item key = { .dev = dev, .type = type, .obj = obj, .id = id }, *i;
	size_t n = lower_bound(s, &key);

	i = s->item + n;
	return n < s->n && i->dev == dev && i->type == type && i->obj == obj && i->id == id ?
	       i : NULL;
}

/**
 * snap_last - the newest record about an object
 * @s: file
 * @dev: device
 * @type: type of the record
 * @obj: kind
 * @id: number
 *
 * Return: record, or NULL.
 */
const struct snap_item *snap_last(const struct snap_in *s, uint32_t dev, uint16_t type,
				  uint32_t obj, uint32_t id)
{
	const struct snap_item key = { .dev = dev, .type = type, .obj = obj, .id = id,
				       .seq = UINT32_MAX };
	const struct snap_item *i = s->item + lower_bound(s, &key);

	return i > s->item && i[-1].dev == dev && i[-1].type == type && i[-1].obj == obj &&
	       i[-1].id == id ? i - 1 : NULL;
}

/**
 * snap_at - the newest record about an object that belongs to a moment
 * @s: file
 * @dev: device
 * @type: type of the record
 * @obj: kind
 * @id: number
 * @moment: number of the moment; 0: before the first
 *
 * Return: record, or NULL.
 */
const struct snap_item *snap_at(const struct snap_in *s, uint32_t dev, uint16_t type,
				uint32_t obj, uint32_t id, uint32_t moment)
{
	const struct snap_item *i = snap_find(s, dev, type, obj, id), *found = NULL;

	for (; i && i < s->item + s->n; i++) {
		if (i->dev != dev || i->type != type || i->obj != obj || i->id != id)
			break;
		if (i->moment == moment)
			found = i;
	}
	return found;
}

/**
 * snap_from - the first record of a type about a number or a higher one
 * @s: file
 * @dev: device
 * @type: type of the record; all of its records are of one kind of object
 * @id: lowest number
 *
 * Return: record, or NULL.
 */
const struct snap_item *snap_from(const struct snap_in *s, uint32_t dev, uint16_t type,
				  uint32_t id)
{
	struct snap_item key = { .dev = dev, .type = type };
	size_t n = lower_bound(s, &key);

	if (n < s->n) {
		key.obj = s->item[n].obj;
		key.id = id;
		n = lower_bound(s, &key);
	}
	return n < s->n && s->item[n].dev == dev && s->item[n].type == type ? &s->item[n] : NULL;
}
