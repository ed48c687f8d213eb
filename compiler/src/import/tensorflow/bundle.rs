//! Checkpoints in the TensorBundle format: an index, which is a table of entries by key, and files
//! of elements.

use std::{
    collections::BTreeMap,
    fmt::Display,
    path::{Path, PathBuf},
};

use prost::Message;
use tfrt_host::{DType, MappedFile, host_buffer::HostBuffer};
use tfrt_tensor::{
    Accessor, DenseHostTensor, HostTensor, SharedAllocator, StringHostTensor, TensorMetadata, TensorShape,
};

use super::{
    proto::{BundleEntry, BundleHeader, TrackableObjectGraph},
    slices,
    table::{self, Cursor, masked},
    tensor,
};
use crate::attributes::{tensor_in_place, tensor_of_bytes};

static READ: Accessor = Accessor::new("checkpoint");
/// Under which key checkpoints say which object each tensor belongs to.
const OBJECTS: &str = "_CHECKPOINTABLE_OBJECT_GRAPH";
/// The most files that elements may be spread over.
const MAX_SHARDS: i32 = 1 << 16;

/// A checkpoint that is open for reading. The files with the elements are mapped when they are
/// needed.
pub(super) struct Bundle {
    prefix: PathBuf,
    entries: BTreeMap<Vec<u8>, BundleEntry>,
    shard_count: i32,
    shards: BTreeMap<i32, HostBuffer>,
    allocator: SharedAllocator,
}

impl Bundle {
    /// Opens the checkpoint whose files begin with `prefix`.
    pub(super) fn open(prefix: &Path, allocator: &SharedAllocator) -> Result<Self, String> {
        let index = with_suffix(prefix, ".index");
        let bytes = MappedFile::open(&index).map_err(|error| error.message)?;
        Self::parse(prefix, bytes.as_ref(), allocator)
            .map_err(|message| format!("'{}' is not the index of a checkpoint: {message}", index.display()))
    }

    fn parse(prefix: &Path, bytes: &[u8], allocator: &SharedAllocator) -> Result<Self, String> {
        let mut entries = BTreeMap::new();
        let mut header = None;
        for (key, value) in table::read(bytes)? {
            if key.is_empty() {
                header = Some(BundleHeader::decode(&value[..]).map_err(|error| error.to_string())?);
                continue;
            }
            let shown = String::from_utf8_lossy(&key);
            let entry = BundleEntry::decode(&value[..])
                .map_err(|error| format!("the entry of '{shown}' is malformed: {error}"))?;
            entries.insert(key, entry);
        }
        let header = header.ok_or("it has no header")?;
        if header.endianness != 0 {
            return Err("checkpoints of big-endian machines are not supported".to_owned());
        }
        if !(0..=MAX_SHARDS).contains(&header.num_shards) {
            return Err(format!("{} is not a number of data files", header.num_shards));
        }
        let (prefix, allocator) = (prefix.to_owned(), allocator.clone());
        Ok(Self { prefix, entries, shard_count: header.num_shards, shards: BTreeMap::new(), allocator })
    }

