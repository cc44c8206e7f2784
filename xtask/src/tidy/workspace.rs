//! What the rules look at: the crates with their dependencies, and the text of the tree.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::scan;
use crate::generate;

/// The tree as the rules see it; paths are relative to its root and use `/`.
#[derive(Debug, Default)]
pub struct Workspace {
    /// The crates of the workspace.
    pub members: Vec<Member>,
    /// Every Rust source file.
    pub sources: Vec<SourceFile>,
    /// Every file under the source folders, of any type.
    pub paths: Vec<String>,
    /// Documents and settings by path; one that does not exist is absent.
    pub texts: BTreeMap<String, String>,
}

/// One crate.
#[derive(Debug, Clone, Default)]
pub struct Member {
    /// Its name, which is also its folder.
    pub name: String,
    /// The path of its `Cargo.toml`.
    pub manifest: String,
    /// Whether a plain `cargo test` builds it.
    pub is_default: bool,
    /// What it names.
    pub dependencies: Vec<Dependency>,
}

/// A crate that another crate names.
#[derive(Debug, Clone)]
pub struct Dependency {
    /// The name in the registry or workspace, whatever it is renamed to.
    pub name: String,
    /// Where it is named.
    pub kind: DependencyKind,
}

/// The table of a `Cargo.toml` in which a dependency stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyKind {
    /// `[dependencies]` or `[build-dependencies]`: it is part of what is shipped.
    Shipped,
    /// `[dev-dependencies]`.
    Dev,
}

/// A Rust source file.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its text with comments, strings and character literals blanked out, line for line.
    pub code: String,
}

/// Why the tree cannot be read.
#[derive(Debug)]
pub enum WorkspaceError {
    /// A file or folder.
    Unreadable(PathBuf, io::Error),
    /// `cargo metadata` failed.
    Metadata(cargo_metadata::Error),
}

impl std::fmt::Display for WorkspaceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "cannot read `{}`: {error}", path.display()),
            Self::Metadata(error) => write!(f, "cannot read the workspace: {error}"),
        }
    }
}

impl std::error::Error for WorkspaceError {}

/// The folders that hold sources.
const SOURCE_FOLDERS: &[&str] = &["crates", "xtask"];
/// Folders in them that hold what was built or downloaded.
const SKIPPED_FOLDERS: &[&str] = &["target", "node_modules"];
/// Texts other than sources that a rule reads, besides the manifest and settings of each crate.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "clippy.toml"];

impl Workspace {
    /// Reads the tree below `root`.
    ///
    /// # Errors
    /// When a file cannot be read or cargo does not understand the workspace.
    pub fn read(root: &Path) -> Result<Self, WorkspaceError> {
        let mut workspace = Self { members: members(root)?, ..Self::default() };
        for folder in SOURCE_FOLDERS {
            list(root, folder, &mut workspace.paths)?;
        }
        workspace.paths.sort();
        for path in &workspace.paths {
            if path.ends_with(".rs") {
                workspace.sources.push(SourceFile::new(path, &read(&root.join(path))?));
            }
        }
        let of_crates = workspace.members.iter().flat_map(|member| {
            let settings = member.manifest.replace("Cargo.toml", "clippy.toml");
            [member.manifest.clone(), settings]
        });
        let documents = DOCUMENTS.iter().chain(&generate::PATHS).map(ToString::to_string);
        for path in documents.chain(of_crates) {
            if root.join(&path).is_file() {
                let text = read(&root.join(&path))?;
                workspace.texts.insert(path, text);
            }
        }
        Ok(workspace)
    }

    /// The text of a document or setting; an absent one reads as empty.
    pub fn text(&self, path: &str) -> &str {
        self.texts.get(path).map_or("", String::as_str)
    }
}

impl SourceFile {
    /// A file of that path and text.
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), code: scan::code_only(text) }
    }
}

fn read(path: &Path) -> Result<String, WorkspaceError> {
    std::fs::read_to_string(path).map_err(|error| WorkspaceError::Unreadable(path.to_owned(), error))
}

/// Adds every file below `folder` to `paths`.
fn list(root: &Path, folder: &str, paths: &mut Vec<String>) -> Result<(), WorkspaceError> {
    let unreadable = |error| WorkspaceError::Unreadable(root.join(folder), error);
    for entry in std::fs::read_dir(root.join(folder)).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        if !entry.file_type().map_err(unreadable)?.is_dir() {
            paths.push(path);
        } else if !SKIPPED_FOLDERS.contains(&name.as_str()) {
            list(root, &path, paths)?;
        }
    }
    Ok(())
}

fn members(root: &Path) -> Result<Vec<Member>, WorkspaceError> {
    let mut command = cargo_metadata::MetadataCommand::new();
    command.manifest_path(root.join("Cargo.toml")).no_deps();
    let metadata = command.exec().map_err(WorkspaceError::Metadata)?;
    let members = metadata.workspace_packages().into_iter().map(|package| Member {
        name: package.name.to_string(),
        manifest: relative(package.manifest_path.as_str(), metadata.workspace_root.as_str()),
        is_default: metadata.workspace_default_members.contains(&package.id),
        dependencies: package.dependencies.iter().map(dependency).collect(),
    });
    Ok(members.collect())
}

fn relative(path: &str, root: &str) -> String {
    path.strip_prefix(root).unwrap_or(path).trim_start_matches(['/', '\\']).replace('\\', "/")
}

fn dependency(dependency: &cargo_metadata::Dependency) -> Dependency {
    let kind = match dependency.kind {
        cargo_metadata::DependencyKind::Development => DependencyKind::Dev,
        _ => DependencyKind::Shipped,
    };
    Dependency { name: dependency.name.clone(), kind }
}

/// A crate for the negative test of a rule: `[dependencies]`, then `[dev-dependencies]`.
#[cfg(test)]
pub(super) fn planted(name: &str, shipped: &[&str], dev: &[&str]) -> Member {
    let of = |names: &[&str], kind| -> Vec<Dependency> {
        names.iter().map(|name| Dependency { name: (*name).to_owned(), kind }).collect()
    };
    let dependencies = [of(shipped, DependencyKind::Shipped), of(dev, DependencyKind::Dev)].concat();
    Member {
        name: name.to_owned(),
        manifest: format!("crates/{name}/Cargo.toml"),
        is_default: true,
        dependencies,
    }
}
