// targets: 75
#define HAS_FEW_FUNCTIONS
#include "generated.cuh"

KERNEL fused_0(f32 *y, u32 n, const f32 *x0, const f32 *x1) {
    auto steps = [](f32 x0, f32 x1) {
        f32 s0 = x0 + x1;
        f32 s1 = x0 - x1;
        f32 s2 = s0 + s1;
        f32 s3 = x0 * x1;
        f32 s4 = s2 + s3;
        f32 s5 = maximum<f32>(x0, x1);
        f32 s6 = s4 + s5;
        f32 s7 = minimum<f32>(x0, x1);
        f32 s8 = s6 + s7;
        f32 s9 = function::square(x0 - x1);
        f32 s10 = s8 + s9;
        f32 s11 = x0 > 0.0f ? x0 : x1 * x0;
        f32 s12 = s10 + s11;
        f32 s13 = function::abs<f32>(x0);
        f32 s14 = s12 + s13;
        f32 s15 = function::ceil<f32>(x0);
        f32 s16 = s14 + s15;
        f32 s17 = function::elu<f32>(x0);
        f32 s18 = s16 + s17;
        f32 s19 = function::erf<f32>(x0);
        f32 s20 = s18 + s19;
        f32 s21 = function::exp<f32>(x0);
        f32 s22 = s20 + s21;
        f32 s23 = function::expm1<f32>(x0);
        f32 s24 = s22 + s23;
        f32 s25 = function::floor<f32>(x0);
        f32 s26 = s24 + s25;
        f32 s27 = function::gelu<f32>(x0);
        f32 s28 = s26 + s27;
        f32 s29 = function::gelu_tanh<f32>(x0);
        f32 s30 = s28 + s29;
        f32 s31 = function::neg<f32>(x0);
        f32 s32 = s30 + s31;
        f32 s33 = function::relu<f32>(x0);
        f32 s34 = s32 + s33;
        f32 s35 = function::relu6<f32>(x0);
        f32 s36 = s34 + s35;
        f32 s37 = function::round<f32>(x0);
        f32 s38 = s36 + s37;
        f32 s39 = function::selu<f32>(x0);
        f32 s40 = s38 + s39;
        f32 s41 = function::sigmoid<f32>(x0);
        f32 s42 = s40 + s41;
        f32 s43 = function::softplus<f32>(x0);
        f32 s44 = s42 + s43;
        f32 s45 = function::softsign<f32>(x0);
        f32 s46 = s44 + s45;
        f32 s47 = function::square<f32>(x0);
        f32 s48 = s46 + s47;
        f32 s49 = function::tanh<f32>(x0);
        return s48 + s49;
    };
    fuse(y, n, steps, Whole<f32>{x0}, Whole<f32>{x1});
}

KERNEL fused_1(f32 *y, u32 n, const f32 *x0, const f32 *x1) {
    auto steps = [](f32 x0, f32 x1) {
        f32 s0 = x0 / x1;
        f32 s1 = function::log<f32>(x0);
        f32 s2 = s0 + s1;
        f32 s3 = function::reciprocal<f32>(x0);
        f32 s4 = s2 + s3;
        f32 s5 = function::rsqrt<f32>(x0);
        f32 s6 = s4 + s5;
        f32 s7 = function::sqrt<f32>(x0);
        return s6 + s7;
    };
    fuse(y, n, steps, Whole<f32>{x0}, Whole<f32>{x1});
}

KERNEL fused_2(f32 *y, u32 n, const f32 *x0) {
    auto steps = [](f32 x0) {
        f32 s0 = function::sigmoid<f32>(x0);
        f32 s1 = function::silu<f32>(x0);
        f32 s2 = function::sigmoid<f32>(s1);
        return function::silu<f32>(s1);
    };
    fuse(y, n, steps, Whole<f32>{x0});
}

KERNEL fused_3(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<f32>{x0}, Repeated<f32, Axis<1, 8, 1>, Axis<96, 2, 8>>{x1}, Repeated<f32, Axis<1, 8, 1>>{x2});
}

KERNEL fused_4(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<f32>{x0}, Repeated<f32, Axis<32, 6, 1>>{x1}, Repeated<f32>{x2});
}

