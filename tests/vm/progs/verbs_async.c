// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Has a context with a CQ that is armed, prints each asynchronous event of it, and does what
 * standard input says: verbs_async
 *
 *	try	asks the kernel for something by two verbs, then stores to each page that is
 *		mapped of the device, and prints how that went
 *	quit	ends, when no event is left; the exit status is 0 if all was as these words say
 *
 * One line each: "event WORD", "verb NAME ERRNO", "store WORD".
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct ibv_context *context;
static sigjmp_buf fault;

static bool open_all(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!context)
		return false;
	channel = ibv_create_comp_channel(context);
	cq = channel ? ibv_create_cq(context, 16, NULL, channel, 0) : NULL;
	return cq && ibv_alloc_pd(context) && !ibv_req_notify_cq(cq, 0);
}

static const char *event_word(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_PORT_ERR:	return "port-err";
	case IBV_EVENT_PORT_ACTIVE:	return "port-active";
	case IBV_EVENT_DEVICE_FATAL:	return "device-fatal";
	default:			return "other";
	}
}

/* Waits if there is none */
static bool take_event(void)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event))
		return false;
	printf("event %s\n", event_word(&event));
	ibv_ack_async_event(&event);
	return true;
}

static void on_sigbus(int sig)
{
	siglongjmp(fault, sig);
}

/* What is a page of nobody's remembers what is stored; doorbells are write-only */
static const char *store(uint64_t address)
{
	volatile uint64_t *word = (uint64_t *)(uintptr_t)address;

	if (sigsetjmp(fault, 1))
		return "sigbus";
	*word = 0x0123456789abcdef;
	return *word == 0x0123456789abcdef ? "remembered" : "gone";
}

static void store_all(void)
{
	char line[512], rights[8], path[256];
	FILE *maps = fopen("/proc/self/maps", "r");
	uint64_t begin, end;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &begin, &end, rights, path) == 4 &&
		    !strncmp(path, "/dev/infiniband/", 16) && rights[1] == 'w')
			for (; begin < end; begin += 4096)
				printf("store %s\n", store(begin));
	if (maps)
		fclose(maps);
}

static void try_all(void)
{
	struct ibv_port_attr attr;
	struct ibv_pd *pd;
	int err;

	errno = 0;
	pd = ibv_alloc_pd(context);
	printf("verb alloc_pd %s\n", pd ? "0" : strerrorname_np(errno));
	err = ibv_query_port(context, 1, &attr);
	printf("verb query_port %s\n", err ? strerrorname_np(err) : "0");
	store_all();
	printf("tried\n");
}

int main(void)
{
	struct pollfd fds[] = { { .fd = 0, .events = POLLIN }, { .events = POLLIN } };
	char line[64];

	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGBUS, on_sigbus);
	if (!open_all()) {
		fprintf(stderr, "verbs_async: not opened: %s\n", strerror(errno));
		return 1;
	}
	fds[1].fd = context->async_fd;
	printf("ready\n");
	while (poll(fds, 2, -1) > 0) {
		if (fds[1].revents && !take_event())
			return 1;
		if (!fds[0].revents)
			continue;
		if (!fgets(line, sizeof(line), stdin) || !strcmp(line, "quit\n"))
			break;
		if (!strcmp(line, "try\n"))
			try_all();
	}
	while (poll(&fds[1], 1, 0) > 0)
		if (!take_event())
			return 1;
	return ibv_close_device(context) != 0;
}
