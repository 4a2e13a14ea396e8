// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Records of regions, PDs, contexts and connections: erdma_diag_memory.c, erdma_diag_cm.c */
#include <linux/delay.h>
#include <linux/sched/task.h>
#include <linux/socket.h>

#include "diag_setup.h"
#include "erdma_cm.h"
#include "suites.h"

#define REC(type) (sizeof(struct erdma_diag_rec) + sizeof(struct erdma_diag_##type))

static int context(struct kunit *test, u32 obj, u32 id)
{
	struct erdma_diag_context arg = { .obj = obj, .id = id, .flags = ERDMA_DIAG_CONTEXT_HW };
	struct erdma_diag_req *req = &setup_of(test)->req;
	int ret;

	req->arg = &arg;
	req->chunk_len = 0;
	ret = erdma_diag_handle_context(setup_of(test)->f->dev, req);
	/* The device has no context of any of these: no second record */
	if (!ret)
		KUNIT_EXPECT_EQ(test, ((struct erdma_diag_rec *)req->chunk)->len, arg.out_len);
	return ret;
}

static u32 count(struct kunit *test, u32 obj)
{
	struct erdma_diag_list arg = { .obj = obj };
	struct erdma_diag_req *req = &setup_of(test)->req;

	req->arg = &arg;
	req->cursor = 0;
	req->copied = 0;
	req->chunk_len = 0;
	KUNIT_EXPECT_EQ(test, erdma_diag_handle_list(setup_of(test)->f->dev, req), 0);
	return arg.out_count;
}

static const struct erdma_diag_rec *rec_of(struct kunit *test)
{
	return (const void *)setup_of(test)->req.chunk;
}

static const void *record(struct kunit *test)
{
	return rec_of(test) + 1;
}

/* A PD of the kernel */
static struct ib_pd *new_pd(struct kunit *test)
{
	struct erdma_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pd);
	pd->ibpd.device = &setup_of(test)->f->dev->ibdev;
	pd->ibpd.res.kern_name = "kunit";
	KUNIT_ASSERT_EQ(test, erdma_alloc_pd(&pd->ibpd, NULL), 0);
	return &pd->ibpd;
}

/* As the core completes it */
static struct erdma_mr *complete_mr(struct kunit *test, struct ib_pd *pd, struct ib_mr *ibmr)
{
	KUNIT_ASSERT_FALSE(test, IS_ERR(ibmr));
	ibmr->device = pd->device;
	ibmr->pd = pd;
	ibmr->res.kern_name = "kunit";
	ibmr->res.id = 77;
	return mr_of(ibmr);
}

static struct erdma_mr *new_mr(struct kunit *test, struct ib_pd *pd, u32 pages)
{
	return complete_mr(test, pd, erdma_alloc_mr(pd, IB_MR_TYPE_MEM_REG, pages));
}

/* ---- memory regions ------------------------------------------------------ */

static void region_for_fast_registration_is_described(struct kunit *test)
{
	struct ib_pd *pd = new_pd(test);
	struct erdma_mr *mr = new_mr(test, pd, 16);
	const struct erdma_diag_mr *out = record(test);
	u32 index = mr->index;

	mr->ibmr.iova = 0x10000;
	mr->ibmr.length = 8192;
	mr->frmr_pages = 2;
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, index), 0);
	KUNIT_EXPECT_EQ(test, rec_of(test)->type, ERDMA_DIAG_REC_MR);
	KUNIT_EXPECT_EQ(test, rec_of(test)->len, REC(mr));
	KUNIT_EXPECT_EQ(test, rec_of(test)->flags, 0);
	KUNIT_EXPECT_EQ(test, out->index, index);
	KUNIT_EXPECT_EQ(test, out->lkey, mr->ibmr.lkey);
	KUNIT_EXPECT_EQ(test, out->rkey, mr->ibmr.rkey);
	KUNIT_EXPECT_EQ(test, out->pdn, pd_of(pd)->pdn);
	KUNIT_EXPECT_EQ(test, out->type, ERDMA_MR_FRMR);
	KUNIT_EXPECT_EQ(test, out->iova, 0x10000ULL);
	KUNIT_EXPECT_EQ(test, out->length, 8192ULL);
	KUNIT_EXPECT_EQ(test, out->page_cnt, 2);
	KUNIT_EXPECT_EQ(test, out->max_pages, 16);
	KUNIT_EXPECT_EQ(test, out->mtt_level, mr->mtt.level);
	KUNIT_EXPECT_EQ(test, out->mtt_tables, 1);
	KUNIT_EXPECT_GE(test, out->mtt_bytes, 128ULL);
	KUNIT_EXPECT_NE(test, out->dma, 0ULL);
	KUNIT_EXPECT_EQ(test, out->res_id, 77);
	KUNIT_EXPECT_EQ(test, out->ctx, 0);
	KUNIT_EXPECT_EQ(test, out->owner.kernel, 1);
	KUNIT_EXPECT_STREQ(test, (const char *)out->owner.comm, "kunit");
	KUNIT_EXPECT_EQ(test, kref_read(&mr->ref.count), 1);

	erdma_dereg_mr(&mr->ibmr, NULL);
	KUNIT_EXPECT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, index), -ENOENT);
	erdma_dealloc_pd(pd, NULL);
}

