//! The `suite!` macro: creates a test for each case.

/// Creates a Rust test for each conformance test, in one module per group. `suite!(factory)`
/// creates those that every store must pass. `suite!(factory; durable, maintenance)` also creates
/// those for the capabilities `durable` and `maintenance`.
#[doc(hidden)]
#[macro_export]
macro_rules! __forklore_suite {
    ($factory:expr $(; $($offered:ident),+ $(,)?)?) => {
        fn forklore_factory() -> impl $crate::Factory {
            $factory
        }
        $crate::__forklore_cases! { __forklore_tests [$($($offered)+)?] }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __forklore_tests {
    ($offered:tt $($need:ident $group:ident $cases:tt)*) => {
        $($crate::__forklore_offered! { $need $offered $group $cases })*
    };
}

/// Creates the Rust tests of a group, if the capability that the group needs is `base` or in the
/// list `$offered`.
#[doc(hidden)]
#[macro_export]
macro_rules! __forklore_offered {
    (base $offered:tt $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    (durable [durable $($rest:ident)*] $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    (processes [processes $($rest:ident)*] $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    (maintenance [maintenance $($rest:ident)*] $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    (sources [sources $($rest:ident)*] $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    (attachments [attachments $($rest:ident)*] $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    (shared_attachments [shared_attachments $($rest:ident)*] $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    (operations [operations $($rest:ident)*] $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    (shared_operations [shared_operations $($rest:ident)*] $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    (loss [loss $($rest:ident)*] $($group:tt)*) => { $crate::__forklore_group! { $($group)* } };
    ($need:ident [$other:ident $($rest:ident)*] $($group:tt)*) => {
        $crate::__forklore_offered! { $need [$($rest)*] $($group)* }
    };
    ($need:ident [] $($group:tt)*) => {};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __forklore_group {
    ($group:ident { $($number:literal $name:ident)* }) => {
        mod $group {
            $(
                #[test]
                fn $name() {
                    $crate::run_one(&super::forklore_factory(), $number);
                }
            )*
        }
    };
}
