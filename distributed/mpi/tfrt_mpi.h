/* The interface of libtfrt_mpi.so, which hides the ABI of the MPI that it was compiled with.
 *
 * Each function returns 0, or an error code that tfrt_mpi_error_text describes. All calls come from
 * one thread. No call blocks but tfrt_mpi_init, tfrt_mpi_group_open and tfrt_mpi_finalize. */
#ifndef TFRT_MPI_H
#define TFRT_MPI_H

#include <stdint.h>

/* Changes with every change of this file. A caller must refuse a library of another version. */
#define TFRT_MPI_INTERFACE 1

#define TFRT_MPI_TEXT 256

struct tfrt_mpi_world {
    int32_t rank;
    int32_t size;
    /* Whether the library reports the death of a rank as an error (ULFM). */
    int32_t has_ulfm;
    char version[TFRT_MPI_TEXT];
    char host[TFRT_MPI_TEXT];
};

struct tfrt_mpi_group;
struct tfrt_mpi_request;

enum tfrt_mpi_type {
    TFRT_MPI_F16, TFRT_MPI_BF16, TFRT_MPI_F32, TFRT_MPI_F64, TFRT_MPI_I32, TFRT_MPI_I64, TFRT_MPI_BYTES
};
enum tfrt_mpi_reduction { TFRT_MPI_SUM, TFRT_MPI_MIN, TFRT_MPI_MAX };
enum tfrt_mpi_operation {
    TFRT_MPI_ALLREDUCE, TFRT_MPI_BROADCAST, TFRT_MPI_ALLGATHER, TFRT_MPI_REDUCE_SCATTER, TFRT_MPI_ALL_TO_ALL,
    TFRT_MPI_BARRIER
};

struct tfrt_mpi_call {
    int32_t operation;
    int32_t type;
    int32_t reduction;
    /* The rank in the group that broadcasts. */
    int32_t root;
    /* Elements: of the buffer (allreduce, broadcast), that this rank sends (allgather), or of one
     * part. */
    int32_t count;
    /* Null to reduce in place. */
    const void *send;
    void *receive;
    /* For allgather: the elements of each rank, and where they start. */
    const int32_t *counts;
    const int32_t *offsets;
};

int32_t tfrt_mpi_interface(void);
int32_t tfrt_mpi_init(struct tfrt_mpi_world *world);
/* The names of all ranks' hosts, TFRT_MPI_TEXT bytes each. Starts an operation like those below. */
int32_t tfrt_mpi_hosts(const char *own, char *all, struct tfrt_mpi_request **request);
int32_t tfrt_mpi_finalize(void);
void tfrt_mpi_error_text(int32_t code, char *text, int32_t capacity);

/* A group's communicator. All members must call this, and wait for each other. */
int32_t tfrt_mpi_group_open(const int32_t *ranks, int32_t count, int32_t tag, struct tfrt_mpi_group **group);
void tfrt_mpi_group_close(struct tfrt_mpi_group *group);
/* Makes pending operations of the group fail on all ranks, where the library can (ULFM). */
void tfrt_mpi_group_revoke(struct tfrt_mpi_group *group);

/* Buffers must stay until the request is done, or for ever. */
int32_t tfrt_mpi_start(struct tfrt_mpi_group *group, const struct tfrt_mpi_call *call, struct tfrt_mpi_request **request);
/* Messages between ranks of the world. */
int32_t tfrt_mpi_send(const void *bytes, int32_t size, int32_t to, int32_t tag, struct tfrt_mpi_request **request);
int32_t tfrt_mpi_receive(void *bytes, int32_t size, int32_t from, int32_t tag, struct tfrt_mpi_request **request);
/* Sets is_done and frees the request if it is done or has failed. */
int32_t tfrt_mpi_test(struct tfrt_mpi_request *request, int32_t *is_done);
/* Gives up a receive that nothing was sent to. */
void tfrt_mpi_cancel(struct tfrt_mpi_request *request);
/* Whether a code says that another rank has died, and which ones of the world have, at most
 * capacity. */
int32_t tfrt_mpi_is_peer_failure(int32_t code);
int32_t tfrt_mpi_failed_ranks(int32_t *ranks, int32_t capacity);

#endif
