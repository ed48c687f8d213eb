//! Functions applied element by element.

use tfrt_compute::{run, shape_error};
use tfrt_host::{Arg, AsyncValueRef, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_math::{Binary, BlockOp, CastTo, Element as Copied, Number, ShapeError, Unary, Update, ops};
use tfrt_tensor::{Accessor, DenseHostTensor, Element};

use super::check;

static RELU: Accessor = Accessor::new("tfrt_test.relu");
static RELU_INPLACE: Accessor = Accessor::new("tfrt_test.relu_inplace");
static RELU_GRAD: Accessor = Accessor::new("tfrt_test.relu_grad_inplace");
static ADD: Accessor = Accessor::new("tfrt_test.add");
static ADD_INPLACE: Accessor = Accessor::new("tfrt_test.add_inplace");
static SUBTRACT_INPLACE: Accessor = Accessor::new("tfrt_test.subtract_inplace");
static EQUAL: Accessor = Accessor::new("tfrt_test.equal");
static EQUAL_INPLACE: Accessor = Accessor::new("tfrt_test.equal_inplace");
static CAST: Accessor = Accessor::new("tfrt_test.cast");
static GRADIENT_DESCENT: Accessor = Accessor::new("tfrt_test.gradient_descent");
static AXPY: Accessor = Accessor::new("tfrt_math.axpy");

type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// Elements in a block of work in place: about 10 µs of streaming.
const BLOCK: usize = 32 * 1024;

/// `y[i] = f(y[i])`.
struct InPlace<T> {
    f: fn(T) -> T,
    len: usize,
}

impl<T: Copied> BlockOp for InPlace<T> {
    type Input<'a> = ();
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.len.div_ceil(BLOCK)
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        Ok(output.chunks_mut(BLOCK).collect())
    }

    fn run_block(&self, _: usize, (): (), piece: &mut [T]) -> Result<(), ShapeError> {
        piece.iter_mut().for_each(|y| *y = (self.f)(*y));
        Ok(())
    }
}

/// `b = f(a)`.
fn map<A: Element + Copied, B: Element + Copied>(
    (a, b): (&DenseHostTensor, &DenseHostTensor),
    me: &Accessor,
    cx: &ExecutionContext,
    f: impl Fn(A) -> B + Send + Sync + 'static,
) -> Done {
    check::same_shape(("output", b), ("input", a))?;
    let plan = Unary::new(f, a.num_elements());
    run(cx, plan, (a.read_owned::<A>(me)?, b.write_owned::<B>(me)?), |a| a, |b| b, Chain)
}

/// `b = f(b, a)`.
fn update<T: Element + Copied>(
    (a, b): (&DenseHostTensor, &DenseHostTensor),
    me: &Accessor,
    cx: &ExecutionContext,
    f: impl Fn(T, T) -> T + Send + Sync + 'static,
) -> Done {
    check::same_shape(("output", b), ("input", a))?;
    let plan = Update::new(f, a.num_elements());
    run(cx, plan, (a.read_owned::<T>(me)?, b.write_owned::<T>(me)?), |a| a, |b| b, Chain)
}

/// `c = f(a, b)`.
fn combine<T: Element + Copied>(
    [a, b, c]: [&DenseHostTensor; 3],
    me: &Accessor,
    cx: &ExecutionContext,
    f: impl Fn(T, T) -> T + Send + Sync + 'static,
) -> Done {
    check::same_shape(("right operand", b), ("left operand", a))?;
    check::same_shape(("output", c), ("left operand", a))?;
    let plan = Binary::new(f, a.shape().dims(), b.shape().dims());
    let reads = (a.read_owned::<T>(me)?, b.read_owned::<T>(me)?);
    run(cx, plan, (reads, c.write_owned::<T>(me)?), |(a, b)| (a, b), |c| c, Chain)
}

fn truth<T: Number>(value: bool) -> T {
    if value { T::ONE } else { T::ZERO }
}

fn relu_sync<T: Element + Number>(
    a: Arg<DenseHostTensor>,
    b: Arg<DenseHostTensor>,
) -> Result<(), Diagnostic> {
    check::same_shape(("output", &b), ("input", &a))?;
    let plan = Unary::new(ops::relu::<T>, a.num_elements()).map_err(shape_error)?;
    let (a, mut b) = (a.read::<T>(&RELU)?, b.write::<T>(&RELU)?);
    plan.run_in_turn(&a, &mut b).map_err(shape_error)
}

fn relu_inplace<T: Element + Number>(a: Arg<DenseHostTensor>, _chain: Chain, cx: &ExecutionContext) -> Done {
    let plan = InPlace { f: ops::relu::<T>, len: a.num_elements() };
    run(cx, Ok(plan), ((), a.write_owned::<T>(&RELU_INPLACE)?), |()| (), |a| a, Chain)
}

