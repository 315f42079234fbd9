//! `metadata = tvm.ir.load_json("""…""")`: the strings that TVM writes beside a script when they
//! hold line breaks.
//!
//! The text is TVM's graph of nodes: `{"root_index": r, "nodes": [{"type": …, "data": …}, …]}`, of
//! which the root is a map from the name of a type to a list of nodes of that type. Indices are
//! looked up, never followed in depth.

use std::sync::Arc;

use serde_json::Value as Json;

/// A node that a script may mean by `metadata["type"][i]`.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// An `ir.StringImm`.
    Text(Arc<str>),
    /// Another one, by the name of its type.
    Other(Arc<str>),
}

/// Nodes by the name of their type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metadata {
    lists: Vec<(Arc<str>, Vec<Node>)>,
}

struct Graph<'j> {
    nodes: &'j [Json],
}

impl<'j> Graph<'j> {
    fn node(&self, index: &Json) -> Result<(&'j str, &'j Json), String> {
        static NOTHING: Json = Json::Null;
        let at = index.as_u64().ok_or_else(|| format!("expected the number of a node, found {index:.40}"))?;
        let node = usize::try_from(at).ok().and_then(|at| self.nodes.get(at));
        let node = node.ok_or_else(|| format!("there is no node {at}; there are {}", self.nodes.len()))?;
        let kind = node.get("type").and_then(Json::as_str);
        let kind = kind.ok_or_else(|| format!("node {at} has no \"type\""))?;
        Ok((kind, node.get("data").unwrap_or(&NOTHING)))
    }

    /// The data of a node of the type `wanted`.
    fn expect(&self, index: &Json, wanted: &str) -> Result<&'j Json, String> {
        let (kind, data) = self.node(index)?;
        if kind == wanted { Ok(data) } else { Err(format!("node {index} is {kind}; expected {wanted}")) }
    }

    fn items(&self, index: &Json, wanted: &str) -> Result<&'j [Json], String> {
        let items = self.expect(index, wanted)?.as_array();
        items.map(Vec::as_slice).ok_or_else(|| format!("node {index} has no list as \"data\""))
    }

    fn text(&self, index: &Json) -> Result<Arc<str>, String> {
        let text = self.expect(index, "ffi.String")?.as_str();
        text.map(Arc::from).ok_or_else(|| format!("node {index} has no string as \"data\""))
    }

    fn entry(&self, index: &Json) -> Result<Node, String> {
        let (kind, data) = self.node(index)?;
        if kind != "ir.StringImm" {
            return Ok(Node::Other(kind.into()));
        }
        let value = data.get("value").ok_or_else(|| format!("node {index} has no \"value\""))?;
        self.text(value).map(Node::Text)
    }
}

impl Metadata {
    /// Reads the text that `tvm.ir.load_json` takes.
    ///
    /// # Errors
    ///
    /// The text is no JSON, or no graph of nodes with a map of lists at its root.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let json: Json = serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
        let nodes = json.get("nodes").and_then(Json::as_array);
        let graph = Graph { nodes: nodes.ok_or("expected \"nodes\", a list")? };
        let root = json.get("root_index").ok_or("expected \"root_index\"")?;
        let mut lists = Vec::new();
        for pair in graph.items(root, "ffi.Map")?.chunks(2) {
            let [kind, list] = pair else { return Err("a key of the map has no value".to_owned()) };
            let entries = graph.items(list, "ffi.Array")?.iter().map(|item| graph.entry(item));
            lists.push((graph.text(kind)?, entries.collect::<Result<_, _>>()?));
        }
        Ok(Self { lists })
    }

    /// The number of the list of nodes of a type.
    pub(crate) fn list(&self, kind: &str) -> Option<usize> {
        self.lists.iter().position(|(known, _)| **known == *kind)
    }

    /// The nodes of a list.
    pub(crate) fn nodes(&self, list: usize) -> &[Node] {
        self.lists.get(list).map_or(&[], |(_, nodes)| nodes)
    }

    /// Names of the types that there are lists of, for messages.
    pub(crate) fn kinds(&self) -> String {
        self.lists.iter().map(|(kind, _)| &**kind).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Metadata::read(text).expect_err("an error is expected")
    }

    #[test]
    fn strings_are_found_by_type_and_number() {
        let text = r#"{"root_index": 0, "nodes": [
            {"type": "ffi.Map", "data": [1, 2]}, {"type": "ffi.String", "data": "ir.StringImm"},
            {"type": "ffi.Array", "data": [3, 4]}, {"type": "ir.StringImm", "data": {"value": 5}},
            {"type": "ir.IntImm", "data": {"value": 5}}, {"type": "ffi.String", "data": "a\nb"}]}"#;
        let metadata = Metadata::read(text).expect("good");
        let list = metadata.list("ir.StringImm").expect("there");
        assert!(matches!(&metadata.nodes(list)[0], Node::Text(text) if &**text == "a\nb"));
        assert!(matches!(&metadata.nodes(list)[1], Node::Other(kind) if &**kind == "ir.IntImm"));
        assert!(metadata.list("ir.IntImm").is_none());
    }

    #[test]
    fn a_malformed_graph_is_refused() {
        assert!(error("").contains("not valid JSON"));
        assert!(error(&"[".repeat(100_000)).contains("recursion limit"));
        assert_eq!(error("{}"), "expected \"nodes\", a list");
        assert_eq!(error(r#"{"nodes": []}"#), "expected \"root_index\"");
        assert_eq!(error(r#"{"nodes": [], "root_index": 7}"#), "there is no node 7; there are 0");
        assert!(
            error(r#"{"nodes": [], "root_index": -1}"#).contains("expected the number of a node, found -1")
        );
        assert_eq!(error(r#"{"nodes": [3], "root_index": 0}"#), "node 0 has no \"type\"");
        let wrong = r#"{"nodes": [{"type": "ffi.Array", "data": [0]}], "root_index": 0}"#;
        assert_eq!(error(wrong), "node 0 is ffi.Array; expected ffi.Map");
        // A map that holds itself is looked at once.
        let around = r#"{"nodes": [{"type": "ffi.Map", "data": [0, 0]}], "root_index": 0}"#;
        assert_eq!(error(around), "node 0 is ffi.Map; expected ffi.Array");
        let odd = r#"{"nodes": [{"type": "ffi.Map", "data": [0]}], "root_index": 0}"#;
        assert_eq!(error(odd), "a key of the map has no value");
    }
}
