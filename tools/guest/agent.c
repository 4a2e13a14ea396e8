// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of a guest after its init script: runs commands for the host and
 * reaps what nobody waits for.
 *
 * One virtio-serial port carries frames both ways, little-endian:
 *
 *	u32 length of the payload, u32 id, u32 type, payload
 *
 *	host to guest			guest to host
 *	'I' id: data for stdin		'H': ready
 *	'R' id: run, argv as strings	'O' id: stdout, 'E' id: stderr
 *	'S' id: u32 signal		'X' id: u32 exit status
 *	'K': SIGKILL to all processes	'F' id: text, the command did not start
 *
 * A command has a session of its own; 'S' reaches all of it. Its stdin is what 'I'
 * frames with its id have brought before 'R', or empty. 'X' is sent when the
 * command itself has ended; what its children still write follows as 'O'. The
 * exit status is that of a shell: 128 + N after signal N.
 *
 * tools/erdma/vm/agent.py is the other side.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_COMMANDS	256
#define MAX_ARGS	256
#define MAX_PAYLOAD	(1u << 20)
#define CHUNK		16384

struct frame {
	uint32_t len, id, type;
};

struct command {
	uint32_t id;		/* 0: free */
	pid_t pid;		/* 0: not started, or ended */
	int in;			/* memfd with what stdin is to be, or -1 */
	int out[2];		/* read ends of stdout and stderr, or -1 */
};

static struct command commands[MAX_COMMANDS];
static int port = -1;

static void die(const char *what)
{
	fprintf(stderr, "agent: %s: %m\n", what);
	exit(1);
}

static void write_all(const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(port, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("write to the host");
		p += n;
		len -= n;
	}
}

static void send_frame(uint32_t type, uint32_t id, const void *data, uint32_t len)
{
	struct frame f = { len, id, type };

	write_all(&f, sizeof(f));
	write_all(data, len);
}

static void send_u32(uint32_t type, uint32_t id, uint32_t value)
{
	send_frame(type, id, &value, sizeof(value));
}

static void send_text(uint32_t id, const char *what)
{
	char text[200];
	int n = snprintf(text, sizeof(text), "%s: %s", what, strerror(errno));

	send_frame('F', id, text, n < (int)sizeof(text) ? n : (int)sizeof(text) - 1);
}

/* The command of this id; with @create a new one. NULL: unknown, or no room */
static struct command *command_get(uint32_t id, bool create)
{
	struct command *unused = NULL;

	if (!id)
		return NULL;
	for (int i = 0; i < MAX_COMMANDS; i++) {
		if (commands[i].id == id)
			return &commands[i];
		if (!commands[i].id && !unused)
			unused = &commands[i];
	}
	if (!create || !unused)
		return NULL;
	*unused = (struct command){ .id = id, .in = -1, .out = { -1, -1 } };
	return unused;
}

static void command_put(struct command *c)
{
	if (!c->pid && c->in < 0 && c->out[0] < 0 && c->out[1] < 0)
		c->id = 0;
}

/* In the child */
static void exec_command(struct command *c, char **argv, int out, int err)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (c->in < 0)
		c->in = open("/dev/null", O_RDONLY);
	lseek(c->in, 0, SEEK_SET);
	if (dup2(c->in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %m\n", argv[0]);
	_exit(127);
}

static void command_start(struct command *c, char **argv)
{
	int out[2], err[2] = { -1, -1 };

	if (pipe2(out, O_CLOEXEC)) {
		send_text(c->id, "pipe");
		goto failed;
	}
	if (pipe2(err, O_CLOEXEC)) {
		send_text(c->id, "pipe");
		goto close_out;
	}
	c->pid = fork();
	if (c->pid < 0) {
		send_text(c->id, "fork");
		goto close_err;
	}
	if (!c->pid)
		exec_command(c, argv, out[1], err[1]);
	c->out[0] = out[0];
	c->out[1] = err[0];
	fcntl(c->out[0], F_SETFL, O_NONBLOCK);
	fcntl(c->out[1], F_SETFL, O_NONBLOCK);
	close(out[1]);
	close(err[1]);
	if (c->in >= 0)
		close(c->in);
	c->in = -1;
	return;
close_err:
	close(err[0]);
	close(err[1]);
close_out:
	close(out[0]);
	close(out[1]);
failed:
	if (c->in >= 0)
		close(c->in);
	*c = (struct command){ .in = -1, .out = { -1, -1 } };
}

/* @payload ends with a zero byte */
static void take_run(uint32_t id, char *payload, uint32_t len)
{
	char *argv[MAX_ARGS + 1];
	struct command *c = command_get(id, true);
	int n = 0;

	if (!c || c->pid || c->out[0] >= 0) {
		errno = c ? EBUSY : EAGAIN;
		send_text(id, "run");
		return;
	}
	for (char *p = payload; p < payload + len && n < MAX_ARGS; p += strlen(p) + 1)
		argv[n++] = p;
	argv[n] = NULL;
	if (!n) {
		errno = EINVAL;
		send_text(id, "run");
		command_put(c);
		return;
	}
	command_start(c, argv);
}

static void take_input(uint32_t id, const char *data, uint32_t len)
{
	struct command *c = command_get(id, true);

	if (!c || c->pid)
		return;
	if (c->in < 0)
		c->in = memfd_create("stdin", MFD_CLOEXEC);
	if (c->in < 0 || write(c->in, data, len) != (ssize_t)len)
		send_text(id, "stdin");
}

static void take_signal(uint32_t id, const char *data, uint32_t len)
{
	struct command *c = command_get(id, false);
	uint32_t number;

	if (!c || !c->pid || len != sizeof(number))
		return;
	memcpy(&number, data, sizeof(number));
	/* Before the child is in its session there is no such group yet. */
	if (kill(-c->pid, number))
		kill(c->pid, number);
}

static void take_frame(const struct frame *f, char *payload)
{
	switch (f->type) {
	case 'I':
		take_input(f->id, payload, f->len);
		break;
	case 'R':
		take_run(f->id, payload, f->len);
		break;
	case 'S':
		take_signal(f->id, payload, f->len);
		break;
	case 'K':
		kill(-1, SIGKILL);		/* all but process 1 */
		break;
	}
}

static void read_all(void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = read(port, p, len);

		if (n > 0) {
			p += n;
			len -= n;
		} else if (n == 0) {
			usleep(20000);		/* the host has not opened its end */
		} else if (errno != EINTR) {
			die("read from the host");
		}
	}
}

