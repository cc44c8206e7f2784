//! The command line; its comments are the manual.

mod runs;

use std::ffi::OsString;
use std::path::PathBuf;

use app::filter::FIELDS;
use app::settings::Format;
use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use ledger::ResourceKind;

/// What GPU training runs really cost, every failed attempt included, tied to the cloud bill.
///
/// Import a bill and what your scheduler recorded, then ask: `ls` for the experiments, `show` for one of them, `why` for
/// the charges behind a figure, `spend` for all money, `check` for whether it all ties. Results go to standard output,
/// everything else to standard error.
///
/// Exit codes: 0 ok, 1 failed, 2 usage, 3 a check did not hold.
pub(crate) use runs::RunRecords;

#[derive(Debug, Parser)]
#[command(name = "trainbill", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Global {
    /// How usage is valued: at public rates, negotiated and amortised, or only what the run added [default: effective]
    #[arg(long, global = true, help_heading = QUESTION, value_parser = PossibleValuesParser::new(["list", "effective", "marginal"]))]
    pub(crate) basis: Option<String>,
    /// Subtract provider credits from the usage that they were given on
    ///
    /// A credit whose row names no resource and no run stays in its own account; see `trainbill spend`.
    #[arg(long, global = true, help_heading = QUESTION)]
    pub(crate) net_of_credits: bool,
    /// Only what a run used itself, or its share of shared cost as well [default: direct]
    ///
    /// This version has no policy for shared cost and refuses `fully-loaded`.
    #[arg(long, global = true, help_heading = QUESTION, value_parser = PossibleValuesParser::new(["direct", "fully-loaded"]))]
    pub(crate) scope: Option<String>,
    /// Usage on or after this UTC day or RFC 3339 instant
    #[arg(long, global = true, help_heading = QUESTION, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Usage before this UTC day or RFC 3339 instant
    #[arg(long, global = true, help_heading = QUESTION, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Which experiments, such as 'team = "vision" and capacity = spot'
    #[arg(long = "where", global = true, help_heading = QUESTION, value_name = "FILTER", long_help = where_help())]
    pub(crate) filter: Option<String>,
    /// Only what is billed in this currency
    ///
    /// Where the store has bills in several, this or `--convert-to` is needed: amounts of two currencies are never added.
    #[arg(long, global = true, help_heading = QUESTION, value_name = "CODE")]
    pub(crate) currency: Option<String>,
    /// Everything in this currency, by the day rates of an imported list
    ///
    /// An amount takes the rate of its UTC day, or the last one published in the 7 days before it; a day without one is
    /// refused. The basis line says by which list and how old its rates are.
    #[arg(long, global = true, help_heading = QUESTION, value_name = "CODE")]
    pub(crate) convert_to: Option<String>,
    /// List of rates to convert by; needed where the store has several
    #[arg(long, global = true, help_heading = QUESTION, value_name = "SOURCE")]
    pub(crate) rates: Option<String>,
    /// Form of the output [default: table]
    #[arg(long, global = true, help_heading = OUTPUT, value_parser = format_values())]
    pub(crate) format: Option<String>,
    /// Show at most so many rows; the rest is summed in a row of its own
    #[arg(short = 'n', long, global = true, help_heading = OUTPUT, value_name = "ROWS", conflicts_with = "all")]
    pub(crate) limit: Option<usize>,
    /// Show all rows; a table shows 25 otherwise
    #[arg(short = 'a', long, global = true, help_heading = OUTPUT)]
    pub(crate) all: bool,
    /// Folder of the store [default: ./.trainbill]
    #[arg(long, global = true, help_heading = STORE, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) store: Option<String>,
    /// Settings file; ./trainbill.toml if there is one
    #[arg(long, global = true, help_heading = STORE, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

