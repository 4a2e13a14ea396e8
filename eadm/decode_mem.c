// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of memory regions, protection domains, user contexts and connections to facts. */
#include <sys/socket.h>

#include "erdma/erdma_hw.h"
#include "erdma/erdma_names.h"

#include "decode_mem.h"

/* What each of these records ends with */
struct tail {
	uint64_t now;
	uint64_t created;
	const uint32_t *res_id;		/* the core begins at 0; NULL: it has no such number */
	const struct erdma_diag_owner *owner;
	const struct erdma_diag_owner_more *more;
};

static void mem_nonzero(struct obj *o, unsigned int field, uint64_t v)
{
	if (v)
		obj_u64(o, field, v);
}

static void mem_age(struct obj *o, unsigned int field, uint64_t now, uint64_t then)
{
	if (then && now)
		obj_u64(o, field, now > then ? now - then : 0);
}

static void mem_tail(struct obj *o, const struct tail *t)
{
	uint32_t flags = t->more->flags;

	mem_age(o, ML_AGE, t->now, t->created);
	if (t->res_id)
		obj_u64(o, ML_RES_ID, *t->res_id);
	obj_u64(o, ML_KERNEL, t->owner->kernel);
	mem_nonzero(o, ML_PID, t->owner->pid);
	if (t->owner->comm[0])
		obj_strn(o, ML_COMM, t->owner->comm, sizeof(t->owner->comm));
	obj_u64(o, ML_EXITED, !!(flags & ERDMA_DIAG_OWNER_EXITED));
	obj_u64(o, ML_PID_NS, !!(flags & ERDMA_DIAG_OWNER_PID_NS));
	obj_u64(o, ML_NET_NS, !!(flags & ERDMA_DIAG_OWNER_NET_NS));
	obj_u64(o, ML_UNKNOWN, !!(flags & ERDMA_DIAG_OWNER_UNKNOWN));
	mem_nonzero(o, ML_CGROUP, t->more->cgroup_id);
}

/* IB_ACCESS_*, also IBV_ACCESS_* */
static void mr_access(struct obj *o, uint32_t access)
{
	static const char *const names[] = {
		"local-write", "remote-write", "remote-read", "remote-atomic",
	};
	unsigned int i;

	obj_word(o, MR_ACCESS, NULL);
	for (i = 0; i < 32; i++)
		if (access >> i & 1)
			obj_word(o, MR_ACCESS, i < 4 ? names[i] :
				 pool_printf(o->pool, "0x%x", 1U << i));
}

static void mr_memory(struct obj *o, const struct erdma_diag_mr *mr)
{
	obj_str(o, MR_MEMORY, mr->flags & ERDMA_DIAG_MR_USER ? "user" :
		mr->flags & ERDMA_DIAG_MR_DMABUF ? "dma-buf" :
		mr->flags & ERDMA_DIAG_MR_ALL ? "all" : "kernel");
	if (mr->flags & ERDMA_DIAG_MR_ALL)
		return;
	obj_u64(o, MR_LENGTH, mr->length);
	obj_u64(o, MR_IOVA, mr->iova);
	mem_nonzero(o, MR_ADDR, mr->addr);
	obj_u64(o, MR_PAGES, mr->page_cnt);
	mem_nonzero(o, MR_MAX_PAGES, mr->max_pages);
	if (mr->page_shift && mr->page_shift < 64)
		obj_u64(o, MR_PAGE_SIZE, 1ULL << mr->page_shift);
	obj_u64(o, MR_MTT_LEVEL, mr->mtt_level);
	obj_u64(o, MR_MTT_TABLES, mr->mtt_tables);
	obj_u64(o, MR_MTT_BYTES, mr->mtt_bytes);
	mem_nonzero(o, MR_DMA, mr->dma);
}

/**
 * decode_mr_row - facts of a memory region for a list
 * @o: object of schema_mr_list
 * @mr: record
 * @now_ns: CLOCK_MONOTONIC of the driver's host, 0 if unknown
 */
void decode_mr_row(struct obj *o, const struct erdma_diag_mr *mr, uint64_t now_ns)
{
	const struct tail tail = { now_ns, mr->created_ns, &mr->res_id, &mr->owner,
				   &mr->owner_more };

	obj_u64(o, MR_INDEX, mr->index);
	decode_name(o, MR_TYPE, erdma_name_mr_type(mr->type), mr->type);
	mem_nonzero(o, MR_LKEY, mr->lkey);
	mem_nonzero(o, MR_RKEY, mr->rkey);
	mr_memory(o, mr);
	if (mr->type == ERDMA_MR_NORMAL)
		mr_access(o, mr->access);
	obj_u64(o, MR_RIGHTS, mr->rights);
	obj_u64(o, MR_PDN, mr->pdn);
	mem_nonzero(o, MR_CTX, mr->ctx);
	mem_tail(o, &tail);
}

/**
 * decode_mr_hidden - the caller may see neither keys nor bus addresses of a region
 * @o: object, after decode_mr_row()
 */
