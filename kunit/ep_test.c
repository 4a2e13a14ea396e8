// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Endpoints of connections: erdma_ep.c (docs/connections.md) */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "erdma_cm.h"
#include "fake_dev.h"
#include "suites.h"

/**
 * struct ep_setup - an endpoint that connects
 * @ep: endpoint, with a socket that is not connected
 * @id: of the IW CM
 * @flags: of the task that notified @id
 * @work: that did so, NULL: none
 * @attached: the endpoint had a QP then
 * @events: how often @id was notified
 * @refs: that were dropped of @id
 */
struct ep_setup {
	struct erdma_ep *ep;
	struct iw_cm_id id;
	unsigned int flags;
	struct work_struct *work;
	bool attached;
	int events;
	int refs;
};

static int on_cm_event(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct ep_setup *s = container_of(id, struct ep_setup, id);

	s->flags = current->flags;
	s->work = current_work();
	s->attached = s->ep->qp;
	s->events++;
	return 0;
}

static void drop_ref(struct iw_cm_id *id)
{
	container_of(id, struct ep_setup, id)->refs++;
}

static int ep_test_init(struct kunit *test)
{
	struct ep_setup *s = fake_init_owner(test, sizeof(*s));
	struct socket *sock;
	int err;

	if (!s)
		return -ENOMEM;
	erdma_cm_dev_init(fake_of(test)->dev);
	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	err = erdma_ep_module_init();
	if (!err)
		s->ep = erdma_ep_alloc(fake_of(test)->dev);
	if (!s->ep) {
		sock_release(sock);
		return -ENOMEM;
	}
	s->id.event_handler = on_cm_event;
	s->id.rem_ref = drop_ref;
	mutex_lock(&s->ep->lock);
	s->ep->cm_id = &s->id;
	erdma_ep_adopt_sock(s->ep, sock, NULL);
	erdma_ep_set_state(s->ep, ERDMA_EP_CONNECTING);
	mutex_unlock(&s->ep->lock);
	return 0;
}

static void ep_test_exit(struct kunit *test)
{
	struct ep_setup *s = fake_of(test) ? fake_of(test)->owner : NULL;

	if (s && s->ep) {
		mutex_lock(&s->ep->lock);
		erdma_ep_close(s->ep);
		mutex_unlock(&s->ep->lock);
		erdma_ep_put(s->ep);
		erdma_cm_dev_exit(fake_of(test)->dev);
		erdma_ep_module_exit();
	}
	fake_exit(test);
}

static struct ep_setup *setup_of(struct kunit *test)
{
	return fake_of(test)->owner;
}

static void expect_end_without_io(struct kunit *test)
{
	struct ep_setup *s = setup_of(test);

	KUNIT_EXPECT_EQ(test, s->events, 1);
	KUNIT_EXPECT_EQ(test, s->refs, 1);
	KUNIT_EXPECT_EQ(test, s->ep->state, ERDMA_EP_CLOSED);
	KUNIT_EXPECT_NE(test, s->flags & PF_MEMALLOC_NOIO, 0);
}

/* Reclaim may wait for a disk that waits for this connection */
static void work_of_a_connection_does_not_wait_for_io(struct kunit *test)
{
	struct erdma_ep *ep = setup_of(test)->ep;

	erdma_ep_queue(ep);
	flush_work(&ep->setup_work);
	KUNIT_EXPECT_PTR_EQ(test, setup_of(test)->work, &ep->setup_work);
	expect_end_without_io(test);
}

/* That of the set-up is ordered: what may wait for the device does not belong there */
static void work_of_a_later_state_has_another_queue(struct kunit *test)
{
	struct erdma_ep *ep = setup_of(test)->ep;
	int i;

	mutex_lock(&ep->lock);
	erdma_ep_queue(ep);
	/* It has seen the state of the set-up, and waits for the lock */
	for (i = 0; i < 2000 && work_busy(&ep->setup_work) != WORK_BUSY_RUNNING; i++)
		usleep_range(500, 1000);
	msleep(20);
	erdma_ep_set_state(ep, ERDMA_EP_WAIT_REPLY);
	mutex_unlock(&ep->lock);
	flush_work(&ep->setup_work);
	flush_work(&ep->work);
	expect_end_without_io(test);
	KUNIT_EXPECT_PTR_EQ(test, setup_of(test)->work, &ep->work);
}

