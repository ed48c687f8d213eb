//! The fields of TensorFlow's messages by name, for files in the text format.

/// A message's fields.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) name: &'static str,
    pub(super) fields: &'static [Field],
}

/// The fields of a kind of message.
pub(super) type Schema = &'static Message;

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) number: u32,
    pub(super) kind: Kind,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Int,
    Bool,
    Float,
    Double,
    Bytes,
    DataType,
    Message(fn() -> Schema),
    /// What the importer does not read.
    Skipped,
}

/// The number of a data type by its name in files.
pub(super) fn data_type(name: &str) -> Option<u8> {
    const NAMES: &[&str] = &[
        "INVALID",
        "FLOAT",
        "DOUBLE",
        "INT32",
        "UINT8",
        "INT16",
        "INT8",
        "STRING",
        "COMPLEX64",
        "INT64",
        "BOOL",
        "QINT8",
        "QUINT8",
        "QINT32",
        "BFLOAT16",
        "QINT16",
        "QUINT16",
        "UINT16",
        "COMPLEX128",
        "HALF",
        "RESOURCE",
        "VARIANT",
        "UINT32",
        "UINT64",
        "FLOAT8_E5M2",
        "FLOAT8_E4M3FN",
        "FLOAT8_E4M3FNUZ",
        "FLOAT8_E4M3B11FNUZ",
        "FLOAT8_E5M2FNUZ",
        "INT4",
        "UINT4",
    ];
    let name = name.strip_prefix("DT_")?;
    let (name, reference) = name.strip_suffix("_REF").map_or((name, 0), |name| (name, 100));
    let number = NAMES.iter().position(|known| *known == name)?;
    u8::try_from(number).ok()?.checked_add(reference)
}

macro_rules! schemas {
    ($($visibility:vis $function:ident $name:literal { $($field:literal $number:literal $kind:expr;)* })*) => {$(
        $visibility fn $function() -> Schema {
            const FIELDS: &[Field] = &[$(Field { name: $field, number: $number, kind: $kind }),*];
            const MESSAGE: Message = Message { name: $name, fields: FIELDS };
            &MESSAGE
        }
    )*};
}

use Kind::{Bool, Bytes, DataType, Double, Float, Int, Message as Of, Skipped};

