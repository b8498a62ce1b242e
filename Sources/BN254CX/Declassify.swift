/// Returns the result of a check, which is all ones or zero. It marks the only places where a value computed from a
/// secret becomes public.
///
/// The function returns its argument, but the compiler cannot know this. The constant-time test (Tests/Proof/ctime.c)
/// makes valgrind replace the function by its name and mark the result as defined. So the tested library is the
/// released one.
@inline(never) @_optimize(none)
package func declassify(_ verdict: Limb) -> Limb { verdict }
