//! The private group of a user, as systems make one for each user and set the umask to 002: files
//! that it may write are the user's alone (rule FIND-D3).

use std::fs;

/// Number of the user that owns the system.
pub(crate) const ROOT: u32 = 0;

/// Returns the private group of a user, by `/etc/passwd` and `/etc/group`; `None` where these
/// cannot be read or show none.
pub(crate) fn of_user(user: u32) -> Option<u32> {
    let read = |path: &str| fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    in_files(user, &read("/etc/passwd")?, &read("/etc/group")?)
}

/// Finds the group, for a user other than root, whose group is others' too on many systems: the
/// primary group of that user and of nobody else, with the user's name, and nobody else as a
/// member.
fn in_files(user: u32, passwd: &str, group: &str) -> Option<u32> {
    if user == ROOT {
        return None;
    }
    let users: Vec<(&str, u32, u32)> = passwd.lines().filter_map(user_of_line).collect();
    let &(name, _, primary) = users.iter().find(|(_, id, _)| *id == user)?;
    let is_shared = users.iter().any(|(_, id, of_other)| *id != user && *of_other == primary);
    let mut groups = group.lines().filter_map(group_of_line).filter(|(_, id, _)| *id == primary);
    let (group_name, _, members) = groups.next()?;
    let is_private = groups.next().is_none()
        && group_name == name
        && members.split(',').all(|member| member.is_empty() || member == name);
    (is_private && !is_shared).then_some(primary)
}

/// Splits a line of `/etc/passwd`: name, user, primary group.
fn user_of_line(line: &str) -> Option<(&str, u32, u32)> {
    let mut fields = line.split(':');
    let (name, _password) = (fields.next()?, fields.next()?);
    Some((name, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Splits a line of `/etc/group`: name, group, members.
fn group_of_line(line: &str) -> Option<(&str, u32, &str)> {
    let mut fields = line.split(':');
    let (name, _password) = (fields.next()?, fields.next()?);
    Some((name, fields.next()?.parse().ok()?, fields.next()?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0::/:/bin/sh\nann:x:1000:1000:Ann:/:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n";
    const GROUP: &str = "root:x:0:\nann:x:1000:\nbob:x:1001:bob\nall:x:2000:ann,bob\n";

    #[test]
    fn find_d3_a_private_group_is_of_one_user_and_named_so() {
        assert_eq!(in_files(1000, PASSWD, GROUP), Some(1000));
        assert_eq!(in_files(1001, PASSWD, GROUP), Some(1001), "the user may be listed");
        assert_eq!(in_files(0, PASSWD, GROUP), None, "root has none");
        assert_eq!(in_files(1002, PASSWD, GROUP), None, "an unknown user");
        for (passwd, group, why) in [
            (PASSWD.to_owned(), GROUP.replace("ann:x:1000:", "ann:x:1000:bob"), "another member"),
            (PASSWD.to_owned(), GROUP.replace("ann:x:1000:", "ann:x:1000:ann,bob"), "and another member"),
            (PASSWD.to_owned(), GROUP.replace("ann:x:1000:", "users:x:1000:"), "another name"),
            (PASSWD.replace(":1001:1001:", ":1001:1000:"), GROUP.to_owned(), "another's primary group"),
            (PASSWD.to_owned(), format!("{GROUP}more:x:1000:bob\n"), "two groups of that number"),
            (PASSWD.to_owned(), "root:x:0:\n".to_owned(), "no such group"),
            (PASSWD.to_owned(), "\u{fffd}:::::\nann:x:one:\n".to_owned(), "not a list of groups"),
        ] {
            assert_eq!(in_files(1000, &passwd, &group), None, "{why}");
        }
    }
}
