//! Matrix products.

use tfrt_compute::{run, shape_error, workers};
use tfrt_host::{
    Arg, ArgumentType, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry,
};
use tfrt_math::{Activation, Layout, MatMul, MatMulElement, MatMulInput};
use tfrt_tensor::{Accessor, DenseHostTensor, Element};

use super::check;

static MATMUL: Accessor = Accessor::new("matmul");
static DENSE: Accessor = Accessor::new("tfrt_math.dense");

type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// The operands of a general matrix product.
struct Product<'t, T> {
    alpha: T,
    a: &'t DenseHostTensor,
    b: &'t DenseHostTensor,
    beta: T,
    c: &'t DenseHostTensor,
    transpose: [bool; 2],
}

impl<T: Element + MatMulElement> Product<'_, T> {
    /// `C = alpha · A · B + beta · C`.
    fn run(self, cx: &ExecutionContext) -> Done {
        let (a, b, c) =
            (self.a.shape().fixed::<2>()?, self.b.shape().fixed::<2>()?, self.c.shape().fixed::<2>()?);
        let orient =
            |[rows, cols]: [usize; 2], transposed| if transposed { [cols, rows] } else { [rows, cols] };
        let [[m, k], [inner, n]] = [orient(a.0, self.transpose[0]), orient(b.0, self.transpose[1])];
        if k != inner {
            return Err(Diagnostic::invalid_argument(format!(
                "MatMul input tensors inner dimension mismatch: {a} vs. {b}"
            )));
        }
        if c.0 != [m, n] {
            return Err(Diagnostic::invalid_argument(format!(
                "MatMul output shape {c} does not match product shape of inputs: {a} * {b}"
            )));
        }
        let layout = |rows, cols, transposed| {
            if transposed { Layout::transposed(rows, cols) } else { Layout::row_major(rows, cols) }
        };
        let layouts = (layout(m, k, self.transpose[0]), layout(k, n, self.transpose[1]));
        let plan = MatMul::new(m, k, n, workers(cx))
            .and_then(|plan| plan.operands(layouts.0, layouts.1))
            .map(|plan| plan.scaled(self.alpha, self.beta));
        let reads = (self.a.read_owned::<T>(&MATMUL)?, self.b.read_owned::<T>(&MATMUL)?);
        let writes = self.c.write_owned::<T>(&MATMUL)?;
        run(cx, plan, (reads, writes), |(a, b)| MatMulInput::new(a, b), |c| c, Chain)
    }
}

fn matmul<T: Element + MatMulElement + ArgumentType>(
    alpha: Arg<T>,
    a: Arg<DenseHostTensor>,
    b: Arg<DenseHostTensor>,
    beta: Arg<T>,
    c: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    Product { alpha: *alpha, a: &a, b: &b, beta: *beta, c: &c, transpose: [false; 2] }.run(cx)
}

fn matmul_sync<T: Element + MatMulElement + ArgumentType>(
    alpha: Arg<T>,
    a: Arg<DenseHostTensor>,
    b: Arg<DenseHostTensor>,
    beta: Arg<T>,
    c: Arg<DenseHostTensor>,
) -> Result<(), Diagnostic> {
    let [m, k] = a.shape().fixed::<2>()?.0;
    let [inner, n] = b.shape().fixed::<2>()?.0;
    check::same_extent(("the left matrix's width", k), ("the right matrix's height", inner))?;
    check::shape_is(("output", &c), "the product", &[m, n])?;
    let plan = MatMul::new(m, k, n, 1).map_err(shape_error)?.scaled(*alpha, *beta);
    let (a, b, mut c) = (a.read::<T>(&MATMUL)?, b.read::<T>(&MATMUL)?, c.write::<T>(&MATMUL)?);
    tfrt_math::BlockOp::run(&plan, &tfrt_math::Serial, MatMulInput::new(&a, &b), &mut c).map_err(shape_error)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of a general matrix product, each a program's value"
)]
fn matmul_transposed(
    alpha: f32,
    a: Arg<DenseHostTensor>,
    b: Arg<DenseHostTensor>,
    beta: f32,
    c: Arg<DenseHostTensor>,
    _chain: Chain,
    transpose_a: Attr<bool>,
    transpose_b: Attr<bool>,
    cx: &ExecutionContext,
) -> Done {
    Product { alpha, a: &a, b: &b, beta, c: &c, transpose: [transpose_a.0, transpose_b.0] }.run(cx)
}

/// A dense layer: `y = activation(x · w + bias)`.
fn dense(
    x: Arg<DenseHostTensor>,
    w: Arg<DenseHostTensor>,
    bias: Arg<DenseHostTensor>,
    y: Arg<DenseHostTensor>,
    _chain: Chain,
    activation: Attr<str>,
    cx: &ExecutionContext,
) -> Done {
    let [[m, k], [inner, n]] = [x.shape().fixed::<2>()?.0, w.shape().fixed::<2>()?.0];
    check::same_extent(("the input's width", k), ("the weights' height", inner))?;
    check::shape_is(("bias", &bias), "the weights' width", &[n])?;
    check::shape_is(("output", &y), "the product", &[m, n])?;
    let activation = match activation.0 {
        "none" => Activation::None,
        "relu" => Activation::Relu,
        other => {
            return Err(Diagnostic::invalid_argument(format!(
                "unknown activation '{other}': expected 'none' or 'relu'"
            )));
        }
    };
    let plan = MatMul::new(m, k, n, workers(cx)).map(|plan| plan.activated(activation));
    let reads = (x.read_owned::<f32>(&DENSE)?, w.read_owned::<f32>(&DENSE)?, bias.read_owned::<f32>(&DENSE)?);
    let operands = (reads, y.write_owned::<f32>(&DENSE)?);
    run(
        cx,
        plan,
        operands,
        |(x, w, bias)| MatMulInput { bias: Some(bias), ..MatMulInput::new(x, w) },
        |y| y,
        Chain,
    )
}

pub(super) fn register(registry: &mut KernelRegistry) {
    const DOC: &str = "C = alpha · A · B + beta · C for matrices; C is not read if beta is zero.";
    macro_rules! products {
        ($($type:ty => $name:literal, $sync:expr;)*) => {$(
            registry.add($name, matmul::<$type>).mutates(&[4]).doc(DOC);
            if let Some(name) = $sync {
                let name: &'static str = name;
                registry.add(name, matmul_sync::<$type>).mutates(&[4]).doc(DOC);
            }
        )*};
    }
    products! {
        f32 => "tfrt_test.matmul.f32.2", Some("tfrt_test_sync.matmul.f32.2");
        i32 => "tfrt_test.matmul.i32.2", Some("tfrt_test_sync.matmul.i32.2");
        i64 => "tfrt_test.matmul.i64.2", Some("tfrt_test_sync.matmul.i64.2");
        f32 => "eigen.matmul.f32", None;
        i32 => "eigen.matmul.i32", None;
    }
    registry
        .add("tfrt_math.matmul.f32", matmul_transposed)
        .attributes(&["transpose_a", "transpose_b"])
        .mutates(&[4])
        .doc("C = alpha · op(A) · op(B) + beta · C for matrices, where op transposes if asked to; C is not read if beta is zero.");
    registry
        .add("tfrt_math.dense.f32", dense)
        .attributes(&["activation"])
        .mutates(&[3])
        .doc("A dense layer, Y = activation(X · W + bias); the activation is 'none' or 'relu'.");
}
