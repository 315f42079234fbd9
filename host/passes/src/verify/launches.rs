//! Memory that ends with a launch, and later accesses that need it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{
    Child, Diagnostic, Expr, ExprKind, ForKind, PrimFunc, Span, Stmt, StmtKind, StorageRank, StorageScope,
    Var,
};

use crate::splitting::split_host_device::is_kernel;
use crate::walk::{Starts, vars_of};

/// Reports accesses of a function that need shared, local or warp memory as an earlier launch left
/// it, or that use it on both sides of a launch's start. Each launch has its own memory.
pub(super) fn lost(function: &PrimFunc, starts: Starts) -> Vec<Diagnostic> {
    if is_kernel(function) {
        return Vec::new();
    }
    let mut walk = Walk::new(starts);
    walk.stmt(&function.body);
    walk.memory.sort_by_key(|memory| memory.first_use);
    walk.memory.iter().filter_map(|memory| memory.problem(function)).collect()
}

/// The host, or a launch by its number from 1.
type Region = usize;
const HOST: Region = 0;

/// Memory that is allocated outside of launches.
struct OuterBuffer {
    name: Arc<str>,
    scope: StorageScope,
    first_use: usize,
    writes: Vec<(Region, Span)>,
    /// The first access of each region that needs an earlier value.
    needs: Vec<(Region, Span)>,
    touched: Vec<(Region, Span)>,
    /// Regions that loops of the host repeat.
    repeated: HashSet<Region>,
}

impl OuterBuffer {
    fn problem(&self, function: &PrimFunc) -> Option<Diagnostic> {
        let on_host = self.touched.iter().find(|(region, _)| *region == HOST);
        let in_launch = self.touched.iter().find(|(region, _)| *region != HOST);
        if let (Some((_, here)), Some((_, there))) = (on_host, in_launch) {
            let text = format!(
                "touched outside of loops bound to threads, and by a launch at {}: put both within one launch, or keep it in \
                 global memory",
                place(*there)
            );
            return Some(self.diagnostic(function, *here, &text));
        }
        in_launch?;
        self.needs.iter().find_map(|(region, here)| {
            let before = self.writes.iter().filter(|(by, _)| by < region);
            let again = self.writes.iter().filter(|(by, _)| by > region || self.repeated.contains(by));
            let (_, there) = before.chain(again.filter(|_| self.repeated.contains(region))).next_back()?;
            let text = format!(
                "read here as an earlier launch wrote it at {}: put both within one launch (the loops around them too), or \
                 keep it in global memory",
                place(*there)
            );
            Some(self.diagnostic(function, *here, &text))
        })
    }

    fn diagnostic(&self, function: &PrimFunc, span: Span, found: &str) -> Diagnostic {
        let message = format!(
            "expected memory of scope \"{}\" to be used by one launch, as it ends with it; found {} {found}",
            self.scope, self.name
        );
        Diagnostic { function: function.name.clone(), span, node: String::new(), message }
    }
}

fn place(span: Span) -> String {
    if span == Span::NONE { "another place".to_owned() } else { format!("{}:{}", span.line, span.column) }
}

struct Walk {
    starts: Starts,
    memory: Vec<OuterBuffer>,
    by_data: HashMap<Var, usize>,
    region: Region,
    n_launches: usize,
    n_host_loops: usize,
    n_uses: usize,
    /// Variables that differ between iterations of the host's loops, except those of threads.
    by_host: HashSet<Var>,
    by_thread: HashSet<Var>,
    /// Memory that the region has already written.
    written: HashSet<usize>,
}