/* Who holds the lock then may wait for the device; the set-up of others does not wait for him */
static void set_up_does_not_wait_for_a_connection_that_is_set_up(struct kunit *test)
{
	struct erdma_ep *ep = setup_of(test)->ep;
	int i;

	mutex_lock(&ep->lock);
	erdma_ep_set_state(ep, ERDMA_EP_WAIT_REPLY);
	kref_get(&ep->refs);
	queue_work(system_wq, &ep->setup_work);
	for (i = 0; i < 2000 && work_busy(&ep->setup_work); i++)
		usleep_range(500, 1000);
	KUNIT_EXPECT_EQ(test, work_busy(&ep->setup_work), 0U);
	mutex_unlock(&ep->lock);
	flush_work(&ep->setup_work);
	flush_work(&ep->work);
	KUNIT_EXPECT_PTR_EQ(test, setup_of(test)->work, &ep->work);
}

static void end_of_a_connection_does_not_wait_for_io(struct kunit *test)
{
	struct erdma_ep *ep = setup_of(test)->ep;

	mutex_lock(&ep->lock);
	erdma_ep_set_deadline(ep, 1);
	/* The timer runs out and waits for the lock */
	msleep(100);
	mutex_unlock(&ep->lock);
	flush_delayed_work(&ep->timer);
	expect_end_without_io(test);
}

/* Whoever closes it: the work that stops a lost device, too */
static void socket_of_a_connection_does_not_wait_for_io(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, setup_of(test)->ep->sock->sk->sk_allocation == GFP_NOIO);
}

/* A limit that was lifted meanwhile, or put off, ends nothing */
static void limit_that_is_lifted_ends_nothing(struct kunit *test)
{
	struct ep_setup *s = setup_of(test);

	mutex_lock(&s->ep->lock);
	erdma_ep_set_deadline(s->ep, 1);
	msleep(100);
	erdma_ep_clear_deadline(s->ep);
	mutex_unlock(&s->ep->lock);
	flush_delayed_work(&s->ep->timer);
	KUNIT_EXPECT_EQ(test, s->ep->state, ERDMA_EP_CONNECTING);
	mutex_lock(&s->ep->lock);
	erdma_ep_set_deadline(s->ep, 1);
	msleep(100);
	s->ep->deadline = jiffies + 3600 * HZ;
	mutex_unlock(&s->ep->lock);
	flush_delayed_work(&s->ep->timer);
	KUNIT_EXPECT_EQ(test, s->ep->state, ERDMA_EP_CONNECTING);
	KUNIT_EXPECT_EQ(test, s->events, 0);
}

static void expect_end_soon(struct kunit *test)
{
	struct erdma_ep *ep = setup_of(test)->ep;
	int i;

	for (i = 0; i < 200 && READ_ONCE(ep->state) != ERDMA_EP_CLOSED; i++)
		msleep(50);
	flush_work(&ep->timer.work);
	expect_end_without_io(test);
}

/* The timer is not armed again for each step: it looks when the time is up */
static void limit_that_is_put_off_ends_later(struct kunit *test)
{
	struct ep_setup *s = setup_of(test);

	mutex_lock(&s->ep->lock);
	erdma_ep_set_deadline(s->ep, 1);
	msleep(100);
	erdma_ep_set_deadline(s->ep, 3000);
	mutex_unlock(&s->ep->lock);
	flush_work(&s->ep->timer.work);
	KUNIT_EXPECT_EQ(test, s->ep->state, ERDMA_EP_CONNECTING);
	KUNIT_EXPECT_EQ(test, s->events, 0);
	expect_end_soon(test);
}

static void earlier_limit_does_not_wait_for_the_later_one(struct kunit *test)
{
	struct ep_setup *s = setup_of(test);

	mutex_lock(&s->ep->lock);
	erdma_ep_set_deadline(s->ep, 3600 * MSEC_PER_SEC);
	erdma_ep_set_deadline(s->ep, 1);
	mutex_unlock(&s->ep->lock);
	expect_end_soon(test);
}

