// targets: 75
//
// Copies, between buffers or within one, that a plain copy of bytes cannot express.
//
//   copy_bytes(y, x, n)                                  n bytes; the buffers must not overlap
//   copy_rows(y, x, y_offset, y_pitch, x_offset, x_pitch, width, rows)   `rows` rows of `width` bytes; the first is
//                                                        `offset` bytes from the buffer's start, each next `pitch` on
//   gather_rows_{i32,i64}(y, x, index, width, rows, count)   row index[i] of x, of `rows` rows of `width` bytes, becomes
//                                                        row i of y, for i below `count`; zeros where index[i] is not
//                                                        in 0..rows
//
// Concatenating along an axis is one copy_rows for each part: with `inner` the bytes from one step along the axis to the
// next, a row of part p is extent(p) * inner bytes, y_pitch the sum of all parts', and y_offset where the part begins.
// Splitting and slicing are the same with the roles of x and y exchanged.
//
// All take 16 bytes at a time where pointers, pitches and width are multiples of 16, else 4, else 1.
#include "common.cuh"

// Whether all of these are multiples of `unit`, a power of two.
__device__ __forceinline__ bool multiples(u64 all, u32 unit) { return (all & (unit - 1)) == 0; }

KERNEL copy_bytes(u8 *y, const u8 *x, count_t n) {
    count_t done = 0;
    if (aligned_to_16(x, y)) {
        for (count_t i = global_thread(); i < n / 16; i += global_threads())
            reinterpret_cast<uint4 *>(y)[i] = reinterpret_cast<const uint4 *>(x)[i];
        done = n / 16 * 16;
    }
    for (count_t i = done + global_thread(); i < n; i += global_threads()) y[i] = x[i];
}

// Rows of `width` units of type T; `source(row)` says where row `row` of the output comes from, or null for zeros.
template <class T, class Source>
__device__ __forceinline__ void copy_units(u8 *y, count_t y_pitch, count_t width, count_t rows, Source source) {
    count_t units = width / sizeof(T);
    for (count_t i = global_thread(); i < units * rows; i += global_threads()) {
        count_t row = i / units, unit = i % units;
        const u8 *from = source(row);
        T value = {};
        if (from != nullptr) value = reinterpret_cast<const T *>(from)[unit];
        reinterpret_cast<T *>(y + row * y_pitch)[unit] = value;
    }
}

// `all` is the bitwise or of the addresses, pitches and widths.
template <class Source>
__device__ __forceinline__ void copy_in_units(
    u64 all, u8 *y, count_t y_pitch, count_t width, count_t rows, Source source
) {
    if (multiples(all, 16))
        copy_units<uint4>(y, y_pitch, width, rows, source);
    else if (multiples(all, 4))
        copy_units<u32>(y, y_pitch, width, rows, source);
    else
        copy_units<u8>(y, y_pitch, width, rows, source);
}

KERNEL copy_rows(
    u8 *y, const u8 *x, count_t y_offset, count_t y_pitch, count_t x_offset, count_t x_pitch, count_t width, count_t rows
) {
    y += y_offset;
    x += x_offset;
    u64 all = reinterpret_cast<u64>(y) | reinterpret_cast<u64>(x) | y_pitch | x_pitch | width;
    copy_in_units(all, y, y_pitch, width, rows, [=](count_t row) { return x + row * x_pitch; });
}

template <class Index>
__device__ __forceinline__ void gather_rows(
    u8 *y, const u8 *x, const Index *index, count_t width, count_t rows, count_t count
) {
    u64 all = reinterpret_cast<u64>(y) | reinterpret_cast<u64>(x) | width;
    copy_in_units(all, y, width, width, count, [=](count_t i) -> const u8 * {
        i64 row = index[i];
        return row >= 0 && (count_t)row < rows ? x + (count_t)row * width : nullptr;
    });
}

KERNEL gather_rows_i32(u8 *y, const u8 *x, const i32 *index, count_t width, count_t rows, count_t count) {
    gather_rows(y, x, index, width, rows, count);
}
KERNEL gather_rows_i64(u8 *y, const u8 *x, const i64 *index, count_t width, count_t rows, count_t count) {
    gather_rows(y, x, index, width, rows, count);
}