void decode_mr_hidden(struct obj *o)
{
	obj_missing(o, MR_LKEY, V_WITHHELD);
	obj_missing(o, MR_RKEY, V_WITHHELD);
	/* All of memory has no translation */
	if (o->v[MR_MTT_LEVEL].kind != V_NONE)
		obj_missing(o, MR_DMA, V_WITHHELD);
}

/**
 * decode_pd_row - facts of a protection domain for a list
 * @o: object of schema_pd_list
 * @pd: record
 * @now_ns: as in decode_mr_row()
 */
void decode_pd_row(struct obj *o, const struct erdma_diag_pd *pd, uint64_t now_ns)
{
	const struct tail tail = { now_ns, pd->created_ns, &pd->res_id, &pd->owner,
				   &pd->owner_more };

	obj_u64(o, PD_PDN, pd->pdn);
	mem_nonzero(o, PD_CTX, pd->ctx);
	obj_u64(o, PD_QP, pd->n_qp);
	obj_u64(o, PD_MR, pd->n_mr);
	mem_tail(o, &tail);
}

/**
 * decode_ctx_row - facts of a user context for a list
 * @o: object of schema_ctx_list
 * @ctx: record
 * @now_ns: as in decode_mr_row()
 */
void decode_ctx_row(struct obj *o, const struct erdma_diag_ctx *ctx, uint64_t now_ns)
{
	const struct tail tail = { now_ns, ctx->created_ns, &ctx->res_id, &ctx->owner,
				   &ctx->owner_more };

	obj_u64(o, CX_ID, ctx->id);
	obj_u64(o, CX_SQ_PAGE, ctx->sq_page);
	obj_u64(o, CX_RQ_PAGE, ctx->rq_page);
	obj_u64(o, CX_CQ_PAGE, ctx->cq_page);
	obj_u64(o, CX_OWN_PAGES, !!(ctx->flags & ERDMA_DIAG_CTX_OWN_PAGES));
	obj_u64(o, CX_PD, ctx->n_pd);
	obj_u64(o, CX_MR, ctx->n_mr);
	obj_u64(o, CX_CQ, ctx->n_cq);
	obj_u64(o, CX_QP, ctx->n_qp);
	mem_tail(o, &tail);
}

#define CM_STATE_NAME(value, name, help) [value] = name,

static const char *cm_state_name(uint32_t state)
{
	static const char *const names[] = { ERDMA_DIAG_CM_STATES(CM_STATE_NAME) };

	return state < COUNT_OF(names) ? names[state] : NULL;
}

static void cm_listener(struct obj *o, const struct erdma_diag_cm_id *cm)
{
	obj_str(o, CM_ROLE, "listener");
	obj_u64(o, CM_BACKLOG, cm->backlog);
	obj_u64(o, CM_WAITING, cm->n_waiting);
}

static void cm_connection(struct obj *o, const struct erdma_diag_cm_id *cm)
{
	obj_str(o, CM_ROLE, cm->flags & ERDMA_DIAG_CM_F_PASSIVE ? "passive" : "active");
	mem_nonzero(o, CM_QPN, cm->qpn);
	mem_nonzero(o, CM_LISTENER, cm->listener);
	mem_nonzero(o, CM_LEFT, cm->left_ms * 1000000ULL);
	if (cm->family == AF_INET) {
		decode_ipv4(o, CM_PEER_ADDR, cm->daddr);
		obj_u64(o, CM_PEER_PORT, cm->dport);
	}
	if (cm->state >= ERDMA_DIAG_CM_REQUESTED)
		obj_u64(o, CM_PEER_COOKIE, cm->peer_cookie);
	if (cm->state == ERDMA_DIAG_CM_CONNECTED || !(cm->flags & ERDMA_DIAG_CM_F_PASSIVE)) {
		obj_u64(o, CM_IRD, cm->ird);
		obj_u64(o, CM_ORD, cm->ord);
	}
}

/**
 * decode_cm_row - facts of a listener or a connection for a list
 * @o: object of schema_cm_list
 * @cm: record
 * @now_ns: as in decode_mr_row()
 */
void decode_cm_row(struct obj *o, const struct erdma_diag_cm_id *cm, uint64_t now_ns)
{
	const struct tail tail = { now_ns, cm->created_ns, NULL, &cm->owner, &cm->owner_more };

	obj_u64(o, CM_ID, cm->id);
	decode_name(o, CM_STATE, cm_state_name(cm->state), cm->state);
	if (cm->family == AF_INET) {
		decode_ipv4(o, CM_LOCAL_ADDR, cm->saddr);
		obj_u64(o, CM_LOCAL_PORT, cm->sport);
	}
	if (cm->state == ERDMA_DIAG_CM_LISTEN)
		cm_listener(o, cm);
	else
		cm_connection(o, cm);
	mem_age(o, CM_STATE_AGE, now_ns, cm->state_ns);
	mem_tail(o, &tail);
}