    /// The keys of its tensors with their entries, sorted. Parts of variables, whose keys begin
    /// with zero, are left out.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &BundleEntry)> {
        let named = |key: &[u8]| key.first() != Some(&0);
        let whole = self.entries.iter().filter(move |(key, _)| named(key));
        whole.filter_map(|(key, entry)| Some((std::str::from_utf8(key).ok()?, entry)))
    }

    /// A tensor, over the mapped file if its elements are aligned there.
    pub(super) fn tensor(&mut self, key: &str) -> Result<HostTensor, String> {
        let entry = self
            .entries
            .get(key.as_bytes())
            .ok_or_else(|| format!("the checkpoint has no tensor '{key}'"))?;
        let entry = entry.clone();
        let tensor = if entry.slices.is_empty() { self.read(&entry) } else { self.join(key, &entry) };
        tensor.map_err(|message| format!("tensor '{key}' of the checkpoint: {message}"))
    }

    /// The keys of variables by their names, without names that several variables have. Empty for
    /// checkpoints that do not say.
    pub(super) fn keys_by_name(&mut self) -> Result<BTreeMap<String, String>, String> {
        if !self.entries.contains_key(OBJECTS.as_bytes()) {
            return Ok(BTreeMap::new());
        }
        let malformed = |why: &dyn Display| format!("the objects of the checkpoint are malformed: {why}");
        let HostTensor::String(tree) = self.tensor(OBJECTS)? else {
            return Err(malformed(&"they are not a string"));
        };
        let tree = tree.strings().first().map_or(&[][..], |tree| &tree[..]);
        let tree = TrackableObjectGraph::decode(tree).map_err(|error| malformed(&error))?;
        let mut keys: BTreeMap<String, Option<String>> = BTreeMap::new();
        for tensor in tree.nodes.into_iter().flat_map(|object| object.attributes) {
            let seen = keys.contains_key(&tensor.full_name);
            keys.insert(tensor.full_name, Some(tensor.checkpoint_key).filter(|_| !seen));
        }
        Ok(keys.into_iter().filter_map(|(name, key)| Some((name, key?))).collect())
    }

    /// A variable of which the checkpoint holds parts.
    fn join(&mut self, key: &str, entry: &BundleEntry) -> Result<HostTensor, String> {
        let dtype = tensor::dtype(entry.dtype)?;
        let shape = tensor::full_shape(entry.shape.as_ref())?;
        let size = dtype.size().ok_or("variables of strings in parts are not supported")?;
        let metadata = TensorMetadata { dtype, shape };
        let total = metadata.size_bytes().map_err(|error| error.message)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(total).map_err(|_| "it does not fit memory".to_owned())?;
        bytes.resize(total, 0);
        let mut covered: usize = 0;
        for slice in &entry.slices {
            let part = self.entries.get(&slices::key(key, slice)).ok_or("a part is missing")?.clone();
            let part = self.read(&part)?;
            if part.dtype() != dtype {
                return Err("a part has another type".to_owned());
            }
            let dense = part.dense().map_err(|error| error.message)?;
            let from = bytes_of(dense)?;
            covered =
                covered.saturating_add(slices::copy(slice, metadata.shape.dims(), size, &from, &mut bytes)?);
        }
        if covered != total {
            return Err(format!("its parts have {covered} bytes of {total}"));
        }
        tensor_of_bytes(metadata, &bytes, &self.allocator)
            .map(HostTensor::from)
            .map_err(|error| error.message)
    }

    fn read(&mut self, entry: &BundleEntry) -> Result<HostTensor, String> {
        let dtype = tensor::dtype(entry.dtype)?;
        let shape = tensor::full_shape(entry.shape.as_ref())?;
        let outside = || format!("{} bytes at {} lie outside of the data file", entry.size, entry.offset);
        let offset = usize::try_from(entry.offset).map_err(|_| outside())?;
        let size = usize::try_from(entry.size).map_err(|_| outside())?;
        let part = self.shard(entry.shard_id)?.slice(offset, size).ok_or_else(outside)?;
        let bytes = TensorMetadata::new(DType::UI8, [part.len()]);
        let bytes = DenseHostTensor::from_buffer(bytes, part.clone()).map_err(|error| error.message)?;
        let bytes = bytes.read::<u8>(&READ).map_err(|error| error.message)?;
        if dtype == DType::String {
            return strings(&bytes, shape, entry.crc32c);
        }
        check(crc32c::crc32c(&bytes), entry.crc32c)?;
        let metadata = TensorMetadata { dtype, shape };
        tensor_in_place(metadata, part, &self.allocator).map(HostTensor::from)
    }

    /// A file of elements.
    fn shard(&mut self, id: i32) -> Result<&HostBuffer, String> {
        let count = self.shard_count;
        if !(0..count).contains(&id) {
            return Err(format!("data file {id} of {count} does not exist"));
        }
        if let std::collections::btree_map::Entry::Vacant(place) = self.shards.entry(id) {
            let path = with_suffix(&self.prefix, &format!(".data-{id:05}-of-{count:05}"));
            let file = MappedFile::open(&path).map_err(|error| error.message)?;
            place.insert(HostBuffer::from_readonly(file));
        }
        self.shards.get(&id).ok_or_else(|| format!("data file {id} cannot be opened"))
    }
}

/// The elements of a tensor in memory form.
fn bytes_of(tensor: &DenseHostTensor) -> Result<Vec<u8>, String> {
    tfrt_tensor::with_element!(
        tensor.dtype(),
        |T| Ok(bytemuck::cast_slice(&tensor.read::<T>(&READ).map_err(|error| error.message)?).to_vec()),
        else Err("a part has no elements".to_owned())
    )
}

fn with_suffix(prefix: &Path, suffix: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

fn check(computed: u32, expected: u32) -> Result<(), String> {
    if masked(computed) == expected {
        Ok(())
    } else {
        Err("the checksum does not fit its elements".to_owned())
    }
}

/// Strings: their lengths, a checksum of those, and their bytes.
fn strings(bytes: &[u8], shape: TensorShape, expected: u32) -> Result<HostTensor, String> {
    let count = shape.num_elements().map_err(|error| error.message)?;
    let mut cursor = Cursor { bytes, at: 0 };
    let (mut lengths, mut checksum) = (Vec::new(), 0);
    for _ in 0..count {
        let length = cursor.varint()?;
        // The checksum is that of four bytes a length, or eight for those that need them.
        checksum = match u32::try_from(length) {
            Ok(length) => crc32c::crc32c_append(checksum, &length.to_le_bytes()),
            Err(_) => crc32c::crc32c_append(checksum, &length.to_le_bytes()),
        };
        lengths.push(usize::try_from(length).map_err(|_| "a string does not fit memory".to_owned())?);
    }
    let of_lengths = cursor.take(4)?;
    if of_lengths != masked(checksum).to_le_bytes() {
        return Err("the checksum does not fit the lengths of its strings".to_owned());
    }
    checksum = crc32c::crc32c_append(checksum, of_lengths);
    let mut strings = Vec::new();
    for length in lengths {
        let string = cursor.take(length)?;
        checksum = crc32c::crc32c_append(checksum, string);
        strings.push(string.to_vec());
    }
    check(checksum, expected)?;
    StringHostTensor::new(shape, strings).map(HostTensor::from).map_err(|error| error.message)
}
