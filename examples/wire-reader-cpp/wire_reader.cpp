// Reads a module of Chipdock's IR from its wire format and prints an outline: a starting point for a vendor's code generator.
//
//   wire-reader [FILE]     reads FILE, or standard input if FILE is missing or "-"
//
// Exit codes: 0 printed, 1 invalid document (one line on standard error names position and reason), 2 wrong usage or
// no file.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

using nlohmann::json;

namespace {

// Supported version; a newer minor version may have nodes that this reader does not know.
constexpr unsigned kMajor = 1;
constexpr unsigned kMinorMax = 0;
// Limits: an untrusted document must not cause unbounded recursion or output.
constexpr unsigned kLevelsMax = 600;
constexpr std::size_t kTextMax = 240;
constexpr std::size_t kLinesMax = 100000;

// An error in a document.
class BadDocument : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Id = std::size_t;

std::string shorten(std::string text) {
  if (text.size() <= kTextMax) return text;
  text.resize(kTextMax - 3);
  // Not in the middle of a UTF-8 character.
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
  if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.pop_back();
  return text + "...";
}

std::string brief(const json& value) {
  return shorten(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

const std::map<std::string, std::string>& infix() {
  static const std::map<std::string, std::string> operators = {
      {"Add", "+"}, {"Sub", "-"},       {"Mul", "*"},       {"Div", "/"},  {"Mod", "rem"}, {"FloorDiv", "//"},
      {"EQ", "=="}, {"NE", "!="},       {"LT", "<"},        {"LE", "<="},  {"GT", ">"},    {"GE", ">="},
      {"And", "and"}, {"Or", "or"},     {"FloorMod", "%"},
  };
  return operators;
}

// The fields of each node. A reader that skipped an unknown field would compile a different program.
const std::map<std::string, std::vector<const char*>>& fields_of_nodes() {
  static const std::vector<const char*> pair = {"dtype", "a", "b"};
  static const std::map<std::string, std::vector<const char*>> fields = {
      {"Var", {"name", "dtype", "pointer"}},
      {"Buffer",
       {"name", "dtype", "shape", "strides", "elem_offset", "data", "scope", "data_alignment_bytes", "offset_factor"}},
      {"Int", {"dtype", "value"}},
      {"Float", {"dtype", "bits"}},
      {"Str", {"value"}},
      {"ConstantData", {"section", "size_bytes"}},
      {"Cast", {"dtype", "value"}},
      {"Not", {"dtype", "value"}},
      {"Add", pair}, {"Sub", pair}, {"Mul", pair}, {"Div", pair}, {"Mod", pair}, {"FloorDiv", pair},
      {"FloorMod", pair}, {"Min", pair}, {"Max", pair}, {"EQ", pair}, {"NE", pair}, {"LT", pair},
      {"LE", pair}, {"GT", pair}, {"GE", pair}, {"And", pair}, {"Or", pair},
      {"Select", {"dtype", "condition", "then", "otherwise"}},
      {"Load", {"dtype", "buffer", "indices", "predicate"}},
      {"Ramp", {"dtype", "base", "stride", "lanes"}},
      {"Broadcast", {"dtype", "value", "lanes"}},
      {"Shuffle", {"dtype", "vectors", "indices"}},
      {"Let", {"dtype", "var", "value", "body"}},
      {"CallOp", {"dtype", "op", "args"}},
      {"CallGlobal", {"dtype", "function", "args"}},
      {"CallExtern", {"dtype", "name", "pure", "args"}},
      {"Seq", {"stmts"}},
      {"Bind", {"var", "value"}},
      {"Store", {"buffer", "indices", "value", "predicate"}},
      {"AllocBuffer", {"buffer", "annotations"}},
      {"DeclBuffer", {"buffer", "data"}},
      {"For", {"var", "min", "extent", "kind", "thread", "step", "annotations", "body"}},
      {"While", {"condition", "body"}},
      {"If", {"condition", "then", "otherwise"}},
      {"BlockRealize",
       {"iter_values", "predicate", "name", "iter_vars", "reads", "writes", "init", "alloc_buffers", "match_buffers",
        "annotations", "body"}},
      {"Evaluate", {"value"}},
      {"Assert", {"condition", "kind", "message"}},
      {"Attr", {"about", "key", "value", "body"}},
      {"Reducer", {"lhs", "rhs", "result", "identity"}},
      {"LaunchThread", {"var", "axis", "extent", "body"}},
      {"Return", {"value"}},
      {"Break", {}},
      {"Continue", {}},
      {"AttrNone", {}},
      {"AttrBool", {"value"}},
      {"AttrInt", {"value"}},
      {"AttrFloat", {"bits"}},
      {"AttrStr", {"value"}},
      {"AttrList", {"items"}},
      {"AttrMap", {"items"}},
      {"AttrTarget", {"target"}},
      {"AttrExpr", {"value"}},
  };
  return fields;
}

// The nodes of a document, their fields, and the nodes that their ids refer to.
class Document {
 public:
  explicit Document(const std::string& text) : root_(parse(text)) {
    if (!root_.is_object()) throw BadDocument("expected a JSON object, found " + brief(root_));
    version_ = text_of(root_, "chipdock_ir", "the document");
    check_version();
    nodes_ = &field(root_, "nodes", "the document");
    if (!nodes_->is_array()) throw BadDocument("field \"nodes\": expected a list, found " + brief(*nodes_));
    for (Id id = 0; id < nodes_->size(); ++id) check_fields(id);
    read_positions();
  }

  const std::string& version() const { return version_; }
  const json& root() const { return root_; }
  std::size_t size() const { return nodes_->size(); }
  const json& node(Id id) const { return (*nodes_)[id]; }
  std::string name(Id id) const { return node(id).at("node").get<std::string>(); }
  const std::string& file() const { return file_; }

  // "line:column" of a statement, or an empty string.
  std::string position(Id id) const {
    const auto found = positions_.find(id);
    return found == positions_.end() ? "" : found->second;
  }

  static const json& field(const json& object, const char* name, const std::string& where) {
    if (!object.is_object()) throw BadDocument(where + ": expected an object, found " + brief(object));
    const auto found = object.find(name);
    if (found == object.end()) throw BadDocument(where + ": field \"" + name + "\" is missing");
    return *found;
  }

  static std::string text_of(const json& object, const char* name, const std::string& where) {
    const json& value = field(object, name, where);
    if (!value.is_string()) throw BadDocument(wrong(where, name, "a string", value));
    return value.get<std::string>();
  }

  static const json& list_of(const json& object, const char* name, const std::string& where) {
    const json& value = field(object, name, where);
    if (!value.is_array()) throw BadDocument(wrong(where, name, "a list", value));
    return value;
  }

  // The id in a value. `before` is the node that contains it; the id must be smaller, so there are no cycles.
  Id id_of(const json& value, const char* name, Id before, const std::string& where) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= before) {
      throw BadDocument(wrong(where, name, "the id of an earlier node, below " + std::to_string(before), value));
    }
    return value.get<Id>();
  }

  static std::string wrong(const std::string& where, const char* name, const std::string& expected, const json& found) {
    return where + ": field \"" + name + "\": expected " + expected + ", found " + brief(found);
  }

 private:
  static json parse(const std::string& text) {
    try {
      return json::parse(text);
    } catch (const json::exception& error) {
      throw BadDocument(std::string("not a JSON document: ") + error.what());
    }
  }

  void check_version() const {
    std::istringstream in(version_);
    unsigned major = 0;
    unsigned minor = 0;
    unsigned patch = 0;
    char dot1 = 0;
    char dot2 = 0;
    if (!(in >> major >> dot1 >> minor >> dot2 >> patch) || dot1 != '.' || dot2 != '.' || !in.eof()) {
      throw BadDocument("expected a version as \"1.0.0\", found " + brief(version_));
    }
    if (major != kMajor || minor > kMinorMax) {
      throw BadDocument("version " + version_ + " is not for this reader, which takes " + std::to_string(kMajor) +
                        ".0 to " + std::to_string(kMajor) + "." + std::to_string(kMinorMax) +
                        "; have it written at an older version");
    }
  }

  // Checks that the node is one of those above, with exactly its fields.
  void check_fields(Id id) const {
    const std::string where = "node " + std::to_string(id);
    const std::string name = text_of(node(id), "node", where);
    const auto known = fields_of_nodes().find(name);
    if (known == fields_of_nodes().end()) throw BadDocument(where + ": unknown node " + brief(name));
    for (const char* wanted : known->second) field(node(id), wanted, where + ": " + name);
    if (node(id).size() == known->second.size() + 1) return;
    for (const auto& item : node(id).items()) {
      const auto is = [&](const char* wanted) { return item.key() == wanted; };
      if (item.key() != "node" && std::none_of(known->second.begin(), known->second.end(), is)) {
        throw BadDocument(where + ": " + name + ": unknown field " + brief(item.key()));
      }
    }
  }

  void read_positions() {
    const auto positions = root_.find("positions");
    if (positions == root_.end()) return;
    const json& file = field(*positions, "file", "positions");
    if (file.is_string()) file_ = file.get<std::string>();
    for (const json& place : list_of(*positions, "nodes", "positions")) {
      if (!place.is_array() || place.size() != 3 || !place[1].is_number_unsigned() || !place[2].is_number_unsigned()) {
        throw BadDocument(wrong("positions", "nodes", "an id, a line and a column", place));
      }
      const Id id = id_of(place[0], "nodes", size(), "positions");
      positions_[id] = std::to_string(place[1].get<std::uint64_t>()) + ":" + std::to_string(place[2].get<std::uint64_t>());
    }
  }

  json root_;
  const json* nodes_ = nullptr;
  std::string version_;
  std::string file_;
  std::map<Id, std::string> positions_;
};

// A node with its id, for reading its fields.
class Node {
 public:
  Node(const Document& document, Id id) : document_(document), id_(id), name_(document.name(id)) {}

