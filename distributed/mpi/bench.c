/* What the engine is compared with: a loop of MPI_Iallreduce and MPI_Wait. Rank 0 prints the medians
 * as JSON. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_us(float *data, int count, int rounds) {
    double *times = malloc(sizeof(double) * (size_t)rounds);
    for (int round = 0; round < rounds; round++) {
        double start = MPI_Wtime();
        MPI_Request request;
        MPI_Iallreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        times[round] = (MPI_Wtime() - start) * 1e6;
    }
    qsort(times, (size_t)rounds, sizeof(double), compare);
    double median = times[rounds / 2];
    free(times);
    return median;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    float *data = malloc(sizeof(float) << 24);
    for (int i = 0; i < 1 << 24; i++) data[i] = 1;
    double small = median_us(data, 256, 2000), large = median_us(data, 1 << 24, 12);
    if (rank == 0) printf("{\"1024_bytes_us\": %.1f, \"67108864_bytes_us\": %.1f}\n", small, large);
    free(data);
    return MPI_Finalize();
}
