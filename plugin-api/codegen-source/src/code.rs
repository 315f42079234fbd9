//! Pieces of expression text with their precedence.

use chipdock_ir::{BinaryOp, CompareOp};

/// Binding strength of the outermost operator of a text, loosest first.
///
/// The order is C's, with one difference that satisfies the grammar of every dialect and the
/// warnings of every compiler: operators that people mix up (shifts, bits, comparisons, `&&` within
/// `||`) are bracketed even where C would not need it. WGSL's grammar requires the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    /// `a ? b : c`
    Conditional,
    /// `a || b`
    Or,
    /// `a && b`
    And,
    /// `a | b`
    BitOr,
    /// `a ^ b`
    BitXor,
    /// `a & b`
    BitAnd,
    /// `a < b`, `a == b`, and `!a`, which is hard to read inside a comparison
    Relational,
    /// `a << b`
    Shift,
    /// `a + b`
    Additive,
    /// `a * b`
    Multiplicative,
    /// `-a`, `(T)a`, `*a`
    Unary,
    /// Names, literals, calls, subscripts.
    Primary,
}

/// The text of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The text, without brackets around it.
    pub text: String,
    /// Binding strength of the outermost operator.
    pub precedence: Precedence,
    /// The dialect's representation of the value, as a number of the dialect's choice; 0 is the
    /// representation of variables.
    pub form: u16,
    /// The negation, if there is a better text for it than a leading `!`.
    inverse: Option<Box<Code>>,
}

impl Code {
    /// A text with the given precedence of its outermost operator.
    pub fn new(text: impl Into<String>, precedence: Precedence) -> Self {
        Self { text: text.into(), precedence, form: 0, inverse: None }
    }

    /// A name, literal, call or subscript.
    pub fn primary(text: impl Into<String>) -> Self {
        Self::new(text, Precedence::Primary)
    }

    /// The same text in another of the dialect's representations.
    #[must_use]
    pub fn in_form(self, form: u16) -> Self {
        Self { form, ..self }
    }

    /// The text as an operand where operators from `least` on need no brackets; bracketed if it
    /// binds looser.
    #[must_use]
    pub fn at_least(&self, least: Precedence) -> String {
        if self.precedence < least { format!("({})", self.text) } else { self.text.clone() }
    }

    /// The text as an operand of a subscript, call or member access.
    #[must_use]
    pub fn operand(&self) -> String {
        self.at_least(Precedence::Primary)
    }

    /// A call of a function.
    #[must_use]
    pub fn call(function: &str, args: &[Self]) -> Self {
        let args: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        Self::primary(format!("{function}({})", args.join(", ")))
    }

    /// A prefix operator such as `-` or `(float)`.
    #[must_use]
    pub fn prefix(operator: &str, operand: &Self) -> Self {
        let mut text = operand.at_least(Precedence::Unary);
        // `- -x` must not become `--x`, nor `& &x` a conjunction.
        if operator.chars().last().is_some_and(|last| "+-&".contains(last) && text.starts_with(last)) {
            text = format!("({text})");
        }
        Self::new(format!("{operator}{text}"), Precedence::Unary)
    }

    /// Negation of a boolean.
    #[must_use]
    pub fn not(operand: &Self) -> Self {
        if let Some(inverse) = &operand.inverse {
            return (**inverse).clone();
        }
        let text = format!("!{}", operand.operand());
        Self { inverse: Some(Box::new(operand.clone())), ..Self::new(text, Precedence::Relational) }
    }

    /// A binary operator with the necessary brackets.
    #[must_use]
    pub fn infix(operator: Infix, left: &Self, right: &Self) -> Self {
        let rule = operator.rule();
        let left = if left.precedence == rule.own && rule.chains {
            left.text.clone()
        } else {
            left.at_least(rule.left)
        };
        let right = right.at_least(rule.right);
        let code = Self::new(format!("{left} {} {right}", rule.symbol), rule.own);
        let opposite = match operator {
            Infix::Equal => Infix::NotEqual,
            Infix::NotEqual => Infix::Equal,
            // `!(a < b)` is not `a >= b` for a NaN.
            _ => return code,
        };
        let inverse = Self::new(format!("{left} {} {right}", opposite.symbol()), rule.own);
        Self { inverse: Some(Box::new(inverse)), ..code }
    }