  const std::string& name() const { return name_; }
  Id id() const { return id_; }
  std::string where() const { return "node " + std::to_string(id_) + ": " + name_; }
  const json& get(const char* name) const { return Document::field(document_.node(id_), name, where()); }
  std::string text(const char* name) const { return Document::text_of(document_.node(id_), name, where()); }
  const json& list(const char* name) const { return Document::list_of(document_.node(id_), name, where()); }
  bool has(const char* name) const { return !get(name).is_null(); }
  Id ref(const char* name) const { return document_.id_of(get(name), name, id_, where()); }
  Id ref(const json& value, const char* name) const { return document_.id_of(value, name, id_, where()); }

  std::vector<Id> refs(const char* name) const {
    std::vector<Id> ids;
    for (const json& item : list(name)) ids.push_back(ref(item, name));
    return ids;
  }

 private:
  const Document& document_;
  Id id_;
  std::string name_;
};

// Prints functions. An expression occurs once in a document however often it is used, so its text is built once, too.
class Outline {
 public:
  Outline(const Document& document, std::ostream& out) : document_(document), out_(out) {}

  void print() {
    const json& functions = Document::list_of(document_.root(), "functions", "the document");
    out_ << "chipdock-ir " << document_.version() << ": " << document_.size() << " nodes, " << functions.size()
         << (functions.size() == 1 ? " function" : " functions");
    if (!document_.file().empty()) out_ << ", from " << document_.file();
    out_ << '\n';
    attributes(Document::list_of(document_.root(), "attrs", "the document"), "module", "");
    for (const json& one : functions) function(one);
  }

