//! Statements.

use std::collections::HashMap;

use chipdock_ir::{Span, Stmt, StmtKind};

use crate::writer::Writer;

impl<'a> Writer<'a> {
    pub(crate) fn stmt(&mut self, s: &'a Stmt) {
        if self.levels > crate::DEPTH_MAX {
            return self.refuse_stmt(s, format!("statements nested deeper than {} levels", crate::DEPTH_MAX));
        }
        self.levels += 1;
        let around = if s.span == Span::NONE { self.place } else { s.span };
        let around = std::mem::replace(&mut self.place, around);
        self.known = vec![HashMap::new()];
        self.stmt_kind(s);
        self.place = around;
        self.levels -= 1;
    }

    fn stmt_kind(&mut self, s: &'a Stmt) {
        match &s.kind {
            StmtKind::Seq(stmts) => stmts.iter().for_each(|s| self.stmt(s)),
            StmtKind::Attr { body, .. } => self.stmt(body),
            StmtKind::Return(Some(value)) => {
                let value = self.value(value);
                self.terminate(format_args!("ret {}", value.typed()));
            }
            StmtKind::Return(None) => self.terminate("ret void"),
            _ => self.refuse_stmt(s, "this statement is not written yet"),
        }
    }
}
