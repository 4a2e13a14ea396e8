/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stream: order, pieces, budgets, back-pressure, pauses, ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "meshhost.h"

/* A user with messages: le32 length of all of it, then counting bytes */
#define BUDGET 3
static unsigned whole;

static size_t input_messages(Wire *w, const void *data, size_t len,
                             bool *again)
{
    const uint8_t *p = data;
    size_t used = 0;
    unsigned n = 0;

    while (len - used >= 4) {
        uint32_t size;

        memcpy(&size, p + used, 4);
        CHECK(size >= 4 && size <= MESH_MESSAGE_MAX);
        if (len - used < size) {
            break;
        }
        if (n++ == BUDGET) {
            *again = true;
            break;
        }
        for (uint32_t i = 4; i < size; i++) {
            CHECK(p[used + i] == (uint8_t)(i + size));
        }
        wire_keep(w, &size, 4);
        used += size;
        whole++;
    }
    return used;
}

static size_t message(uint8_t *p, uint32_t size)
{
    memcpy(p, &size, 4);
    for (uint32_t i = 4; i < size; i++) {
        p[i] = (uint8_t)(i + size);
    }
    return size;
}

static size_t input_nothing(Wire *w, const void *data, size_t len,
                            bool *again)
{
    (void)w;
    (void)data;
    (void)len;
    (void)again;
    return 0;
}

MESH_TEST(bytes_arrive_in_order_in_both_directions)
{
    static uint8_t block[100000];
    uint32_t sum = 0;
    Host *a, *b;

    hosts_pair(&a, &b);
    for (unsigned i = 0; i < 100; i++) {
        for (unsigned k = 0; k < sizeof(block); k++) {
            block[k] = (uint8_t)(i + k * 31);
        }
        CHECK(erdma_mesh_send(a->wires->peer, block, 1 + i * 1000, false));
        CHECK(erdma_mesh_send(b->wires->peer, block, 1 + i, false));
        sum += 1 + i * 1000;
        if (i % 3) {
            erdma_mesh_flush_all(a->m);
            erdma_mesh_flush_all(b->m);
            hosts_round(0);
        }
    }
    erdma_mesh_flush_all(a->m);
    erdma_mesh_flush_all(b->m);
    hosts_settle();
    CHECK_EQ(b->wires->rx_len, sum);
    sum = 0;
    for (unsigned i = 0; i < 100; i++) {
        for (unsigned k = 0; k < 1 + i * 1000; k++) {
            CHECK(b->wires->rx[sum++] == (uint8_t)(i + k * 31));
        }
    }
    CHECK_EQ(a->wires->rx_len, 5050);
    host_free(a);
    host_free(b);
}

MESH_TEST(a_turn_is_one_frame)
{
    Host *a, *b;
    uint64_t tx;

    hosts_pair(&a, &b);
    tx = a->wires->peer->tx_bytes;
    for (unsigned i = 0; i < 10; i++) {
        CHECK(erdma_mesh_send(a->wires->peer, "0123456789", 10, false));
    }
    CHECK(erdma_mesh_must_flush(a->m));
    erdma_mesh_flush_all(a->m);
    CHECK(!erdma_mesh_must_flush(a->m));
    CHECK_EQ(a->wires->peer->tx_bytes - tx, 100 + sizeof(MeshFrame));
    hosts_settle();
    CHECK_EQ(b->wires->calls, 1);
    CHECK_EQ(b->wires->rx_len, 100);
    host_free(a);
    host_free(b);
}

static uint64_t sent(const Host *h)
{
    return h->wires->peer->tx_bytes;
}

