mod golden;
mod support;
