//! A kernel written in Rust, on a device that a plug-in brings: `y = a * x + y`.
//!
//! `cargo run -p tfrt-plugin --example host_kernel -- libfoo.so`
#![expect(clippy::print_stdout, reason = "examples show what they do")]

use std::error::Error;
use std::sync::mpsc;

use tfrt_device::allocator::Options;
use tfrt_device::front::{DeviceBuffer, Platform, Stream};
use tfrt_device::hal::{Intent, StreamOptions};
use tfrt_host::Diagnostic;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_plugin::PluginRegistry;

/// The kernel: queued on a stream like any other, and run when the stream gets there.
fn saxpy(stream: &Stream, a: f32, x: &DeviceBuffer, y: &DeviceBuffer) -> Result<(), Diagnostic> {
    stream.host_kernel(&[(x, Intent::Read), (y, Intent::ReadWrite)], move |buffers| {
        let [x, y] = buffers else { return };
        let (x, y): (&[f32], &mut [f32]) = (bytemuck::cast_slice(x), bytemuck::cast_slice_mut(y));
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let library = std::env::args().nth(1).ok_or("the path of a plug-in is missing")?;
    let mut plugins = PluginRegistry::new();
    let plugin = plugins.load(library)?;
    println!("{plugin:?}");
    let platform = Platform::new(plugin.backend());
    let context = platform.device(0)?.primary_context()?;
    let stream = context.create_stream(StreamOptions::default())?;
    let allocator = context.create_allocator(Options::default());

    let upload = |elements: Vec<f32>| {
        let host = HostBuffer::from_vec(elements);
        let buffer = allocator.allocate(&stream, host.len() as i64, "example")?;
        stream.copy_from_host(&buffer, 0, &host, 0, host.len() as u64)?;
        Ok::<_, Diagnostic>(buffer)
    };
    let x = upload((0..8u8).map(f32::from).collect())?;
    let y = upload(vec![100.0; 8])?;
    saxpy(&stream, 2.0, &x, &y)?;
    saxpy(&stream, 0.5, &x, &y)?;

    let result = HostBuffer::from_vec(vec![0f32; 8]);
    let (sender, done) = mpsc::channel();
    let copy = stream.copy_to_host(&result, 0, &y, 0, result.len() as u64)?;
    copy.when_done(move |outcome| drop(sender.send(outcome)))?;
    done.recv()??;
    let bytes = result.read(0).map_err(|error| error.to_string())?;
    println!("y = {:?}", bytemuck::cast_slice::<u8, f32>(&bytes));
    Ok(())
}
