//! Registered named interfaces of plugins: by the object that they extend, name and version (P3.11
//! to P3.14).

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;

use chipdock_abi::{ChipdockDeleter, ChipdockInterface};

use crate::boundary::calling::Note;
use crate::boundary::instance::Instance;
use crate::boundary::plugin_call::PluginCall;

/// A registered interface, released by its deleter when dropped.
pub(crate) struct Extension {
    raw: ChipdockInterface,
    /// A copy of the table (HOST-A5).
    slots: Box<[*const c_void]>,
    deleter: ChipdockDeleter,
    instance: Arc<Instance>,
}

// SAFETY: its functions and its deleter may be called from any thread (P10.1, P9.1).
unsafe impl Send for Extension {}
// SAFETY: its functions and its deleter may be called from any thread (P10.1, P9.1).
unsafe impl Sync for Extension {}

impl Extension {
    /// Takes an interface over, or says why it is malformed; then it is released at once.
    ///
    /// # Safety
    ///
    /// * P3.11: where its table is not null, `table_size_bytes` can be read there for as long as
    ///   the process lives.
    /// * The caller gives up `raw.self_`, which `deleter` releases.
    pub(crate) unsafe fn new(
        raw: ChipdockInterface,
        deleter: ChipdockDeleter,
        instance: &Arc<Instance>,
    ) -> Result<Self, String> {
        let mut extension = Self { raw, slots: Box::default(), deleter, instance: Arc::clone(instance) };
        let slot_bytes = size_of::<*const c_void>() as u64;
        let slots = raw.table.cast::<*const c_void>();
        if slots.is_null() || !slots.is_aligned() {
            return Err(format!("its table is at {slots:p}; expected a static table of functions"));
        }
        let size_bytes = raw.table_size_bytes;
        if size_bytes == 0 || !size_bytes.is_multiple_of(slot_bytes) {
            return Err(format!(
                "its table has {size_bytes} bytes; expected function pointers of {slot_bytes} bytes each (P3.11)"
            ));
        }
        if size_bytes > KNOWN_TABLE_BYTES_MAX {
            // None of those that this host knows, and so ignored (P3.5): it is only released.
            return Ok(extension);
        }
        let count = (size_bytes / slot_bytes) as usize;
        // SAFETY: within the table, as the caller guarantees; read as plain pointers, null ones are
        // seen.
        extension.slots = (0..count).map(|index| unsafe { slots.add(index).read() }).collect();
        match extension.slots.iter().position(|slot| slot.is_null()) {
            Some(index) => Err(format!("slot {index} of its table is null")),
            None => Ok(extension),
        }
    }

    /// Returns its table as the table of a name and a version that this host knows; `None` where
    /// the size differs.
    fn table<T: Copy + 'static>(&self) -> Option<T> {
        // SAFETY: pointers of that size altogether, none null; a struct of function pointers, as
        // the caller of `Extensions::get` guarantees.
        (size_of_val(&*self.slots) == size_of::<T>())
            .then(|| unsafe { self.slots.as_ptr().cast::<T>().read() })
    }

    /// Returns it as its plugin registered it, for another plugin (H.11).
    pub(crate) fn raw(&self) -> ChipdockInterface {
        self.raw
    }

    /// Returns the first argument of the table's functions.
    pub(crate) fn self_(&self) -> *mut c_void {
        self.raw.self_
    }

    /// Notes that one of its functions is called (CALLING-N1).
    pub(crate) fn calling(&self, what: &str) -> PluginCall {
        PluginCall::enter(self.instance.log(), Note::of(self.instance.plugin(), what))
    }
}

impl Drop for Extension {
    fn drop(&mut self) {
        let _calling = self.calling("an interface's deleter");
        // SAFETY: P3.13, called once, last.
        unsafe { (self.deleter.0)(self.raw.self_) };
    }
}

/// Greatest size of a table that is looked at: no interface that this host knows has so many
/// functions.
const KNOWN_TABLE_BYTES_MAX: u64 = 1024;

/// The named interfaces of one registered object, by name and version.
#[derive(Default)]
pub(crate) struct Extensions(BTreeMap<(String, u32), Arc<Extension>>);

