//! Constant tensors of ONNX files.

use std::{
    collections::HashMap,
    path::{Component, Path, PathBuf},
};

use bytes::Bytes;
use tfrt_host::{DType, MappedFile, host_buffer::HostBuffer};
use tfrt_tensor::{
    Accessor, DenseHostTensor, HostTensor, SharedAllocator, StringHostTensor, TensorMetadata, TensorShape,
    bf16, f16,
};

use super::{
    narrow::{self, Narrow},
    proto::{EXTERNAL, TensorProto},
};
use crate::attributes::{tensor_in_place, tensor_of_bytes};

static READ: Accessor = Accessor::new("the ONNX importer");

/// Reads constant tensors, and the files beside the model that hold the elements of some.
pub(super) struct TensorReader {
    /// The model's folder, if it is in one, and that of the file which the model is a link to.
    folders: Option<[PathBuf; 2]>,
    allocator: SharedAllocator,
    files: HashMap<String, HostBuffer>,
}

/// The data type that a number of ONNX's `TensorProto.DataType` stands for; for a narrow type that
/// of the elements that hold it.
pub(super) fn dtype(number: i32) -> Result<DType, String> {
    Ok(match number {
        1 => DType::F32,
        2 => DType::UI8,
        3 => DType::I8,
        4 => DType::UI16,
        5 => DType::I16,
        6 => DType::I32,
        7 => DType::I64,
        8 => DType::String,
        9 => DType::I1,
        10 => DType::F16,
        11 => DType::F64,
        12 => DType::UI32,
        13 => DType::UI64,
        14 => DType::Complex64,
        15 => DType::Complex128,
        16 => DType::BF16,
        other => match narrow::find(other) {
            Some(narrow) => narrow.held,
            None => return Err(format!("{other} is not a data type of ONNX that is supported")),
        },
    })
}

impl TensorReader {
    /// A reader for the model in a file, or for one in memory.
    pub(super) fn new(model: Option<&Path>, allocator: SharedAllocator) -> Self {
        let folder = |file: &Path| file.parent().map(Path::to_owned).unwrap_or_default();
        let folders = model.map(|file| {
            let real = file.canonicalize();
            [folder(file), real.map_or_else(|_| folder(file), |real| folder(&real))]
        });
        Self { folders, allocator, files: HashMap::new() }
    }

    /// The tensor. Its elements stay where they are if they are aligned.
    pub(super) fn read(&mut self, proto: &TensorProto) -> Result<HostTensor, String> {
        let dtype = dtype(proto.data_type)?;
        let dims = proto.dims.iter().map(|&dim| usize::try_from(dim)).collect::<Result<Vec<_>, _>>();
        let dims = dims.map_err(|_| format!("the shape {:?} has a negative extent", proto.dims))?;
        let shape = TensorShape::new(&dims).map_err(|error| error.message)?;
        let count = shape.num_elements().map_err(|error| error.message)?;
        if dtype == DType::String {
            return strings(proto, shape, count);
        }
        if let Some(narrow) = narrow::find(proto.data_type) {
            return self.narrow(proto, narrow, shape, count);
        }
        let metadata = TensorMetadata { dtype, shape };
        if proto.data_location == EXTERNAL {
            return Ok(self.external(proto, metadata)?.into());
        }
        if !proto.raw_data.is_empty() {
            return Ok(tensor_in_place(
                metadata,
                HostBuffer::from_readonly(proto.raw_data.clone()),
                &self.allocator,
            )?
            .into());
        }
        let bytes = typed_data(proto, dtype, count)?;
        tensor_of_bytes(metadata, &bytes, &self.allocator)
            .map(HostTensor::from)
            .map_err(|error| error.message)
    }

    /// A tensor of a narrow type, whose elements become wider ones.
    fn narrow(
        &mut self,
        proto: &TensorProto,
        narrow: &Narrow,
        shape: TensorShape,
        count: usize,
    ) -> Result<HostTensor, String> {
        let allocator = self.allocator.clone();
        if proto.data_location == EXTERNAL {
            let size = narrow.size_bytes(count).ok_or("the tensor is too large")?;
            let bytes = TensorShape::new(&[size]).map_err(|error| error.message)?;
            let bytes = self.external(proto, TensorMetadata { dtype: DType::UI8, shape: bytes })?;
            let bytes = bytes.read::<u8>(&READ).map_err(|error| error.message)?;
            return narrow.read(&bytes, shape, &allocator).map(HostTensor::from);
        }
        if proto.raw_data.is_empty() {
            // Each number holds one byte.
            let bytes: Vec<u8> = proto.int32_data.iter().map(|&number| number as u8).collect();
            return narrow.read(&bytes, shape, &allocator).map(HostTensor::from);
        }
        narrow.read(&proto.raw_data, shape, &allocator).map(HostTensor::from)
    }

