//! Agents that work in a tree of files of their own, where a workflow says `isolation: "worktree"`.

use isolith_agents::{Agent, AgentError, Agents, Progress, Reply, Request, Step};
use isolith_core::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::process::Command;

/// Agents, each in a worktree of its own where that is asked for.
pub(super) struct InWorktrees {
    pub(super) agents: Agents,
    /// Where the repository is, if this is one.
    pub(super) folder: PathBuf,
}

impl Agent for InWorktrees {
    fn run(&self, request: Request, progress: Arc<dyn Progress>) -> BoxFuture<'_, Result<Reply, AgentError>> {
        Box::pin(async move {
            if request.isolation.as_deref() != Some("worktree") {
                return self.agents.run(request, progress).await;
            }
            let Some(tree) = self.make().await else {
                let message = "there is no Git repository here to make a worktree of: it works in this folder".into();
                progress.report(Step::Note { message });
                return self.agents.run(request, progress).await;
            };
            let request = Request { folder: Some(tree.clone()), ..request };
            let done = self.agents.run(request, Arc::clone(&progress)).await;
            if !self.remove_if_clean(&tree).await {
                // What an agent did is not thrown away.
                let message = format!("its changes are in {}", tree.display());
                progress.report(Step::Note { message });
            }
            done
        })
    }
}

impl InWorktrees {
    async fn make(&self) -> Option<PathBuf> {
        let place = tempfile::Builder::new().prefix("isolith-worktree-").tempdir().ok()?.keep().join("tree");
        self.git(&self.folder, &["worktree", "add", "--detach", &place.to_string_lossy()]).await.map(|_| place)
    }

    async fn remove_if_clean(&self, tree: &Path) -> bool {
        let began = self.git(&self.folder, &["rev-parse", "HEAD"]).await;
        let clean = self.git(tree, &["status", "--porcelain", "--ignored"]).await.is_some_and(|text| text.is_empty());
        let same = began.is_some() && self.git(tree, &["rev-parse", "HEAD"]).await == began;
        clean && same && self.git(&self.folder, &["worktree", "remove", &tree.to_string_lossy()]).await.is_some()
    }

    /// What Git answers; nothing where it fails. No hooks are run, which are files of the project.
    async fn git(&self, folder: &Path, args: &[&str]) -> Option<String> {
        let mut command = Command::new("git");
        command.args(["-c", "core.hooksPath=/dev/null"]).args(args).current_dir(folder);
        let done = command.stdin(std::process::Stdio::null()).kill_on_drop(true).output().await.ok()?;
        done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }
}
