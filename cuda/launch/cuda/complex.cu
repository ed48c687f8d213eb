// targets: 75
// options: --fmad=false
//
// Complex numbers of two f64, the real part first, aligned to 16 bytes. (Those of two f32 are brought here and back.)
//
//   function_c128(y, x, n, function)        y[i] = FUNCTION(x[i])
//   broadcast_c128(y, a, b, n, function, e0..e5, a0..a5, b0..b5)      as broadcast_TYPE of binary.cu, with its numbers
//   scan_{sum,product}_c128(y, x, outer, extent, inner, exclusive, reverse)      as those of scan.cu
//   product_c128(y, a, b, batch, rows, inner, columns, a_batch, a_row, a_step, b_batch, b_step, b_column)
//       as product_TYPE of product.cu
//
//   number    0    1     2       3     4      5           6    7      8    9      10   11   12
//   function  neg  sign  square  sqrt  rsqrt  reciprocal  exp  expm1  log  log1p  sin  cos  tan
//   number    13    14    15    16    17    18    19     20     21     22       23
//   function  asin  acos  atan  sinh  cosh  tanh  asinh  acosh  atanh  sigmoid  conj
//
// Of the functions of two numbers there are add, sub, mul, div, squared_difference (times its conjugate), pow, div_no_nan and
// mul_no_nan. Functions have principal values, whose cuts lie where those of C's <complex.h> do. Each is written so that both
// parts keep their digits near branch points, poles and zeros, and where squares or powers would leave the range of numbers.
// Nothing is contracted: what cancels exactly is zero.
#include "product.cuh"
#include "scan.cuh"

struct __align__(16) c128 {
    f64 re, im;
};
template <>
struct Accumulator<c128> { using type = c128; };

#define SHORT static __device__ __forceinline__
#define LONG static __device__ __noinline__

constexpr f64 LN_2 = 0.693147180559945309417, HALF_PI = 1.57079632679489661923;
// From here on z * z + 1 is z * z, and its square a number.
constexpr f64 FAR = 1e100;

SHORT f64 infinite() { return __longlong_as_double(0x7ff0000000000000ll); }
SHORT f64 nan64() { return __longlong_as_double(0x7ff8000000000000ll); }
// Neither part is known.
SHORT c128 lost() { return {nan64(), nan64()}; }

