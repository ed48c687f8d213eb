/* libtfrt_mpi.so: the collectives of tfrt on MPI. See tfrt_mpi.h for the contract. */
#include "tfrt_mpi.h"

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(OMPI_HAVE_MPI_EXT_FTMPI) || defined(MPIX_ERR_PROC_FAILED)
#define HAS_ULFM 1
#else
#define HAS_ULFM 0
#endif

#define CHECK(call)                        \
    do {                                   \
        int code_ = (call);                \
        if (code_ != MPI_SUCCESS) return code_; \
    } while (0)

struct tfrt_mpi_group {
    MPI_Comm comm;
};

struct tfrt_mpi_request {
    MPI_Request request;
};

/* Messages travel apart from the groups' collectives. */
static MPI_Comm messages = MPI_COMM_NULL;
/* Reductions of f16 and bf16, which MPI lacks: by type and reduction. */
static MPI_Op half_ops[2][3];

static float f16_to_f32(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = (half >> 10) & 0x1f, fraction = half & 0x3ff, bits;
    if (exponent == 0x1f) {
        bits = sign | 0x7f800000 | fraction << 13;
    } else if (exponent != 0) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        /* A subnormal number is its fraction times 2^-24, exactly. */
        float value = (float)fraction * 0x1p-24f;
        memcpy(&bits, &value, 4);
        bits |= sign;
    }
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* Rounds to the nearest number, ties to even. */
static uint16_t f16_from_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
    if (magnitude >= 0x477ff000) return sign | 0x7c00;
    if (magnitude < 0x38800000) {
        /* Adding 0.5 leaves the multiples of 2^-24 in the low bits, rounded by the addition. */
        float absolute;
        memcpy(&absolute, &magnitude, 4);
        absolute += 0.5f;
        uint32_t rounded;
        memcpy(&rounded, &absolute, 4);
        return sign | (uint16_t)(rounded - 0x3f000000);
    }
    uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return sign | (uint16_t)((rounded - 0x38000000) >> 13);
}

static float bf16_to_f32(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint16_t bf16_from_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float sum(float a, float b) { return a + b; }
static float least(float a, float b) { return b < a || b != b ? b : a; }
static float greatest(float a, float b) { return b > a || b != b ? b : a; }

#define HALF_OP(name, type, reduce)                                             \
    static void name(void *in, void *inout, int *count, MPI_Datatype *unused) { \
        const uint16_t *from = in;                                              \
        uint16_t *to = inout;                                                   \
        (void)unused;                                                           \
        for (int i = 0; i < *count; i++)                                        \
            to[i] = type##_from_f32(reduce(type##_to_f32(to[i]), type##_to_f32(from[i]))); \
    }
HALF_OP(f16_sum, f16, sum)
HALF_OP(f16_min, f16, least)
HALF_OP(f16_max, f16, greatest)
HALF_OP(bf16_sum, bf16, sum)
HALF_OP(bf16_min, bf16, least)
HALF_OP(bf16_max, bf16, greatest)

static MPI_Datatype type_of(int32_t type) {
    switch (type) {
    case TFRT_MPI_F16:
    case TFRT_MPI_BF16: return MPI_UINT16_T;
    case TFRT_MPI_F32: return MPI_FLOAT;
    case TFRT_MPI_F64: return MPI_DOUBLE;
    case TFRT_MPI_I32: return MPI_INT32_T;
    case TFRT_MPI_I64: return MPI_INT64_T;
    default: return MPI_BYTE;
    }
}

static MPI_Op op_of(int32_t type, int32_t reduction) {
    if (type == TFRT_MPI_F16 || type == TFRT_MPI_BF16) return half_ops[type == TFRT_MPI_BF16][reduction];
    return reduction == TFRT_MPI_SUM ? MPI_SUM : reduction == TFRT_MPI_MIN ? MPI_MIN : MPI_MAX;
}

static int new_request(struct tfrt_mpi_request **request) {
    *request = malloc(sizeof **request);
    return *request ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Frees a request that was not started. */
static int started(int code, struct tfrt_mpi_request **request) {
    if (code != MPI_SUCCESS) {
        free(*request);
        *request = NULL;
    }
    return code;
}

int32_t tfrt_mpi_interface(void) { return TFRT_MPI_INTERFACE; }

int32_t tfrt_mpi_init(struct tfrt_mpi_world *world) {
    int provided = 0, length = 0;
    CHECK(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided));
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &messages));
    CHECK(MPI_Comm_set_errhandler(messages, MPI_ERRORS_RETURN));
    static MPI_User_function *const functions[2][3] = {{f16_sum, f16_min, f16_max}, {bf16_sum, bf16_min, bf16_max}};
    for (int type = 0; type < 2; type++)
        for (int reduction = 0; reduction < 3; reduction++)
            CHECK(MPI_Op_create(functions[type][reduction], 1, &half_ops[type][reduction]));
    int rank = 0, size = 0;
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", host[MPI_MAX_PROCESSOR_NAME] = "";
    CHECK(MPI_Get_library_version(version, &length));
    CHECK(MPI_Get_processor_name(host, &length));
    /* The first part of the text is name and version; the rest tells of its build. */
    version[strcspn(version, ",\n")] = 0;
    memset(world, 0, sizeof *world);
    snprintf(world->version, sizeof world->version, "%s", version);
    snprintf(world->host, sizeof world->host, "%s", host);
    world->rank = rank;
    world->size = size;
    world->has_ulfm = HAS_ULFM;
    return provided < MPI_THREAD_FUNNELED ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int32_t tfrt_mpi_hosts(const char *own, char *all, struct tfrt_mpi_request **request) {
    CHECK(new_request(request));
    return started(MPI_Iallgather(own, TFRT_MPI_TEXT, MPI_CHAR, all, TFRT_MPI_TEXT, MPI_CHAR, messages,
                                  &(*request)->request), request);
}

