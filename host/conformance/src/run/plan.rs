//! Plan of a run: filters the instances, then distributes them to workers in batches.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::RunError;
use crate::Instance;

/// Minimum number of cases that is worth the start of a worker.
const BATCH: usize = 24;
/// Batches of a group for each concurrent worker: more would share less, fewer would leave a worker
/// idle.
const BATCHES_PER_JOB: usize = 4;

/// Globs over ids; an empty set matches everything.
pub(super) struct Filters {
    globs: GlobSet,
}

impl Filters {
    pub(super) fn new(patterns: &[String]) -> Result<Self, RunError> {
        let mut globs = GlobSetBuilder::new();
        for pattern in patterns {
            let glob = GlobBuilder::new(pattern).literal_separator(false).build();
            let wrong = |error| RunError::Usage(format!("the filter \"{pattern}\" is no pattern: {error}"));
            globs.add(glob.map_err(wrong)?);
        }
        let wrong = |error| RunError::Usage(format!("the filters: {error}"));
        Ok(Self { globs: globs.build().map_err(wrong)? })
    }

    pub(super) fn takes(&self, id: &str) -> bool {
        self.globs.is_empty() || self.globs.is_match(id)
    }

    /// Returns an error if a filter matches none of the ids.
    pub(super) fn check<'a>(
        &self,
        patterns: &[String],
        ids: impl Iterator<Item = &'a str>,
    ) -> Result<(), RunError> {
        let mut matched = vec![false; patterns.len()];
        for id in ids {
            self.globs.matches(id).into_iter().for_each(|index| matched[index] = true);
        }
        match patterns.iter().zip(&matched).find(|(_, matched)| !**matched) {
            None => Ok(()),
            Some((pattern, _)) => Err(RunError::Usage(format!(
                "the filter \"{pattern}\" matches no case of this plugin at this level; \
                 chipdock conformance PLUGIN.so --list shows them"
            ))),
        }
    }
}

/// Instances that one worker runs, as indices into the plan, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) indices: Vec<usize>,
    /// Whether the batch runs while nothing else does.
    pub(super) exclusive: bool,
}

/// Distributes the instances to workers. Instances of a group about one registration stay together,
/// because they share what they build; a case that ends its process gets a process of its own.
pub(super) fn batches(instances: &[Instance], jobs: usize) -> Vec<Batch> {
    let mut all = Vec::new();
    let mut rest: Vec<usize> = (0..instances.len()).collect();
    while let Some(first) = rest.first().copied() {
        let group = instances[first].case.group;
        let (of_group, others): (Vec<usize>, Vec<usize>) =
            rest.into_iter().partition(|index| instances[*index].case.group == group);
        rest = others;
        let exclusive = group.is_exclusive();
        let (alone, shared): (Vec<usize>, Vec<usize>) =
            of_group.into_iter().partition(|index| instances[*index].case.ends_process);
        let most = if exclusive { 1 } else { BATCHES_PER_JOB * jobs.max(1) };
        let size = shared.len().div_ceil(most).max(BATCH);
        for registration in by_registration(instances, shared) {
            all.extend(registration.chunks(size).map(|part| Batch { indices: part.to_vec(), exclusive }));
        }
        all.extend(alone.into_iter().map(|index| Batch { indices: vec![index], exclusive }));
    }
    all
}

fn by_registration(instances: &[Instance], indices: Vec<usize>) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for index in indices {
        let of = |known: &&mut Vec<usize>| {
            known.first().is_some_and(|first| instances[*first].registration == instances[index].registration)
        };
        match all.iter_mut().find(of) {
            Some(known) => known.push(index),
            None => all.push(vec![index]),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Cases, instances};
    use crate::facts::Registration;
    use crate::{Facts, Group, Subject};

    fn plan(n: usize, group: Group, registrations: &[&str], ends: bool) -> Vec<Instance> {
        let mut cases = Cases::default();
        for number in 0..n {
            let draft = cases.case(group, number, "D.1", Subject::DeviceApi);
            if ends && number == 1 { draft.ends_process().run(|_| Ok(())) } else { draft.run(|_| Ok(())) }
        }
        let registered = registrations
            .iter()
            .map(|name| Registration { subject: Subject::DeviceApi, name: (*name).to_owned() })
            .collect();
        instances(&cases.into_vec(), &Facts { registered, ..Facts::default() })
    }

    #[test]
    fn every_instance_is_in_one_batch() {
        let mut all = plan(300, Group::Copy, &["a", "b"], true);
        all.extend(plan(70, Group::Soak, &["a"], false));
        let batches = batches(&all, 2);
        let mut indices: Vec<usize> = batches.iter().flat_map(|batch| batch.indices.clone()).collect();
        indices.sort_unstable();
        assert_eq!(indices, (0..all.len()).collect::<Vec<_>>());
        for batch in &batches {
            let first = &all[batch.indices[0]];
            assert!(batch.indices.iter().all(|index| all[*index].registration == first.registration));
            assert_eq!(batch.exclusive, first.case.group == Group::Soak);
            assert!(batch.indices.is_sorted());
        }
    }

    /// SUITE-S9: the end of a process is that of the case alone.
    #[test]
    fn one_that_ends_its_process_has_its_own() {
        let all = plan(3, Group::Copy, &["a"], true);
        let batches = batches(&all, 2);
        let indices: Vec<Vec<usize>> = batches.into_iter().map(|batch| batch.indices).collect();
        assert_eq!(indices, [vec![0, 2], vec![1]]);
    }

    #[test]
    fn a_group_has_few_batches() {
        assert_eq!(batches(&plan(10, Group::Copy, &["a"], false), 2).len(), 1);
        assert_eq!(batches(&plan(4000, Group::Copy, &["a"], false), 2).len(), 8);
        assert_eq!(batches(&plan(4000, Group::Soak, &["a"], false), 2).len(), 1);
    }

    /// SUITE-S14: usage.
    #[test]
    fn a_filter_that_matches_nothing_is_refused() {
        let ids = ["copy/h2d/1@a", "copy/d2h/1@a"];
        let check = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
            Filters::new(&patterns)?.check(&patterns, ids.into_iter())
        };
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&["copy/*", "*/h2d/*"]), Ok(()));
        let error = check(&["copy/*", "cpoy/*"]).unwrap_err();
        assert!(error.to_string().contains("\"cpoy/*\"") && error.exit() == 2, "{error}");
        assert!(matches!(check(&["copy/["]), Err(RunError::Usage(_))));
    }

    #[test]
    fn a_case_runs_if_any_filter_matches() {
        let filters = Filters::new(&["copy/h2d/*".to_owned(), "load/*".to_owned()]).unwrap();
        assert!(filters.takes("copy/h2d/1@a") && filters.takes("load/x"));
        assert!(!filters.takes("copy/d2h/1@a"));
    }
}
