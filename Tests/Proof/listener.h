/* The socket of a test program's own server, on a loopback port from the
 * kernel. */
#ifndef LISTENER_H
#define LISTENER_H

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static int listener = -1;
static char url[64];

/* Opens `listener`, and writes its URL. Without a socket the program ends. */
static void listen_on_loopback(void)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 ||
        bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, 16) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        perror("listener"), exit(2);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
}

#endif
