// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the driver recorded, for tests:
 *
 *     recorders KIND [SEQ]     entries of a kind from a sequence number on
 *     recorders wait KIND MS   waits behind the newest entry until poll() says there is another
 *
 * KIND as in ERDMA_DIAG_LOGS(). An entry is a line of name=value, the last line is
 * "next=N lost=N". "wait" prints "waiting", then "readable" or "nothing".
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "uapi/erdma_diag.h"

static uint8_t buf[ERDMA_DIAG_LIST_MAX_BYTES] __attribute__((aligned(8)));

static uint32_t kind_of(const char *name)
{
	static const char *const names[] = {
#define KIND_NAME(id, name, text) [id] = name,
		ERDMA_DIAG_LOGS(KIND_NAME)
	};

	for (uint32_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return i;
	errx(2, "no kind '%s'", name);
}

static void show_cmd(const struct erdma_diag_log_cmd *c)
{
	printf("submod=%u opcode=%u object=%u outcome=%u syndrome=%u err=%u us=%" PRIu64
	       " cmd_seq=%" PRIu64, c->submod, c->opcode, c->object, c->outcome, c->syndrome,
	       c->err, c->answer_ns ? (uint64_t)(c->answer_ns - c->submit_ns) / 1000 : 0,
	       (uint64_t)c->cmd_seq);
}

static void show_cm(const struct erdma_diag_log_cm *c)
{
	char from[INET_ADDRSTRLEN] = "", to[INET_ADDRSTRLEN] = "";

	inet_ntop(AF_INET, c->saddr, from, sizeof(from));
	inet_ntop(AF_INET, c->daddr, to, sizeof(to));
	printf("stage=%u flags=%u err=%u qpn=%u family=%u saddr=%s daddr=%s sport=%u dport=%u "
	       "pdata=%u us=", c->stage, c->flags, c->err, c->qpn, c->family, from, to, c->sport,
	       c->dport, c->pdata_len);
	for (int i = 0; i < ERDMA_DIAG_CM_STAGES; i++)
		printf("%s%u", i ? "," : "", c->stage_us[i]);
}

static void show_body(uint32_t kind, const void *body)
{
	const struct erdma_diag_log_cmd_time *t = body;
	const struct erdma_diag_log_event *e = body;
	const struct erdma_diag_log_fail *f = body;
	const struct erdma_diag_log_reset *r = body;
	const struct erdma_diag_log_debug *d = body;
	const struct erdma_diag_log_link *l = body;
	const struct erdma_diag_log_key *k = body;

	switch (kind) {
	case ERDMA_DIAG_LOG_CMD:
	case ERDMA_DIAG_LOG_CMD_FIRST:
		show_cmd(body);
		break;
	case ERDMA_DIAG_LOG_CMD_TIME:
		printf("submod=%u opcode=%u count=%" PRIu64 " max_us=%" PRIu64, t->submod, t->opcode,
		       (uint64_t)t->count, (uint64_t)t->max_ns / 1000);
		break;
	case ERDMA_DIAG_LOG_EVENT:
		printf("type=%u object=%u obj=%u known=%u", e->type, e->object, e->obj, e->known);
		break;
	case ERDMA_DIAG_LOG_CM:
		show_cm(body);
		break;
	case ERDMA_DIAG_LOG_FAIL:
		printf("verb=%u err=%u object=%u count=%u cmd=%u opcode=%u syndrome=%u", f->verb,
		       f->err, f->object, f->count, f->cmd, f->opcode, f->syndrome);
		break;
	case ERDMA_DIAG_LOG_KEY:
		printf("stag=%#x index=%u pdn=%u err=%u", k->stag, k->index, k->pdn, k->err);
		break;
	case ERDMA_DIAG_LOG_RESET:
		printf("event=%u generation=%u err=%u reason=\"%s\"", r->event, r->generation, r->err,
		       r->reason);
		break;
	case ERDMA_DIAG_LOG_LINK:
		printf("event=%u mtu=%u err=%u", l->event, l->mtu, l->err);
		break;
	case ERDMA_DIAG_LOG_DEBUG:
		printf("category=%u level=%u text=\"%s\"", d->category, d->level, d->text);
		break;
	}
}

static void show(uint32_t kind, uint32_t len)
{
	uint32_t at = 0;

	while (at < len) {
		const struct erdma_diag_rec *rec = (const void *)(buf + at);
		const struct erdma_diag_log_head *head = (const void *)(rec + 1);

		printf("seq=%" PRIu64 " ns=%" PRIu64 " pid=%u kernel=%u comm=%s ",
		       (uint64_t)head->seq, (uint64_t)head->time_ns, head->owner.pid,
		       head->owner.kernel, head->owner.comm);
		show_body(kind, head);
		printf("\n");
		at += rec->len;
	}
}

static void ask(int fd, struct erdma_diag_log *arg)
{
	arg->size = sizeof(*arg);
	arg->buf = (uintptr_t)buf;
	arg->buf_len = sizeof(buf);
	if (ioctl(fd, ERDMA_DIAG_LOG, arg))
		err(1, "ERDMA_DIAG_LOG");
}

static int wait_for(int fd, uint32_t kind, int ms)
{
	struct erdma_diag_log arg = { .kind = kind, .seq = ERDMA_DIAG_LOG_END };
	struct pollfd p = { .fd = fd, .events = POLLIN };

	ask(fd, &arg);
	printf("waiting\n");
	fflush(stdout);
	printf("%s\n", poll(&p, 1, ms) == 1 && p.revents == POLLIN ? "readable" : "nothing");
	return 0;
}

int main(int argc, char **argv)
{
	struct erdma_diag_log arg = { .seq = argc > 2 ? strtoull(argv[2], NULL, 0) : 0 };
	int fd = open("/dev/erdma/diag0", O_RDONLY);

	if (fd < 0)
		err(1, "/dev/erdma/diag0");
	if (argc == 4 && !strcmp(argv[1], "wait"))
		return wait_for(fd, kind_of(argv[2]), atoi(argv[3]));
	if (argc < 2 || argc > 3)
		errx(2, "usage: recorders KIND [SEQ] | wait KIND MS");
	arg.kind = kind_of(argv[1]);
	ask(fd, &arg);
	show(arg.kind, arg.out_len);
	printf("next=%" PRIu64 " lost=%" PRIu64 "\n", (uint64_t)arg.out_next,
	       (uint64_t)arg.out_lost);
	return 0;
}