static void region_of_all_memory_has_no_translation(struct kunit *test)
{
	struct ib_pd *pd = new_pd(test);
	struct erdma_mr *mr = complete_mr(test, pd, erdma_get_dma_mr(pd, 0));
	const struct erdma_diag_mr *out = record(test);

	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, mr->index), 0);
	KUNIT_EXPECT_EQ(test, out->flags, ERDMA_DIAG_MR_ALL);
	KUNIT_EXPECT_EQ(test, out->page_shift, 0);
	KUNIT_EXPECT_EQ(test, out->page_cnt, 0);
	KUNIT_EXPECT_EQ(test, out->dma, 0ULL);
	erdma_dereg_mr(&mr->ibmr, NULL);
	erdma_dealloc_pd(pd, NULL);
}

static void region_of_user_memory_shows_what_was_asked_for(struct kunit *test)
{
	struct ib_pd *pd = new_pd(test);
	struct erdma_mr *mr = complete_mr(test, pd, erdma_get_dma_mr(pd, 0));
	const struct erdma_diag_mr *out = record(test);

	mr->type = ERDMA_MR_NORMAL;
	mr->range = (struct erdma_user_range){
		.start = 0x7000, .iova = 0x123456, .len = 3 * 4096,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ,
	};
	mr->mtt.page_shift = 12;
	mr->mtt.page_cnt = 3;
	mr->mtt.inline_page[0] = 0x888000;
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, mr->index), 0);
	KUNIT_EXPECT_EQ(test, out->flags, ERDMA_DIAG_MR_USER);
	KUNIT_EXPECT_EQ(test, out->addr, 0x7000ULL);
	KUNIT_EXPECT_EQ(test, out->iova, 0x123456ULL);
	KUNIT_EXPECT_EQ(test, out->length, 3ULL * 4096);
	KUNIT_EXPECT_EQ(test, out->access, (u32)mr->range.access);
	KUNIT_EXPECT_EQ(test, out->page_shift, 12);
	KUNIT_EXPECT_EQ(test, out->page_cnt, 3);
	KUNIT_EXPECT_EQ(test, out->dma, 0x888000ULL);
	mr->range.is_dmabuf = true;
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, mr->index), 0);
	KUNIT_EXPECT_EQ(test, out->flags, ERDMA_DIAG_MR_DMABUF);
	mr->type = ERDMA_MR_DMA;
	erdma_dereg_mr(&mr->ibmr, NULL);
	erdma_dealloc_pd(pd, NULL);
}

static void keys_are_an_administrators(struct kunit *test)
{
	struct ib_pd *pd = new_pd(test);
	struct erdma_mr *mr = new_mr(test, pd, 16);
	const struct erdma_diag_mr *out = record(test);

	setup_of(test)->req.who = &diag_locked_down;
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, mr->index), 0);
	KUNIT_EXPECT_EQ(test, rec_of(test)->flags, ERDMA_DIAG_REC_F_HIDDEN);
	KUNIT_EXPECT_EQ(test, out->lkey, 0);
	KUNIT_EXPECT_EQ(test, out->rkey, 0);
	KUNIT_EXPECT_EQ(test, out->dma, 0ULL);
	KUNIT_EXPECT_EQ(test, out->max_pages, 16);
	setup_of(test)->req.who = &diag_nobody;
	KUNIT_EXPECT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, mr->index), -EPERM);
	KUNIT_EXPECT_EQ(test, context(test, ERDMA_DIAG_OBJ_PD, pd_of(pd)->pdn), -EPERM);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_OBJ_MR), 0);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_OBJ_PD), 0);
	erdma_dereg_mr(&mr->ibmr, NULL);
	erdma_dealloc_pd(pd, NULL);
}

