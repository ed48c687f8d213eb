//! The messages of TensorFlow's files, with the field numbers that its `.proto` files publish.
//!
//! Only the fields that the importer reads are here; protobuf skips the others. Large payloads are
//! [`Bytes`], so that decoding from a mapped file copies none of them.

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::{Message, Oneof};

/// A graph with its library of functions.
#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphDef {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<NodeDef>,
    #[prost(message, optional, tag = "2")]
    pub(super) library: Option<FunctionDefLibrary>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeDef {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) op: String,
    #[prost(string, repeated, tag = "3")]
    pub(super) input: Vec<String>,
    #[prost(btree_map = "string, message", tag = "5")]
    pub(super) attr: BTreeMap<String, AttrValue>,
    #[prost(message, optional, tag = "6")]
    pub(super) experimental_debug_info: Option<DebugInfo>,
}

/// Where a node comes from.
#[derive(Clone, PartialEq, Message)]
pub(super) struct DebugInfo {
    #[prost(string, repeated, tag = "1")]
    pub(super) original_node_names: Vec<String>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Message)]
pub(super) struct AttrValue {
    #[prost(oneof = "Attr", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10")]
    pub(super) value: Option<Attr>,
}

/// What an attribute can be.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Attr {
    #[prost(message, tag = "1")]
    List(ListValue),
    #[prost(bytes = "bytes", tag = "2")]
    S(Bytes),
    #[prost(int64, tag = "3")]
    I(i64),
    #[prost(float, tag = "4")]
    F(f32),
    #[prost(bool, tag = "5")]
    B(bool),
    #[prost(int32, tag = "6")]
    Type(i32),
    #[prost(message, tag = "7")]
    Shape(TensorShapeProto),
    #[prost(message, tag = "8")]
    Tensor(Box<TensorProto>),
    /// The name of an attribute of the function that the node stands in.
    #[prost(string, tag = "9")]
    Placeholder(String),
    #[prost(message, tag = "10")]
    Func(NameAttrList),
}

/// A list of attributes of one kind.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ListValue {
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub(super) s: Vec<Bytes>,
    #[prost(int64, repeated, tag = "3")]
    pub(super) i: Vec<i64>,
    #[prost(float, repeated, tag = "4")]
    pub(super) f: Vec<f32>,
    #[prost(bool, repeated, tag = "5")]
    pub(super) b: Vec<bool>,
    #[prost(int32, repeated, tag = "6")]
    pub(super) r#type: Vec<i32>,
    #[prost(message, repeated, tag = "7")]
    pub(super) shape: Vec<TensorShapeProto>,
    #[prost(message, repeated, tag = "9")]
    pub(super) func: Vec<NameAttrList>,
}

/// A function by name, with its attributes.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NameAttrList {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(btree_map = "string, message", tag = "2")]
    pub(super) attr: BTreeMap<String, AttrValue>,
}

/// Extents, -1 for those that are not known.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorShapeProto {
    #[prost(message, repeated, tag = "2")]
    pub(super) dim: Vec<DimProto>,
    #[prost(bool, tag = "3")]
    pub(super) unknown_rank: bool,
}

/// One extent.
#[derive(Clone, PartialEq, Message)]
pub(super) struct DimProto {
    #[prost(int64, tag = "1")]
    pub(super) size: i64,
}

/// A constant tensor: its elements are in `tensor_content` or in the list for their type.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorProto {
    #[prost(int32, tag = "1")]
    pub(super) dtype: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) tensor_shape: Option<TensorShapeProto>,
    #[prost(bytes = "bytes", tag = "4")]
    pub(super) tensor_content: Bytes,
    #[prost(float, repeated, tag = "5")]
    pub(super) float_val: Vec<f32>,
    #[prost(double, repeated, tag = "6")]
    pub(super) double_val: Vec<f64>,
    #[prost(int32, repeated, tag = "7")]
    pub(super) int_val: Vec<i32>,
    #[prost(bytes = "bytes", repeated, tag = "8")]
    pub(super) string_val: Vec<Bytes>,
    #[prost(float, repeated, tag = "9")]
    pub(super) scomplex_val: Vec<f32>,
    #[prost(int64, repeated, tag = "10")]
    pub(super) int64_val: Vec<i64>,
    #[prost(bool, repeated, tag = "11")]
    pub(super) bool_val: Vec<bool>,
    #[prost(double, repeated, tag = "12")]
    pub(super) dcomplex_val: Vec<f64>,
    #[prost(int32, repeated, tag = "13")]
    pub(super) half_val: Vec<i32>,
    #[prost(uint32, repeated, tag = "16")]
    pub(super) uint32_val: Vec<u32>,
    #[prost(uint64, repeated, tag = "17")]
    pub(super) uint64_val: Vec<u64>,
}

