//! A cluster of Slurm of one node with accounting, all on 127.0.0.1 and in one folder, run by whoever runs the check.
//!
//! Its two accelerators are other devices that every machine has, so that the scheduler hands out and counts what is not
//! here. The options are those of slurm.schedmd.com/slurm.conf.html, …/slurmdbd.conf.html and …/gres.conf.html.

use std::cell::RefCell;
use std::fs::{File, Permissions};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::process::{Process, free_ports, output};
use super::scratch::Scratch;

/// Name of the cluster.
pub(super) const CLUSTER: &str = "lab";

/// Debian's packages of what is started here.
const PACKAGES: &str = "slurm-wlm, slurmdbd, munge and mariadb-server";

/// Seconds that a daemon may take until it answers.
const TO_START: u32 = 90;

/// A running cluster; its jobs and daemons end with this value.
pub(super) struct Slurm<'a> {
    scratch: &'a Scratch,
    /// Its node.
    pub(super) node: String,
    /// In the order in which they were started.
    daemons: RefCell<Vec<Process>>,
}

/// A batch job.
pub(super) struct Job<'a> {
    pub(super) name: &'a str,
    /// Tasks, each with an accelerator.
    pub(super) tasks: u32,
    /// What its shell runs.
    pub(super) script: &'a str,
}

impl<'a> Slurm<'a> {
    /// Starts all of it, and waits until the node is idle.
    pub(super) fn start(scratch: &'a Scratch) -> Result<Self, String> {
        let version = output(scratch.command("slurmctld").arg("-V"))
            .map_err(|error| format!("{error}\ninstall {PACKAGES}, as `make test-live` does"))?;
        eprintln!("{} in {}", version.trim(), scratch.folder().display());
        // The name that the daemons know themselves by, without a domain.
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let node = host.split('.').next().unwrap_or(&host).to_owned();
        let mut slurm = Self { scratch, node, daemons: RefCell::default() };
        let [database, accounting, controller, worker] = free_ports()?;
        slurm.configure(Ports { database, accounting, controller, worker })?;
        slurm.authenticate()?;
        slurm.account(database)?;
        slurm.schedule()?;
        Ok(slurm)
    }

