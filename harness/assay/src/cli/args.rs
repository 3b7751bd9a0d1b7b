//! Flags. Their help texts are the reference.

use super::context::Asked;
use crate::bench::Part;
use crate::profile::Tier;
use crate::revision::Revision;
use crate::select::Pattern;
use crate::variant::Wire;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Shows what an MCP client does when the wire misbehaves, byte by byte, and proves it.
#[derive(Debug, Parser)]
#[command(name = "mcp-assay", version, max_term_width = 100, after_help = EXITS)]
pub(super) struct Line {
    /// The folder that holds fixtures/ and profiles/ [default: searched upwards from here]
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) root: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXITS: &str = "Exit codes: 0 all as expected · 1 something unexpected · 2 usage, case or profile error · \
                     3 incomplete (nothing run, a runtime missing, a floor not reached)";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run profiles: put clients under their peers, judge, and leave receipts
    Conformance(Conformance),
    /// List the profiles, what each needs, and whether it is here
    Profiles(Output),
    /// Say which rows of a policy are covered, by what; exit 1 if one is not
    Coverage(Coverage),
    /// Show what a case sends and expects, bytes annotated
    Explain(Explain),
    /// Keep a case's scripted peer up at a printed URL, for any client
    Serve(Serve),
    /// Run a recorded variant again, also on its SDK server, or judge its timeline again
    Replay(Replay),
    /// Look at receipts
    Receipts(Receipts),
    /// Be a driver: the built-in client speaks the driver protocol on stdin and stdout
    Driver(Driver),

    /// Measure speed against named baselines, and memory against the stated formula; nothing is gated
    Bench(Bench),
    /// Break the built-in client on purpose, rule by rule, and see that a check notices each time
    Mutants(Mutants),
    /// Check the repository's own rules
    Tidy(Tidy),
}

impl Command {
    /// For whom its result is.
    pub(super) fn format(&self) -> Format {
        let output = match self {
            Self::Conformance(args) => &args.output,
            Self::Profiles(output) => output,
            Self::Coverage(args) => &args.output,
            Self::Replay(args) => &args.output,
            Self::Receipts(args) => match &args.command {
                ReceiptsCommand::Verify { output, .. }
                | ReceiptsCommand::Diff { output, .. }
                | ReceiptsCommand::Show { output, .. } => output,
            },
            Self::Driver(args) => match &args.command {
                Some(DriverCommand::Check { output, .. }) => output,
                None => return Format::Human,
            },
            Self::Bench(args) => &args.output,
            Self::Mutants(args) => &args.output,
            Self::Explain(args) => &args.output,
            Self::Serve(_) | Self::Tidy(_) => return Format::Human,
        };
        output.format
    }

    /// Which command it is, as far as its object depends on that.
    pub(super) fn asked(&self) -> Asked {
        match self {
            Self::Conformance(_) => Asked::Conformance,
            _ => Asked::Other,
        }
    }

    /// Whether everything the command looks at is named on its line: folders of runs.
    pub(super) fn names_its_runs(&self) -> bool {
        match self {
            Self::Receipts(receipts) => match &receipts.command {
                ReceiptsCommand::Verify { run, .. } => !run.is_empty(),
                ReceiptsCommand::Diff { a, .. } => a.as_os_str() != "accepted",
                ReceiptsCommand::Show { .. } => true,
            },
            _ => false,
        }
    }
}

