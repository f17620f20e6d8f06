/* Client programs of the API, written as software for the console is: they know include/nvn and nothing else of this
 * project. Each runs a few frames and returns 0, or the line of its first check that failed. clients_test.cpp runs them
 * without a GPU; tests/install compiles them against an installed tree by the oldest standards that clients use. */
#ifndef HEAVISIDE_TESTS_NVN_CLIENTS_H
#define HEAVISIDE_TESTS_NVN_CLIENTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled shader as a client has it on disk. */
typedef struct ClientShader {
    const void* code;
    size_t code_size;
    const void* control;
} ClientShader;

typedef struct ClientAssets {
    ClientShader vertex, fragment, compute;
} ClientAssets;

int client_framework(const ClientAssets* assets); /* C, one object per concept, state objects from temporaries */
int client_window(const ClientAssets* assets);    /* C, a frame loop with a window, queries, events and two queues */
int client_overlay(const ClientAssets* assets);   /* C++, classes, a user interface drawn over another's frame */
int client_hooks(void);                           /* C++, replaces functions between the program and the API */

#ifdef __cplusplus
}
#endif

#endif