    /// A command that knows the cluster.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.scratch.command(program);
        command.env("SLURM_CONF", self.scratch.path("slurm.conf"));
        command
    }

    /// Runs a program of Slurm's and gives what it printed.
    pub(super) fn ask(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        output(self.command(program).args(arguments))
    }

    /// Hands in a job with these variables and gives its id.
    pub(super) fn submit(&self, job: &Job<'_>, variables: &[(&str, &str)]) -> Result<String, String> {
        let Job { name, tasks, script } = job;
        let mut command = self.command("sbatch");
        command.envs(variables.iter().copied());
        command.args([
            "--parsable",
            "--requeue",
            "--open-mode=append",
            "--output=log/job-%x",
            "--job-name",
            name,
        ]);
        command.args([
            format!("--ntasks={tasks}"),
            format!("--gres=gpu:{tasks}"),
            format!("--wrap={script}"),
        ]);
        Ok(output(&mut command)?.trim().to_owned())
    }

    fn configure(&self, ports: Ports) -> Result<(), String> {
        let (folder, user) = (self.scratch.folder(), output(self.scratch.command("id").arg("-un"))?);
        let of = Site { folder, node: &self.node, user: user.trim(), ports };
        for name in ["state", "spool", "gpu-jobs", "database"] {
            std::fs::create_dir_all(folder.join(name)).map_err(|error| error.to_string())?;
        }
        for (name, device) in [("gpu0", "/dev/null"), ("gpu1", "/dev/zero")] {
            symlink(device, folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
        }
        self.scratch.write("slurm.conf", &of.cluster())?;
        self.scratch.write("gres.conf", &of.accelerators())?;
        let accounting = self.scratch.write("slurmdbd.conf", &of.accounting())?;
        permit(&accounting, 0o600)?;
        for (name, text) in of.job_mapping() {
            permit(&self.scratch.write(name, &text)?, 0o755)?;
        }
        let mut key = Vec::new();
        let random = File::open("/dev/urandom").and_then(|random| random.take(1024).read_to_end(&mut key));
        let path = self.scratch.path("munge.key");
        random.and_then(|_| std::fs::write(&path, key)).map_err(|error| error.to_string())?;
        permit(&path, 0o400)
    }

    fn authenticate(&mut self) -> Result<(), String> {
        let mut munged = self.scratch.command("munged");
        munged.args(["--foreground", "--force"]);
        for (option, name) in [
            ("key-file", "munge.key"),
            ("socket", "munge.sock"),
            ("pid-file", "munged.pid"),
            ("log-file", "log/munged.log"),
            ("seed-file", "munge.seed"),
        ] {
            munged.arg(format!("--{option}={}", self.scratch.path(name).display()));
        }
        let socket = self.scratch.path("munge.sock");
        self.daemon("munged", munged, || Ok(socket.exists()))
    }

    fn account(&mut self, port: u16) -> Result<(), String> {
        let (scratch, user) = (self.scratch, output(self.scratch.command("id").arg("-un"))?);
        let own = [
            "--no-defaults".to_owned(),
            format!("--user={}", user.trim()),
            format!("--datadir={}", scratch.path("database").display()),
        ];
        let mut install = scratch.command("mariadb-install-db");
        output(install.args(&own).args(["--auth-root-authentication-method=normal", "--skip-test-db"]))?;
        let socket = format!("--socket={}", scratch.path("database.sock").display());
        let mut mariadbd = scratch.command("mariadbd");
        mariadbd.args(&own).args([&socket, &format!("--port={port}"), "--bind-address=127.0.0.1"]);
        mariadbd.arg(format!("--pid-file={}", scratch.path("mariadbd.pid").display()));
        let say = |statement: &str| {
            let mut mariadb = scratch.command("mariadb");
            output(mariadb.args(["--no-defaults", "--user=root", &socket, "--execute", statement]))
        };
        self.daemon("mariadbd", mariadbd, || Ok(say("select 1").is_ok()))?;
        say(&format!(
            "create database slurm_acct_db; create user slurm@'127.0.0.1' identified by '{PASSWORD}'; \
             grant all on slurm_acct_db.* to slurm@'127.0.0.1'"
        ))?;
        let mut slurmdbd = self.command("slurmdbd");
        slurmdbd.arg("-D");
        let mut list = self.command("sacctmgr");
        list.args(["--noheader", "list", "cluster"]);
        let mut answers = move || Ok(output(&mut list).is_ok());
        self.daemon("slurmdbd", slurmdbd, &mut answers)?;
        self.ask("sacctmgr", &["--immediate", "add", "cluster", CLUSTER]).map(|_| ())
    }

    fn schedule(&mut self) -> Result<(), String> {
        for name in ["slurmctld", "slurmd"] {
            let mut daemon = self.command(name);
            daemon.arg("-D");
            self.daemons.get_mut().push(self.scratch.start(name, daemon)?);
        }
        self.until("an idle node", TO_START, || {
            let states = self.ask("sinfo", &["--noheader", "--format=%T"]).unwrap_or_default();
            Ok((states.trim() == "idle").then_some(()))
        })
    }

    /// Waits for something of the cluster, as long as it runs.
    pub(super) fn until<T>(
        &self,
        what: &str,
        seconds: u32,
        mut ask: impl FnMut() -> Result<Option<T>, String>,
    ) -> Result<T, String> {
        self.scratch.patience.until(what, seconds, || {
            self.runs()?;
            ask()
        })
    }

    fn runs(&self) -> Result<(), String> {
        self.daemons.borrow_mut().iter_mut().try_for_each(Process::runs)
    }

    /// Starts a daemon and waits until it answers.
    fn daemon(
        &mut self,
        name: &'static str,
        command: Command,
        mut answers: impl FnMut() -> Result<bool, String>,
    ) -> Result<(), String> {
        let mut daemon = self.scratch.start(name, command)?;
        self.scratch.patience.until(&format!("{name} to answer"), TO_START, || {
            daemon.runs()?;
            Ok(answers()?.then_some(()))
        })?;
        self.daemons.get_mut().push(daemon);
        Ok(())
    }
}