/* ... what is not urgent waits for what is, and keeps its place */
MESH_TEST(what_may_go_later_goes_with_the_next_that_may_not)
{
    Host *a, *b;
    uint64_t tx;

    hosts_pair(&a, &b);
    tx = sent(a);
    for (unsigned i = 0; i < 10; i++) {
        CHECK(erdma_mesh_send(a->wires->peer, "later", 5, true));
        CHECK(!erdma_mesh_must_flush(a->m));
        erdma_mesh_flush_all(a->m);
    }
    hosts_settle();
    CHECK_EQ(sent(a), tx);
    CHECK(erdma_mesh_send(a->wires->peer, "now", 3, false));
    erdma_mesh_flush_all(a->m);
    CHECK_EQ(sent(a) - tx, 53 + sizeof(MeshFrame));
    hosts_settle();
    CHECK_EQ(b->wires->calls, 1);
    CHECK_EQ(b->wires->rx_len, 53);
    CHECK(!memcmp(b->wires->rx + 45, "laternow", 8));
    host_free(a);
    host_free(b);
}

MESH_TEST(what_may_go_later_goes_when_the_peer_says_something)
{
    Host *a, *b;

    hosts_pair(&a, &b);
    CHECK(erdma_mesh_send(a->wires->peer, "later", 5, true));
    CHECK(erdma_mesh_send(b->wires->peer, "x", 1, false));
    erdma_mesh_flush_all(b->m);
    hosts_settle();
    CHECK_EQ(a->wires->rx_len, 1);
    CHECK_EQ(b->wires->rx_len, 5);
    host_free(a);
    host_free(b);
}

MESH_TEST(much_that_may_go_later_goes_now)
{
    static uint8_t block[1000];
    size_t n = 0;
    Host *a, *b;

    hosts_pair(&a, &b);
    while (!erdma_mesh_must_flush(a->m)) {
        CHECK(n <= MESH_LATER_MAX);
        CHECK(erdma_mesh_send(a->wires->peer, block, sizeof(block), true));
        n += sizeof(block);
    }
    erdma_mesh_flush_all(a->m);
    hosts_settle();
    CHECK_EQ(b->wires->rx_len, n);
    host_free(a);
    host_free(b);
}

/* The bytes of the stream come in any pieces; a frame holds whole messages */
MESH_TEST(a_message_is_whole_however_it_was_cut)
{
    uint8_t stream[2000];
    MeshFrame f = { .type = MESH_FRAME_DATA };
    size_t len = 0;
    Host *h = host_new();
    int fd = raw_open(h);

    h->input = input_messages;
    /* 26 messages, in frames of one, two, three, four of them */
    for (unsigned i = 4, count = 1; i < 30; count = count % 4 + 1) {
        size_t at = len + sizeof(f), n = 0;

        for (unsigned k = 0; k < count && i < 30; k++, i++) {
            n += message(stream + at + n, i);
        }
        f.len = n;
        memcpy(stream + len, &f, sizeof(f));
        len = at + n;
        CHECK(len < sizeof(stream) - 200);
    }
    for (size_t step = 1; step < 40; step += 4) {
        whole = 0;
        for (size_t at = 0; at < len; at += step) {
            raw_send(fd, stream + at, step < len - at ? step : len - at);
            hosts_round(0);
        }
        hosts_settle();
        CHECK_EQ(whole, 26);
    }
    CHECK_EQ(h->wires->peer->in_user, 0);
    CHECK_EQ(h->troubles, 0);
    close(fd);
    hosts_settle();
    host_free(h);
}

/* To wait for its rest would mean to move it: for a byte at a time 8 GB */
MESH_TEST(a_message_that_goes_on_in_another_frame_closes)
{
    struct {
        MeshFrame f;
        uint32_t size;
    } part = { { MESH_FRAME_DATA, sizeof(uint32_t) }, 8 };
    Host *h = host_new();
    int fd = raw_open(h);

    h->input = input_messages;
    raw_send(fd, &part, sizeof(part));
    CHECK(raw_closed(fd));
    CHECK(strstr(h->last_trouble, "ends behind its DATA frame"));
    close(fd);
    hosts_settle();
    host_free(h);
}