const QUESTION: &str = "Question";
const OUTPUT: &str = "Output";
const STORE: &str = "Store";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Bring bills and run records into the store
    ///
    /// An import is taken in whole or not at all. The same import twice changes nothing and says so.
    #[command(subcommand)]
    Import(Import),
    /// Run a program, untouched, and keep a record of the attempt
    ///
    /// The program has its own input, output and exit code; signals are passed on. The record survives a kill of either:
    /// collect it with `import spool`. The program may add marks to the file that `TRAINBILL_MARKS` names.
    Exec(Exec),
    /// List experiments with what they cost, newest first
    Ls,
    /// Show one experiment's bill: its attempts, by resource kind
    Show {
        /// Name of the experiment, or a unique beginning of it
        experiment: String,
    },
    /// Explain a figure by the charges that add up to it
    ///
    /// Prints for each charge its time and cost, when the resource was held and how much of it, the rule that claimed
    /// it, and the version, file and row of the bill that it comes from.
    Why {
        /// Name of the experiment, or a unique beginning of it
        experiment: String,
        /// Resource kind, as a column of `show`
        #[arg(value_parser = PossibleValuesParser::new(ResourceKind::ALL.iter().map(|kind| kind.word())))]
        kind: Option<String>,
        /// One attempt, by its number in `show`
        #[arg(long, value_name = "NUMBER")]
        attempt: Option<u32>,
    },
    /// Show all spend of the bills, by account or by another dimension
    Spend {
        /// Dimension
        #[arg(long, default_value = "account", value_parser = spend_values())]
        by: String,
    },
    /// Compare what was estimated with what the bill says, and tell why they differ
    ///
    /// Of the machines of attempts, by provider and day, experiment or attempt; `why` opens the charges of an attempt. With
    /// `--check` it exits with 3 where a difference is larger than the tolerance. By `invoice` it shows the accounts whose sum
    /// is each month's bill, and by `delivery` what each delivery of a month changed.
    Reconcile {
        /// Dimension
        #[arg(long, default_value = "day", value_parser = PossibleValuesParser::new(["day", "experiment", "attempt", "invoice", "delivery"]))]
        by: String,
        /// Exit with 3 if a difference is outside the tolerance
        #[arg(long)]
        check: bool,
        /// Largest difference, in percent of the bill
        #[arg(long, value_name = "PERCENT", default_value = "5%")]
        tolerance: String,
    },
    /// Tell which attempts, and how much money, lack which field, and what would supply it
    ///
    /// The score of an attempt counts the fields known of those due: a running attempt has no end, a completed one no reason
    /// of failure. It says nothing of how good they are.
    Coverage,
    /// Say by hand to which experiment an attempt belongs
    ///
    /// It outranks what all records say, whenever they are imported; the latest decision holds.
    Link {
        /// The attempt: its key, its id, or its number in an experiment, such as lr-sweep#2
        attempt: String,
        /// The experiment
        #[arg(required_unless_present = "undo")]
        experiment: Option<String>,
        /// Take an earlier decision back, so that records decide again
        #[arg(long, conflicts_with = "experiment")]
        undo: bool,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Who decides
        #[arg(long, value_name = "NAME", env = "USER", hide_env_values = true, default_value = "unknown")]
        by: String,
    },
    /// List price lists and how old they are, or the prices of a machine type or SKU
    Prices {
        /// Machine type or SKU
        item: Option<String>,
    },
    /// Write the current bills, or the runs, in an open form
    #[command(subcommand)]
    Export(Export),
    /// Test that every account still adds up to the bill
    ///
    /// Exits with 3 if a check does not hold.
    Check,
    /// Query the store with SQL
    ///
    /// Tables: `charges`, `postings`, `attempts`, `experiments`. Statements that write are refused.
    Sql {
        /// The statement; `-` reads it from standard input
        statement: String,
    },
    /// Make a small company to look around in
    ///
    /// Writes real export files from a seed and imports them by the normal readers. The same seed gives the same company.
    Demo {
        /// Folder of exports and store
        #[arg(long, value_name = "FOLDER", default_value = "./trainbill-demo", value_hint = ValueHint::DirPath)]
        dir: PathBuf,
        /// Seed
        #[arg(long, default_value_t = 7)]
        seed: u64,
        /// Do not serve the web pages afterwards (this version has none)
        #[arg(long)]
        no_serve: bool,
    },
    /// Show the settings
    #[command(subcommand)]
    Config(Config),
    /// Print a completion script for a shell
    Completions {
        /// Shell
        shell: Shell,
    },
    /// Print the manual page
    Man {
        /// Print it as Markdown
        #[arg(long, hide = true)]
        markdown: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// AWS CUR 2.0 or legacy Cost and Usage Report
    ///
    /// A billing period that arrives again replaces the earlier delivery whole; the earlier one stays in the store.
    AwsCur(Bill),
    /// Azure cost export, actual or amortised
    AzureCost(Bill),
    /// FOCUS 1.0 to 1.4, of any provider
    Focus(Bill),
    /// Google Cloud billing export, standard or detailed
    ///
    /// JSON lines, Parquet or CSV. Rows that were exported after those in the store are added to them; the same export
    /// from its start takes their place.
    GcpBilling(Bill),
    /// AWS price list: an offer file, or `GetProducts` answers
    ///
    /// The newest list of a source is in force; what nobody can mean, such as a price of 0, is kept apart.
    AwsOffer(PriceFile),
    /// AWS spot price history: `describe-spot-price-history` answers as JSON
    ///
    /// Estimates of spot instances use the price of their time until the bill is here. Fetch the zone of the runs.
    AwsSpotHistory(PriceFile),
    /// Google Cloud billing catalogue: `skus` answers as JSON
    GcpCatalogue(PriceFile),
    /// SkyPilot catalogue as CSV
    Skypilot(PriceFile),
    /// A table of prices of your own, CSV or TOML
    PriceTable(PriceFile),
    /// Exchange rates by day: the European Central Bank's reference rates, or a table of your own
    ///
    /// CSV. `--convert-to` takes them; the newest list of a source is in force, so a list must have all days that are asked
    /// for.
    Rates {
        /// File
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Name of the source [default: `ecb` for reference rates, else `rates`]
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
    },
    #[command(flatten)]
    Runs(RunRecords),
}