    /// `condition ? then : otherwise`.
    #[must_use]
    pub fn ternary(condition: &Self, then: &Self, otherwise: &Self) -> Self {
        let text = format!(
            "{} ? {} : {}",
            condition.at_least(Precedence::Or),
            then.at_least(Precedence::Or),
            otherwise.text
        );
        Self::new(text, Precedence::Conditional)
    }
}

/// A binary operator that every C-like language has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the operators")]
pub enum Infix {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitXor,
    BitOr,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

struct Rule {
    symbol: &'static str,
    own: Precedence,
    left: Precedence,
    right: Precedence,
    /// Whether a left operand of the same precedence needs no brackets.
    chains: bool,
}

impl Infix {
    /// The operator of an operation, if every language has one for it.
    #[must_use]
    pub fn of(op: BinaryOp) -> Option<Self> {
        match op {
            BinaryOp::Add => Some(Self::Add),
            BinaryOp::Sub => Some(Self::Sub),
            BinaryOp::Mul => Some(Self::Mul),
            BinaryOp::Div => Some(Self::Div),
            BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod | BinaryOp::Min | BinaryOp::Max => None,
        }
    }

    /// The operator of a comparison.
    #[must_use]
    pub fn of_comparison(op: CompareOp) -> Self {
        match op {
            CompareOp::Eq => Self::Equal,
            CompareOp::Ne => Self::NotEqual,
            CompareOp::Lt => Self::Less,
            CompareOp::Le => Self::LessEqual,
            CompareOp::Gt => Self::Greater,
            CompareOp::Ge => Self::GreaterEqual,
        }
    }

    /// Every operator.
    pub const ALL: &'static [Self] = &[
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Rem,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::BitAnd,
        Self::BitXor,
        Self::BitOr,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::Equal,
        Self::NotEqual,
        Self::And,
        Self::Or,
    ];