/* Neither what the peer does nor a time that is up comes before the removal */
static void connection_of_a_lost_device_waits_for_the_removal(struct kunit *test)
{
	struct ep_setup *s = setup_of(test);
	struct erdma_ep *ep = s->ep;

	ep->dev->lost = ERDMA_LOST_PCI_RESET;
	erdma_ep_queue(ep);
	flush_work(&ep->setup_work);
	KUNIT_EXPECT_EQ(test, s->events, 0);
	KUNIT_EXPECT_EQ(test, ep->state, ERDMA_EP_CONNECTING);
	mutex_lock(&ep->lock);
	erdma_ep_set_deadline(ep, 1);
	mutex_unlock(&ep->lock);
	msleep(50);
	flush_delayed_work(&ep->timer);
	KUNIT_EXPECT_EQ(test, s->events, 0);
	KUNIT_EXPECT_EQ(test, ep->state, ERDMA_EP_CONNECTING);
	WRITE_ONCE(ep->dev->flushing, true);
	erdma_ep_queue(ep);
	flush_work(&ep->setup_work);
	expect_end_without_io(test);
}

/* A QP of the endpoint, which has one reference of it */
static struct erdma_qp *attach_qp(struct kunit *test)
{
	struct erdma_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct erdma_ep *ep = setup_of(test)->ep;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, qp);
	qp->dev = ep->dev;
	erdma_ref_init(&qp->ref);
	kref_get(&qp->ref.count);
	mutex_lock(&ep->lock);
	KUNIT_EXPECT_EQ(test, erdma_ep_attach_qp(ep, qp), 0);
	mutex_unlock(&ep->lock);
	return qp;
}

/* Whoever hears of the end may connect the QP again at once */
static void qp_is_free_before_its_consumer_hears_of_the_end(struct kunit *test)
{
	struct erdma_qp *qp = attach_qp(test);
	struct ep_setup *s = setup_of(test);

	mutex_lock(&s->ep->lock);
	erdma_ep_set_state(s->ep, ERDMA_EP_WAIT_REPLY);
	erdma_ep_set_state(s->ep, ERDMA_EP_CONNECTED);
	mutex_unlock(&s->ep->lock);
	erdma_cm_disconnect_qp(qp, false);
	KUNIT_EXPECT_EQ(test, s->events, 1);
	KUNIT_EXPECT_FALSE(test, s->attached);
}

static void qp_has_one_connection_and_none_once_it_goes(struct kunit *test)
{
	struct erdma_qp *qp = attach_qp(test);
	struct ep_setup *s = setup_of(test);
	struct erdma_ep *other = erdma_ep_alloc(fake_of(test)->dev);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	mutex_lock(&other->lock);
	KUNIT_EXPECT_EQ(test, erdma_ep_attach_qp(other, qp), -EISCONN);
	mutex_unlock(&other->lock);

	erdma_cm_disconnect_qp(qp, true);
	KUNIT_EXPECT_EQ(test, s->ep->state, ERDMA_EP_CLOSED);
	KUNIT_EXPECT_EQ(test, s->events, 1);
	KUNIT_EXPECT_FALSE(test, s->attached);
	KUNIT_EXPECT_EQ(test, kref_read(&qp->ref.count), 1);
	mutex_lock(&other->lock);
	KUNIT_EXPECT_EQ(test, erdma_ep_attach_qp(other, qp), -ESHUTDOWN);
	erdma_ep_close(other);
	mutex_unlock(&other->lock);
	erdma_ep_put(other);
}

static struct kunit_case ep_cases[] = {
	KUNIT_CASE(work_of_a_connection_does_not_wait_for_io),
	KUNIT_CASE(work_of_a_later_state_has_another_queue),
	KUNIT_CASE(set_up_does_not_wait_for_a_connection_that_is_set_up),
	KUNIT_CASE(end_of_a_connection_does_not_wait_for_io),
	KUNIT_CASE(socket_of_a_connection_does_not_wait_for_io),
	KUNIT_CASE(limit_that_is_lifted_ends_nothing),
	KUNIT_CASE(limit_that_is_put_off_ends_later),
	KUNIT_CASE(earlier_limit_does_not_wait_for_the_later_one),
	KUNIT_CASE(connection_of_a_lost_device_waits_for_the_removal),
	KUNIT_CASE(qp_is_free_before_its_consumer_hears_of_the_end),
	KUNIT_CASE(qp_has_one_connection_and_none_once_it_goes),
	{}
};

struct kunit_suite erdma_ep_suite = {
	.name = "erdma_ep",
	.init = ep_test_init,
	.exit = ep_test_exit,
	.test_cases = ep_cases,
};