fn gradient_descent(
    gradient: Arg<DenseHostTensor>,
    rate: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let [rate] = *rate.read::<f32>(&GRADIENT_DESCENT)? else {
        return Err(Diagnostic::invalid_argument(format!(
            "GradientDescent lr should have only one element, got shape {}",
            rate.shape()
        )));
    };
    update((&gradient, &output), &GRADIENT_DESCENT, cx, move |y: f32, g| y - g * rate)
}

fn axpy(
    alpha: f32,
    x: Arg<DenseHostTensor>,
    y: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    update((&x, &y), &AXPY, cx, move |y: f32, x| y + alpha * x)
}

fn register_for<T: Element + Number>(registry: &mut KernelRegistry, suffix: &str) {
    type Tensor<'a> = Arg<'a, DenseHostTensor>;
    registry
        .add(format!("tfrt_test.relu.{suffix}"), |a: Tensor, b: Tensor, _: Chain, cx: &ExecutionContext| {
            map((&a, &b), &RELU, cx, ops::relu::<T>)
        })
        .mutates(&[1])
        .doc("B = max(A, 0).");
    registry.add(format!("tfrt_test_sync.relu.{suffix}"), relu_sync::<T>).mutates(&[1]).doc("B = max(A, 0).");
    registry
        .add(format!("tfrt_test.relu_inplace.{suffix}"), relu_inplace::<T>)
        .mutates(&[0])
        .doc("A = max(A, 0).");
    registry
        .add(
            format!("tfrt_test.relu_grad_inplace.{suffix}"),
            |activation: Tensor, gradient: Tensor, _: Chain, cx: &ExecutionContext| {
                update((&activation, &gradient), &RELU_GRAD, cx, |g, a: T| ops::relu_gradient(g, a))
            },
        )
        .mutates(&[1])
        .doc("The gradient where the activation is positive, else zero; in place.");
    registry
        .add(
            format!("tfrt_test.add.{suffix}"),
            |a: Tensor, b: Tensor, c: Tensor, _: Chain, cx: &ExecutionContext| {
                combine([&a, &b, &c], &ADD, cx, ops::add::<T>)
            },
        )
        .mutates(&[2])
        .doc("C = A + B.");
    registry
        .add(
            format!("tfrt_test.add_inplace.{suffix}"),
            |a: Tensor, b: Tensor, _: Chain, cx: &ExecutionContext| {
                update((&a, &b), &ADD_INPLACE, cx, ops::add::<T>)
            },
        )
        .mutates(&[1])
        .doc("B = A + B.");
    registry
        .add(
            format!("tfrt_test.equal.{suffix}"),
            |a: Tensor, b: Tensor, c: Tensor, _: Chain, cx: &ExecutionContext| {
                combine([&a, &b, &c], &EQUAL, cx, |a: T, b: T| truth::<T>(a == b))
            },
        )
        .mutates(&[2])
        .doc("C = 1 where A = B, else 0.");
    registry
        .add(
            format!("tfrt_test.equal_inplace.{suffix}"),
            |a: Tensor, b: Tensor, _: Chain, cx: &ExecutionContext| {
                update((&a, &b), &EQUAL_INPLACE, cx, |b: T, a: T| truth::<T>(a == b))
            },
        )
        .mutates(&[1])
        .doc("B = 1 where A = B, else 0.");
}

pub(super) fn register(registry: &mut KernelRegistry) {
    type Tensor<'a> = Arg<'a, DenseHostTensor>;
    register_for::<f32>(registry, "f32");
    register_for::<i32>(registry, "i32");
    register_for::<i64>(registry, "i64");
    registry
        .add("tfrt_test.cast.i32_to_f32", |a: Tensor, b: Tensor, _: Chain, cx: &ExecutionContext| {
            map((&a, &b), &CAST, cx, <i32 as CastTo<f32>>::cast_to)
        })
        .mutates(&[1])
        .doc("The elements of A as the type of B.");
    registry
        .add("tfrt_test.subtract_inplace.f32", |a: Tensor, b: Tensor, _: Chain, cx: &ExecutionContext| {
            update((&a, &b), &SUBTRACT_INPLACE, cx, ops::sub::<f32>)
        })
        .mutates(&[1])
        .doc("B = B - A.");
    registry
        .add("tfrt_test.gradient_descent.f32", gradient_descent)
        .mutates(&[2])
        .doc("Output = output - gradient · rate, where the rate is a tensor of one element.");
    registry.add("tfrt_math.axpy.f32", axpy).mutates(&[2]).doc("Y = Y + alpha · X.");
}