schemas! {
    pub(super) graph "GraphDef" {
        "node" 1 Of(node); "library" 2 Of(library); "version" 3 Skipped; "versions" 4 Skipped;
        "debug_info" 5 Skipped;
    }
    node "NodeDef" {
        "name" 1 Bytes; "op" 2 Bytes; "input" 3 Bytes; "device" 4 Skipped; "attr" 5 Of(attr_entry);
        "experimental_debug_info" 6 Of(debug_info); "experimental_type" 7 Skipped;
    }
    debug_info "NodeDef.ExperimentalDebugInfo" {
        "original_node_names" 1 Bytes; "original_func_names" 2 Skipped;
    }
    attr_entry "map entry" { "key" 1 Bytes; "value" 2 Of(attr_value); }
    text_entry "map entry" { "key" 1 Bytes; "value" 2 Bytes; }
    attr_value "AttrValue" {
        "list" 1 Of(list); "s" 2 Bytes; "i" 3 Int; "f" 4 Float; "b" 5 Bool; "type" 6 DataType;
        "shape" 7 Of(shape); "tensor" 8 Of(tensor); "placeholder" 9 Bytes; "func" 10 Of(func);
    }
    list "AttrValue.ListValue" {
        "s" 2 Bytes; "i" 3 Int; "f" 4 Float; "b" 5 Bool; "type" 6 DataType; "shape" 7 Of(shape);
        "tensor" 8 Of(tensor); "func" 9 Of(func);
    }
    func "NameAttrList" { "name" 1 Bytes; "attr" 2 Of(attr_entry); }
    shape "TensorShapeProto" { "dim" 2 Of(dim); "unknown_rank" 3 Bool; }
    dim "TensorShapeProto.Dim" { "size" 1 Int; "name" 2 Skipped; }
    tensor "TensorProto" {
        "dtype" 1 DataType; "tensor_shape" 2 Of(shape); "version_number" 3 Skipped; "tensor_content" 4 Bytes;
        "float_val" 5 Float; "double_val" 6 Double; "int_val" 7 Int; "string_val" 8 Bytes;
        "scomplex_val" 9 Float; "int64_val" 10 Int; "bool_val" 11 Bool; "dcomplex_val" 12 Double;
        "half_val" 13 Int; "resource_handle_val" 14 Skipped; "variant_val" 15 Skipped; "uint32_val" 16 Int;
        "uint64_val" 17 Int; "float8_val" 18 Skipped;
    }
    library "FunctionDefLibrary" {
        "function" 1 Of(function); "gradient" 2 Skipped; "registered_gradients" 3 Skipped;
    }
    function "FunctionDef" {
        "signature" 1 Of(op); "node_def" 3 Of(node); "ret" 4 Of(text_entry); "attr" 5 Of(attr_entry);
        "control_ret" 6 Of(text_entry); "arg_attr" 7 Skipped; "resource_arg_unique_id" 8 Skipped;
    }
    op "OpDef" {
        "name" 1 Bytes; "input_arg" 2 Of(arg); "output_arg" 3 Of(arg); "attr" 4 Skipped; "summary" 5 Skipped;
        "description" 6 Skipped; "deprecation" 8 Skipped; "is_aggregate" 16 Skipped; "is_stateful" 17 Skipped;
        "is_commutative" 18 Skipped; "allows_uninitialized_input" 19 Skipped; "control_output" 20 Bytes;
        "is_distributed_communication" 21 Skipped;
    }
    arg "OpDef.ArgDef" {
        "name" 1 Bytes; "description" 2 Skipped; "type" 3 DataType; "type_attr" 4 Skipped;
        "number_attr" 5 Skipped; "type_list_attr" 6 Skipped; "handle_data" 7 Of(handle_data); "is_ref" 16 Skipped;
        "experimental_full_type" 17 Skipped;
    }
    handle_data "ResourceHandleProto.DtypeAndShape" { "dtype" 1 DataType; "shape" 2 Skipped; }
    pub(super) saved_model "SavedModel" { "saved_model_schema_version" 1 Int; "meta_graphs" 2 Of(meta_graph); }
    meta_graph "MetaGraphDef" {
        "meta_info_def" 1 Of(meta_info); "graph_def" 2 Of(graph); "saver_def" 3 Of(saver);
        "collection_def" 4 Of(collection_entry); "signature_def" 5 Of(signature_entry);
        "asset_file_def" 6 Of(asset); "object_graph_def" 7 Of(object_graph);
    }
    meta_info "MetaInfoDef" {
        "meta_graph_version" 1 Skipped; "stripped_op_list" 2 Skipped; "any_info" 3 Skipped; "tags" 4 Bytes;
        "tensorflow_version" 5 Bytes; "tensorflow_git_version" 6 Skipped; "stripped_default_attrs" 7 Skipped;
        "function_aliases" 8 Skipped;
    }
    saver "SaverDef" {
        "filename_tensor_name" 1 Bytes; "save_tensor_name" 2 Skipped; "restore_op_name" 3 Bytes;
        "max_to_keep" 4 Skipped; "sharded" 5 Skipped; "keep_checkpoint_every_n_hours" 6 Skipped;
        "version" 7 Skipped;
    }
    collection_entry "map entry" { "key" 1 Bytes; "value" 2 Of(collection); }
    collection "CollectionDef" {
        "node_list" 1 Of(node_list); "bytes_list" 2 Skipped; "int64_list" 3 Skipped; "float_list" 4 Skipped;
        "any_list" 5 Of(any_list);
    }
    any_list "CollectionDef.AnyList" { "value" 1 Of(any); }
    any "Any" { "type_url" 1 Bytes; "value" 2 Bytes; }
    node_list "CollectionDef.NodeList" { "value" 1 Bytes; }
    signature_entry "map entry" { "key" 1 Bytes; "value" 2 Of(signature); }
    signature "SignatureDef" {
        "inputs" 1 Of(info_entry); "outputs" 2 Of(info_entry); "method_name" 3 Bytes; "defaults" 4 Skipped;
    }
    info_entry "map entry" { "key" 1 Bytes; "value" 2 Of(info); }
    info "TensorInfo" {
        "name" 1 Bytes; "dtype" 2 DataType; "tensor_shape" 3 Of(shape); "coo_sparse" 4 Skipped;
        "composite_tensor" 5 Skipped;
    }
    asset "AssetFileDef" { "tensor_info" 1 Of(info); "filename" 2 Bytes; }
    object_graph "SavedObjectGraph" { "nodes" 1 Of(object); "concrete_functions" 2 Skipped; }
    object "SavedObject" {
        "children" 1 Skipped; "slot_variables" 3 Skipped; "user_object" 4 Skipped; "asset" 5 Skipped;
        "function" 6 Skipped; "variable" 7 Of(variable); "bare_concrete_function" 8 Skipped;
        "constant" 9 Skipped; "resource" 10 Skipped; "saveable_objects" 11 Skipped;
        "captured_tensor" 12 Skipped; "registered_name" 13 Skipped;
        "serialized_user_proto" 14 Skipped; "dependencies" 15 Skipped; "registered_saver" 16 Skipped;
    }
    variable "SavedVariable" {
        "dtype" 1 DataType; "shape" 2 Of(shape); "trainable" 3 Bool; "synchronization" 4 Skipped;
        "aggregation" 5 Skipped; "name" 6 Bytes; "device" 7 Skipped;
        "experimental_distributed_variable_components" 8 Skipped;
    }
}
