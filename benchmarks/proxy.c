/* The two ends between which benchmarks/proxy.py puts a proxy: an upstream, and a load on it.

   proxy serve PORT
       Answers POST with a JSON completion, or with an event stream if the body asks for one: `max_tokens` says
       how many events (thousands) and how many milliseconds lie between two of them (the rest). Each event
       carries the time at which it was sent. GET answers with what was counted.
   proxy load PORT PATH CONNECTIONS SECONDS BODY-FILE HEADER...
       Sends the body again and again on each connection, and prints what came, as JSON.

   One epoll thread each. Both read no more of HTTP than they need of each other and of well-behaved proxies. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 18, MOST = 4096, SAMPLES = 1 << 22 };

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void prepare(int fd) {
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(fd, F_SETFL, O_NONBLOCK);
}

static void send_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent > 0) {
            data += sent;
            size -= (size_t)sent;
        } else if (sent < 0 && errno == EAGAIN) {
            usleep(50);
        } else {
            return;
        }
    }
}

/* The value of a header in a head that ends at `end`; -1 where there is none. */
static long header_number(const char *head, const char *end, const char *name) {
    size_t length = strlen(name);
    for (const char *line = head; line && line < end; line = memmem(line, (size_t)(end - line), "\r\n", 2)) {
        if (line != head) line += 2;
        if ((size_t)(end - line) > length && !strncasecmp(line, name, length)) return atol(line + length);
    }
    return -1;
}

static int has(const char *from, const char *end, const char *what) {
    return memmem(from, (size_t)(end - from), what, strlen(what)) != NULL;
}

/* ---- the upstream ---- */

struct server_connection {
    int fd;
    size_t size;
    char *data;
    long events, interval_ms, sent;
    int64_t next;
};

static struct server_connection *served[1 << 16];
static long requests, edited;
static const char PADDING[] =
    "Petra waits on the quay with a rope over her shoulder, and the harbour lies still before the rain.";

static size_t write_event(char *out, long number, long of) {
    char event[512];
    int size = snprintf(event, sizeof event,
        "data: {\"id\":\"gen-bench\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,"
        "\"model\":\"acme/chat\",\"provider\":\"Bench Host\",\"choices\":[{\"index\":0,\"delta\":"
        "{\"role\":\"assistant\",\"content\":\"@@%lld@ %s\"},\"finish_reason\":%s}]}\n\n",
        (long long)now_ns(), PADDING, number == of ? "\"stop\"" : "null");
    return (size_t)sprintf(out, "%x\r\n%s\r\n", size, event);
}

static const char END[] = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
static const char STREAM[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Generation-Id: gen-bench\r\n"
    "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";

static void begin_stream(struct server_connection *c, long asked) {
    static char out[1 << 20];
    c->events = asked / 1000;
    c->interval_ms = asked % 1000;
    c->sent = 0;
    size_t size = (size_t)sprintf(out, "%s", STREAM);
    if (!c->interval_ms) {
        while (c->sent < c->events) {
            c->sent++;
            size += write_event(out + size, c->sent, c->events);
        }
        size += (size_t)sprintf(out + size, "%s", END);
        c->events = 0;
    }
    send_all(c->fd, out, size);
    c->next = now_ns();
}

static void answer(struct server_connection *c, const char *head, const char *body, const char *end) {
    char out[2048], text[1024];
    int size;
    if (!strncmp(head, "GET", 3)) {
        size = sprintf(text, "{\"requests\":%ld,\"edited\":%ld}", requests, edited);
    } else {
        requests++;
        edited += has(body, end, "\"ignore\"");
        const char *room = memmem(body, (size_t)(end - body), "\"max_tokens\":", 13);
        if (has(body, end, "\"stream\":true") || has(body, end, "\"stream\": true")) {
            begin_stream(c, room ? atol(room + 13) : 20000);
            return;
        }
        size = sprintf(text,
            "{\"id\":\"gen-bench\",\"object\":\"chat.completion\",\"created\":1790000000,\"model\":\"acme/chat\","
            "\"provider\":\"Bench Host\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
            "\"content\":\"%s\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":12,"
            "\"completion_tokens\":9,\"total_tokens\":21}}", PADDING);
    }
    int total = sprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Generation-Id: gen-bench\r\n"
        "Content-Length: %d\r\n\r\n%s", size, text);
    send_all(c->fd, out, (size_t)total);
}

