# Adds up what the output of a make target has counted, and prints "TESTS CASES FAULTS INPUTS".
#
# A test is something with a name: a function of XCTest or pytest, a C program, or a step of a script. XCTest prints
# "Executed N tests" for each bundle and then for all of them, so only the last such line counts. Everything else prints
# "N passed" in its last line. Within its tests a program counts "N cases" (values compared), "N faults" (failures that
# were caused on purpose) or "N inputs" (of a fuzzer).
function before(word) { return match($0, "[0-9]+ " word) ? substr($0, RSTART) + 0 : 0 }
/^\t? ?Executed [0-9]+ tests?,/ { swift = $2 - $5; next }
{
    tests += before("passed")
    cases += before("cases")
    faults += before("faults")
    inputs += before("inputs")
}
END { print tests + swift, cases + 0, faults + 0, inputs + 0 }
