// SPDX-License-Identifier: GPL-2.0-or-later
/* What samples say: of queue pairs and owners, on samples that are written down here. */

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"
#include "why.h"
#include "unit.h"

#define SECONDS(n)	((n) * 1000000000ULL)

/* A queue pair of an application, as it is in all samples; tests change some of them */
struct fixture {
	struct sampler s;
	struct watched qp;
	struct watched owner;
	struct end e;
};

static struct fixture *fixture(void)
{
	struct fixture *f = pool_alloc(&test_pool, sizeof(*f));
	struct moment *m;
	unsigned int i;

	f->s.n = SAMPLES_MAX;
	f->s.span_ns = SECONDS(2);
	for (i = 0; i < f->s.n; i++) {
		m = &f->qp.at[i];
		m->there = true;
		m->card = CARD_ANSWERED;
		m->qp.sq = (struct erdma_diag_queue){ .depth = 64, .pi = 12, .valid = ERDMA_DIAG_Q_PI };
		m->qp.rq = (struct erdma_diag_queue){ .depth = 64, .pi = 5, .valid = ERDMA_DIAG_Q_PI };
		m->card_qp = (struct card_qp){ .sq_pi = 12, .sq_ci = 10, .rq_pi = 5, .rq_ci = 5 };
		f->owner.at[i].there = true;
		f->owner.at[i].process = (struct process){ .state = 'S', .utime = 7 };
	}
	f->e.w = &f->qp;
	f->e.process = &f->owner;
	return f;
}

static void equal_samples_stand_still(void **state)
{
	struct fixture *f = fixture();

	(void)state;
	end_of(&f->s, &f->e);
	assert_true(f->e.still && f->e.stuck && f->e.asleep);
	assert_false(f->e.progress || f->e.traffic || f->e.timeouts);
	assert_true(f->e.sq.known && f->e.rq.known);
	assert_int_equal(f->e.sq.used, 2);
	assert_int_equal(f->e.rq.used, 0);
	assert_int_equal(f->e.state, 'S');
}

/* One sample of four is enough, wherever it is, and also if it comes back */
static void one_other_sample_is_movement(void **state)
{
	struct fixture *f;
	unsigned int i;

	(void)state;
	for (i = 1; i < SAMPLES_MAX; i++) {
		f = fixture();
		f->qp.at[i].card_qp.sq_ci++;
		end_of(&f->s, &f->e);
		assert_true(f->e.progress && !f->e.stuck && !f->e.still);
		f = fixture();
		f->qp.at[i].card_qp.rq_ci--;
		end_of(&f->s, &f->e);
		assert_true(f->e.progress && f->e.stuck && !f->e.still);
		f = fixture();
		f->qp.at[i].card_qp.sq_cqes++;
		end_of(&f->s, &f->e);
		assert_true(f->e.progress && f->e.stuck && !f->e.still);
		f = fixture();
		f->qp.at[i].card_qp.rq_cqes++;
		end_of(&f->s, &f->e);
		assert_true(f->e.progress && f->e.stuck && !f->e.still);
		f = fixture();
		f->qp.at[i].card_qp.tx_pkts--;
		end_of(&f->s, &f->e);
		assert_true(f->e.traffic && f->e.stuck && !f->e.still && !f->e.progress);
		f = fixture();
		f->qp.at[i].qp.sq.pi++;
		end_of(&f->s, &f->e);
		assert_true(f->e.stuck && !f->e.still && !f->e.progress);
		f = fixture();
		f->owner.at[i].process.stime++;
		end_of(&f->s, &f->e);
		assert_false(f->e.asleep);
		assert_int_equal(f->e.state, 'S');
		f = fixture();
		f->owner.at[i].process.state = 'R';
		end_of(&f->s, &f->e);
		assert_false(f->e.asleep);
		assert_int_equal(f->e.state, 0);
	}
}