    /// The operator's text.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        self.rule().symbol
    }

    fn rule(self) -> Rule {
        use Precedence::*;
        let rule = |symbol, own, left, right, chains| Rule { symbol, own, left, right, chains };
        match self {
            Self::Add => rule("+", Additive, Multiplicative, Multiplicative, true),
            Self::Sub => rule("-", Additive, Multiplicative, Multiplicative, true),
            Self::Mul => rule("*", Multiplicative, Unary, Unary, true),
            Self::Div => rule("/", Multiplicative, Unary, Unary, true),
            Self::Rem => rule("%", Multiplicative, Unary, Unary, true),
            Self::ShiftLeft => rule("<<", Shift, Unary, Unary, false),
            Self::ShiftRight => rule(">>", Shift, Unary, Unary, false),
            Self::BitAnd => rule("&", Precedence::BitAnd, Unary, Unary, true),
            Self::BitXor => rule("^", Precedence::BitXor, Unary, Unary, true),
            Self::BitOr => rule("|", Precedence::BitOr, Unary, Unary, true),
            Self::Less => rule("<", Relational, Shift, Shift, false),
            Self::LessEqual => rule("<=", Relational, Shift, Shift, false),
            Self::Greater => rule(">", Relational, Shift, Shift, false),
            Self::GreaterEqual => rule(">=", Relational, Shift, Shift, false),
            Self::Equal => rule("==", Relational, Shift, Shift, false),
            Self::NotEqual => rule("!=", Relational, Shift, Shift, false),
            Self::And => rule("&&", Precedence::And, Relational, Relational, true),
            Self::Or => rule("||", Precedence::Or, Relational, Relational, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(text: &str) -> Code {
        Code::primary(text)
    }

    #[test]
    fn brackets_are_minimal() {
        let (a, b, c) = (name("a"), name("b"), name("c"));
        let add = Code::infix(Infix::Add, &a, &b);
        let mul = Code::infix(Infix::Mul, &a, &b);
        assert_eq!(Code::infix(Infix::Add, &mul, &c).text, "a * b + c");
        assert_eq!(Code::infix(Infix::Mul, &add, &c).text, "(a + b) * c");
        assert_eq!(Code::infix(Infix::Sub, &add, &c).text, "a + b - c");
        assert_eq!(Code::infix(Infix::Sub, &c, &add).text, "c - (a + b)");
        assert_eq!(Code::infix(Infix::Less, &add, &mul).text, "a + b < a * b");
    }

    #[test]
    fn operations_that_compilers_warn_of_are_bracketed() {
        let (a, b, c) = (name("a"), name("b"), name("c"));
        let and = Code::infix(Infix::And, &a, &b);
        let add = Code::infix(Infix::Add, &a, &b);
        let less = Code::infix(Infix::Less, &a, &b);
        assert_eq!(Code::infix(Infix::Or, &and, &c).text, "(a && b) || c");
        assert_eq!(Code::infix(Infix::BitAnd, &add, &c).text, "(a + b) & c");
        assert_eq!(Code::infix(Infix::ShiftLeft, &add, &c).text, "(a + b) << c");
        assert_eq!(Code::infix(Infix::Equal, &less, &c).text, "(a < b) == c");
        assert_eq!(Code::infix(Infix::Equal, &Code::not(&a), &c).text, "(!a) == c");
    }

    #[test]
    fn prefixes_do_not_run_together() {
        let minus = Code::prefix("-", &name("a"));
        assert_eq!(Code::prefix("-", &minus).text, "-(-a)");
        assert_eq!(Code::prefix("(float)", &minus).text, "(float)-a");
    }

    #[test]
    fn negations_are_worked_in_where_nan_allows() {
        let (a, b) = (name("a"), name("b"));
        let negated = |operator| Code::not(&Code::infix(operator, &a, &b)).text;
        assert_eq!(Code::not(&Code::not(&a)).text, "a");
        assert_eq!(negated(Infix::Equal), "a != b");
        assert_eq!(negated(Infix::NotEqual), "a == b");
        assert_eq!(negated(Infix::Less), "!(a < b)");
    }

    /// A tree of operators, to be written and read back.
    #[derive(Clone, Debug)]
    enum Tree {
        Leaf(u8),
        Node(usize, Box<Tree>, Box<Tree>),
    }

    fn tree() -> impl Strategy<Value = Tree> {
        let leaf = (0_u8..4).prop_map(Tree::Leaf);
        leaf.prop_recursive(6, 40, 2, |inner| {
            (0..Infix::ALL.len(), inner.clone(), inner)
                .prop_map(|(op, a, b)| Tree::Node(op, Box::new(a), Box::new(b)))
        })
    }

    fn write(tree: &Tree) -> Code {
        match tree {
            Tree::Leaf(n) => Code::primary(format!("x{n}")),
            Tree::Node(op, a, b) => Code::infix(Infix::ALL[*op], &write(a), &write(b)),
        }
    }

    fn full(tree: &Tree) -> String {
        match tree {
            Tree::Leaf(n) => format!("x{n}"),
            Tree::Node(op, a, b) => format!("({} {} {})", full(a), Infix::ALL[*op].symbol(), full(b)),
        }
    }

    /// Reads an expression by C's own precedence, and writes it with every bracket.
    fn read(tokens: &mut std::iter::Peekable<std::vec::IntoIter<String>>, least: u8) -> String {
        let mut left = match tokens.next().as_deref() {
            Some("(") => {
                let inner = read(tokens, 0);
                tokens.next();
                inner
            }
            leaf => leaf.unwrap_or("").to_owned(),
        };
        while let Some(op) = tokens.peek().cloned() {
            let level = match op.as_str() {
                "||" => 1,
                "&&" => 2,
                "|" => 3,
                "^" => 4,
                "&" => 5,
                "==" | "!=" => 6,
                "<" | "<=" | ">" | ">=" => 7,
                "<<" | ">>" => 8,
                "+" | "-" => 9,
                "*" | "/" | "%" => 10,
                _ => break,
            };
            if level <= least {
                break;
            }
            tokens.next();
            let right = read(tokens, level);
            left = format!("({left} {op} {right})");
        }
        left
    }

    proptest! {
        #[test]
        fn text_reads_back_as_the_tree(tree in tree()) {
            let text = write(&tree).text;
            let spaced = text.replace('(', "( ").replace(')', " )");
            let tokens: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
            prop_assert_eq!(read(&mut tokens.into_iter().peekable(), 0), full(&tree));
        }
    }
}
