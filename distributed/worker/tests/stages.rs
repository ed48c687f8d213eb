//! ResNet-50 in stages on several workers, beside the same network in one process.
//! `TFRT_TEST_WORKERS='1 2 4 8'` asks for more.

mod cluster;

use std::fs;

use cluster::Workers;
use tfrt_models::resnet50::{Form, ProgramOptions, pipeline, program};

const IMAGE: [&str; 2] = ["-i", "40x50x3xui8=77"];

#[test]
fn stages_on_workers_give_the_scores_of_one_process() {
    let options = ProgramOptions::new(Form::Host).with_extent(64);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resnet50.mlir");
    let counts = std::env::var("TFRT_TEST_WORKERS").unwrap_or_else(|_| "2".to_owned());
    for count in counts.split_whitespace().map(|count| count.parse().unwrap()) {
        let workers = Workers::start(count, "");
        fs::write(&file, program(&options).unwrap()).unwrap();
        let expected = workers.run(&file, &IMAGE);
        assert!(!expected.contains("error"), "{expected}");
        fs::write(&file, pipeline(&options, count).unwrap()).unwrap();
        assert_eq!(workers.run(&file, &IMAGE), expected, "{count} workers");
    }
}