/* One peer's flood of small frames leaves turns to others */
MESH_TEST(frames_of_one_turn_are_counted)
{
    enum { FRAMES = 3 * MESH_FRAME_BUDGET };
    static struct {
        MeshFrame f;
        uint8_t byte;
    } __attribute__((packed)) flood[FRAMES];
    Host *h = host_new();
    int fd = raw_open(h);
    unsigned turns = 0;

    for (unsigned i = 0; i < FRAMES; i++) {
        flood[i].f = (MeshFrame) { MESH_FRAME_DATA, 1 };
    }
    raw_send(fd, flood, sizeof(flood));
    while (h->wires->rx_len < FRAMES) {
        size_t before = h->wires->rx_len;

        CHECK(hosts_round(100));
        CHECK(h->wires->rx_len - before <= 2 * MESH_FRAME_BUDGET);
        CHECK(++turns < FRAMES);
    }
    CHECK(turns >= 2);
    CHECK_EQ(h->troubles, 0);
    close(fd);
    hosts_settle();
    host_free(h);
}

static void send_messages(Host *h, unsigned n)
{
    uint8_t buf[40];

    for (unsigned i = 0; i < n; i++) {
        CHECK(erdma_mesh_send(h->wires->peer, buf, message(buf, sizeof(buf)),
                              false));
    }
    erdma_mesh_flush_all(h->m);
}

MESH_TEST(work_left_for_want_of_budget_goes_on_without_new_bytes)
{
    Host *a, *b;

    hosts_pair(&a, &b);
    b->input = input_messages;
    whole = 0;
    send_messages(a, 64);
    hosts_settle();
    CHECK_EQ(whole, 64);
    CHECK(b->wires->calls >= 64 / BUDGET);
    host_free(a);
    host_free(b);
}

/* The main loop may be late: whoever waits for descriptors does its work */
MESH_TEST(work_left_for_want_of_budget_goes_on_while_bytes_wait)
{
    Host *a, *b;

    hosts_pair(&a, &b);
    b->input = input_messages;
    whole = 0;
    send_messages(a, 64);
    hosts_round(0);
    CHECK(b->wires->peer->again);
    send_messages(a, 1);
    for (unsigned i = 0; i < 40; i++) {
        b->kicked = false;
        hosts_round(0);
    }
    CHECK_EQ(whole, 65);
    hosts_settle();
    host_free(a);
    host_free(b);
}

MESH_TEST(the_largest_messages_pass_back_to_back)
{
    static uint8_t buf[MESH_MESSAGE_MAX];
    Host *a, *b;

    hosts_pair(&a, &b);
    b->input = input_messages;
    whole = 0;
    for (unsigned i = 0; i < 40; i++) {
        size_t n = message(buf, MESH_MESSAGE_MAX - i % 5);

        CHECK(erdma_mesh_send(a->wires->peer, buf, n, false));
        if (i % 4 == 0) {
            erdma_mesh_flush_all(a->m);
        }
    }
    erdma_mesh_flush_all(a->m);
    hosts_settle();
    CHECK_EQ(whole, 40);
    host_free(a);
    host_free(b);
}

MESH_TEST(a_message_without_end_closes)
{
    static uint8_t buf[MESH_MESSAGE_MAX];
    Host *a, *b;

    hosts_pair(&a, &b);
    b->input = input_nothing;
    CHECK(erdma_mesh_send(a->wires->peer, buf, sizeof(buf), false));
    erdma_mesh_flush_all(a->m);
    hosts_settle();
    CHECK_EQ(b->freed, 1);
    CHECK(strstr(b->last_trouble, "too long"));
    host_free(a);
    host_free(b);
}

MESH_TEST(a_peer_that_takes_nothing_is_given_up_in_time)
{
    static uint8_t block[1 << 20];
    unsigned n = 0;
    Host *h = host_new();
    int fd = raw_open(h);

    while (erdma_mesh_send(h->wires->peer, block, sizeof(block), false)) {
        erdma_mesh_flush_all(h->m);
        CHECK(++n <= MESH_MAX_WAITING / sizeof(block));
    }
    CHECK(n >= MESH_MAX_WAITING / sizeof(block) - 1);
    CHECK(!erdma_mesh_send(h->wires->peer, block, 1, false));
    hosts_settle();
    CHECK_EQ(host_wires(h), 0);
    CHECK(strstr(h->last_trouble, "too much output"));
    close(fd);
    host_free(h);
}