    fn external(&mut self, proto: &TensorProto, metadata: TensorMetadata) -> Result<DenseHostTensor, String> {
        let entry = |key: &str| {
            proto.external_data.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
        };
        let number = |key: &str| match entry(key) {
            None => Ok(None),
            Some(text) => {
                text.parse::<usize>().map(Some).map_err(|_| format!("'{text}' is not a valid {key}"))
            }
        };
        let location = entry("location").ok_or("external data has no location")?;
        let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
        let file = self.file(location)?;
        let size = metadata.size_bytes().map_err(|error| error.message)?;
        let length = length.unwrap_or(size);
        let part = file.slice(offset, length).ok_or_else(|| {
            format!("'{location}' has {} bytes, which do not hold {length} at {offset}", file.len())
        })?;
        tensor_in_place(metadata, part, &self.allocator)
    }

    /// The bytes of a file beside the model.
    fn file(&mut self, location: &str) -> Result<HostBuffer, String> {
        if let Some(file) = self.files.get(location) {
            return Ok(file.clone());
        }
        let path = self.inside(location)?;
        let file = MappedFile::open(&path).map_err(|error| error.message)?;
        let buffer = HostBuffer::from_readonly(file);
        self.files.insert(location.to_owned(), buffer.clone());
        Ok(buffer)
    }

    /// The path of a file, which must be in the model's folder or below it. Where the model is a link,
    /// as in the cache of Hugging Face, the file may also be one to a file beside the model's own.
    fn inside(&self, location: &str) -> Result<PathBuf, String> {
        let outside = || format!("external data at '{location}' lies outside of the model's folder");
        let relative = Path::new(location);
        if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(outside());
        }
        let [folder, real_folder] =
            self.folders.as_ref().ok_or("a model in memory cannot have external data")?;
        let path = folder.join(relative);
        let cannot = |error| format!("cannot open external data at '{location}': {error}");
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let (real, folder) = (path.canonicalize().map_err(cannot)?, folder.canonicalize().map_err(cannot)?);
        if !real.starts_with(&folder) && !real.starts_with(real_folder) {
            return Err(outside());
        }
        // A pipe might never be written.
        if real.is_file() { Ok(real) } else { Err(format!("external data at '{location}' is not a file")) }
    }
}

fn strings(proto: &TensorProto, shape: TensorShape, count: usize) -> Result<HostTensor, String> {
    if proto.string_data.len() != count {
        return Err(format!("{} strings are given for {count} elements", proto.string_data.len()));
    }
    let text = |bytes: &Bytes| {
        String::from_utf8(bytes.to_vec()).map_err(|_| "a string is not valid UTF-8".to_owned())
    };
    let strings = proto.string_data.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    StringHostTensor::new(shape, strings).map(HostTensor::from).map_err(|error| error.message)
}

/// The elements of a tensor that are in the list for their data type, in memory form.
fn typed_data(proto: &TensorProto, dtype: DType, count: usize) -> Result<Vec<u8>, String> {
    let ints = &proto.int32_data;
    macro_rules! narrowed {
        ($($type:ty),+) => { ints.iter().flat_map(|&value| (value as $($type)+).to_le_bytes()).collect::<Vec<u8>>() };
    }
    let bytes: Vec<u8> = match dtype {
        DType::F32 | DType::Complex64 => bytemuck::cast_slice(&proto.float_data).to_vec(),
        DType::F64 | DType::Complex128 => bytemuck::cast_slice(&proto.double_data).to_vec(),
        DType::I64 => bytemuck::cast_slice(&proto.int64_data).to_vec(),
        DType::UI64 => bytemuck::cast_slice(&proto.uint64_data).to_vec(),
        DType::UI32 => proto.uint64_data.iter().flat_map(|&value| (value as u32).to_le_bytes()).collect(),
        DType::I32 => bytemuck::cast_slice(ints).to_vec(),
        DType::I8 => narrowed!(i8),
        DType::UI8 => narrowed!(u8),
        DType::I16 => narrowed!(i16),
        DType::UI16 => narrowed!(u16),
        DType::I1 => ints.iter().map(|&value| u8::from(value != 0)).collect(),
        // Halves are given by their bits.
        DType::F16 => ints.iter().flat_map(|&bits| f16::from_bits(bits as u16).to_le_bytes()).collect(),
        DType::BF16 => ints.iter().flat_map(|&bits| bf16::from_bits(bits as u16).to_le_bytes()).collect(),
        other => return Err(format!("elements of type {other} are not supported")),
    };
    let size = dtype.size().unwrap_or(1);
    if Some(bytes.len()) != count.checked_mul(size) {
        return Err(format!("{} elements are given for {count}", bytes.len() / size));
    }
    Ok(bytes)
}
