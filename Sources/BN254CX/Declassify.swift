/// Returns `verdict`, the result of a check: a mask of all ones or zero. The calls of this function are the only places
/// where a value computed from a secret becomes public.
///
/// The compiler cannot know that the function returns its argument. The constant-time test (Tests/Proof/ctime.c) makes
/// valgrind find the function by its name and mark its result as public. So the test runs on the same library that is
/// released.
@inline(never) @_optimize(none)
package func declassify(_ verdict: Limb) -> Limb { verdict }