/// What `exec` takes.
#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// The experiment [default: `TRAINBILL_EXPERIMENT`, else one made of repository, script and arguments]
    #[arg(long, value_name = "NAME")]
    pub(crate) experiment: Option<String>,
    /// Folder of records [default: `TRAINBILL_SPOOL`, else `trainbill/spool` in the user's folder for state]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) spool: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

/// What every import of a bill takes.
#[derive(Debug, Args)]
pub(crate) struct Bill {
    /// A file, a folder, or an `s3://` or `gs://` URL
    pub(crate) place: String,
    /// Name of the source [default: the command's name and the payer]
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Read all of it again, and take a delivery even if it lacks days that the current one has
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// FOCUS 1.2, typed Parquet or CSV by the file's ending
    ///
    /// A row is a charge, with what FOCUS has no place for in `x_` columns; or, with `--allocated`, a part of charges in
    /// the account where it came to rest. The sums are those of the bills under every basis.
    Focus {
        /// File to write
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Rows by attempt and account instead of by charge
        #[arg(long)]
        allocated: bool,
        /// Write over a file that is there
        #[arg(long)]
        replace: bool,
    },
    /// The attempts as OpenLineage run events, one JSON object a line
    ///
    /// In the form that `import openlineage` reads. A catalogue of lineage takes the lines by `POST /api/v1/lineage`.
    Openlineage {
        /// File to write
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Write over a file that is there
        #[arg(long)]
        replace: bool,
    },
}

/// What every import of a price list takes.
#[derive(Debug, Args)]
pub(crate) struct PriceFile {
    /// File
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Name of the source [default: the command's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Provider, for lists that do not tell it, such as aws
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Day since which prices hold that carry no date
    #[arg(long, value_name = "DAY")]
    pub(crate) since_day: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show every setting with its value in force
    Show {
        /// Also show where each value comes from
        #[arg(long, action = ArgAction::SetTrue)]
        origin: bool,
    },
}

fn format_values() -> PossibleValuesParser {
    // Parquet is understood in order to be refused with a reason and what to take instead.
    let parquet = clap::builder::PossibleValue::new("parquet").hide(true);
    let formats = Format::ALL.iter().map(|format| clap::builder::PossibleValue::new(format.word()));
    PossibleValuesParser::new(formats.chain([parquet]))
}

fn spend_values() -> PossibleValuesParser {
    PossibleValuesParser::new(app::SpendBy::ALL.map(app::SpendBy::word))
}

fn where_help() -> String {
    let mut help = String::from(
        "Which experiments, such as 'team = \"vision\" and capacity = spot'\n\n\
         Operators: = != < <= > >= in (…) like contains, joined by and, or, not and parentheses. `like` takes % for any \
         text and _ for any character. A date stands for its whole UTC day. A field with several values matches if one \
         of them does; a field without a value is never equal to anything.\n\nFields:",
    );
    for field in FIELDS {
        help.push_str(&format!("\n  {}: {}", field.name, field.meaning));
        let words = field.words();
        if !words.is_empty() {
            help.push_str(&format!(" ({})", words.join(", ")));
        }
    }
    help
}