static void too_few_samples_prove_nothing(void **state)
{
	struct fixture *f = fixture();

	(void)state;
	f->s.n = 2;
	end_of(&f->s, &f->e);
	assert_false(f->e.can_compare || f->e.still || f->e.stuck || f->e.asleep);
	assert_int_equal(f->e.sq.used, 2);
	f = fixture();
	f->s.span_ns = SECONDS(2) - 1;
	end_of(&f->s, &f->e);
	assert_false(f->e.can_compare || f->e.still || f->e.stuck || f->e.asleep);
	/* What a file has of one moment alone is the same in all samples */
	f = fixture();
	f->qp.once = true;
	end_of(&f->s, &f->e);
	assert_false(f->e.can_compare || f->e.still || f->e.stuck || f->e.asleep);
	f = fixture();
	f->qp.at[1].there = false;
	end_of(&f->s, &f->e);
	assert_false(f->e.can_compare || f->e.card || f->e.stuck);
}

static void a_context_that_is_missing_once_is_missing(void **state)
{
	struct fixture *f = fixture();

	(void)state;
	f->qp.at[2].card = CARD_SILENT;
	end_of(&f->s, &f->e);
	assert_false(f->e.card || f->e.sq.known || f->e.rq.known || f->e.stuck || f->e.still);
}

/* The doorbell record is read before the device is asked, which may be past it by then */
static void the_device_may_be_past_the_doorbell_record(void **state)
{
	struct fixture *f = fixture();
	unsigned int i;

	(void)state;
	for (i = 0; i < SAMPLES_MAX; i++)
		f->qp.at[i].card_qp.sq_ci = 13;
	end_of(&f->s, &f->e);
	assert_true(f->e.sq.known && !f->e.stuck);
	assert_int_equal(f->e.sq.used, 0);
	/* More than there is room for: one of the two is no index */
	for (i = 0; i < SAMPLES_MAX; i++)
		f->qp.at[i].card_qp.sq_ci = (uint16_t)(12 - 65);
	end_of(&f->s, &f->e);
	assert_false(f->e.sq.known);
}

static void indices_wrap(void **state)
{
	struct fixture *f = fixture();
	unsigned int i;

	(void)state;
	for (i = 0; i < SAMPLES_MAX; i++) {
		f->qp.at[i].qp.sq.pi = 1;
		f->qp.at[i].card_qp.sq_ci = 0xfffe;
	}
	end_of(&f->s, &f->e);
	assert_true(f->e.sq.known && f->e.stuck);
	assert_int_equal(f->e.sq.used, 3);
}

/* Without contexts only the kernel's consumers show that they get on */
static void without_contexts_a_ci_of_the_driver_counts(void **state)
{
	struct fixture *f = fixture();
	unsigned int i;

	(void)state;
	for (i = 0; i < SAMPLES_MAX; i++) {
		f->qp.at[i].card = CARD_UNKNOWN;
		f->qp.at[i].qp.sq.pi += i;
	}
	end_of(&f->s, &f->e);
	assert_false(f->e.progress || f->e.still);
	for (i = 0; i < SAMPLES_MAX; i++) {
		f->qp.at[i].qp.sq.valid |= ERDMA_DIAG_Q_CI;
		f->qp.at[i].qp.sq.ci = i;
	}
	end_of(&f->s, &f->e);
	assert_true(f->e.progress);
}

static void timeouts_are_no_progress(void **state)
{
	struct fixture *f = fixture();

	(void)state;
	f->qp.at[0].card_qp.timeouts = UINT32_MAX;
	f->qp.at[3].card_qp.timeouts = 2;
	end_of(&f->s, &f->e);
	assert_true(f->e.stuck && !f->e.progress && !f->e.still);
	assert_int_equal(f->e.timeouts, 3);
}

/* Of two samples, as the summary takes them */
static void requests_wait_if_nothing_moves_but_timeouts(void **state)
{
	struct fixture *f = fixture();

	(void)state;
	f->s.n = 2;
	assert_true(qp_waits(&f->s, &f->qp));
	f->qp.at[1].card_qp.tx_pkts++;
	assert_false(qp_waits(&f->s, &f->qp));
	f->qp.at[1].card_qp.timeouts++;
	assert_true(qp_waits(&f->s, &f->qp));
	f->qp.at[1].card_qp.sq_ci++;
	assert_false(qp_waits(&f->s, &f->qp));
	f = fixture();
	f->s.n = 2;
	f->qp.at[1].card = CARD_SILENT;
	assert_false(qp_waits(&f->s, &f->qp));
	f = fixture();
	f->s.n = 1;
	assert_false(qp_waits(&f->s, &f->qp));
	f->s.n = 2;
	f->qp.at[0].card_qp.sq_ci = f->qp.at[1].card_qp.sq_ci = 12;
	assert_false(qp_waits(&f->s, &f->qp));
}