static void take_requests(struct server_connection *c) {
    for (;;) {
        c->data[c->size] = 0;
        char *end = memmem(c->data, c->size, "\r\n\r\n", 4);
        if (!end) return;
        char *body = end + 4;
        long length = header_number(c->data, end, "content-length:");
        if (length < 0 && header_number(c->data, end, "transfer-encoding:") >= 0) { /* in chunks */
            char *last = memmem(body, c->size - (size_t)(body - c->data), "0\r\n\r\n", 5);
            if (!last) return;
            length = last + 5 - body;
        }
        if (length < 0) length = 0;
        size_t whole = (size_t)(body - c->data) + (size_t)length;
        if (c->size < whole) return;
        answer(c, c->data, body, body + length);
        memmove(c->data, c->data + whole, c->size - whole);
        c->size -= whole;
    }
}

static void serve(int port) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, poller = epoll_create1(0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1024)) die("listen");
    fcntl(listener, F_SETFL, O_NONBLOCK);
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = listener}, came[256];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &wanted);
    puts("ready");
    fflush(stdout);
    for (;;) {
        int64_t now = now_ns(), next = now + 1000000000;
        for (int fd = 0; fd < 1 << 16; fd++) {
            struct server_connection *c = served[fd];
            if (!c) {
                if (fd > MOST) break;
                continue;
            }
            if (!c->events) continue;
            char out[2048];
            while (c->events && now >= c->next) {
                size_t size = 0;
                if (c->sent < c->events) {
                    c->sent++;
                    size = write_event(out, c->sent, c->events);
                    c->next += c->interval_ms * 1000000;
                } else {
                    size = (size_t)sprintf(out, "%s", END);
                    c->events = 0;
                }
                send_all(c->fd, out, size);
            }
            if (c->events && c->next < next) next = c->next;
        }
        int wait = (int)((next - now_ns()) / 1000000);
        int count = epoll_wait(poller, came, 256, wait < 0 ? 0 : wait);
        for (int i = 0; i < count; i++) {
            int fd = came[i].data.fd;
            if (fd == listener) {
                int client;
                while ((client = accept(listener, NULL, NULL)) >= 0) {
                    prepare(client);
                    served[client] = calloc(1, sizeof *served[client]);
                    served[client]->fd = client;
                    served[client]->data = malloc(ROOM + 1);
                    struct epoll_event each = {.events = EPOLLIN, .data.fd = client};
                    epoll_ctl(poller, EPOLL_CTL_ADD, client, &each);
                }
                continue;
            }
            struct server_connection *c = served[fd];
            ssize_t got = recv(fd, c->data + c->size, ROOM - c->size, 0);
            if (got <= 0 && !(got < 0 && errno == EAGAIN)) {
                close(fd);
                free(c->data);
                free(c);
                served[fd] = NULL;
                continue;
            }
            if (got > 0) {
                c->size += (size_t)got;
                take_requests(c);
            }
        }
    }
}

/* ---- the load ---- */

enum state { HEAD, COUNTED, CHUNK_SIZE, CHUNK, CHUNK_END, LAST };

struct load_connection {
    int fd, closing, texts;
    enum state state;
    long left;
    size_t size;
    char *data;
    int64_t sent_at;
};

static int64_t latencies[SAMPLES], firsts[SAMPLES], delays[SAMPLES];
static size_t latency_count, first_count, delay_count;
static long bad;
static char *request;
static size_t request_size;

static int open_connection(int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&to, sizeof to)) die("connect");
    prepare(fd);
    return fd;
}

static void ask(struct load_connection *c) {
    c->state = HEAD;
    c->texts = 0;
    c->sent_at = now_ns();
    send_all(c->fd, request, request_size);
}

static void look_for_stamps(struct load_connection *c, const char *from, const char *end, int64_t now) {
    while ((from = memmem(from, (size_t)(end - from), "@@", 2)) != NULL) {
        int64_t stamp = atoll(from + 2);
        if (!c->texts++ && first_count < SAMPLES) firsts[first_count++] = now - c->sent_at;
        if (delay_count < SAMPLES) delays[delay_count++] = now - stamp;
        from += 2;
    }
}