 private:
  void function(const json& function) {
    const std::string name = Document::text_of(function, "name", "a function");
    const std::string where = "function " + name;
    counts_.clear();
    counted_.clear();
    out_ << "\nfunction " << name << '(';
    const char* separator = "";
    for (const json& param : Document::list_of(function, "params", where)) {
      const Id id = document_.id_of(param, "params", document_.size(), where);
      out_ << separator << (document_.name(id) == "Buffer" ? buffer(id, 0) : variable(id, true));
      separator = ", ";
    }
    const json& result = Document::field(function, "ret", where);
    out_ << ')' << (result.is_string() ? " -> " + result.get<std::string>() : "") << '\n';
    attributes(Document::list_of(function, "attrs", where), where, "  ");
    for (const json& item : Document::list_of(function, "alloc_buffers", where)) {
      line("allocate " + buffer(document_.id_of(item, "alloc_buffers", document_.size(), where), 0), 1, document_.size());
    }
    const json& body = Document::field(function, "body", where);
    statement(document_.id_of(body, "body", document_.size(), where), 1);
    out_ << "  ops:";
    separator = " ";
    for (const auto& [op, count] : counts_) {
      out_ << separator << op << ' ' << count;
      separator = ", ";
    }
    out_ << (counts_.empty() ? " none\n" : "\n");
  }

