// SPDX-License-Identifier: GPL-2.0-or-later
/* The commands of the node, one call, arguments in which nothing can be refused. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "diag_abi.h"

const struct command commands[N_COMMANDS] = {
	{ "info", ERDMA_DIAG_INFO, 456, 344, 0 },
	{ "list", ERDMA_DIAG_LIST, 56, 48, ERDMA_DIAG_LIST_HW },
	{ "context", ERDMA_DIAG_CONTEXT, 40, 40, ERDMA_DIAG_CONTEXT_HW },
	{ "ring_read", ERDMA_DIAG_RING_READ, 72, 72, 0 },
	{ "debug", ERDMA_DIAG_DEBUG, 136, 136, ERDMA_DIAG_DEBUG_SET },
	{ "log", ERDMA_DIAG_LOG, 64, 64, 0 },
	{ "snapshot", ERDMA_DIAG_SNAPSHOT, 72, 72,
	  ERDMA_DIAG_SNAPSHOT_HW | ERDMA_DIAG_SNAPSHOT_RINGS },
	{ "recover", ERDMA_DIAG_RECOVER, 32, 32, 0 },
};

int node;
const char *node_path = "/dev/erdma/diag0";

int call(int fd, unsigned int cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static uint8_t scratch[256 * 1024];

void valid_argument(const struct command *c, union argument *arg)
{
	memset(arg, 0, sizeof(*arg));
	arg->head.size = c->size;
	switch (c->cmd) {
	case ERDMA_DIAG_LIST:
		arg->list.obj = ERDMA_DIAG_OBJ_CMDQ;
		arg->list.buf = (uintptr_t)scratch;
		arg->list.buf_len = sizeof(scratch);
		break;
	case ERDMA_DIAG_CONTEXT:
		arg->context.obj = ERDMA_DIAG_OBJ_CMDQ;
		arg->context.buf = (uintptr_t)scratch;
		arg->context.buf_len = sizeof(scratch);
		break;
	case ERDMA_DIAG_RING_READ:
		arg->ring.ring = ERDMA_DIAG_RING_EQ;
		arg->ring.id = ERDMA_DIAG_EQ_AEQ;
		break;
	case ERDMA_DIAG_LOG:
		arg->log.kind = ERDMA_DIAG_LOG_RESET;
		arg->log.buf = (uintptr_t)scratch;
		arg->log.buf_len = sizeof(scratch);
		break;
	case ERDMA_DIAG_SNAPSHOT:
		arg->snapshot.obj = ERDMA_DIAG_OBJ_CMDQ;
		arg->snapshot.buf = (uintptr_t)scratch;
		arg->snapshot.buf_len = sizeof(scratch);
		break;
	case ERDMA_DIAG_RECOVER:
		arg->recover.obj = ERDMA_DIAG_OBJ_EQ;
		arg->recover.id = ERDMA_DIAG_EQ_AEQ;
		break;
	}
}