/* Takes what has come; says whether the answer is whole. */
static int take_answer(struct load_connection *c) {
    char *at = c->data, *end = c->data + c->size;
    int whole = 0;
    while (!whole) {
        long there = end - at;
        if (c->state == HEAD) {
            char *stop = memmem(at, (size_t)there, "\r\n\r\n", 4);
            if (!stop) break;
            bad += strncmp(at + 9, "200", 3) != 0;
            c->left = header_number(at, stop, "content-length:");
            c->closing = has(at, stop, "onnection: close");
            c->state = c->left >= 0 ? COUNTED : CHUNK_SIZE;
            at = stop + 4;
            whole = c->state == COUNTED && !c->left;
        } else if (c->state == COUNTED || c->state == CHUNK) {
            long piece = there < c->left ? there : c->left;
            if (!piece) break;
            c->left -= piece;
            at += piece;
            if (!c->left) {
                whole = c->state == COUNTED;
                c->state = CHUNK_END;
            }
        } else {
            char *stop = memmem(at, (size_t)there, "\r\n", 2);
            if (!stop) break;
            if (c->state == CHUNK_SIZE) {
                c->left = strtol(at, NULL, 16);
                c->state = c->left ? CHUNK : LAST;
            } else if (c->state == CHUNK_END) {
                c->state = CHUNK_SIZE;
            } else {
                whole = 1;
            }
            at = stop + 2;
        }
    }
    c->size = (size_t)(end - at);
    memmove(c->data, at, c->size);
    return whole;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static double percentile_us(int64_t *samples, size_t count, double share) {
    if (!count) return -1;
    return samples[(size_t)((double)(count - 1) * share)] / 1000.0;
}

static void report(double seconds) {
    qsort(latencies, latency_count, sizeof *latencies, by_size);
    qsort(firsts, first_count, sizeof *firsts, by_size);
    qsort(delays, delay_count, sizeof *delays, by_size);
    printf("{\"seconds\":%.3f,\"requests\":%zu,\"bad\":%ld,\"events\":%zu,\"p50_us\":%.1f,\"p99_us\":%.1f,"
        "\"first_p50_us\":%.1f,\"first_p99_us\":%.1f,\"delay_p50_us\":%.1f,\"delay_p99_us\":%.1f}\n",
        seconds, latency_count, bad, delay_count,
        percentile_us(latencies, latency_count, 0.5), percentile_us(latencies, latency_count, 0.99),
        percentile_us(firsts, first_count, 0.5), percentile_us(firsts, first_count, 0.99),
        percentile_us(delays, delay_count, 0.5), percentile_us(delays, delay_count, 0.99));
}

static void load(int port, int count, double seconds) {
    int poller = epoll_create1(0);
    struct load_connection *all = calloc((size_t)count, sizeof *all);
    for (int i = 0; i < count; i++) {
        all[i].fd = open_connection(port);
        all[i].data = malloc(ROOM);
        struct epoll_event each = {.events = EPOLLIN, .data.ptr = &all[i]};
        epoll_ctl(poller, EPOLL_CTL_ADD, all[i].fd, &each);
    }
    int64_t began = now_ns(), until = began + (int64_t)(seconds * 1e9);
    for (int i = 0; i < count; i++) ask(&all[i]);
    struct epoll_event came[256];
    while (now_ns() < until) {
        int ready = epoll_wait(poller, came, 256, 20);
        for (int i = 0; i < ready; i++) {
            struct load_connection *c = came[i].data.ptr;
            ssize_t got = recv(c->fd, c->data + c->size, ROOM - c->size, 0);
            int64_t now = now_ns();
            if (got < 0 && errno == EAGAIN) continue;
            int whole = 0;
            if (got > 0) {
                size_t before = c->size;
                look_for_stamps(c, c->data + before, c->data + before + got, now);
                c->size += (size_t)got;
                whole = take_answer(c);
                if (whole && latency_count < SAMPLES) latencies[latency_count++] = now - c->sent_at;
            } else {
                bad++;
            }
            if (got <= 0 || (whole && c->closing)) {
                close(c->fd);
                c->size = 0;
                c->fd = open_connection(port);
                struct epoll_event each = {.events = EPOLLIN, .data.ptr = c};
                epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &each);
                whole = 1;
            }
            if (whole) ask(c);
        }
    }
    report((double)(now_ns() - began) / 1e9);
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "serve")) serve(atoi(argv[2]));
    if (argc < 7 || strcmp(argv[1], "load")) {
        fprintf(stderr, "usage: proxy serve PORT | proxy load PORT PATH CONNECTIONS SECONDS BODY HEADER...\n");
        return 2;
    }
    FILE *file = fopen(argv[6], "rb");
    if (!file) die(argv[6]);
    char *body = malloc(ROOM);
    size_t size = fread(body, 1, ROOM, file);
    request = malloc(ROOM * 2);
    int at = sprintf(request, "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n", argv[3], argv[2]);
    for (int i = 7; i < argc; i++) at += sprintf(request + at, "%s\r\n", argv[i]);
    at += sprintf(request + at, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n", size);
    memcpy(request + at, body, size);
    request_size = (size_t)at + size;
    load(atoi(argv[2]), atoi(argv[4]), atof(argv[5]));
    return 0;
}