impl Extensions {
    /// Adds an interface; returns true if there was none of that name and version.
    pub(crate) fn add(&mut self, name: &str, version: u32, extension: Extension) -> bool {
        let place = self.0.entry((name.to_owned(), version));
        let is_free = matches!(place, std::collections::btree_map::Entry::Vacant(_));
        place.or_insert_with(|| Arc::new(extension));
        is_free
    }

    /// Returns all of them, as `name/version`, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.keys().map(|(name, version)| format!("{name}/{version}")).collect()
    }

    /// Returns the interface of that name and version.
    pub(crate) fn find(&self, name: &str, version: u32) -> Option<&Extension> {
        self.0.get(&(name.to_owned(), version)).map(AsRef::as_ref)
    }

    /// Returns the interface of that name and version, with its table; `None` where it is not
    /// registered.
    ///
    /// A host that knows several versions asks for the newest first (P3.4). `T` is the struct of
    /// function pointers that belongs to name and version.
    pub(crate) fn get<T: Copy + 'static>(&self, name: &str, version: u32) -> Option<(Arc<Extension>, T)> {
        let extension = self.0.get(&(name.to_owned(), version))?;
        Some((Arc::clone(extension), extension.table::<T>()?))
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::boundary::instance::Ends;
    use crate::open::origin::Origin;
    use crate::{Host, HostOptions};

    /// `x` in its first version, and in a second one that can do more.
    #[derive(Clone, Copy)]
    struct X1 {
        first: extern "C" fn() -> i32,
    }

    #[derive(Clone, Copy)]
    struct X2 {
        first: extern "C" fn() -> i32,
        second: extern "C" fn() -> i32,
    }

    extern "C" fn first() -> i32 {
        1
    }

    extern "C" fn second() -> i32 {
        2
    }

    unsafe extern "C" fn end(_: *mut c_void) -> i32 {
        0
    }

    unsafe extern "C" fn release(_: *mut c_void) {}

    fn registered<T>(table: &'static T, instance: &Arc<Instance>) -> Extension {
        let table_size_bytes = size_of::<T>() as u64;
        let table = ptr::from_ref(table).cast();
        let raw = ChipdockInterface { self_: ptr::null_mut(), table, table_size_bytes, features: 0 };
        // SAFETY: a static table of that size; the deleter releases nothing.
        unsafe { Extension::new(raw, ChipdockDeleter(release), instance) }.unwrap()
    }

    /// P3.4: a host that knows both versions asks for the newer one first.
    fn newest(extensions: &Extensions) -> Option<i32> {
        match extensions.get::<X2>("x", 2) {
            Some((_, table)) => Some((table.first)() + 10 * (table.second)()),
            None => extensions.get::<X1>("x", 1).map(|(_, table)| (table.first)()),
        }
    }

    #[test]
    fn p3_4_either_side_may_know_one_version_or_both() {
        static ONE: X1 = X1 { first };
        static TWO: X2 = X2 { first, second };
        let host = Host::new(HostOptions::isolated()).unwrap();
        let instance = Instance::new(
            "nobody",
            Origin::of_program(),
            host.0.services.of_instances(),
            Ends { shutdown: end, release },
        );
        let (mut both, mut old, mut new) =
            (Extensions::default(), Extensions::default(), Extensions::default());
        assert!(
            both.add("x", 1, registered(&ONE, &instance)) && both.add("x", 2, registered(&TWO, &instance))
        );
        assert!(old.add("x", 1, registered(&ONE, &instance)) && new.add("x", 2, registered(&TWO, &instance)));
        assert!(!old.add("x", 1, registered(&ONE, &instance)), "no version twice");
        // A host that knows both, and plugins that register both, the old one, the new one.
        assert_eq!([newest(&both), newest(&old), newest(&new)], [Some(21), Some(1), Some(21)]);
        // A host that knows the old one alone.
        let known = |extensions: &Extensions| extensions.get::<X1>("x", 1).map(|(_, table)| (table.first)());
        assert_eq!([known(&both), known(&old), known(&new)], [Some(1), Some(1), None]);
        // A table of another size than name and version stand for is none.
        assert!(old.get::<X2>("x", 1).is_none() && both.get::<X1>("x", 2).is_none());
    }
}