MESH_TEST(a_slow_peer_gets_everything)
{
    static uint8_t block[1 << 20];
    Host *h = host_new();
    int fd = raw_open(h);
    uint64_t got = 0, want;

    recv(fd, block, sizeof(block), MSG_DONTWAIT);       /* hello */
    want = 20 * (sizeof(block) + sizeof(MeshFrame));
    for (unsigned i = 0; i < 20; i++) {
        CHECK(erdma_mesh_send(h->wires->peer, block, sizeof(block), false));
        erdma_mesh_flush_all(h->m);
    }
    CHECK(h->wires->peer->watch.write);
    while (got < want) {
        ssize_t n = recv(fd, block, 50000, MSG_DONTWAIT);

        got += n > 0 ? n : 0;
        hosts_round(0);
    }
    CHECK_EQ(got, want);
    CHECK(!h->wires->peer->watch.write);
    CHECK_EQ(h->wires->peer->out.cap, 0);       /* large ones are freed */
    close(fd);
    hosts_settle();
    host_free(h);
}

/* Little by little at the end of a long queue: nobody moves the queue for it */
MESH_TEST(a_slow_peer_is_not_paid_for_with_copies)
{
    static uint8_t block[65536];
    const unsigned rounds = 1000;
    Host *h = host_new();
    int fd = raw_open(h);
    MeshOut *o = &h->wires->peer->out;
    uint64_t moved = 0, taken = 0;

    while (mesh_out_waiting(o) < MESH_MAX_WAITING - 4 * sizeof(block)) {
        CHECK(erdma_mesh_send(h->wires->peer, block, sizeof(block), false));
    }
    erdma_mesh_flush_all(h->m);
    for (unsigned i = 0; i < rounds; i++) {
        ssize_t n = recv(fd, block, 4096, MSG_DONTWAIT);
        size_t head;

        taken += n > 0 ? n : 0;
        erdma_mesh_flush_all(h->m);
        hosts_round(0);
        head = o->head;
        CHECK(erdma_mesh_send(h->wires->peer, block, n > 0 ? n - 8 : 8,
                              false));
        moved += o->head < head ? mesh_out_waiting(o) : 0;
    }
    CHECK(taken > rounds * 4000);
    CHECK(moved <= 4 * (mesh_out_waiting(o) + taken));
    CHECK(o->cap <= 2 * MESH_MAX_WAITING);
    close(fd);
    hosts_settle();
    host_free(h);
}

MESH_TEST(while_paused_nothing_is_taken)
{
    Host *a, *b, *c;

    hosts_pair(&a, &b);
    erdma_mesh_pause(b->m, true);
    CHECK(erdma_mesh_send(a->wires->peer, "hello", 5, false));
    erdma_mesh_flush_all(a->m);
    c = host_new();
    hosts_settle();
    CHECK_EQ(b->wires->rx_len, 0);
    CHECK_EQ(host_wires(b), 2);             /* coming is possible */
    CHECK(erdma_mesh_send(host_wire(c, b)->peer, "you", 3, false));
    erdma_mesh_flush_all(c->m);
    hosts_settle();
    CHECK_EQ(host_wire(b, c)->rx_len, 0);
    erdma_mesh_pause(b->m, false);
    hosts_settle();
    CHECK_EQ(host_wire(b, a)->rx_len, 5);
    CHECK_EQ(host_wire(b, c)->rx_len, 3);
    host_free(a);
    host_free(b);
    host_free(c);
}

/* Data that comes in one piece with the name of a peer waits, too */
MESH_TEST(while_paused_early_data_waits)
{
    Host *h = host_new();
    int fd;

    erdma_mesh_pause(h->m, true);
    fd = raw_connect(h);
    raw_hello(fd, RAW_NAME);
    raw_frame(fd, MESH_FRAME_DATA, "early", 5);
    hosts_settle();
    CHECK_EQ(host_wires(h), 1);
    CHECK_EQ(h->wires->rx_len, 0);
    erdma_mesh_pause(h->m, false);
    hosts_settle();
    CHECK_EQ(h->wires->rx_len, 5);
    close(fd);
    hosts_settle();
    host_free(h);
}