KERNEL fused_5(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32, Axis<1, 6, 1>>{x0}, Repeated<f32, Axis<6, 24, 1>>{x1}, Repeated<f32>{x2});
}

KERNEL fused_6(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32, Axis<5, 3, 1>>{x0}, Repeated<f32, Axis<1, 5, 1>>{x1}, Repeated<f32>{x2});
}

KERNEL fused_7(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32, Axis<3, 30, 1>>{x0}, Repeated<f32, Axis<1, 3, 1>, Axis<15, 6, 3>>{x1}, Whole<f32>{x2});
}

KERNEL fused_8(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32, Axis<1, 4, 1>, Axis<20, 3, 4>, Axis<300, 2, 12>>{x0}, Repeated<f32, Axis<4, 5, 1>, Axis<60, 5, 5>>{x1}, Whole<f32>{x2});
}

KERNEL fused_9(f32 *y, u32 n, const f32 *x0, const f32 *x1, const f32 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f32>{x0}, Repeated<f32>{x1}, Repeated<f32>{x2});
}

KERNEL fused_10(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<f16>{x0}, Repeated<f16, Axis<1, 8, 1>, Axis<96, 2, 8>>{x1}, Repeated<f16, Axis<1, 8, 1>>{x2});
}

KERNEL fused_11(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<f16>{x0}, Repeated<f16, Axis<32, 6, 1>>{x1}, Repeated<f16>{x2});
}

KERNEL fused_12(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16, Axis<1, 6, 1>>{x0}, Repeated<f16, Axis<6, 24, 1>>{x1}, Repeated<f16>{x2});
}

KERNEL fused_13(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16, Axis<5, 3, 1>>{x0}, Repeated<f16, Axis<1, 5, 1>>{x1}, Repeated<f16>{x2});
}

KERNEL fused_14(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16, Axis<3, 30, 1>>{x0}, Repeated<f16, Axis<1, 3, 1>, Axis<15, 6, 3>>{x1}, Whole<f16>{x2});
}

KERNEL fused_15(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16, Axis<1, 4, 1>, Axis<20, 3, 4>, Axis<300, 2, 12>>{x0}, Repeated<f16, Axis<4, 5, 1>, Axis<60, 5, 5>>{x1}, Whole<f16>{x2});
}

KERNEL fused_16(f16 *y, u32 n, const f16 *x0, const f16 *x1, const f16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<f16>{x0}, Repeated<f16>{x1}, Repeated<f16>{x2});
}

KERNEL fused_17(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<bf16>{x0}, Repeated<bf16, Axis<1, 8, 1>, Axis<96, 2, 8>>{x1}, Repeated<bf16, Axis<1, 8, 1>>{x2});
}

KERNEL fused_18(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Whole<bf16>{x0}, Repeated<bf16, Axis<32, 6, 1>>{x1}, Repeated<bf16>{x2});
}

KERNEL fused_19(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16, Axis<1, 6, 1>>{x0}, Repeated<bf16, Axis<6, 24, 1>>{x1}, Repeated<bf16>{x2});
}

KERNEL fused_20(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16, Axis<5, 3, 1>>{x0}, Repeated<bf16, Axis<1, 5, 1>>{x1}, Repeated<bf16>{x2});
}

KERNEL fused_21(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16, Axis<3, 30, 1>>{x0}, Repeated<bf16, Axis<1, 3, 1>, Axis<15, 6, 3>>{x1}, Whole<bf16>{x2});
}

KERNEL fused_22(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16, Axis<1, 4, 1>, Axis<20, 3, 4>, Axis<300, 2, 12>>{x0}, Repeated<bf16, Axis<4, 5, 1>, Axis<60, 5, 5>>{x1}, Whole<bf16>{x2});
}

KERNEL fused_23(bf16 *y, u32 n, const bf16 *x0, const bf16 *x1, const bf16 *x2) {
    auto steps = [](f32 x0, f32 x1, f32 x2) {
        f32 s0 = function::sigmoid<f32>(x1);
        f32 s1 = x0 * s0;
        f32 s2 = s1 + x2;
        f32 s3 = (-1.5f) - s2;
        return maximum<f32>(s3, __uint_as_float(0xff800000u));
    };
    fuse(y, n, steps, Repeated<bf16>{x0}, Repeated<bf16>{x1}, Repeated<bf16>{x2});
}