/// The functions of a graph.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FunctionDefLibrary {
    #[prost(message, repeated, tag = "1")]
    pub(super) function: Vec<FunctionDef>,
}

/// A function: nodes whose inputs are named `argument`, `node:output:index` or `^node`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FunctionDef {
    #[prost(message, optional, tag = "1")]
    pub(super) signature: Option<OpDef>,
    #[prost(message, repeated, tag = "3")]
    pub(super) node_def: Vec<NodeDef>,
    #[prost(btree_map = "string, string", tag = "4")]
    pub(super) ret: BTreeMap<String, String>,
    #[prost(btree_map = "string, message", tag = "5")]
    pub(super) attr: BTreeMap<String, AttrValue>,
    #[prost(btree_map = "string, string", tag = "6")]
    pub(super) control_ret: BTreeMap<String, String>,
}

/// The signature of a function.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OpDef {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(super) input_arg: Vec<ArgDef>,
    #[prost(message, repeated, tag = "3")]
    pub(super) output_arg: Vec<ArgDef>,
    #[prost(string, repeated, tag = "20")]
    pub(super) control_output: Vec<String>,
}

/// An argument or result of a function.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ArgDef {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(int32, tag = "3")]
    pub(super) r#type: i32,
    #[prost(message, repeated, tag = "7")]
    pub(super) handle_data: Vec<HandleData>,
}

/// What a resource holds.
#[derive(Clone, PartialEq, Message)]
pub(super) struct HandleData {
    #[prost(int32, tag = "1")]
    pub(super) dtype: i32,
}

/// The file `saved_model.pb`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SavedModel {
    #[prost(int64, tag = "1")]
    pub(super) saved_model_schema_version: i64,
    #[prost(message, repeated, tag = "2")]
    pub(super) meta_graphs: Vec<MetaGraphDef>,
}

/// A graph with its signatures.
#[derive(Clone, PartialEq, Message)]
pub(super) struct MetaGraphDef {
    #[prost(message, optional, tag = "1")]
    pub(super) meta_info_def: Option<MetaInfoDef>,
    #[prost(message, optional, tag = "2")]
    pub(super) graph_def: Option<GraphDef>,
    #[prost(message, optional, tag = "3")]
    pub(super) saver_def: Option<SaverDef>,
    #[prost(btree_map = "string, message", tag = "4")]
    pub(super) collection_def: BTreeMap<String, CollectionDef>,
    #[prost(btree_map = "string, message", tag = "5")]
    pub(super) signature_def: BTreeMap<String, SignatureDef>,
    #[prost(message, repeated, tag = "6")]
    pub(super) asset_file_def: Vec<AssetFileDef>,
    #[prost(message, optional, tag = "7")]
    pub(super) object_graph_def: Option<SavedObjectGraph>,
}

/// What a graph is for.
#[derive(Clone, PartialEq, Message)]
pub(super) struct MetaInfoDef {
    #[prost(string, repeated, tag = "4")]
    pub(super) tags: Vec<String>,
    #[prost(string, tag = "5")]
    pub(super) tensorflow_version: String,
}

/// How variables are restored.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SaverDef {
    #[prost(string, tag = "1")]
    pub(super) filename_tensor_name: String,
    #[prost(string, tag = "3")]
    pub(super) restore_op_name: String,
}

/// A collection of a graph.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CollectionDef {
    #[prost(message, optional, tag = "1")]
    pub(super) node_list: Option<NodeList>,
    #[prost(message, optional, tag = "5")]
    pub(super) any_list: Option<AnyList>,
}

