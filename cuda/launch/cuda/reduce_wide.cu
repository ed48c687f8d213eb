// targets: 75
//
// The reductions of reduce.cu for wider types and for truth values, and products:
//
//   reduce_{sum,mean,maximum,minimum}_{f64,i64}, with their _parts and _finish
//   reduce_{maximum,minimum}_u8: of truth values, whether any is true (of nothing 0) and whether all are (of nothing 1)
//   reduce_product_{f32,f16,bf16,f64,i32,i64}; a product of nothing is 1
//
// Parts are f64 for f64, i64 for i64, i32 for i32 and u8, and f32 for the rest.
#include "reduce.cuh"

SUMS(f64)
EXTREMES(f64)
SUMS(i64)
EXTREMES(i64)
REDUCTION(maximum, Any, u8)
REDUCTION(minimum, All, u8)
PARTS(maximum, Any, u8)
PARTS(minimum, All, u8)
PRODUCTS(f32)
PRODUCTS(f16)
PRODUCTS(bf16)
PRODUCTS(f64)
PRODUCTS(i32)
PRODUCTS(i64)
