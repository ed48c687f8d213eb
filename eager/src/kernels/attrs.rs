//! Sets of attributes that programs build step by step: `corert.op_attrs_set.*`.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use tfrt_host::{
    Arg, Attr, AttributeType, Chain, DType, Diagnostic, ExecutionContext, KernelRegistry,
    bef::{AggregateAttribute, AttributeView, DenseAttribute, ShapeAttribute},
    value_type,
};
use tfrt_tensor::SharedAllocator;

use crate::OpAttrs;

/// Attributes that are still added to; chains order who does.
pub(super) struct GrowingAttrs(Mutex<OpAttrs>);

value_type!(GrowingAttrs, "!corert.opattrs");

/// Attributes that change no more.
#[derive(Clone, Debug)]
pub(super) struct FrozenAttrs(Arc<OpAttrs>);

value_type!(FrozenAttrs, "!corert.opattrs_ref");

impl GrowingAttrs {
    fn change(
        &self,
        change: impl FnOnce(&mut OpAttrs) -> Result<(), Diagnostic>,
    ) -> Result<Chain, Diagnostic> {
        change(&mut self.0.lock()).map(|()| Chain)
    }

    pub(super) fn freeze(&self) -> FrozenAttrs {
        FrozenAttrs(Arc::new(self.0.lock().clone()))
    }
}

impl fmt::Display for GrowingAttrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.lock().fmt(f)
    }
}

impl fmt::Display for FrozenAttrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An attribute that a kernel can put into a set.
trait Settable: AttributeType {
    fn set(
        attrs: &mut OpAttrs,
        key: &str,
        value: Self::Borrowed<'_>,
        allocator: &SharedAllocator,
    ) -> Result<(), Diagnostic>;
}

macro_rules! settable {
    ($($type:ty, |$attrs:ident, $key:ident, $value:ident, $allocator:pat_param| $set:expr;)*) => {$(
        impl Settable for $type {
            fn set(
                $attrs: &mut OpAttrs,
                $key: &str,
                $value: Self::Borrowed<'_>,
                $allocator: &SharedAllocator,
            ) -> Result<(), Diagnostic> {
                $set
            }
        }
    )*};
}

settable! {
    bool, |attrs, key, value, _| attrs.set(key, value);
    i32, |attrs, key, value, _| attrs.set(key, value);
    i64, |attrs, key, value, _| attrs.set(key, value);
    f32, |attrs, key, value, _| attrs.set(key, value);
    [i32], |attrs, key, value, _| attrs.set_array(key, value);
    [i64], |attrs, key, value, _| attrs.set_array(key, value);
    [f32], |attrs, key, value, _| attrs.set_array(key, value);
    str, |attrs, key, value, _| attrs.set_string(key, value);
    DType, |attrs, key, value, _| attrs.set_type(key, value);
    DenseAttribute<'_>, |attrs, key, value, allocator| attrs.set_view(key, AttributeView::Dense(value), allocator);
    AggregateAttribute<'_>, |attrs, key, value, allocator| attrs.set_view(key, AttributeView::Aggregate(value), allocator);
    ShapeAttribute<'_>, |attrs, key, value, allocator| attrs.set_view(key, AttributeView::Shape(value), allocator);
}

fn set<T: Settable + ?Sized>(
    attrs: Arg<GrowingAttrs>,
    _chain: Chain,
    key: Attr<str>,
    value: Attr<T>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    attrs.change(|attrs| T::set(attrs, key.0, value.0, cx.host().allocator()))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("corert.create_op_attrs", || GrowingAttrs(Mutex::default()))
        .doc("An empty set of attributes.");
    macro_rules! setters {
        ($($name:literal: $type:ty;)*) => {$(
            registry
                .add(concat!("corert.op_attrs_", $name), set::<$type>)
                .attributes(&["key", "value"])
                .mutates(&[0])
                .doc("Adds an attribute to a set.");
        )*};
    }
    setters! {
        "set.bool": bool;
        "set.i32": i32;
        "set.i64": i64;
        "set.f32": f32;
        "set.str": str;
        "set.dtype": DType;
        "set.dense": DenseAttribute<'_>;
        "set.aggregate": AggregateAttribute<'_>;
        "set.shape": ShapeAttribute<'_>;
        "set_array.i32": [i32];
        "set_array.i64": [i64];
        "set_array.f32": [f32];
    }
}