/// Messages of any type.
#[derive(Clone, PartialEq, Message)]
pub(super) struct AnyList {
    #[prost(message, repeated, tag = "1")]
    pub(super) value: Vec<AnyMessage>,
}

/// A message and the name of its type.
#[derive(Clone, PartialEq, Message)]
pub(super) struct AnyMessage {
    #[prost(string, tag = "1")]
    pub(super) type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(super) value: Bytes,
}

/// Nodes by name.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeList {
    #[prost(string, repeated, tag = "1")]
    pub(super) value: Vec<String>,
}

/// Inputs and outputs by the names that callers use.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SignatureDef {
    #[prost(btree_map = "string, message", tag = "1")]
    pub(super) inputs: BTreeMap<String, TensorInfo>,
    #[prost(btree_map = "string, message", tag = "2")]
    pub(super) outputs: BTreeMap<String, TensorInfo>,
    #[prost(string, tag = "3")]
    pub(super) method_name: String,
}

/// A tensor of a graph.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorInfo {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(int32, tag = "2")]
    pub(super) dtype: i32,
    #[prost(message, optional, tag = "3")]
    pub(super) tensor_shape: Option<TensorShapeProto>,
}

/// A file beside the graph, and the tensor that names it.
#[derive(Clone, PartialEq, Message)]
pub(super) struct AssetFileDef {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor_info: Option<TensorInfo>,
    #[prost(string, tag = "2")]
    pub(super) filename: String,
}

/// The objects of a saved model.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SavedObjectGraph {
    #[prost(message, repeated, tag = "1")]
    pub(super) nodes: Vec<SavedObject>,
}

/// One object; only variables are read.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SavedObject {
    #[prost(message, optional, tag = "7")]
    pub(super) variable: Option<SavedVariable>,
}

/// A variable among the objects.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SavedVariable {
    #[prost(int32, tag = "1")]
    pub(super) dtype: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShapeProto>,
    #[prost(bool, tag = "3")]
    pub(super) trainable: bool,
    #[prost(string, tag = "6")]
    pub(super) name: String,
}

/// The objects whose state a checkpoint holds.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackableObjectGraph {
    #[prost(message, repeated, tag = "1")]
    pub(super) nodes: Vec<TrackableObject>,
}

/// One object of a checkpoint.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackableObject {
    #[prost(message, repeated, tag = "2")]
    pub(super) attributes: Vec<SerializedTensor>,
}

/// Under which key a checkpoint holds the value of a variable.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SerializedTensor {
    #[prost(string, tag = "2")]
    pub(super) full_name: String,
    #[prost(string, tag = "3")]
    pub(super) checkpoint_key: String,
}

/// What a checkpoint says of itself, under the empty key.
#[derive(Clone, PartialEq, Message)]
pub(super) struct BundleHeader {
    #[prost(int32, tag = "1")]
    pub(super) num_shards: i32,
    /// 0 for little endian.
    #[prost(int32, tag = "2")]
    pub(super) endianness: i32,
}

/// Where a checkpoint holds a tensor.
#[derive(Clone, PartialEq, Message)]
pub(super) struct BundleEntry {
    #[prost(int32, tag = "1")]
    pub(super) dtype: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShapeProto>,
    #[prost(int32, tag = "3")]
    pub(super) shard_id: i32,
    #[prost(int64, tag = "4")]
    pub(super) offset: i64,
    #[prost(int64, tag = "5")]
    pub(super) size: i64,
    #[prost(fixed32, tag = "6")]
    pub(super) crc32c: u32,
    /// The parts of a variable that is split.
    #[prost(message, repeated, tag = "7")]
    pub(super) slices: Vec<SliceProto>,
}

/// A part of a tensor: where it lies along each dimension.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SliceProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) extent: Vec<ExtentProto>,
}

/// A range along a dimension; without a length it is the whole dimension.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct ExtentProto {
    #[prost(int64, tag = "1")]
    pub(super) start: i64,
    #[prost(int64, optional, tag = "2")]
    pub(super) length: Option<i64>,
}