/* ---- findings ----------------------------------------------------------------- */

static const char *verdict(const struct findings *f)
{
	return findings_verdict(f)->rule->name;
}

static void the_worst_and_surest_is_the_verdict(void **state)
{
	struct ctx c = { 0 };
	struct findings f = { .c = &c };

	(void)state;
	assert_null(findings_verdict(&f));
	found(&f, RULE_CQ_OVERRUN, NULL);
	assert_string_equal(verdict(&f), "cq-overrun");
	found(&f, RULE_IDLE, NULL);
	assert_string_equal(verdict(&f), "idle");
	found(&f, RULE_PEER_SILENT, NULL);
	assert_string_equal(verdict(&f), "peer-silent");
	found(&f, RULE_PROCESS_STOPPED, NULL);
	assert_string_equal(verdict(&f), "process-stopped");
	found(&f, RULE_NO_RECEIVE, NULL)->explained = true;
	assert_string_equal(verdict(&f), "process-stopped");
	found(&f, RULE_QP_STOPPED, NULL);
	found(&f, RULE_ACCESS_REFUSED, NULL);
	assert_string_equal(verdict(&f), "access-refused");
	assert_true(is_found(&f, RULE_IDLE) && !is_found(&f, RULE_WORKS));
	pool_free(&c.pool);
}

/* ---- sampler ------------------------------------------------------------------ */

static uint64_t passed_ns[SAMPLES_MAX];
static unsigned int n_passed, n_looks;

static int count_process(struct source *src, const struct dev *dev, uint32_t pid, bool newest,
			 struct process *out)
{
	(void)src;
	(void)dev;
	assert_int_equal(newest, n_looks > 0);
	n_looks++;
	*out = (struct process){ .state = 'S', .utime = pid + n_looks };
	return 0;
}

static void count_pass(struct source *src, uint64_t ns)
{
	(void)src;
	passed_ns[n_passed++] = ns;
}

static const struct source_ops clock_ops = { .process = count_process, .pass = count_pass };
static const struct source_ops fixed_ops = { .process = count_process, .pass = count_pass,
					     .fixed = true };

static void sampler_takes_four_at_irregular_gaps(void **state)
{
	struct ctx c = { .src.ops = &clock_ops };
	struct sampler s = { .c = &c };
	struct watched *w;
	unsigned int i;

	(void)state;
	n_passed = 0;
	n_looks = 0;
	w = sampler_watch(&s, NULL, WATCH_PROCESS, 100);
	assert_ptr_equal(sampler_watch(&s, NULL, WATCH_PROCESS, 100), w);
	assert_ptr_not_equal(sampler_watch(&s, NULL, WATCH_CQ, 100), w);
	s.first = w;
	w->next = NULL;
	sampler_run(&s);
	assert_int_equal(s.n, 4);
	assert_true(s.span_ns >= SECONDS(2) && sampler_can_compare(&s, w));
	assert_int_equal(n_passed, 3);
	assert_true(passed_ns[0] != passed_ns[1] && passed_ns[1] != passed_ns[2] &&
		    passed_ns[0] != passed_ns[2]);
	for (i = 0; i < s.n; i++)
		assert_int_equal(w->at[i].process.utime, 101 + i);
	assert_true(sampler_there(&s, w) && !sampler_there(&s, NULL));
	pool_free(&c.pool);
}

static void sampler_does_not_wait_for_what_is_fixed(void **state)
{
	struct ctx c = { .src.ops = &fixed_ops };
	struct sampler s = { .c = &c };

	(void)state;
	n_passed = 0;
	n_looks = 0;
	sampler_watch(&s, NULL, WATCH_PROCESS, 100);
	sampler_run(&s);
	assert_int_equal(n_passed, 0);
	assert_int_equal(s.n, 2);
	assert_false(sampler_can_compare(&s, s.first));
	pool_free(&c.pool);
}

