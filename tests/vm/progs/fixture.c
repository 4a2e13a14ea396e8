// SPDX-License-Identifier: GPL-2.0-or-later
/* See fixture.h. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

static const char *address_a, *address_b;

bool bed_open(struct bed *t, size_t len, struct pair_options o)
{
	memset(t, 0, sizeof(*t));
	o.address_a = address_a;
	o.address_b = address_b;
	return !pair_open(&t->p, &o) &&
	       !region_new(&t->a, &t->p.a, len, 0, ALL_RIGHTS) &&
	       !region_new(&t->b, &t->p.b, len, 0, ALL_RIGHTS);
}

void bed_close(struct bed *t)
{
	region_free(&t->a);
	region_free(&t->b);
	pair_close(&t->p);
}

bool with_bed(size_t len, struct pair_options o, bool (*body)(struct bed *t))
{
	struct bed t;
	bool good = bed_open(&t, len, o);

	if (good)
		good = body(&t);
	bed_close(&t);
	return good;
}

struct ibv_sge sge_of(const struct region *r, size_t at, size_t len)
{
	struct ibv_sge sge = { (uintptr_t)r->p + at, (uint32_t)len, r->mr->lkey };

	return sge;
}

bool post_recv(struct pair_side *s, struct ibv_sge sge, uint64_t id)
{
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;
	int err = ibv_post_recv(s->qp, &wr, &bad);

	EXPECT(!err, "ibv_post_recv: %s", strerror(err));
	return true;
}

bool post(struct pair_side *s, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;
	int err;

	err = ibv_post_send(s->qp, &wr, &bad);
	EXPECT(!err, "ibv_post_send(opcode %d): %s", wr.opcode, strerror(err));
	return true;
}

bool done(struct pair_side *s, uint64_t id, enum ibv_wc_opcode opcode, struct ibv_wc *out)
{
	struct ibv_wc wc;

	EXPECT(next_wc(s->cq, &wc), "no completion of request %llu", (unsigned long long)id);
	EXPECT(wc.status == IBV_WC_SUCCESS, "request %llu: %s (vendor 0x%x)",
	       (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), wc.vendor_err);
	EXPECT(wc.wr_id == id, "completion of request %llu instead of %llu",
	       (unsigned long long)wc.wr_id, (unsigned long long)id);
	EXPECT(wc.opcode == opcode, "opcode %d instead of %d", wc.opcode, opcode);
	EXPECT(wc.qp_num == s->qp->qp_num, "QP number %u instead of %u", wc.qp_num, s->qp->qp_num);
	if (out)
		*out = wc;
	return true;
}

bool failed(struct pair_side *s, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	EXPECT(next_wc(s->cq, &wc), "no completion of request %llu", (unsigned long long)id);
	EXPECT(wc.wr_id == id, "completion of request %llu (%s) instead of %llu",
	       (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), (unsigned long long)id);
	EXPECT(wc.status == status, "request %llu: %s (vendor 0x%x) instead of %s",
	       (unsigned long long)id, ibv_wc_status_str(wc.status), wc.vendor_err,
	       ibv_wc_status_str(status));
	return true;
}

struct ibv_send_wr signaled(enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *list,
				   int num)
{
	struct ibv_send_wr wr = {
		.wr_id = id, .opcode = opcode, .sg_list = list, .num_sge = num,
		.send_flags = IBV_SEND_SIGNALED,
	};

	return wr;
}

struct ibv_send_wr one_sided(enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *list,
				    int num, const struct region *remote, size_t at)
{
	struct ibv_send_wr wr = signaled(opcode, id, list, num);

	wr.wr.rdma.remote_addr = (uintptr_t)remote->p + at;
	wr.wr.rdma.rkey = remote->mr->rkey;
	return wr;
}

const char *bed_passive(void)
{
	return address_b;
}

const char *bed_active(void)
{
	return address_a;
}

void bed_set_addresses(const char *text)
{
	static char buf[64];
	char *comma;

	snprintf(buf, sizeof(buf), "%s", text);
	address_b = buf;
	comma = strchr(buf, ',');
	if (comma) {
		*comma = '\0';
		address_a = comma + 1;
	}
}

int bed_main(int argc, char **argv, const struct tap_test *tests, int count)
{
	if (argc < 2) {
		fprintf(stderr, "usage: %s PASSIVE[,ACTIVE] [TEST]\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	bed_set_addresses(argv[1]);
	return tap_run(tests, count, argc > 2 ? argv[2] : NULL);
}