/* One's own region: its keys are an administrator's all the same */
static void own_region_is_seen_without_keys(struct kunit *test)
{
	const struct erdma_diag_who self = { .opener = current_cred() };
	struct ib_pd *pd = new_pd(test);
	struct erdma_mr *mr = new_mr(test, pd, 16);
	const struct erdma_diag_mr *out = record(test);

	mr->ibmr.res.user = true;
	mr->ibmr.res.task = current;
	setup_of(test)->req.who = &self;
	/* The core tracks it later than the driver */
	KUNIT_EXPECT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, mr->index), -ENOENT);
	kref_init(&mr->ibmr.res.kref);
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, mr->index), 0);
	KUNIT_EXPECT_EQ(test, out->lkey, 0);
	KUNIT_EXPECT_EQ(test, out->rkey, 0);
	KUNIT_EXPECT_EQ(test, out->owner.pid, current->tgid);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_OBJ_MR), 1);
	mr->ibmr.res.user = false;
	erdma_dereg_mr(&mr->ibmr, NULL);
	erdma_dealloc_pd(pd, NULL);
}

struct ending {
	struct work_struct work;
	struct ib_mr *mr;
	bool done;
};

static void end_mr(struct work_struct *work)
{
	struct ending *e = container_of(work, struct ending, work);

	erdma_dereg_mr(e->mr, NULL);
	WRITE_ONCE(e->done, true);
}

static void destruction_waits_for_who_looks(struct kunit *test)
{
	struct erdma_dev *dev = setup_of(test)->f->dev;
	struct ib_pd *pd = new_pd(test);
	struct erdma_mr *mr = new_mr(test, pd, 16);
	u32 index = mr->index;
	struct ending e = { .mr = &mr->ibmr };
	int i;

	KUNIT_ASSERT_PTR_EQ(test, erdma_mr_get(dev, index), mr);
	INIT_WORK_ONSTACK(&e.work, end_mr);
	schedule_work(&e.work);
	for (i = 0; i < 2000 && erdma_objtab_next(&dev->mrs, &(u32){ index }); i++)
		usleep_range(500, 1000);
	KUNIT_EXPECT_EQ(test, context(test, ERDMA_DIAG_OBJ_MR, index), -ENOENT);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(e.done));
	erdma_mr_put(mr);
	flush_work(&e.work);
	destroy_work_on_stack(&e.work);
	KUNIT_EXPECT_TRUE(test, e.done);
	erdma_dealloc_pd(pd, NULL);
}

/* ---- PDs, contexts ------------------------------------------------------- */

static void pd_counts_its_objects(struct kunit *test)
{
	struct ib_pd *pd = new_pd(test);
	struct erdma_mr *a = new_mr(test, pd, 4), *b = new_mr(test, pd, 4);
	const struct erdma_diag_pd *out = record(test);

	erdma_pd_count_qp(pd_of(pd), 1);
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_PD, pd_of(pd)->pdn), 0);
	KUNIT_EXPECT_EQ(test, rec_of(test)->type, ERDMA_DIAG_REC_PD);
	KUNIT_EXPECT_EQ(test, rec_of(test)->len, REC(pd));
	KUNIT_EXPECT_EQ(test, out->pdn, pd_of(pd)->pdn);
	KUNIT_EXPECT_EQ(test, out->n_mr, 2);
	KUNIT_EXPECT_EQ(test, out->n_qp, 1);
	KUNIT_EXPECT_EQ(test, out->ctx, 0);
	erdma_dereg_mr(&a->ibmr, NULL);
	erdma_dereg_mr(&b->ibmr, NULL);
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_PD, pd_of(pd)->pdn), 0);
	KUNIT_EXPECT_EQ(test, out->n_mr, 0);
	erdma_dealloc_pd(pd, NULL);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_OBJ_PD), 0);
}