impl Walk {
    fn new(starts: Starts) -> Self {
        Self {
            starts,
            memory: Vec::new(),
            by_data: HashMap::new(),
            region: HOST,
            n_launches: 0,
            n_host_loops: 0,
            n_uses: 0,
            by_host: HashSet::new(),
            by_thread: HashSet::new(),
            written: HashSet::new(),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if self.region == HOST && (self.starts)(&stmt.kind) {
            self.n_launches += 1;
            self.region = self.n_launches;
            self.written.clear();
            self.inner(stmt);
            self.region = HOST;
        } else {
            self.inner(stmt);
        }
    }

    fn inner(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::AllocBuffer { buffer, .. } => {
                if self.region == HOST && buffer.scope.rank != StorageRank::Global {
                    self.allocated(&buffer.data, &buffer.name, &buffer.scope);
                }
            }
            StmtKind::Bind { var, value } => {
                self.derived(var, value);
                self.children(stmt);
            }
            StmtKind::For { var, kind: ForKind::ThreadBinding(_), .. }
            | StmtKind::LaunchThread { var, .. } => {
                self.by_thread.insert(var.clone());
                self.children(stmt);
            }
            StmtKind::For { var, .. } if self.region == HOST => {
                self.by_host.insert(var.clone());
                self.repeatedly(stmt);
            }
            StmtKind::While { .. } if self.region == HOST => self.repeatedly(stmt),
            StmtKind::If { condition, then, otherwise } if self.is_by_host(condition) => {
                self.expr(stmt.span, condition);
                // Memory that a branch writes may be left unchanged in other iterations of the
                // host's loops.
                for branch in [then].into_iter().chain(otherwise) {
                    let written = self.written.clone();
                    self.stmt(branch);
                    self.written = written;
                }
            }
            StmtKind::Store { buffer, .. } => {
                self.children(stmt);
                self.write(&buffer.data, stmt.span);
            }
            _ => self.children(stmt),
        }
    }

    fn children(&mut self, stmt: &Stmt) {
        stmt.for_each_child(&mut |child| match child {
            Child::Stmt(stmt) => self.stmt(stmt),
            Child::Expr(expr) => self.expr(stmt.span, expr),
        });
    }

    fn repeatedly(&mut self, stmt: &Stmt) {
        self.n_host_loops += 1;
        self.children(stmt);
        self.n_host_loops -= 1;
    }

    fn expr(&mut self, span: Span, expr: &Expr) {
        expr.walk(&mut |e| match &e.kind {
            ExprKind::Load { buffer, .. } => {
                self.read(&buffer.data, if e.span == Span::NONE { span } else { e.span });
            }
            // Uses of a pointer are not known: its memory may be filled.
            ExprKind::Var(var) if var.dtype.is_handle() => self.write(var, span),
            _ => {}
        });
    }

    fn allocated(&mut self, data: &Var, name: &Arc<str>, scope: &StorageScope) {
        self.by_data.insert(data.clone(), self.memory.len());
        self.memory.push(OuterBuffer {
            name: Arc::clone(name),
            scope: scope.clone(),
            first_use: usize::MAX,
            writes: Vec::new(),
            needs: Vec::new(),
            touched: Vec::new(),
            repeated: HashSet::new(),
        });
    }

    fn derived(&mut self, var: &Var, value: &Expr) {
        let vars = vars_of(value);
        if vars.iter().any(|var| self.by_host.contains(var)) {
            self.by_host.insert(var.clone());
        }
        if vars.iter().any(|var| self.by_thread.contains(var)) {
            self.by_thread.insert(var.clone());
        }
    }

    /// Returns true if part of a condition depends only on the iteration of the host's loops: a
    /// whole launch may be skipped.
    fn is_by_host(&self, condition: &Expr) -> bool {
        if let ExprKind::And(a, b) = &condition.kind {
            return self.is_by_host(a) || self.is_by_host(b);
        }
        let vars = vars_of(condition);
        vars.iter().any(|var| self.by_host.contains(var))
            && !vars.iter().any(|var| self.by_thread.contains(var))
    }

    fn touch(&mut self, data: &Var, span: Span) -> Option<usize> {
        let at = *self.by_data.get(data)?;
        let (region, number) = (self.region, self.n_uses);
        self.n_uses += 1;
        let memory = self.memory.get_mut(at)?;
        memory.first_use = memory.first_use.min(number);
        memory.touched.push((region, span));
        if self.n_host_loops > 0 {
            memory.repeated.insert(region);
        }
        Some(at)
    }

    fn read(&mut self, data: &Var, span: Span) {
        let Some(at) = self.touch(data, span) else { return };
        let region = self.region;
        let is_known = self.written.contains(&at);
        if let Some(memory) = self.memory.get_mut(at)
            && !is_known
            && memory.needs.last().is_none_or(|(known, _)| *known != region)
        {
            memory.needs.push((region, span));
        }
    }

    fn write(&mut self, data: &Var, span: Span) {
        let Some(at) = self.touch(data, span) else { return };
        if let Some(memory) = self.memory.get_mut(at) {
            memory.writes.push((self.region, span));
        }
        self.written.insert(at);
    }
}
