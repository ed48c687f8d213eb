//! The options of programs that run on several processes.

use std::{path::PathBuf, time::Duration};

use tfrt_collectives::{
    CHECKPOINT_DIR, WorldOptions,
    context::{DEFAULT_DEADLINE, MAX_DEADLINE},
};
use tfrt_host::{Diagnostic, ResourceContext};

use super::duration;
use crate::{Console, tools::cli::join::join};

#[derive(clap::Args)]
#[command(next_help_heading = "Several processes")]
pub(in crate::tools::cli) struct DistributedArgs {
    /// Rank of this process, instead of the one that the launcher tells
    #[arg(long, value_name = "N", requires = "world_size")]
    rank: Option<u32>,
    /// Number of ranks, instead of the one that the launcher tells
    #[arg(long, value_name = "N", requires = "rank")]
    world_size: Option<u32>,
    /// Fail a collective that has not finished after TIME [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    collective_timeout: Option<Duration>,
    /// Write the program's checkpoints to DIR, and continue from the last one
    #[arg(long, value_name = "DIR")]
    pub(super) checkpoint: Option<PathBuf>,
}

impl DistributedArgs {
    /// Returns how the ranks are found, after this process has joined them. With `verbose`, says
    /// which rank this is.
    pub(super) fn options(&self, verbose: bool, console: &mut Console) -> Result<WorldOptions, Diagnostic> {
        let timeout = self.collective_timeout.map(|timeout| timeout.min(MAX_DEADLINE));
        let options = WorldOptions { rank: self.rank, size: self.world_size, timeout };
        // A program without collectives does not mind what is wrong with the ranks.
        if let Ok(world) = options.world() {
            join(&world, timeout.unwrap_or(DEFAULT_DEADLINE))?;
        }
        if verbose {
            console.complain(options.world()?);
        }
        Ok(options)
    }

    /// Offers the folder of checkpoints to a request.
    pub(super) fn offer(folder: Option<&PathBuf>, resources: &ResourceContext) {
        if let Some(folder) = folder {
            resources.insert(CHECKPOINT_DIR, folder.clone());
        }
    }
}