static void context_shows_pages_and_counts(struct kunit *test)
{
	struct erdma_ucontext *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	const struct erdma_diag_who self = { .opener = current_cred() };
	struct erdma_dev *dev = setup_of(test)->f->dev;
	const struct erdma_diag_ctx *out = record(test);
	struct ib_pd *pd = new_pd(test);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ctx);
	*ctx = (struct erdma_ucontext){
		.id = 5, .db = { .valid = true, .sdb = 100, .rdb = 101, .cdb = 102 },
		.ibucontext.res = { .user = true, .task = current, .id = 9 },
	};
	kref_init(&ctx->ibucontext.res.kref);
	erdma_ref_init(&ctx->ref);
	fake_publish(&dev->ctxs, 5, &ctx->ref);
	pd_of(pd)->ctx = ctx;
	erdma_pd_count_mr(pd_of(pd), 3);
	erdma_pd_count_qp(pd_of(pd), 2);

	setup_of(test)->req.who = &self;
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_CTX, 5), 0);
	KUNIT_EXPECT_EQ(test, rec_of(test)->type, ERDMA_DIAG_REC_CTX);
	KUNIT_EXPECT_EQ(test, rec_of(test)->len, REC(ctx));
	KUNIT_EXPECT_EQ(test, out->id, 5);
	KUNIT_EXPECT_EQ(test, out->res_id, 9);
	KUNIT_EXPECT_EQ(test, out->flags, ERDMA_DIAG_CTX_OWN_PAGES);
	/* As they are mapped, not as they are called in commands (2.7) */
	KUNIT_EXPECT_EQ(test, out->sq_page, 100);
	KUNIT_EXPECT_EQ(test, out->rq_page, 102);
	KUNIT_EXPECT_EQ(test, out->cq_page, 101);
	KUNIT_EXPECT_EQ(test, out->n_mr, 3);
	KUNIT_EXPECT_EQ(test, out->n_qp, 2);
	KUNIT_EXPECT_EQ(test, out->owner.pid, current->tgid);
	setup_of(test)->req.who = &diag_admin;
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_PD, pd_of(pd)->pdn), 0);
	KUNIT_EXPECT_EQ(test, ((const struct erdma_diag_pd *)record(test))->ctx, 5);
	pd_of(pd)->ctx = NULL;
	erdma_dealloc_pd(pd, NULL);
}

/* ---- connections --------------------------------------------------------- */

static struct erdma_ep *new_ep(struct kunit *test)
{
	struct erdma_ep *ep = erdma_ep_alloc(setup_of(test)->f->dev);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ep);
	mutex_lock(&ep->lock);
	return ep;
}

static void end_ep(struct erdma_ep *ep)
{
	erdma_ep_close(ep);
	mutex_unlock(&ep->lock);
	erdma_ep_put(ep);
}

static void listener_is_described(struct kunit *test)
{
	static const u8 addr[4] = { 10, 0, 0, 1 };
	const struct erdma_diag_cm_id *out = record(test);
	struct erdma_ep *ep = new_ep(test);
	u32 num = ep->num;

	/* Nobody knows yet whose it is */
	KUNIT_EXPECT_EQ(test, context(test, ERDMA_DIAG_OBJ_CM_ID, num), -ENOENT);
	ep->sip = cpu_to_be32(0x0a000001);
	ep->sport = cpu_to_be16(4711);
	ep->backlog = 9;
	ep->n_children = 2;
	erdma_ep_set_asked(ep, NULL, true);
	erdma_ep_set_state(ep, ERDMA_EP_LISTEN);
	/* The lock is held during commands: it is not waited for */
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_CM_ID, num), 0);
	KUNIT_EXPECT_EQ(test, rec_of(test)->type, ERDMA_DIAG_REC_CM_ID);
	KUNIT_EXPECT_EQ(test, rec_of(test)->len, REC(cm_id));
	KUNIT_EXPECT_EQ(test, out->id, num);
	KUNIT_EXPECT_EQ(test, out->state, ERDMA_DIAG_CM_LISTEN);
	KUNIT_EXPECT_EQ(test, out->family, AF_INET);
	KUNIT_EXPECT_EQ(test, memcmp(out->saddr, addr, 4), 0);
	KUNIT_EXPECT_EQ(test, out->sport, 4711);
	KUNIT_EXPECT_EQ(test, out->dport, 0);
	KUNIT_EXPECT_EQ(test, out->backlog, 9);
	KUNIT_EXPECT_EQ(test, out->n_waiting, 2);
	KUNIT_EXPECT_EQ(test, out->qpn, 0);
	KUNIT_EXPECT_EQ(test, out->left_ms, 0);
	KUNIT_EXPECT_EQ(test, out->owner.kernel, 1);
	setup_of(test)->req.who = &diag_nobody;
	KUNIT_EXPECT_EQ(test, context(test, ERDMA_DIAG_OBJ_CM_ID, num), -EPERM);
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_OBJ_CM_ID), 0);
	setup_of(test)->req.who = &diag_admin;
	ep->n_children = 0;
	end_ep(ep);
	KUNIT_EXPECT_EQ(test, context(test, ERDMA_DIAG_OBJ_CM_ID, num), -ENOENT);
}