#[derive(Args, Clone, Debug)]
pub(super) struct Conformance {
    /// Profile by name or path; repeatable [default: the profiles marked default]
    #[arg(long = "profile", value_name = "NAME|PATH")]
    pub(super) profiles: Vec<String>,
    /// What the profile declares for so much time, or all of it; other flags narrow it further
    #[arg(long, value_name = "smoke|pr|full", default_value_t)]
    pub(super) tier: Tier,
    /// Only cases whose id matches this glob, or `CASE#VARIANT-GLOB`; repeatable
    #[arg(long = "filter", value_name = "GLOB")]
    pub(super) filters: Vec<String>,
    /// Only this revision
    #[arg(long, value_name = "R")]
    pub(super) revision: Option<Revision>,
    /// Only this wire
    #[arg(long, value_name = "tcp|memory")]
    pub(super) wire: Option<WireArg>,
    /// All variants, or at most 24 a case and wire [default: the tier's, else the profile's]
    #[arg(long, value_name = "sample|full")]
    pub(super) size: Option<SizeArg>,
    /// Job slots [default: by the cores of this machine]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<std::num::NonZeroU16>,
    /// Seed of seeded plans; runs with another one compare only what ran
    #[arg(long, value_name = "N", default_value_t = crate::run::DEFAULT_SEED)]
    pub(super) seed: u64,
    /// Only the I-th of N parts of the cases
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<String>,
    /// Run everything N times; all runs must give one claims root, and the end says whether they do
    #[arg(long, value_name = "N", conflicts_with = "until_failure", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) repeat: Option<u32>,
    /// Run everything again and again until something unexpected is seen
    #[arg(long)]
    pub(super) until_failure: bool,
    /// Multiply the harness's own deadlines, for slow machines
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub(super) deadline_scale: f64,
    /// Where runs go [default: receipts/runs below the root]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Write this run's claims to receipts/accepted; only a whole run can be accepted
    #[arg(long, conflicts_with_all = ["filters", "revision", "wire", "size", "shard", "twin"])]
    pub(super) accept: bool,
    /// A broken should is a failure too
    #[arg(long)]
    pub(super) strict: bool,
    /// For a profile whose client is the built-in one as a process: run everything again with the client in-process
    /// on the same wires; each check of each variant must come out the same (cases that measure the process are left out)
    #[arg(long)]
    pub(super) twin: bool,
    /// Print what would run, with counts per family and an estimate of its time, and stop
    #[arg(long)]
    pub(super) list: bool,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Output {
    /// For people, or one JSON object as stdout's last line
    #[arg(long, value_name = "human|json", default_value = "human")]
    pub(super) format: Format,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Coverage {
    /// The policy whose rows are looked up
    #[arg(long, value_name = "NAME")]
    pub(super) policy: String,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Explain {
    /// A case, or one variant of it
    #[arg(value_name = "CASE[#VARIANT]")]
    pub(super) case: String,
    /// Show this revision's dialogue [default: the case's newest]
    #[arg(long, value_name = "R")]
    pub(super) revision: Option<Revision>,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Serve {
    /// A case, or one variant of it
    #[arg(value_name = "CASE[#VARIANT]")]
    pub(super) case: String,
    /// Speak this revision [default: the case's newest]
    #[arg(long, value_name = "R")]
    pub(super) revision: Option<Revision>,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Replay {
    /// A case's claim in a run (claims/AREA/FAULT.json), or one variant of it
    #[arg(value_name = "RECEIPT[#VARIANT]")]
    pub(super) receipt: String,
    /// Judge the recorded timeline again instead of running the client again
    #[arg(long)]
    pub(super) judge: bool,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Receipts {
    #[command(subcommand)]
    pub(super) command: ReceiptsCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum ReceiptsCommand {
    /// Recompute every hash and judge every timeline again
    Verify {
        /// A run's folder; without one, the newest run of each profile
        run: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Explain how two runs differ (or a run and the accepted claims)
    Diff {
        /// A run's folder, or `accepted`
        a: PathBuf,
        /// A run's folder
        b: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Show what a run holds
    Show {
        /// A run's folder
        run: PathBuf,
        /// Only this case: its groups of variants, and each check that is no pass
        #[arg(value_name = "CASE")]
        case: Option<String>,
        #[command(flatten)]
        output: Output,
    },
}

/// Judges the judge.
///
/// Takes a binary built with the feature `mutants`: in a checkout one is built in target/mutants and run.
#[derive(Args, Clone, Debug)]
pub(super) struct Mutants {
    /// Only mutants (or habits) whose name matches this glob; repeatable
    #[arg(long = "filter", value_name = "GLOB")]
    pub(super) filters: Vec<Pattern>,
    /// Give the client other lawful habits instead, which no check that binds every client may notice
    #[arg(long)]
    pub(super) lawful: bool,
    /// Job slots [default: by the cores of this machine]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<usize>,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Driver {
    /// The policy that binds the client
    #[arg(long, value_name = "NAME", default_value = "exagent")]
    pub(super) policy: String,
    #[command(subcommand)]
    pub(super) command: Option<DriverCommand>,
}

impl Driver {
    /// Whether fixtures are needed: a driver itself runs anywhere.
    pub(super) fn needs_root(&self) -> bool {
        self.command.is_some()
    }
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum DriverCommand {
    /// Say whether a program speaks the driver protocol, one line a problem
    Check {
        /// The program with its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
        command: Vec<OsString>,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Args, Clone, Debug)]
pub(super) struct Bench {
    /// Few rounds, and memory under the default limits only: under a minute
    #[arg(long)]
    pub(super) short: bool,
    /// Only this: a ratio's name, or memory; repeatable
    #[arg(long, value_name = "NAME", value_parser = part)]
    pub(super) only: Vec<Part>,
    #[command(flatten)]
    pub(super) output: Output,
}

fn part(name: &str) -> Result<Part, String> {
    Part::named(name)
        .ok_or_else(|| format!("expected one of {}", Part::NAMED.map(|(name, _)| name).join(", ")))
}

#[derive(Args, Clone, Debug)]
pub(super) struct Tidy {
    /// Write generated files anew instead of complaining that they drifted
    #[arg(long)]
    pub(super) write: bool,
    /// Look into this binary for a client that can be broken; repeatable [default: the release binary, if it was built,
    /// and this program]
    #[arg(long = "binary", value_name = "FILE")]
    pub(super) binaries: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum Format {
    Human,
    Json,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum WireArg {
    Tcp,
    Memory,
}

impl From<WireArg> for Wire {
    fn from(wire: WireArg) -> Self {
        match wire {
            WireArg::Tcp => Self::Tcp,
            WireArg::Memory => Self::Memory,
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum SizeArg {
    Sample,
    Full,
}
