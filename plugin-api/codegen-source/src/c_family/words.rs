//! Reserved words.

/// Keywords of C, macros in lower case, types of its headers, and `main`, separated by spaces.
pub const C_WORDS: &str = "\
    NULL asm auto bool break case char const continue default do double else enum extern false float for goto if \
    inline int long main register restrict return short signed sizeof static struct switch true typedef typeof union \
    unsigned void volatile while i386 l linux unix complex imaginary ptrdiff_t size_t";

/// Keywords of C++ and the other words of [`C_WORDS`].
pub const CPP_WORDS: &str = "\
    NULL asm auto bool break case char const continue default do double else enum extern false float for goto if \
    inline int long main register restrict return short signed sizeof static struct switch true typedef typeof union \
    unsigned void volatile while i386 l linux unix alignas alignof and and_eq bitand bitor catch char16_t char32_t \
    class compl const_cast constexpr decltype delete dynamic_cast explicit export friend mutable namespace new \
    noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast static_assert \
    static_cast template this thread_local throw try typeid typename using virtual wchar_t xor xor_eq char8_t \
    concept consteval constinit co_await co_return co_yield requires";

/// Returns true if one of the lists contains the word; words of a list are separated by spaces.
#[must_use]
pub fn contains_word(lists: &[&str], word: &str) -> bool {
    lists.iter().any(|list| list.split_ascii_whitespace().any(|listed| listed == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_whole() {
        assert!(contains_word(&["a b", C_WORDS], "while") && contains_word(&["a b"], "b"));
        assert!(!contains_word(&[CPP_WORDS], "whil") && !contains_word(&[CPP_WORDS], ""));
    }
}