impl Drop for Slurm<'_> {
    fn drop(&mut self) {
        // The processes of a job are not the daemons' own: they outlive them.
        if self.runs().is_ok() {
            let jobs = || self.ask("squeue", &["--noheader", "--all", "--format=%A"]).unwrap_or_default();
            for job in jobs().lines() {
                let _ = self.ask("scancel", &[job.trim()]);
            }
            let _ = self.until("the end of all jobs", 40, || Ok(jobs().trim().is_empty().then_some(())));
        }
        while let Some(daemon) = self.daemons.get_mut().pop() {
            drop(daemon);
        }
    }
}

/// Password of the accounting's own database, which only this machine reaches.
const PASSWORD: &str = "slurm";

/// Where the daemons listen.
#[derive(Clone, Copy)]
struct Ports {
    database: u16,
    accounting: u16,
    controller: u16,
    worker: u16,
}

/// What the configuration depends on.
struct Site<'a> {
    folder: &'a Path,
    node: &'a str,
    user: &'a str,
    ports: Ports,
}

impl Site<'_> {
    fn cluster(&self) -> String {
        let Self { node, user, ports, .. } = self;
        let Ports { accounting, controller, worker, .. } = ports;
        let folder = self.folder.display();
        format!(
            "ClusterName={CLUSTER}
SlurmctldHost={node}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={worker}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
# Of the machine as it is, without control groups.
ProctrackType=proctrack/linuxproc
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=5
# `try again`, of sysexits.h.
RequeueExit=75
Prolog={folder}/prolog
Epilog={folder}/epilog
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={accounting}
AccountingStoragePass={folder}/munge.sock
AccountingStorageTRES=gres/gpu,gres/gpu:a100
AccountingStoreFlags=job_comment
GresTypes=gpu
NodeName={node} NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 Gres=gpu:a100:2 State=UNKNOWN
PartitionName=gpu Nodes={node} Default=YES MaxTime=INFINITE State=UP
"
        )
    }

    fn accelerators(&self) -> String {
        format!("NodeName={} Name=gpu Type=a100 File={}/gpu[0-1]\n", self.node, self.folder.display())
    }

    fn accounting(&self) -> String {
        let Self { node, user, ports, .. } = self;
        let Ports { database, accounting, .. } = ports;
        let folder = self.folder.display();
        format!(
            "AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
DbdHost={node}
DbdAddr=127.0.0.1
DbdPort={accounting}
SlurmUser={user}
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=slurm
StoragePass={PASSWORD}
"
        )
    }

    /// What tells DCGM's exporter which job holds which accelerator: a file for each, with the jobs as lines
    /// (docs.nvidia.com/datacenter/dcgm, `--hpc-job-mapping-dir`).
    fn job_mapping(&self) -> [(&'static str, String); 2] {
        let each = format!(
            "#!/bin/sh\nIFS=,\nfor gpu in $SLURM_JOB_GPUS; do file={}/gpu-jobs/$gpu; ",
            self.folder.display()
        );
        [
            ("prolog", format!("{each}echo \"$SLURM_JOB_ID\" > \"$file\"; done\n")),
            ("epilog", format!("{each}rm -f \"$file\"; done\n")),
        ]
    }
}

fn permit(path: &Path, mode: u32) -> Result<(), String> {
    let permitted = std::fs::set_permissions(path, Permissions::from_mode(mode));
    permitted.map_err(|error| format!("{}: {error}", path.display()))
}
