/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A peer that knows TCP and nothing else: sends bytes and waits for the end.
 *
 *     tcp_peer listen ADDRESS PORT BYTES     answers the first bytes of one connection
 *     tcp_peer connect ADDRESS PORT BYTES    sends them at once
 *
 * BYTES in hex; "-" none; "close" hangs up in place of sending. Prints "listening", then how the
 * connection ended: "closed after N ms, N bytes", "reset after N ms, N bytes".
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void send_hex(int fd, const char *hex)
{
	size_t i, n = strlen(hex) / 2;
	uint8_t bytes[4096];
	unsigned int byte;

	if (n > sizeof(bytes))
		errx(2, "too many bytes");
	for (i = 0; i < n; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			errx(2, "no hex: %s", hex);
		bytes[i] = (uint8_t)byte;
	}
	if (send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
		err(1, "send");
}

static int accept_one(int fd, const struct sockaddr_in *sin)
{
	int one = 1, peer;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)sin, sizeof(*sin)) || listen(fd, 1))
		err(1, "listen");
	puts("listening");
	fflush(stdout);
	peer = accept(fd, NULL, NULL);
	if (peer < 0)
		err(1, "accept");
	return peer;
}

int main(int argc, char **argv)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	ssize_t got, total = 0;
	char buf[4096];
	long begin;

	if (argc != 5 || fd < 0 || inet_pton(AF_INET, argv[2], &sin.sin_addr) != 1)
		errx(2, "usage: tcp_peer listen|connect ADDRESS PORT BYTES");
	sin.sin_port = htons((uint16_t)atoi(argv[3]));
	if (!strcmp(argv[1], "listen")) {
		fd = accept_one(fd, &sin);
		total = recv(fd, buf, sizeof(buf), 0);
	} else if (connect(fd, (struct sockaddr *)&sin, sizeof(sin))) {
		err(1, "connect");
	}
	begin = now_ms();
	if (!strcmp(argv[4], "close"))
		return 0;
	if (strcmp(argv[4], "-"))
		send_hex(fd, argv[4]);
	while ((got = recv(fd, buf, sizeof(buf), 0)) > 0)
		total += got;
	if (got < 0 && errno != ECONNRESET)
		err(1, "receive");
	printf("%s after %ld ms, %zd bytes\n", got ? "reset" : "closed", now_ms() - begin, total);
	return 0;
}