static void connection_belongs_to_the_owner_of_its_qp(struct kunit *test)
{
	const struct erdma_diag_cm_id *out = record(test);
	struct erdma_qp *qp = setup_of(test)->qp[1];
	struct erdma_ep *ep = new_ep(test);

	erdma_qp_hold(qp);
	KUNIT_ASSERT_EQ(test, erdma_ep_attach_qp(ep, qp), 0);
	ep->ird = 3;
	ep->ord = 4;
	erdma_ep_set_state(ep, ERDMA_EP_CONNECTING);
	erdma_ep_set_deadline(ep, 60000);
	KUNIT_ASSERT_EQ(test, context(test, ERDMA_DIAG_OBJ_CM_ID, ep->num), 0);
	KUNIT_EXPECT_EQ(test, out->state, ERDMA_DIAG_CM_CONNECTING);
	KUNIT_EXPECT_EQ(test, out->qpn, qp->qpn);
	KUNIT_EXPECT_EQ(test, out->flags, 0);
	KUNIT_EXPECT_EQ(test, out->ird, 3);
	KUNIT_EXPECT_EQ(test, out->ord, 4);
	KUNIT_EXPECT_GT(test, out->left_ms, 0);
	KUNIT_EXPECT_LE(test, out->left_ms, 60000);
	KUNIT_EXPECT_STREQ(test, (const char *)out->owner.comm, "kunit");
	end_ep(ep);
	diag_expect_no_reference_left(test);
}

static void connections_are_listed_by_ascending_number(struct kunit *test)
{
	struct erdma_ep *ep[3];
	const struct erdma_diag_cm_id *out;
	u32 last = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(ep); i++) {
		ep[i] = new_ep(test);
		erdma_ep_set_asked(ep[i], NULL, true);
		erdma_ep_set_state(ep[i], ERDMA_EP_LISTEN);
		mutex_unlock(&ep[i]->lock);
	}
	mutex_lock(&ep[1]->lock);
	end_ep(ep[1]);
	KUNIT_ASSERT_EQ(test, count(test, ERDMA_DIAG_OBJ_CM_ID), 2);
	for (i = 0; i < 2; i++) {
		out = record(test) + i * REC(cm_id);
		KUNIT_EXPECT_GT(test, out->id, last);
		last = out->id;
	}
	for (i = 0; i < 3; i += 2) {
		mutex_lock(&ep[i]->lock);
		end_ep(ep[i]);
	}
	KUNIT_EXPECT_EQ(test, count(test, ERDMA_DIAG_OBJ_CM_ID), 0);
}

static int memory_init(struct kunit *test)
{
	int ret = diag_setup_init(test) ?: erdma_cm_module_init();

	return ret;
}

static void memory_exit(struct kunit *test)
{
	erdma_cm_module_exit();
	diag_setup_exit(test);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(region_for_fast_registration_is_described),
	KUNIT_CASE(region_of_all_memory_has_no_translation),
	KUNIT_CASE(region_of_user_memory_shows_what_was_asked_for),
	KUNIT_CASE(keys_are_an_administrators),
	KUNIT_CASE(own_region_is_seen_without_keys),
	KUNIT_CASE(destruction_waits_for_who_looks),
	KUNIT_CASE(pd_counts_its_objects),
	KUNIT_CASE(context_shows_pages_and_counts),
	KUNIT_CASE(listener_is_described),
	KUNIT_CASE(connection_belongs_to_the_owner_of_its_qp),
	KUNIT_CASE(connections_are_listed_by_ascending_number),
	{}
};

struct kunit_suite erdma_diag_memory_suite = {
	.name = "erdma_diag_memory",
	.init = memory_init,
	.exit = memory_exit,
	.test_cases = memory_cases,
};