int32_t tfrt_mpi_finalize(void) {
    for (int type = 0; type < 2; type++)
        for (int reduction = 0; reduction < 3; reduction++) MPI_Op_free(&half_ops[type][reduction]);
    CHECK(MPI_Comm_free(&messages));
    return MPI_Finalize();
}

void tfrt_mpi_error_text(int32_t code, char *text, int32_t capacity) {
    char message[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(code, message, &length) != MPI_SUCCESS) snprintf(message, sizeof message, "error %d", code);
    snprintf(text, (size_t)capacity, "%s", message);
}

int32_t tfrt_mpi_group_open(const int32_t *ranks, int32_t count, int32_t tag, struct tfrt_mpi_group **group) {
    MPI_Group world, members;
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    int code = MPI_Group_incl(world, count, ranks, &members);
    MPI_Group_free(&world);
    CHECK(code);
    MPI_Comm comm;
    code = MPI_Comm_create_group(MPI_COMM_WORLD, members, tag, &comm);
    MPI_Group_free(&members);
    CHECK(code);
    CHECK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    *group = malloc(sizeof **group);
    if (!*group) return MPI_ERR_NO_MEM;
    (*group)->comm = comm;
    return MPI_SUCCESS;
}

void tfrt_mpi_group_close(struct tfrt_mpi_group *group) {
    MPI_Comm_free(&group->comm);
    free(group);
}

void tfrt_mpi_group_revoke(struct tfrt_mpi_group *group) {
#if HAS_ULFM
    MPIX_Comm_revoke(group->comm);
#else
    (void)group;
#endif
}

static int start(MPI_Comm comm, const struct tfrt_mpi_call *call, MPI_Request *request) {
    MPI_Datatype type = type_of(call->type);
    const void *send = call->send ? call->send : MPI_IN_PLACE;
    switch (call->operation) {
    case TFRT_MPI_ALLREDUCE:
        return MPI_Iallreduce(send, call->receive, call->count, type, op_of(call->type, call->reduction), comm, request);
    case TFRT_MPI_BROADCAST: return MPI_Ibcast(call->receive, call->count, type, call->root, comm, request);
    case TFRT_MPI_ALLGATHER:
        return MPI_Iallgatherv(send, call->count, type, call->receive, call->counts, call->offsets, type, comm, request);
    case TFRT_MPI_REDUCE_SCATTER:
        return MPI_Ireduce_scatter_block(send, call->receive, call->count, type, op_of(call->type, call->reduction), comm,
                                         request);
    case TFRT_MPI_ALL_TO_ALL:
        return MPI_Ialltoall(send, call->count, type, call->receive, call->count, type, comm, request);
    case TFRT_MPI_BARRIER: return MPI_Ibarrier(comm, request);
    default: return MPI_ERR_ARG;
    }
}

int32_t tfrt_mpi_start(struct tfrt_mpi_group *group, const struct tfrt_mpi_call *call, struct tfrt_mpi_request **request) {
    CHECK(new_request(request));
    return started(start(group->comm, call, &(*request)->request), request);
}

int32_t tfrt_mpi_send(const void *bytes, int32_t size, int32_t to, int32_t tag, struct tfrt_mpi_request **request) {
    CHECK(new_request(request));
    return started(MPI_Isend(bytes, size, MPI_BYTE, to, tag, messages, &(*request)->request), request);
}

int32_t tfrt_mpi_receive(void *bytes, int32_t size, int32_t from, int32_t tag, struct tfrt_mpi_request **request) {
    CHECK(new_request(request));
    return started(MPI_Irecv(bytes, size, MPI_BYTE, from, tag, messages, &(*request)->request), request);
}

int32_t tfrt_mpi_test(struct tfrt_mpi_request *request, int32_t *is_done) {
    int flag = 0;
    int code = MPI_Test(&request->request, &flag, MPI_STATUS_IGNORE);
    *is_done = flag || code != MPI_SUCCESS;
    if (*is_done) free(request);
    return code;
}

void tfrt_mpi_cancel(struct tfrt_mpi_request *request) {
    MPI_Cancel(&request->request);
    MPI_Wait(&request->request, MPI_STATUS_IGNORE);
    free(request);
}

int32_t tfrt_mpi_is_peer_failure(int32_t code) {
#if HAS_ULFM
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING || class == MPIX_ERR_REVOKED;
#else
    (void)code;
    return 0;
#endif
}

int32_t tfrt_mpi_failed_ranks(int32_t *ranks, int32_t capacity) {
#if HAS_ULFM
    MPI_Group failed, world;
    int count = 0, zero_to_count[1024], size = 0, unused = 0;
    /* The news of a death arrive while MPI makes progress. */
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, messages, &unused, MPI_STATUS_IGNORE);
    if (MPIX_Comm_failure_ack(messages) != MPI_SUCCESS || MPIX_Comm_failure_get_acked(messages, &failed) != MPI_SUCCESS)
        return 0;
    MPI_Group_size(failed, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (; count < size && count < capacity && count < 1024; count++) zero_to_count[count] = count;
    MPI_Group_translate_ranks(failed, count, zero_to_count, world, ranks);
    MPI_Group_free(&failed);
    MPI_Group_free(&world);
    return count;
#else
    (void)ranks;
    (void)capacity;
    return 0;
#endif
}
