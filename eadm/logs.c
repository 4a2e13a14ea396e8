// SPDX-License-Identifier: GPL-2.0-or-later
/* The newest entries of the recorders, as they are. */
#include "source.h"
#include "why.h"

struct reading {
	struct ctx *c;
	struct logs *l;
};

/* Room for the newest, once there is one */
static struct log_entry *next_entry(struct ctx *c, struct log_kind *k)
{
	if (!k->e)
		k->e = pool_alloc(&c->pool, LOG_ENTRIES * sizeof(*k->e));
	return &k->e[k->n++ % LOG_ENTRIES];
}

static void add_entry(void *arg, uint32_t kind, const struct rec *rec)
{
	struct reading *r = arg;
	struct log_entry *e = next_entry(r->c, &r->l->kind[kind]);

	*e = (struct log_entry){ .flags = rec->flags };
	switch (kind) {
	case ERDMA_DIAG_LOG_CMD:
	case ERDMA_DIAG_LOG_CMD_FIRST:
		rec_copy(rec, &e->cmd, sizeof(e->cmd));
		break;
	case ERDMA_DIAG_LOG_EVENT:
		rec_copy(rec, &e->event, sizeof(e->event));
		break;
	case ERDMA_DIAG_LOG_CM:
		rec_copy(rec, &e->cm, sizeof(e->cm));
		break;
	case ERDMA_DIAG_LOG_FAIL:
		rec_copy(rec, &e->fail, sizeof(e->fail));
		break;
	case ERDMA_DIAG_LOG_KEY:
		rec_copy(rec, &e->key, sizeof(e->key));
		break;
	default:
		rec_copy(rec, &e->reset, sizeof(e->reset));
		break;
	}
}

/**
 * logs_read_kind - entries of one recorder
 * @c: run
 * @dev: open device
 * @kind: ERDMA_DIAG_LOG_*
 * @l: filled, as by logs_read()
 */
void logs_read_kind(struct ctx *c, struct dev *dev, uint32_t kind, struct logs *l)
{
	struct reading r = { c, l };
	uint64_t seq = 0, lost = 0;

	if (dev->info.abi_flags & ERDMA_DIAG_ABI_LOG(kind))
		source_log(&c->src, dev, kind, &seq, &lost, add_entry, &r);
}

/**
 * logs_read - entries of the recorders that verdicts are made of
 * @c: run
 * @dev: open device
 * @l: filled; what a driver does not record, or the caller may not read, has no entries
 */
void logs_read(struct ctx *c, struct dev *dev, struct logs *l)
{
	static const uint32_t kinds[] = {
		ERDMA_DIAG_LOG_CMD_FIRST, ERDMA_DIAG_LOG_EVENT, ERDMA_DIAG_LOG_CM,
		ERDMA_DIAG_LOG_FAIL, ERDMA_DIAG_LOG_KEY, ERDMA_DIAG_LOG_RESET,
	};
	size_t i;

	for (i = 0; i < COUNT_OF(kinds); i++)
		logs_read_kind(c, dev, kinds[i], l);
}

/**
 * logs_newest - walk over entries, the newest first
 * @l: recorders
 * @kind: ERDMA_DIAG_LOG_*
 * @i: position, from 0
 *
 * Return: entry, or NULL after the oldest one that is there.
 */
struct log_entry *logs_newest(const struct logs *l, uint32_t kind, size_t i)
{
	const struct log_kind *k = &l->kind[kind];

	if (i >= k->n || i >= LOG_ENTRIES)
		return NULL;
	return &k->e[(k->n - 1 - i) % LOG_ENTRIES];
}

/**
 * logs_event - the newest asynchronous event of an object, and not of an older one of its number
 * @l: recorders
 * @obj: ERDMA_DIAG_OBJ_*
 * @id: its number
 * @since_ns: when it was made
 *
 * Return: entry, or NULL.
 */
const struct log_entry *logs_event(const struct logs *l, uint32_t obj, uint32_t id,
				   uint64_t since_ns)
{
	const struct log_entry *e;
	size_t i;

	for (i = 0; (e = logs_newest(l, ERDMA_DIAG_LOG_EVENT, i)); i++)
		if (e->event.obj == obj && e->event.object == id && e->head.time_ns >= since_ns)
			return e;
	return NULL;
}
