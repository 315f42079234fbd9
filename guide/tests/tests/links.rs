//! Links of the guide lead somewhere.

use std::collections::BTreeSet;
use std::fs;

use chipdock_guide_tests::{Page, docs, pages, readme, root};

/// Where the files of the repository are read.
const FILES: &str = "https://github.com/chipdock/chipdock/blob/main/";

/// The anchors of a page, as Python-Markdown makes them of its headings.
fn anchors(page: &Page) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in &page.prose {
        let title = line.trim_start_matches('#');
        if title.len() < line.len() && title.starts_with(' ') {
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            let words: String = title.trim().to_lowercase().chars().filter(kept).collect();
            let slug = words.split([' ', '-']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
            assert!(anchors.insert(slug), "guide/docs/{}: two headings `{}`", page.name, title.trim());
        }
    }
    anchors
}

/// The destinations of the links of a line; between backquotes nothing is one.
fn links(line: &str) -> Vec<String> {
    let text: String = line.split('`').step_by(2).collect();
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let pages = pages();
    let mut findings = Vec::new();
    let mut n_links = 0;
    for page in &pages {
        for (number, line) in &page.prose {
            for link in links(line) {
                n_links += 1;
                let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
                let is_there = if let Some(path) = path.strip_prefix(FILES) {
                    root().join(path).exists()
                } else if link.starts_with("https://") {
                    true
                } else if path.ends_with(".svg") {
                    docs().join(path).is_file()
                } else {
                    let wanted = if path.is_empty() { &page.name } else { path };
                    let found = pages.iter().find(|other| other.name == *wanted);
                    found.is_some_and(|other| anchor.is_empty() || anchors(other).contains(anchor))
                };
                if !is_there {
                    findings.push(format!("guide/docs/{}:{number}: {link}", page.name));
                }
            }
        }
    }
    assert!(findings.is_empty(), "these lead nowhere:\n{}", findings.join("\n"));
    assert!(n_links > pages.len(), "{n_links} links");
}

#[test]
fn links_of_the_readme_lead_to_files() {
    let mut n_links = 0;
    for (number, line) in &readme().prose {
        for link in links(line).into_iter().filter(|link| !link.starts_with("https://")) {
            n_links += 1;
            assert!(root().join(&link).is_file(), "README.md:{number}: {link}");
        }
    }
    assert!(n_links > 3, "{n_links} links");
}

#[test]
fn paths_of_the_repository_exist() {
    let mut findings = Vec::new();
    for page in pages() {
        for (number, line) in &page.prose {
            for quoted in line.split('`').skip(1).step_by(2) {
                let first = quoted.split('/').next().unwrap_or_default();
                let is_path = quoted.contains('/') && !quoted.contains([' ', '*', '<', '$']);
                let is_ours =
                    ["plugin-api", "host", "plugins", "tests", "examples", "guide"].contains(&first);
                if is_path && is_ours && !root().join(quoted).exists() {
                    findings.push(format!("guide/docs/{}:{number}: `{quoted}`", page.name));
                }
            }
        }
    }
    assert!(findings.is_empty(), "named, but not there:\n{}", findings.join("\n"));
}

#[test]
fn each_page_is_in_the_contents() {
    let contents = fs::read_to_string(root().join("guide/mkdocs.yml")).unwrap();
    for page in pages() {
        assert!(contents.contains(&format!(": {}\n", page.name)), "{} is not in guide/mkdocs.yml", page.name);
    }
}
