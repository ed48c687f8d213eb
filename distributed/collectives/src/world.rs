//! The rank of this process, from its command line or from what launched it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tfrt_host::{Diagnostic, ErrorCode};

use crate::cluster::ClusterConfig;
use crate::context::{DEFAULT_DEADLINE, DistributedContext};
use crate::engine::Engine;
use crate::mpi::MpiEngine;

/// The rank of this process among those that were launched together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// The rank.
    pub rank: u32,
    /// The number of ranks.
    pub size: u32,
    /// The rank among the processes of this host, if the launcher tells it.
    pub local_rank: Option<u32>,
    /// What told them, such as `RANK and WORLD_SIZE`.
    pub source: &'static str,
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {} (from {})", self.rank, self.size, self.source)
    }
}

/// Variables that tell the rank, the number of ranks and the rank within the host.
struct Source {
    name: &'static str,
    rank: &'static str,
    size: &'static str,
    local_rank: &'static str,
    /// Whether one variable without the other is an error.
    is_strict: bool,
}

/// In this order: the first that is there is used.
const SOURCES: [Source; 4] = [
    Source {
        name: "RANK and WORLD_SIZE",
        rank: "RANK",
        size: "WORLD_SIZE",
        local_rank: "LOCAL_RANK",
        is_strict: true,
    },
    Source {
        name: "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE",
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        is_strict: true,
    },
    Source {
        name: "PMI_RANK and PMI_SIZE",
        rank: "PMI_RANK",
        size: "PMI_SIZE",
        local_rank: "MPI_LOCALRANKID",
        is_strict: true,
    },
    // A shell of a Slurm job has the number of tasks, but is none of them.
    Source {
        name: SLURM,
        rank: "SLURM_PROCID",
        size: "SLURM_NTASKS",
        local_rank: "SLURM_LOCALID",
        is_strict: false,
    },
];
const SLURM: &str = "SLURM_PROCID and SLURM_NTASKS";

fn invalid(message: String) -> Diagnostic {
    Diagnostic::invalid_argument(message)
}

fn number(name: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<Option<u32>, Diagnostic> {
    let Some(text) = variable(name) else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| invalid(format!("variable {name} is '{text}', not a number")))
}

impl Source {
    fn read(&self, variable: &impl Fn(&str) -> Option<String>) -> Result<Option<World>, Diagnostic> {
        let (rank, size) = (number(self.rank, variable)?, number(self.size, variable)?);
        match (rank, size) {
            (Some(rank), Some(size)) => {
                let local_rank = number(self.local_rank, variable)?;
                World { rank, size, local_rank, source: self.name }.checked().map(Some)
            }
            (None, None) => Ok(None),
            _ if !self.is_strict => Ok(None),
            (Some(_), None) => {
                Err(invalid(format!("variable {} is set, but {} is not", self.rank, self.size)))
            }
            (None, Some(_)) => {
                Err(invalid(format!("variable {} is set, but {} is not", self.size, self.rank)))
            }
        }
    }
}

impl World {
    fn checked(self) -> Result<Self, Diagnostic> {
        if self.rank < self.size {
            return Ok(self);
        }
        Err(invalid(format!("{} say that this is rank {} of {}", self.source, self.rank, self.size)))
    }

    /// Finds the rank of this process. Options win over variables. Without either, the process is
    /// alone.
    ///
    /// Under `mpirun` in a Slurm job, Slurm's variables describe the job's first step, and are
    /// ignored.
    ///
    /// # Errors
    /// InvalidArgument if the first source that is there is incomplete or not a number, or if
    /// another one contradicts it.
    pub fn detect(
        (rank, size): (Option<u32>, Option<u32>),
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Diagnostic> {
        let options = match (rank, size) {
            (Some(rank), Some(size)) => {
                let source = "--rank and --world-size";
                Some(Self { rank, size, local_rank: None, source }.checked()?)
            }
            (None, None) => None,
            _ => return Err(invalid("--rank and --world-size must be given together".to_owned())),
        };
        let mut found: Vec<Self> = options.into_iter().collect();
        for source in &SOURCES {
            if source.name != SLURM || found.is_empty() {
                found.extend(source.read(&variable)?);
            }
        }
        let mut found = found.into_iter();
        let Some(mut first) = found.next() else {
            return Ok(Self { rank: 0, size: 1, local_rank: None, source: "no launcher" });
        };
        for other in found {
            if (other.rank, other.size) != (first.rank, first.size) {
                return Err(invalid(format!(
                    "the launchers contradict each other: this is {first}, but {other}"
                )));
            }
            first.local_rank = first.local_rank.or(other.local_rank);
        }
        Ok(first)
    }
}

/// How a process finds the other ranks of its job.
#[derive(Clone, Debug, Default)]
pub struct WorldOptions {
    /// The rank, instead of the launcher's.
    pub rank: Option<u32>,
    /// The number of ranks, instead of the launcher's.
    pub size: Option<u32>,
    /// How long a collective may take. The default is [`DEFAULT_DEADLINE`].
    pub timeout: Option<Duration>,
}

impl WorldOptions {
    /// Finds the rank of this process.
    ///
    /// # Errors
    /// The errors of [`World::detect`].
    pub fn world(&self) -> Result<World, Diagnostic> {
        World::detect((self.rank, self.size), |name| std::env::var(name).ok())
    }

