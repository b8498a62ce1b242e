import Glibc

/// mpin-bench: what every step of the engine costs, in nanoseconds and in products of GMP.
@main
enum Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let isJSON = arguments == ["--json"]
        guard isJSON || arguments.isEmpty else {
            fail("usage: mpin-bench [--json]", status: 2)
        }
        guard AllocationCounter.works() else { fail("mpin-bench: error: allocations are not counted", status: 1) }
        var ladder = Ladder { if !isJSON { print(Report.line($0)) } }
        ladder.timeUnit()
        do {
            climbEngine(&ladder)
            try climbProtocol(&ladder)
        } catch {
            fail("mpin-bench: error: an operation was refused: \(error)", status: 1)
        }
        if isJSON { print(Report.json(ladder.rungs)) }
    }

    private static func fail(_ text: String, status: Int32) -> Never {
        let line = text + "\n"
        _ = write(STDERR_FILENO, line, line.utf8.count)
        exit(status)
    }
}
