// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An application that writes garbage into its own queues and doorbells:
 * rings ADDRESS ROUNDS. The card must survive it, and so must a connection of
 * somebody else.
 *
 * The queue memory belongs to the provider library; it asks for it with
 * posix_memalign(), which this program defines itself and so learns where the
 * queues are. The doorbell pages are found in the process's memory map.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "erdma/erdma_hw.h"

#define MAX_QUEUES	64

struct queue_memory {
	void *p;
	size_t len;
};

static struct queue_memory queues[MAX_QUEUES];
static unsigned int n_queues;
static long rounds = 100;

int posix_memalign(void **p, size_t align, size_t len)
{
	static int (*real)(void **, size_t, size_t);
	int err;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "posix_memalign");
	err = real(p, align, len);
	if (!err && align >= 4096)
		queues[n_queues++ % MAX_QUEUES] = (struct queue_memory){ *p, len };
	return err;
}

/* Every page of the device that this process has mapped: the doorbells. */
static unsigned int doorbell_pages(volatile uint8_t **pages, unsigned int max)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned int n = 0;
	char line[512];

	while (f && n < max && fgets(line, sizeof(line), f)) {
		unsigned long from, to;

		if (!strstr(line, "uverbs") || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		for (; from < to && n < max; from += 4096)
			pages[n++] = (volatile uint8_t *)from;
	}
	if (f)
		fclose(f);
	return n;
}

static uint64_t random64(void)
{
	return (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();
}

/* Random blocks, but each with a header that gets past the first checks. */
static void scribble(struct queue_memory q, uint32_t qpn)
{
	uint64_t *word = q.p;

	for (size_t i = 0; i < q.len / 8; i++)
		word[i] = random() % 3 ? random64() & 0xffff : random64();
	if (random() % 8 == 0)
		return;
	for (size_t i = 0; i < q.len / 32; i++)
		word[i * 4] = (uint64_t)(uint16_t)(i + 1 + (size_t)random() % 4) |
			      (uint64_t)(random() % 32) << 27 | (uint64_t)qpn << 32 |
			      (uint64_t)(random() % 8) << 52 | (uint64_t)(random() % 256) << 56 |
			      (uint64_t)(random() % 64) << 21;
}

static void ring(volatile uint8_t **pages, unsigned int n, uint32_t qpn)
{
	for (int i = 0; i < 200; i++) {
		volatile uint64_t *db = (volatile uint64_t *)(pages[random() % n] + random() % 512 * 8);

		/* Mostly our own queue with some index, sometimes anything. */
		*db = random() % 3 ? (uint64_t)qpn << 32 | (uint64_t)(random() & 0xffff) : random64();
	}
}

static bool one_round(struct bed *t)
{
	volatile uint8_t *pages[64];
	unsigned int n = doorbell_pages(pages, 64);

	EXPECT(n, "no doorbell page found");
	EXPECT(n_queues, "no queue memory found");
	for (unsigned int i = 0; i < n_queues && i < MAX_QUEUES; i++)
		scribble(queues[i], i % 2 ? t->p.a.qp->qp_num : t->p.b.qp->qp_num);
	for (int i = 0; i < 20; i++) {
		ring(pages, n, t->p.a.qp->qp_num);
		ring(pages, n, t->p.b.qp->qp_num);
	}
	/* Completions are garbage too: the library must not be asked for any. */
	return true;
}

static bool clean_write(struct bed *t)
{
	struct ibv_sge from = sge_of(&t->a, 0, 4096);

	for (uint32_t i = 0; i < 8; i++) {
		pattern_fill(t->a.p, 4096, i);
		if (!post(&t->p.a, one_sided(IBV_WR_RDMA_WRITE, i, &from, 1, &t->b, 0)) ||
		    !done(&t->p.a, i, IBV_WC_RDMA_WRITE, NULL) || !pattern_is(t->b.p, 4096, i))
			return false;
	}
	return true;
}

static bool garbage_rings(void)
{
	srandom(7);
	for (long i = 0; i < rounds; i++) {
		n_queues = 0;
		if (!with_bed(65536, (struct pair_options){ .send_sge = 4, .inline_bytes = 64 },
			      one_round))
			return false;
	}
	return true;
}

static bool afterwards(void)
{
	return with_bed(65536, (struct pair_options){}, clean_write);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "garbage in send, receive and completion rings", garbage_rings },
		{ "a new connection works afterwards", afterwards },
	};

	if (argc > 2)
		rounds = atol(argv[2]);
	return bed_main(argc > 2 ? 2 : argc, argv, tests, 2);
}
