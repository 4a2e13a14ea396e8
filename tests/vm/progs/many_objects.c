// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many_objects KIND COUNT: makes COUNT completion queues (cq), memory regions (mr), protection
 * domains (pd) or contexts (ctx) on the first RDMA device, prints "open" and keeps them until there
 * is something on its standard input, or its end. All regions are of the same page.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

static struct ibv_device *device;
static struct ibv_context *context;
static struct ibv_pd *shared_pd;
static char page[4096] __attribute__((aligned(4096)));

static int make_cq(void)
{
	return !ibv_create_cq(context, 1, NULL, NULL, 0);
}

static int make_mr(void)
{
	return !ibv_reg_mr(shared_pd, page, sizeof(page), IBV_ACCESS_LOCAL_WRITE);
}

static int make_pd(void)
{
	return !ibv_alloc_pd(context);
}

static int make_ctx(void)
{
	return !ibv_open_device(device);
}

static const struct kind {
	const char *name;
	int (*make)(void);
} kinds[] = { { "cq", make_cq }, { "mr", make_mr }, { "pd", make_pd },
	    { "ctx", make_ctx } };

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name, kinds[i].name))
			return &kinds[i];
	return NULL;
}

static int fail(const char *what, int n)
{
	fprintf(stderr, "%s (number %d): %s\n", what, n, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	const struct kind *kind = argc > 2 ? find_kind(argv[1]) : NULL;
	int count = argc > 2 ? atoi(argv[2]) : 0;
	struct ibv_device **list = ibv_get_device_list(NULL);
	char c;

	device = list ? *list : NULL;
	context = device ? ibv_open_device(device) : NULL;
	shared_pd = context ? ibv_alloc_pd(context) : NULL;
	if (!kind || count < 1 || !shared_pd)
		return fail("no device, KIND or COUNT", count);
	for (int i = 0; i < count; i++)
		if (kind->make())
			return fail(kind->name, i);
	puts("open");
	fflush(stdout);
	return read(0, &c, 1) < 0 ? fail("standard input", 0) : 0;
}