static void *stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Its first thread ends, and another one stays */
static pid_t without_first_thread(void)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid)
		return pid;
	if (pthread_create(&thread, NULL, stay, NULL))
		_exit(1);
	pthread_exit(NULL);
}

static bool becomes(pid_t pid, char state, unsigned int threads)
{
	struct process p;
	int i;

	for (i = 0; i < 1000; i++) {
		if (!process_read((uint32_t)pid, &p) && p.state == state && p.threads == threads)
			return true;
		usleep(10000);
	}
	return false;
}

static void a_process_lives_as_long_as_a_thread(void **state)
{
	pid_t pid = without_first_thread();
	struct process me;
	bool lives, ended;

	(void)state;
	assert_true(pid > 0);
	lives = becomes(pid, 'Z', 2);
	kill(pid, SIGKILL);
	ended = becomes(pid, 'Z', 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(lives && ended);
	assert_int_equal(process_read((uint32_t)getpid(), &me), 0);
	assert_true(me.state == 'R' && me.threads >= 1);
}

/* Its process has exited, says the driver, and is in this state, with so many threads */
static struct fixture *exiting(char state, unsigned int threads)
{
	struct fixture *f = fixture();
	unsigned int i;

	for (i = 0; i < SAMPLES_MAX; i++) {
		f->qp.at[i].qp.owner_more.flags = ERDMA_DIAG_OWNER_EXITED;
		f->owner.at[i].process.state = state;
		f->owner.at[i].process.threads = threads;
	}
	return f;
}

static bool has_ended(struct fixture *f)
{
	end_of(&f->s, &f->e);
	return f->e.ended;
}

static void who_exits_has_ended_when_nothing_of_it_lives(void **state)
{
	struct fixture *f;
	unsigned int i;

	(void)state;
	assert_false(has_ended(exiting('D', 1)));
	assert_false(has_ended(exiting('Z', 2)));
	assert_true(has_ended(exiting('Z', 1)));
	for (i = 0; i < SAMPLES_MAX; i++) {
		f = exiting('Z', 1);
		f->owner.at[i].process.threads = 2;
		assert_false(has_ended(f));
		f = exiting('Z', 1);
		f->owner.at[i].there = false;
		assert_true(has_ended(f));
	}
	f = exiting('Z', 1);
	f->e.process = NULL;
	assert_true(has_ended(f));
}

static void who_does_not_exit_has_not_ended(void **state)
{
	struct fixture *f = exiting('Z', 1);

	(void)state;
	f->qp.at[SAMPLES_MAX - 1].qp.owner_more.flags = 0;
	assert_false(has_ended(f));
	f = exiting('Z', 1);
	f->qp.at[SAMPLES_MAX - 1].qp.owner.kernel = 1;
	assert_false(has_ended(f));
}

static void who_has_ended_does_not_sleep(void **state)
{
	struct fixture *f = exiting('Z', 1);

	(void)state;
	assert_true(has_ended(f) && !f->e.asleep);
	f = exiting('D', 1);
	assert_true(!has_ended(f) && f->e.asleep);
}

int unit_why(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(equal_samples_stand_still),
		TEST(one_other_sample_is_movement),
		TEST(too_few_samples_prove_nothing),
		TEST(a_context_that_is_missing_once_is_missing),
		TEST(the_device_may_be_past_the_doorbell_record),
		TEST(indices_wrap),
		TEST(without_contexts_a_ci_of_the_driver_counts),
		TEST(timeouts_are_no_progress),
		TEST(requests_wait_if_nothing_moves_but_timeouts),
		TEST(the_worst_and_surest_is_the_verdict),
		TEST(sampler_takes_four_at_irregular_gaps),
		TEST(sampler_does_not_wait_for_what_is_fixed),
		TEST(a_process_lives_as_long_as_a_thread),
		TEST(who_exits_has_ended_when_nothing_of_it_lives),
		TEST(who_does_not_exit_has_not_ended),
		TEST(who_has_ended_does_not_sleep),
	};

	return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