static void read_frame(void)
{
	static char payload[MAX_PAYLOAD + 1];
	struct frame f;

	read_all(&f, sizeof(f));
	if (f.len > MAX_PAYLOAD) {
		errno = EMSGSIZE;
		die("a frame of the host");
	}
	read_all(payload, f.len);
	payload[f.len] = 0;
	take_frame(&f, payload);
}

/* Passes on what there is; false: the pipe has ended. @most: chunks */
static bool forward(struct command *c, int which, int most)
{
	char buf[CHUNK];

	while (most--) {
		ssize_t n = read(c->out[which], buf, sizeof(buf));

		if (n > 0) {
			send_frame(which ? 'E' : 'O', c->id, buf, n);
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		close(c->out[which]);
		c->out[which] = -1;
		return false;
	}
	return true;
}

static void command_ended(pid_t pid, int status)
{
	for (int i = 0; i < MAX_COMMANDS; i++) {
		struct command *c = &commands[i];

		if (!c->id || c->pid != pid)
			continue;
		/* A pipe holds 64 KiB: all that the command itself has written. */
		for (int which = 0; which < 2; which++)
			if (c->out[which] >= 0)
				forward(c, which, 8);
		c->pid = 0;
		send_u32('X', c->id, WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
							   WEXITSTATUS(status));
		command_put(c);
		return;
	}
}

static void reap(int sigfd)
{
	struct signalfd_siginfo si;
	int status;
	pid_t pid;

	if (read(sigfd, &si, sizeof(si)) < 0 && errno != EAGAIN && errno != EINTR)
		die("signalfd");
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		command_ended(pid, status);
}

static void serve(int sigfd)
{
	struct pollfd p[2 + 2 * MAX_COMMANDS];
	int which[2 + 2 * MAX_COMMANDS];

	for (;;) {
		int n = 2;

		p[0] = (struct pollfd){ .fd = port, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = sigfd, .events = POLLIN };
		for (int i = 0; i < 2 * MAX_COMMANDS; i++) {
			int fd = commands[i / 2].id ? commands[i / 2].out[i % 2] : -1;

			if (fd < 0)
				continue;
			which[n] = i;
			p[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
		}
		if (poll(p, n, -1) < 0 && errno != EINTR)
			die("poll");
		for (int i = 2; i < n; i++) {
			struct command *c = &commands[which[i] / 2];

			if (p[i].revents && c->out[which[i] % 2] == p[i].fd &&
			    !forward(c, which[i] % 2, 4))
				command_put(c);
		}
		if (p[1].revents)
			reap(sigfd);
		if (p[0].revents & POLLIN)
			read_frame();
		else if (p[0].revents)
			usleep(20000);		/* the host has not opened its end */
	}
}

int main(int argc, char **argv)
{
	sigset_t chld;
	int sigfd;

	if (argc != 2) {
		fprintf(stderr, "usage: agent PORT\n");
		return 2;
	}
	for (int i = 0; i < MAX_COMMANDS; i++)
		commands[i].in = commands[i].out[0] = commands[i].out[1] = -1;
	port = open(argv[1], O_RDWR | O_CLOEXEC);
	if (port < 0)
		die(argv[1]);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigfd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sigfd < 0)
		die("signalfd");
	send_frame('H', 0, "", 0);
	serve(sigfd);
}