    /// Creates the context of this process: that of a job named `worker` with a task for each rank.
    /// Loads MPI if there is more than one.
    ///
    /// # Errors
    /// The errors of [`World::detect`] and of [`MpiEngine::open`]; InvalidArgument if MPI has other
    /// ranks.
    pub fn open(&self) -> Result<DistributedContext, Diagnostic> {
        let world = self.world()?;
        let timeout = self.timeout.unwrap_or(DEFAULT_DEADLINE);
        let own = format!("/job:worker/task:{}", world.rank);
        let builder =
            DistributedContext::builder(&ClusterConfig::workers(world.size), &own)?.deadline(timeout);
        if world.size == 1 {
            return Ok(builder.build());
        }
        let engine = MpiEngine::open(Vec::new(), timeout)?;
        if engine.size() == 1 {
            let error = Diagnostic::new(
                ErrorCode::FailedPrecondition,
                format!("this process is {world}, but MPI knows of no other rank"),
            );
            return Err(error.note(
                "start the ranks with mpirun, 'tfrt launch', srun --mpi=pmix or, on one host, torchrun with mpirun in PATH",
            ));
        }
        let note = |error: Diagnostic| error.note(format!("the cluster is from {}", world.source));
        Ok(builder.engine(Arc::new(engine)).map_err(note)?.build())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(variables: &[(&str, &str)]) -> Result<World, Diagnostic> {
        detect_with((None, None), variables)
    }

    fn detect_with(
        options: (Option<u32>, Option<u32>),
        variables: &[(&str, &str)],
    ) -> Result<World, Diagnostic> {
        World::detect(options, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_first_source_wins() {
        assert_eq!(detect(&[]).unwrap().to_string(), "rank 0 of 1 (from no launcher)");
        let plain = [("RANK", "1"), ("WORLD_SIZE", "4"), ("LOCAL_RANK", "1")];
        let world = detect(&plain).unwrap();
        assert_eq!((world.rank, world.size, world.local_rank), (1, 4, Some(1)));
        let ompi = [
            ("OMPI_COMM_WORLD_RANK", "2"),
            ("OMPI_COMM_WORLD_SIZE", "3"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "0"),
        ];
        assert_eq!(
            detect(&ompi).unwrap().to_string(),
            "rank 2 of 3 (from OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE)"
        );
        assert_eq!(detect(&[("PMI_RANK", "1"), ("PMI_SIZE", "2")]).unwrap().rank, 1);
        assert_eq!(detect(&[("SLURM_PROCID", "3"), ("SLURM_NTASKS", "4")]).unwrap().rank, 3);
        let agreeing =
            [plain.as_slice(), &[("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")]].concat();
        assert_eq!(detect(&agreeing).unwrap().source, "RANK and WORLD_SIZE");
        let world = detect_with((Some(1), Some(4)), &agreeing).unwrap();
        assert_eq!((world.source, world.local_rank), ("--rank and --world-size", Some(1)));
    }

    #[test]
    fn slurm_is_ignored_beside_another_launcher() {
        let variables = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        assert_eq!(detect(&variables).unwrap().size, 2);
        assert_eq!(detect(&[("SLURM_NTASKS", "4")]).unwrap().size, 1);
    }

    #[test]
    fn contradictions_are_errors() {
        let message = |variables: &[(&str, &str)]| detect(variables).unwrap_err().message;
        assert_eq!(message(&[("RANK", "1")]), "variable RANK is set, but WORLD_SIZE is not");
        assert_eq!(message(&[("PMI_SIZE", "1")]), "variable PMI_SIZE is set, but PMI_RANK is not");
        assert_eq!(message(&[("RANK", "x"), ("WORLD_SIZE", "1")]), "variable RANK is 'x', not a number");
        assert_eq!(
            message(&[("RANK", "4"), ("WORLD_SIZE", "4")]),
            "RANK and WORLD_SIZE say that this is rank 4 of 4"
        );
        assert_eq!(
            message(&[("RANK", "0"), ("WORLD_SIZE", "4"), ("PMI_RANK", "1"), ("PMI_SIZE", "4")]),
            "the launchers contradict each other: this is rank 0 of 4 (from RANK and WORLD_SIZE), but rank 1 of 4 (from \
             PMI_RANK and PMI_SIZE)"
        );
        let error = detect_with((Some(1), None), &[]).unwrap_err();
        assert_eq!(error.message, "--rank and --world-size must be given together");
        assert!(detect_with((Some(0), Some(2)), &[("RANK", "1"), ("WORLD_SIZE", "2")]).is_err());
    }
}
