//! Any bytes as the files of a SavedModel: the model, the index of its checkpoint, and the
//! checkpoint's data.

#![no_main]

use std::{fs, path::PathBuf, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use tfrt_compiler::import::{ImportOptions, tensorflow};
use tfrt_fuzz::{EVALUATOR, compile, saved_model_parts};

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("tfrt-fuzz-saved-model-{}", std::process::id()));
    fs::create_dir_all(folder.join("variables")).expect("a folder for the model");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let Some([model, index, data]) = saved_model_parts(bytes) else { return };
    let files = [
        ("saved_model.pb", model),
        ("variables/variables.index", index),
        ("variables/variables.data-00000-of-00001", data),
    ];
    for (name, contents) in files {
        fs::write(FOLDER.join(name), contents).expect("the file can be written");
    }
    compile(tensorflow::read(&FOLDER, &ImportOptions::default(), &EVALUATOR));
});