SHORT c128 operator+(c128 x, c128 y) { return {x.re + y.re, x.im + y.im}; }
SHORT c128 operator-(c128 x, c128 y) { return {x.re - y.re, x.im - y.im}; }
SHORT c128 operator-(c128 z) { return {-z.re, -z.im}; }
SHORT c128 operator*(c128 x, c128 y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
SHORT c128 conj(c128 z) { return {z.re, -z.im}; }
SHORT c128 scale(c128 z, f64 by) { return {z.re * by, z.im * by}; }
SHORT c128 unscale(c128 z, f64 by) { return {z.re / by, z.im / by}; }
SHORT bool is_zero(c128 z) { return z.re == 0 && z.im == 0; }
// Whether a part is infinite, whatever the other is.
SHORT bool is_infinite(c128 z) { return isinf(z.re) || isinf(z.im); }
SHORT bool is_finite(c128 z) { return isfinite(z.re) && isfinite(z.im); }
// A real number plus a complex one, whose imaginary part it leaves as it is: the sign of zero says on which side of a cut.
SHORT c128 plus(f64 real, c128 z) { return {real + z.re, z.im}; }

LONG f64 norm(c128 z) { return hypot(z.re, z.im); }
LONG f64 angle(f64 y, f64 x) { return atan2(y, x); }
LONG f64 real_log(f64 x) { return log(x); }
LONG f64 real_log1p(f64 x) { return log1p(x); }
LONG f64 real_exp(f64 x) { return exp(x); }
LONG f64 real_expm1(f64 x) { return expm1(x); }
LONG f64 real_sinh(f64 x) { return sinh(x); }
LONG f64 real_cosh(f64 x) { return cosh(x); }
LONG f64 real_asinh(f64 x) { return asinh(x); }
// Of an angle: the sine as imaginary part, the cosine as real one.
LONG c128 direction(f64 angle) {
    c128 unit;
    sincos(angle, &unit.im, &unit.re);
    return unit;
}

SHORT f64 power_of_two(i64 exponent) { return __longlong_as_double((exponent + 1023) << 52); }

// A power of two that brings the larger part of a number near 1, so that squares of it neither over- nor underflow.
SHORT f64 near_one(c128 z) {
    i64 exponent = __double_as_longlong(fmax(fabs(z.re), fabs(z.im))) >> 52;
    exponent = exponent < 23 ? 23 : (exponent > 2023 ? 2023 : exponent);
    return __longlong_as_double((2046 - exponent) << 52);
}

// Of infinity only the direction counts.
SHORT c128 unit_of_infinity(c128 z) {
    return {copysign(isinf(z.re) ? 1.0 : 0.0, z.re), copysign(isinf(z.im) ? 1.0 : 0.0, z.im)};
}

LONG c128 quotient(c128 x, c128 y) {
    f64 of_x = near_one(x), of_y = near_one(y);
    c128 near_x = scale(x, of_x), near_y = scale(y, of_y);
    c128 q = unscale(near_x * conj(near_y), near_y.re * near_y.re + near_y.im * near_y.im);
    // In two steps, as the ratio of both powers of two may be beyond all numbers where the quotient is none such.
    i64 all = (__double_as_longlong(of_y) >> 52) - (__double_as_longlong(of_x) >> 52);
    q = scale(scale(q, power_of_two(all / 2)), power_of_two(all - all / 2));
    if (!(isnan(q.re) && isnan(q.im))) return q;
    if (is_zero(y)) return scale(x, copysign(infinite(), y.re));
    if (is_infinite(x) && is_finite(y)) return scale(unit_of_infinity(x) * conj(y), infinite());
    if (is_infinite(y) && is_finite(x)) return scale(x * conj(unit_of_infinity(y)), 0.0);
    return q;
}

SHORT c128 reciprocal(c128 z) { return quotient({1, 0}, z); }

SHORT c128 square(c128 z) {
    f64 x = fabs(z.re), y = fabs(z.im);
    // Half of the sum is a number also where the sum is none.
    return {(x - y) * (0.5 * x + 0.5 * y) * 2.0, 2.0 * (z.re * z.im)};
}

// The number of length one in the same direction; zero of zero.
SHORT c128 sign(c128 z) {
    c128 near = scale(z, near_one(z));
    return is_zero(z) ? z : unscale(near, norm(near));
}

// along * cos(angle) and across * sin(angle), where zero times infinity is zero, as on the real axis, and of an angle that is
// no number the directions are unknown, but not that the length is infinite.
SHORT f64 times(f64 x, f64 y) { return x == 0 || y == 0 ? copysign(0.0, copysign(1.0, x) * copysign(1.0, y)) : x * y; }
LONG c128 parts(f64 along, f64 across, f64 angle) {
    if (isinf(along) && !isfinite(angle)) return {infinite(), nan64()};
    c128 unit = direction(angle);
    return {times(along, unit.re), times(across, unit.im)};
}

// Whether what functions of powers of e give for this number is lost.
SHORT bool is_lost(c128 z) { return isfinite(z.re) && z.re != 0 && !isfinite(z.im); }
// Whether a power of e is close to the largest number, but not so far beyond that a sine could not bring it back.
SHORT bool is_steep(f64 x) { return x >= 700 && x < 1400; }

LONG c128 exponential(c128 z) {
    if (is_lost(z)) return lost();
    bool steep = is_steep(z.re);
    f64 length = real_exp(steep ? 0.5 * z.re : z.re);
    c128 y = parts(length, length, z.im);
    return steep ? scale(y, length) : y;
}

LONG c128 sine_h(c128 z) {
    if (is_lost(z)) return lost();
    if (is_steep(fabs(z.re))) {
        f64 half = real_exp(0.5 * fabs(z.re));
        return scale(parts(copysign(half, z.re), half, z.im), 0.5 * half);
    }
    return parts(real_sinh(z.re), real_cosh(z.re), z.im);
}

LONG c128 cosine_h(c128 z) {
    if (is_lost(z)) return lost();
    if (is_steep(fabs(z.re))) {
        f64 half = real_exp(0.5 * fabs(z.re));
        return scale(parts(half, copysign(half, z.re), z.im), 0.5 * half);
    }
    return parts(real_cosh(z.re), real_sinh(z.re), z.im);
}

// exp(z / 2) / (2 cosh(z / 2)), whose denominator keeps its digits near its zeros.
LONG c128 sigmoid(c128 z) {
    if (is_lost(z)) return lost();
    if (z.re < -40) return exponential(z);
    if (z.re > 40) return {1, -exponential(-z).im};
    c128 half = direction(0.5 * z.im);
    f64 sinh = real_sinh(0.5 * z.re);
    // exp(x) + cos(y), of which both are close to 1 in size where it is small.
    f64 along = fabs(z.re) < 1 ? real_expm1(z.re) + 2.0 * half.re * half.re : real_exp(z.re) + direction(z.im).re;
    return unscale({0.5 * along, half.im * half.re}, 2.0 * (sinh * sinh + half.re * half.re));
}

LONG c128 root(c128 z) {
    if (is_zero(z) || isinf(z.im)) return {fabs(z.im), z.im};
    f64 length = norm(z), back = 1;
    if (isinf(length) && isfinite(z.re)) {
        z = unscale(z, 4.0);
        back = 2;
    } else if (length < 2.2250738585072014e-308) {
        // Such numbers have few digits.
        z = scale(z, 0x1p108);
        back = 0x1p-54;
    }
    if (back != 1) length = norm(z);
    f64 half = sqrt(0.5 * length + 0.5 * fabs(z.re));
    f64 other = z.im / (2.0 * half);
    return scale(z.re >= 0 ? c128{half, other} : c128{fabs(other), copysign(half, z.im)}, back);
}

LONG c128 reciprocal_root(c128 z) {
    c128 y = root(z);
    if (is_infinite(y)) return {0, 0};
    return is_zero(y) ? c128{infinite(), nan64()} : reciprocal(y);
}

LONG c128 exponential_minus_1(c128 z) {
    if (fabs(z.re) > 40) {
        // Of the greater of the two numbers 1 is less than the last digit, and infinity is not subtracted from infinity.
        return exponential(z) - c128{1, 0};
    }
    c128 unit = direction(z.im);
    f64 half = direction(0.5 * z.im).im;
    return {real_expm1(z.re) * unit.re - 2.0 * half * half, real_exp(z.re) * unit.im};
}

// A product or a sum as the real part, and what rounding takes from it.
SHORT c128 exact_square(f64 x) { return {x * x, __fma_rn(x, x, -(x * x))}; }
SHORT c128 exact_sum(f64 x, f64 y) {
    f64 sum = x + y, from_y = sum - x;
    return {sum, (x - (sum - from_y)) + (y - from_y)};
}
// ln((1 + x)^2 + y^2) / 2, with the digits that are left where the terms of what is beyond 1 cancel.
LONG f64 log_beyond_1(f64 x, f64 y) {
    c128 xx = exact_square(x), yy = exact_square(y);
    c128 partial = exact_sum(2.0 * x, yy.re), total = exact_sum(partial.re, xx.re);
    return 0.5 * real_log1p(total.re + (xx.im + yy.im + partial.im + total.im));
}
// Lengths whose logarithm is that of a number near 1: the larger part is less than twice 1, and more than half.
SHORT bool is_near_1(f64 length) { return length >= 0.75 && length < 1.375; }

LONG f64 log_norm(c128 z) {
    f64 length = norm(z);
    if (is_near_1(length)) return log_beyond_1(fmax(fabs(z.re), fabs(z.im)) - 1.0, fmin(fabs(z.re), fabs(z.im)));
    if (isfinite(length) && length >= 2.2250738585072014e-308) return real_log(length);
    f64 by = near_one(z);
    return real_log(norm(scale(z, by))) - real_log(by);
}

LONG c128 logarithm(c128 z) { return {log_norm(z), angle(z.im, z.re)}; }

LONG c128 logarithm_of_1_plus(c128 z) {
    c128 sum = plus(1, z);
    return {is_near_1(norm(sum)) ? log_beyond_1(z.re, z.im) : log_norm(sum), angle(sum.im, sum.re)};
}

// By W. Kahan's formulas (Branch cuts for complex elementary functions, 1987), which are exact near cuts and poles and for
// small numbers; of large ones the products in them would overflow.

LONG c128 tangent_h(c128 z) {
    if (is_lost(z)) return lost();
    if (z.im == 0) return {tanh(z.re), z.im};
    // Hyperbolic functions overflow long before this is anything but 1 or -1.
    if (fabs(z.re) > 20) {
        // At infinity the direction does not matter.
        c128 unit = isinf(z.re) && !isfinite(z.im) ? c128{1, copysign(1.0, z.im)} : direction(z.im);
        return {copysign(1.0, z.re), 4.0 * unit.im * unit.re * real_exp(-2.0 * fabs(z.re))};
    }
    f64 tangent = tan(z.im), sinh = real_sinh(z.re), slope = 1.0 + tangent * tangent;
    return unscale({slope * sqrt(1.0 + sinh * sinh) * sinh, tangent}, 1.0 + slope * sinh * sinh);
}

LONG c128 arcsine(c128 z) {
    if (norm(z) > FAR) return {angle(z.re, fabs(z.im)), copysign(log_norm(z) + LN_2, z.im)};
    c128 below = root(plus(1, -z)), above = root(plus(1, z));
    return {angle(z.re, (below * above).re), real_asinh((conj(below) * above).im)};
}

LONG c128 arccosine(c128 z) {
    if (norm(z) > FAR) return {angle(fabs(z.im), z.re), -copysign(log_norm(z) + LN_2, z.im)};
    c128 below = root(plus(1, -z)), above = root(plus(1, z));
    return {2.0 * angle(below.re, above.re), real_asinh((conj(above) * below).im)};
}

LONG c128 arccosine_h(c128 z) {
    if (norm(z) > FAR) return {log_norm(z) + LN_2, angle(z.im, z.re)};
    c128 below = root(plus(-1, z)), above = root(plus(1, z));
    return {real_asinh((conj(below) * above).re), 2.0 * angle(below.im, above.re)};
}

LONG c128 arctangent_h(c128 z) {
    if (norm(z) > FAR) {
        f64 along = is_infinite(z) ? copysign(0.0, z.re) : reciprocal(z).re;
        return {along, isnan(z.im) ? z.im : copysign(HALF_PI, z.im)};
    }
    f64 x = fabs(z.re), y = z.im, along;
    if (x == 1 && fabs(y) < 1 / FAR)
        // The square of y may be none.
        along = 0.5 * (LN_2 - real_log(fabs(y)));
    else
        along = 0.25 * real_log1p(4.0 * x / ((1.0 - x) * (1.0 - x) + y * y));
    return {copysign(along, z.re), 0.5 * angle(2.0 * y, (1.0 - x) * (1.0 + x) - y * y)};
}

// i * z and -i * z: what turns hyperbolic functions and their inverses into circular ones, and back.
SHORT c128 turned(c128 z) { return {-z.im, z.re}; }
SHORT c128 turned_back(c128 z) { return {z.im, -z.re}; }

SHORT c128 apply(u32 number, c128 z) {
    switch (number) {
        case 0: return -z;
        case 1: return sign(z);
        case 2: return square(z);
        case 3: return root(z);
        case 4: return reciprocal_root(z);
        case 5: return reciprocal(z);
        case 6: return exponential(z);
        case 7: return exponential_minus_1(z);
        case 8: return logarithm(z);
        case 9: return logarithm_of_1_plus(z);
        case 10: return turned_back(sine_h(turned(z)));
        case 11: return cosine_h(turned(z));
        case 12: return turned_back(tangent_h(turned(z)));
        case 13: return arcsine(z);
        case 14: return arccosine(z);
        case 15: return turned_back(arctangent_h(turned(z)));
        case 16: return sine_h(z);
        case 17: return cosine_h(z);
        case 18: return tangent_h(z);
        case 19: return turned_back(arcsine(turned(z)));
        case 20: return arccosine_h(z);
        case 21: return arctangent_h(z);
        case 22: return sigmoid(z);
        default: return conj(z);
    }
}

KERNEL function_c128(c128 *y, const c128 *x, count_t n, u32 function) {
    for (count_t i = global_thread(); i < n; i += global_threads()) y[i] = apply(function, x[i]);
}

SHORT c128 apply(u32 number, c128 x, c128 y) {
    switch (number) {
        case 0: return x + y;
        case 1: return x - y;
        case 2: return x * y;
        case 3: return quotient(x, y);
        case 6: return (x - y) * conj(x - y);
        case 7: return exponential(y * logarithm(x));
        case 10: return is_zero(y) ? y : quotient(x, y);
        default: return is_zero(y) ? y : x * y;
    }
}

KERNEL broadcast_c128(c128 *y, const c128 *a, const c128 *b, count_t n, u32 function, STRIDED_PARAMETERS) {
    Strided shape = STRIDED;
    for (count_t i = global_thread(); i < n; i += global_threads()) {
        i64 at_a, at_b;
        locate(shape, i, at_a, at_b);
        y[i] = apply(function, a[at_a], b[at_b]);
    }
}

KERNEL scan_sum_c128(
    c128 *y, const c128 *x, count_t outer, count_t extent, count_t inner, u32 exclusive, u32 reverse
) {
    scan(y, x, outer, extent, inner, exclusive, reverse, c128{0, 0}, Add());
}
KERNEL scan_product_c128(
    c128 *y, const c128 *x, count_t outer, count_t extent, count_t inner, u32 exclusive, u32 reverse
) {
    scan(y, x, outer, extent, inner, exclusive, reverse, c128{1, 0}, Multiply());
}

PRODUCT(c128)
