//! Every struct as Rust sees it, compared with what a C compiler makes of the headers: ours, those
//! the tests' plug-ins are built with, and TensorFlow's own where `TFRT_TENSORFLOW_INCLUDE` says
//! where they are (as `ci/tensorflow-plugin` does).
#![expect(clippy::unwrap_used, reason = "tests end that way")]

#[expect(dead_code, reason = "not all of it is used here")]
mod support;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use tfrt_plugin::abi::{self, released, sizes};

type Struct = (&'static str, &'static [(&'static str, usize, usize)], usize);

/// A C program that prints what [`ours`] is.
fn program(header: &str, structs: &[Struct], macros: &[(&str, usize)]) -> String {
    let mut text =
        format!("#include <stddef.h>\n#include <stdio.h>\n#include \"{header}\"\nint main(void) {{\n");
    for (name, members, _) in structs {
        for (member, ..) in *members {
            writeln!(
                text,
                "  printf(\"{name}.{member} %zu %zu\\n\", offsetof({name}, {member}), sizeof((({name}*)0)->{member}));"
            )
            .unwrap();
        }
        writeln!(text, "  printf(\"{name} %zu\\n\", sizeof({name}));").unwrap();
    }
    for (name, _) in macros {
        writeln!(text, "  printf(\"{name} %zu\\n\", (size_t){name});").unwrap();
    }
    text + "  return 0;\n}\n"
}

fn ours(structs: &[Struct], macros: &[(&str, usize)]) -> String {
    let mut text = String::new();
    for (name, members, size) in structs {
        for (member, offset, size) in *members {
            writeln!(text, "{name}.{member} {offset} {size}").unwrap();
        }
        writeln!(text, "{name} {size}").unwrap();
    }
    for (name, size) in macros {
        writeln!(text, "{name} {size}").unwrap();
    }
    text
}

/// Members named as in C: `type` is a keyword of Rust's.
fn named(structs: &[Struct]) -> Vec<Struct> {
    let rename =
        |(name, offset, size): &(&'static str, usize, usize)| (name.trim_start_matches("r#"), *offset, *size);
    let rename_all = |(name, members, size): &Struct| {
        let members: Vec<_> = members.iter().map(rename).collect();
        (*name, &*members.leak(), *size)
    };
    structs.iter().map(rename_all).collect()
}

fn compare(test: &str, header: &str, include: &Path, structs: &[Struct], macros: &[(&str, usize)]) {
    let structs = named(structs);
    let dir = support::scratch(test);
    let (source, binary) = (dir.join("layout.c"), dir.join("layout"));
    std::fs::write(&source, program(header, &structs, macros)).unwrap();
    support::compile(&source, &binary, &["-I", include.to_str().unwrap()]);
    let printed = Command::new(&binary).output().unwrap();
    assert!(printed.status.success());
    let theirs = String::from_utf8(printed.stdout).unwrap();
    for (ours, theirs) in ours(&structs, macros).lines().zip(theirs.lines()) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours(&structs, macros).lines().count(), theirs.lines().count());
    std::fs::remove_dir_all(dir).unwrap();
}

/// Size macros that both layouts have and that end with a struct's last byte.
fn common_macros() -> Vec<(&'static str, usize)> {
    vec![
        ("SE_MAJOR", abi::SE_MAJOR as usize),
        ("SE_MINOR", abi::SE_MINOR as usize),
        ("SE_PATCH", abi::SE_PATCH as usize),
        ("sizeof(TF_Bool)", size_of::<abi::TF_Bool>()),
        ("sizeof(SE_EventStatus)", size_of::<i32>()),
        ("SE_EVENT_UNKNOWN", 0),
        ("SE_EVENT_ERROR", 1),
        ("SE_EVENT_PENDING", 2),
        ("SE_EVENT_COMPLETE", 3),
        ("SP_TIMER_FNS_STRUCT_SIZE", size_of::<abi::SP_TimerFns>()),
        ("SP_ALLOCATORSTATS_STRUCT_SIZE", size_of::<abi::SP_AllocatorStats>()),
        ("SP_DEVICE_MEMORY_BASE_STRUCT_SIZE", size_of::<abi::SP_DeviceMemoryBase>()),
        ("SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE", size_of::<abi::SE_CreateDeviceParams>()),
        ("SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE", size_of::<abi::SE_CreateStreamExecutorParams>()),
        ("SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE", size_of::<abi::SE_PlatformRegistrationParams>()),
    ]
}

#[test]
fn the_rfc_layout_is_what_c_makes_of_it() {
    let mut macros = common_macros();
    macros.extend([
        ("SP_DEVICE_STRUCT_SIZE", size_of::<abi::SP_Device>()),
        ("SP_STREAMEXECUTOR_STRUCT_SIZE", size_of::<abi::SP_StreamExecutor>()),
        ("SP_ALLOCATOR_STRUCT_SIZE", sizes::ALLOCATOR),
        ("SP_ALLOCATOR_FNS_STRUCT_SIZE", size_of::<abi::SP_AllocatorFns>()),
        ("SP_CUSTOM_ALLOCATOR_STRUCT_SIZE", size_of::<abi::SP_CustomAllocator>()),
        ("SP_CUSTOM_ALLOCATOR_FNS_STRUCT_SIZE", size_of::<abi::SP_CustomAllocatorFns>()),
        ("SE_CREATE_ALLOCATOR_PARAMS_STRUCT_SIZE", size_of::<abi::SE_CreateAllocatorParams>()),
        ("SE_CREATE_CUSTOM_ALLOCATOR_PARAMS_STRUCT_SIZE", size_of::<abi::SE_CreateCustomAllocatorParams>()),
        ("SP_PLATFORM_STRUCT_SIZE", size_of::<abi::SP_Platform>()),
        ("SP_PLATFORM_FNS_STRUCT_SIZE", sizes::PLATFORM_FNS_MACRO),
    ]);
    let include = support::crate_dir().join("include");
    compare("rfc", "stream_executor.h", &include, abi::STRUCTS, &macros);
}

/// The structs that the released layout changed, and those it has from the RFC.
fn released_structs() -> Vec<Struct> {
    let changed = |(name, ..): &&Struct| released::STRUCTS.iter().any(|(known, ..)| known == name);
    let gone = ["SP_Allocator", "SP_AllocatorFns", "SP_CustomAllocator", "SP_CustomAllocatorFns"];
    let gone = [&gone[..], &["SE_CreateAllocatorParams", "SE_CreateCustomAllocatorParams"]].concat();
    let same = abi::STRUCTS.iter().filter(|found| !changed(found) && !gone.contains(&found.0));
    same.chain(released::STRUCTS).copied().collect()
}

fn released_macros() -> Vec<(&'static str, usize)> {
    let mut macros = common_macros();
    macros.extend([
        ("SP_DEVICE_STRUCT_SIZE", size_of::<released::SP_Device>()),
        ("SP_DEVICE_FNS_STRUCT_SIZE", size_of::<released::SP_DeviceFns>()),
        ("SE_CREATE_DEVICE_FNS_PARAMS_STRUCT_SIZE", size_of::<released::SE_CreateDeviceFnsParams>()),
        ("SP_STREAMEXECUTOR_STRUCT_SIZE", size_of::<released::SP_StreamExecutor>()),
        ("SP_PLATFORM_STRUCT_SIZE", sizes::RELEASED_PLATFORM),
        ("SP_PLATFORM_FNS_STRUCT_SIZE", size_of::<released::SP_PlatformFns>()),
    ]);
    macros
}

#[test]
fn the_released_layout_is_what_c_makes_of_it() {
    let include = support::sources().join("released");
    compare("released", "stream_executor.h", &include, &released_structs(), &released_macros());
    if let Some(include) = std::env::var_os("TFRT_TENSORFLOW_INCLUDE") {
        let header = "tensorflow/c/experimental/stream_executor/stream_executor.h";
        compare("tensorflow", header, Path::new(&include), &released_structs(), &released_macros());
    }
}
