/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What client and server say to each other. */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#define PORT "7471"
#define TEXT_SIZE 64

struct message {
	char text[TEXT_SIZE];
	uint64_t addr;		/* of memory that the other end may read */
	uint32_t rkey;		/* the key to it */
};

/* The end of one request: good, or the program ends */
static inline void completed(int got, const struct ibv_wc *wc, const char *what)
{
	if (got < 0)
		err(1, "%s", what);
	if (wc->status != IBV_WC_SUCCESS)
		errx(1, "%s: %s", what, ibv_wc_status_str(wc->status));
}

/* One request of each kind at a time, and a completion for each */
static const struct ibv_qp_init_attr one_request = {
	.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
};
