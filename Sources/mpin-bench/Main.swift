import Glibc

/// mpin-bench: measures the cost of each operation, in nanoseconds and in products of GMP.
@main
enum Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let isJSON = arguments == ["--json"], isCounting = arguments == ["--count"]
        let path = arguments.count == 2 && arguments.first == "--json-to" ? arguments.last : nil
        guard isJSON || isCounting || path != nil || arguments.isEmpty else {
            fail("usage: mpin-bench [--json | --json-to FILE | --count]", status: 2)
        }
        guard AllocationCounter.works() else { fail("mpin-bench: error: allocations are not counted", status: 1) }
        var benchmark = Benchmark(isCounting: isCounting) { timing in
            if !isJSON { print(isCounting ? timing.name : Report.line(timing)) }
        }
        if !isCounting { benchmark.timeUnit() }
        do {
            measureEngine(&benchmark)
            try measureProtocol(&benchmark)
        } catch {
            fail("mpin-bench: error: an operation was refused: \(error)", status: 1)
        }
        if isJSON { print(Report.json(benchmark.timings)) }
        if let path, !write(Report.json(benchmark.timings) + "\n", to: path) {
            fail("mpin-bench: error: \(path) cannot be written", status: 1)
        }
    }

    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        let isWritten = fputs(text, file) >= 0
        return fclose(file) == 0 && isWritten
    }

    private static func fail(_ text: String, status: Int32) -> Never {
        let line = text + "\n"
        _ = Glibc.write(STDERR_FILENO, line, line.utf8.count)
        exit(status)
    }
}
