# What the output of a make target has counted: "TESTS CASES FAULTS INPUTS".
#
# A test has a name: a function of XCTest or pytest, a program of C, a step of a script. XCTest says "Executed N tests" for
# each bundle and then for all of them; everything else says "N passed" in its last line. What a test looks at within is
# "N cases" (values compared), "N faults" (what was done to the client on purpose) or "N inputs" (of a fuzzer).
function before(word) { return match($0, "[0-9]+ " word) ? substr($0, RSTART) + 0 : 0 }
/^\t? ?Executed [0-9]+ tests?,/ { swift = $2 - $5; next }
{
    tests += before("passed")
    cases += before("cases")
    faults += before("faults")
    inputs += before("inputs")
}
END { print tests + swift, cases + 0, faults + 0, inputs + 0 }