static size_t input_breaks(Wire *w, const void *data, size_t len, bool *again)
{
    (void)data;
    (void)again;
    erdma_mesh_broken(w->peer, "test");
    CHECK(!erdma_mesh_send(w->peer, "x", 1, false));
    CHECK_EQ(w->host->freed, 0);            /* not from inside */
    return len;
}

static bool has_wire(void *h)
{
    return host_wires(h) == 1;
}

MESH_TEST(a_broken_wire_is_freed_later_and_made_anew)
{
    Host *a, *b;

    hosts_pair(&a, &b);
    b->input = input_breaks;
    CHECK(erdma_mesh_send(a->wires->peer, "x", 1, false));
    erdma_mesh_flush_all(a->m);
    while (!b->freed) {
        hosts_round(10);
    }
    CHECK(strstr(b->last_trouble, "test"));
    b->input = NULL;
    hosts_until(has_wire, b, 2000, "a new connection");
    hosts_until(has_wire, a, 2000, "a new connection");
    CHECK_EQ(a->made, 2);
    CHECK(erdma_mesh_send(a->wires->peer, "x", 1, false));
    erdma_mesh_flush_all(a->m);
    hosts_settle();
    CHECK_EQ(b->wires->rx_len, 1);
    host_free(a);
    host_free(b);
}

/* The younger of two, which the other does not want for 20 s */
static Host *host_refused_by(Host *elder)
{
    Host *h;

    elder->refuse_wires = true;
    h = host_new();
    for (unsigned i = 0; i < 200; i++) {
        hosts_settle();
        host_forward(h, 100);
    }
    return h;
}

/* The younger retries, less and less often, and not for ever so fast */
MESH_TEST(a_peer_that_never_has_us_is_asked_rarely)
{
    Host *a = host_new(), *b = host_refused_by(a);

    CHECK(b->m->info.connects > 5);
    CHECK(b->m->info.connects < 15);
    a->refuse_wires = false;
    host_forward(b, MESH_RETRY_MAX_MS);
    hosts_settle();
    CHECK_EQ(host_wires(b), 1);
    host_free(a);
    host_free(b);
}

/* A connection that was good for long is lost: the intervals begin anew */
MESH_TEST(a_peer_that_had_us_for_long_is_asked_again_at_once)
{
    Host *a = host_new(), *b = host_refused_by(a);

    a->refuse_wires = false;
    host_forward(b, MESH_RETRY_MAX_MS);
    hosts_settle();
    CHECK_EQ(host_wires(b), 1);
    host_forward(b, MESH_STEADY_MS);
    erdma_mesh_broken(a->wires->peer, "test");
    erdma_mesh_run(a->m);
    hosts_settle();
    CHECK_EQ(host_wires(b), 0);
    host_forward(b, MESH_RETRY_MIN_MS + 1);
    hosts_settle();
    CHECK_EQ(host_wires(b), 1);
    host_free(a);
    host_free(b);
}

MESH_TEST(what_waits_to_go_to_a_lost_peer_is_dropped_and_nothing_else)
{
    Host *a = host_new(), *b = host_new(), *c = host_new();

    hosts_settle();
    CHECK(erdma_mesh_send(host_wire(a, b)->peer, "x", 1, false));
    CHECK(erdma_mesh_send(host_wire(a, c)->peer, "y", 1, false));
    CHECK(erdma_mesh_must_flush(a->m));
    erdma_mesh_broken(host_wire(a, b)->peer, "test");
    erdma_mesh_run(a->m);
    CHECK(!host_wire(a, b));
    hosts_settle();
    CHECK_EQ(host_wire(c, a)->rx_len, 1);
    host_free(a);
    host_free(b);
    host_free(c);
}

MESH_TEST(idle_costs_nothing)
{
    Host *a, *b;

    hosts_pair(&a, &b);
    CHECK_EQ(a->timer, 0);
    CHECK_EQ(b->timer, 0);
    CHECK(!a->kicked && !b->kicked);
    CHECK(!hosts_round(300));
    host_free(a);
    host_free(b);
}