  void attributes(const json& attrs, const std::string& where, const std::string& indent) {
    for (const json& pair : attrs) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) {
        throw BadDocument(Document::wrong(where, "attrs", "pairs of a name and an id", pair));
      }
      const Id id = document_.id_of(pair[1], "attrs", document_.size(), where);
      out_ << indent << "attribute " << pair[0].get<std::string>() << " = " << attribute(id, 0) << '\n';
    }
  }

  std::string attribute(Id id, unsigned level) {
    const Node node(document_, id);
    deeper(node, level);
    const std::string& name = node.name();
    if (name == "AttrNone") return "none";
    if (name == "AttrBool") return node.get("value").dump();
    if (name == "AttrInt") return node.text("value");
    if (name == "AttrFloat") return number(node.text("bits"), node);
    if (name == "AttrStr") return brief(node.get("value"));
    if (name == "AttrTarget") return "target " + brief(node.get("target"));
    if (name == "AttrExpr") return expression(node.ref("value"), level + 1);
    std::string text = name == "AttrList" ? "[" : "{";
    const char* separator = "";
    if (name == "AttrList") {
      for (const Id item : node.refs("items")) {
        text = shorten(text + separator + attribute(item, level + 1));
        separator = ", ";
      }
      return text + "]";
    }
    if (name != "AttrMap") throw BadDocument(node.where() + ": expected the value of an attribute");
    for (const json& pair : node.list("items")) {
      if (!pair.is_array() || pair.size() != 2) throw BadDocument(Document::wrong(node.where(), "items", "pairs", pair));
      text = shorten(text + separator + brief(pair[0]) + ": " + attribute(node.ref(pair[1], "items"), level + 1));
      separator = ", ";
    }
    return text + "}";
  }

  static void deeper(const Node& node, unsigned level) {
    if (level > kLevelsMax) throw BadDocument(node.where() + ": nests too deep");
  }

  void line(const std::string& text, unsigned level, Id id) {
    if (++lines_ > kLinesMax) throw BadDocument("the outline has more than " + std::to_string(kLinesMax) + " lines");
    const std::string position = document_.position(id);
    out_ << std::string(std::size_t{2} * level, ' ') << text << (position.empty() ? "" : "  @" + position) << '\n';
  }

  std::string variable(Id id, bool typed = false) {
    const Node node(document_, id);
    if (node.name() != "Var") throw BadDocument(node.where() + ": expected a variable");
    return node.text("name") + (typed ? ": " + node.text("dtype") : "");
  }

  std::string buffer_name(Id id) {
    const Node node(document_, id);
    if (node.name() != "Buffer") throw BadDocument(node.where() + ": expected a buffer");
    return node.text("name");
  }

  // name: dtype[shape] in scope
  std::string buffer(Id id, unsigned level) {
    const std::string name = buffer_name(id);
    const Node node(document_, id);
    return name + ": " + node.text("dtype") + list(node.refs("shape"), level) + " in " + node.text("scope");
  }

  std::string list(const std::vector<Id>& ids, unsigned level, char open = '[', char close = ']') {
    std::string text(1, open);
    for (std::size_t index = 0; index < ids.size(); ++index) {
      text = shorten(text + (index > 0 ? ", " : "") + expression(ids[index], level + 1));
    }
    return text + close;
  }

  // A float64, given its bits; JSON has no NaN and no infinity.
  static std::string number(const std::string& bits, const Node& node) {
    if (bits.size() != 18 || bits.compare(0, 2, "0x") != 0 ||
        bits.find_first_not_of("0123456789abcdef", 2) != std::string::npos) {
      throw BadDocument(Document::wrong(node.where(), "bits", "0x and 16 hexadecimal digits", bits));
    }
    const std::uint64_t word = std::stoull(bits.substr(2), nullptr, 16);
    double value = 0;
    std::memcpy(&value, &word, sizeof value);
    if (value != value) return "nan";
    std::ostringstream out;
    out.precision(9);
    out << value;
    return out.str();
  }

  // Counts an operation once per node of the table: shared nodes are computed once.
  void count(const Node& node, const std::string& what) {
    if (counted_.insert(node.id()).second) ++counts_[what];
  }

  std::string expression(Id id, unsigned level) {
    const Node node(document_, id);
    deeper(node, level);
    const auto known = texts_.find(id);
    if (known != texts_.end() && counted_.count(id) != 0) return known->second;
    std::string text = shorten(expression_text(node, level));
    counted_.insert(id);
    texts_[id] = text;
    return text;
  }

  std::string expression_text(const Node& node, unsigned level) {
    const std::string& name = node.name();
    const auto sub = [&](const char* field) { return expression(node.ref(field), level + 1); };
    if (name == "Var") return variable(node.id());
    if (name == "Int") return node.text("value");
    if (name == "Float") return number(node.text("bits"), node);
    if (name == "Str") return brief(node.get("value"));
    count(node, name == "CallOp" ? node.text("op") : name);
    if (name == "ConstantData") return "bytes(" + node.text("size_bytes") + ")";
    const auto op = infix().find(name);
    if (op != infix().end()) return "(" + sub("a") + " " + op->second + " " + sub("b") + ")";
    if (name == "Min" || name == "Max") return name + "(" + sub("a") + ", " + sub("b") + ")";
    if (name == "Cast") return node.text("dtype") + "(" + sub("value") + ")";
    if (name == "Not") return "not " + sub("value");
    if (name == "Select") return "select(" + sub("condition") + ", " + sub("then") + ", " + sub("otherwise") + ")";
    if (name == "Load") return access(node, level);
    if (name == "Ramp") return "ramp(" + sub("base") + ", " + sub("stride") + ", " + node.get("lanes").dump() + ")";
    if (name == "Broadcast") return "broadcast(" + sub("value") + ", " + node.get("lanes").dump() + ")";
    if (name == "Shuffle") return "shuffle(" + list(node.refs("vectors"), level) + ", " + brief(node.list("indices")) + ")";
    if (name == "Let") return "let " + variable(node.ref("var")) + " = " + sub("value") + " in " + sub("body");
    if (name == "CallOp") return node.text("op") + list(node.refs("args"), level, '(', ')');
    if (name == "CallGlobal") return node.text("function") + list(node.refs("args"), level, '(', ')');
    if (name == "CallExtern") return "extern " + node.text("name") + list(node.refs("args"), level, '(', ')');
    throw BadDocument("node " + std::to_string(node.id()) + ": " + brief(name) + " is no expression that this reader knows");
  }

  // buffer[indices], under a mask if there is one
  std::string access(const Node& node, unsigned level) {
    std::string text = buffer_name(node.ref("buffer")) + list(node.refs("indices"), level);
    if (node.has("predicate")) text += " where " + expression(node.ref("predicate"), level + 1);
    return text;
  }

  void statement(Id id, unsigned level) {
    const Node node(document_, id);
    deeper(node, level);
    const std::string& name = node.name();
    const auto expr = [&](const char* field) { return expression(node.ref(field), 0); };
    const auto body = [&](const char* field) { statement(node.ref(field), level + 1); };
    if (name == "Seq") {
      for (const Id item : node.refs("stmts")) statement(item, level);
      return;
    }
    count(node, name);
    if (name == "Bind") return line(variable(node.ref("var"), true) + " = " + expr("value"), level, id);
    if (name == "Store") return line(access(node, 0) + " = " + expr("value"), level, id);
    if (name == "AllocBuffer") return line("allocate " + buffer(node.ref("buffer"), 0), level, id);
    if (name == "DeclBuffer") {
      const std::string data = node.has("data") ? " at " + expr("data") : "";
      return line("declare " + buffer(node.ref("buffer"), 0) + data, level, id);
    }
    if (name == "Evaluate") return line("evaluate " + expr("value"), level, id);
    if (name == "Return") return line(node.has("value") ? "return " + expr("value") : "return", level, id);
    if (name == "Break" || name == "Continue") return line(name == "Break" ? "break" : "continue", level, id);
    if (name == "Assert") {
      return line("assert " + expr("condition") + " else " + node.text("kind") + list(node.refs("message"), 0), level, id);
    }
    if (name == "For") return loop(node, level);
    if (name == "BlockRealize") return block(node, level);
    if (name == "While") {
      line("while " + expr("condition"), level, id);
      return body("body");
    }
    if (name == "If") {
      line("if " + expr("condition"), level, id);
      body("then");
      if (node.has("otherwise")) {
        line("else", level, document_.size());
        body("otherwise");
      }
      return;
    }
    if (name == "Attr") {
      line("with " + brief(node.get("key")) + about(node) + " = " + expr("value"), level, id);
      return body("body");
    }
    if (name == "LaunchThread") {
      line("launch " + variable(node.ref("var")) + " on " + node.text("axis") + ", " + expr("extent") + " threads", level, id);
      return body("body");
    }
    throw BadDocument("node " + std::to_string(id) + ": " + brief(name) + " is no statement that this reader knows");
  }

  // The subject of an attribute statement.
  std::string about(const Node& node) {
    if (!node.has("about")) return "";
    const Id id = node.ref("about");
    if (document_.name(id) == "Buffer") return " of buffer " + buffer_name(id);
    if (document_.name(id) == "Reducer") {
      const Node reducer(document_, id);
      return " of reducer " + list(reducer.refs("result"), 0) + " from " + list(reducer.refs("identity"), 0);
    }
    return " of " + variable(id);
  }

  void loop(const Node& node, unsigned level) {
    std::string text = "for " + variable(node.ref("var")) + " from " + expression(node.ref("min"), 0) + ", " +
                       expression(node.ref("extent"), 0) + " times";
    if (node.has("step")) text += " by " + expression(node.ref("step"), 0);
    const std::string kind = node.text("kind");
    text += kind == "thread_binding" ? ", on " + node.text("thread") : ", " + kind;
    line(text, level, node.id());
    statement(node.ref("body"), level + 1);
  }

  void block(const Node& node, unsigned level) {
    line("block " + brief(node.get("name")) + " where " + expression(node.ref("predicate"), 0), level, node.id());
    const std::vector<Id> values = node.refs("iter_values");
    std::size_t index = 0;
    for (const json& axis : node.list("iter_vars")) {
      const std::string where = node.where() + ", an axis";
      const auto ref = [&](const char* field) { return node.ref(Document::field(axis, field, where), field); };
      if (index >= values.size()) throw BadDocument(node.where() + ": an axis has no value");
      line(Document::text_of(axis, "kind", where) + " " + variable(ref("var")) + " from " + expression(ref("min"), 0) +
               ", " + expression(ref("extent"), 0) + " values: " + expression(values[index++], 0),
           level + 1, document_.size());
    }
    for (const char* field : {"reads", "writes"}) {
      if (!node.has(field)) continue;
      for (const json& region : node.list(field)) line(std::string(field) + " " + region_text(node, region), level + 1, document_.size());
    }
    for (const Id id : node.refs("alloc_buffers")) line("allocate " + buffer(id, 0), level + 1, document_.size());
    for (const json& view : node.list("match_buffers")) {
      const std::string where = node.where() + ", a view";
      const Id id = node.ref(Document::field(view, "buffer", where), "buffer");
      line("view " + buffer(id, 0) + " of " + region_text(node, Document::field(view, "source", where)), level + 1,
           document_.size());
    }
    if (node.has("init")) {
      line("first", level + 1, document_.size());
      statement(node.ref("init"), level + 2);
    }
    statement(node.ref("body"), level + 1);
  }

  std::string region_text(const Node& node, const json& region) {
    const std::string where = node.where() + ", a region";
    std::string text = buffer_name(node.ref(Document::field(region, "buffer", where), "buffer")) + "[";
    const char* separator = "";
    for (const json& range : Document::list_of(region, "region", where)) {
      if (!range.is_array() || range.size() != 2) throw BadDocument(Document::wrong(where, "region", "pairs of ids", range));
      text = shorten(text + separator + expression(node.ref(range[0], "region"), 0) + " +" +
                     expression(node.ref(range[1], "region"), 0));
      separator = ", ";
    }
    return text + "]";
  }

  const Document& document_;
  std::ostream& out_;
  std::map<Id, std::string> texts_;
  std::set<Id> counted_;
  std::map<std::string, std::size_t> counts_;
  std::size_t lines_ = 0;
};

bool read_all(const std::string& path, std::string& text) {
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return true;
  }
  std::ifstream in(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(in), {});
  return static_cast<bool>(in) || in.eof();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::cerr << "usage: wire-reader [FILE]\n";
    return 2;
  }
  const std::string path = argc > 1 ? argv[1] : "-";
  std::string text;
  if (!read_all(path, text)) {
    std::cerr << "wire-reader: " << path << ": cannot be read\n";
    return 2;
  }
  try {
    const Document document(text);
    std::ostringstream out;
    Outline(document, out).print();
    std::cout << out.str() << std::flush;
    return std::cout ? 0 : 2;
  } catch (const BadDocument& error) {
    std::cerr << "wire-reader: " << error.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "wire-reader: " << error.what() << '\n';
  }
  return 1;
}
