/// Formats the timings as lines of text or as JSON.
enum Report {
    /// One row, `name  ns/op  ratio`, in columns.
    static func line(_ timing: Timing) -> String {
        let time = timing.nanoseconds < 1000 ? decimal(timing.nanoseconds, digits: 1) : String(Int(timing.nanoseconds))
        let ratio = timing.ratio < 1000 ? decimal(timing.ratio, digits: 2) : String(Int(timing.ratio))
        let line = padded(timing.name, 22) + padded(time, -12) + padded(ratio, -12)
        return timing.allocations == 0 ? line : line + "  \(timing.allocations) allocations"
    }

    /// The results as a JSON array of objects with the members `name`, `ns`, `unit` (the time of U in ns), `ratio` and
    /// `allocations`. The names need no escaping.
    static func json(_ timings: [Timing]) -> String {
        let objects = timings.map { timing in
            "{\"name\": \"\(timing.name)\", \"ns\": \(decimal(timing.nanoseconds, digits: 1)), "
                + "\"unit\": \(decimal(timing.unit, digits: 2)), \"ratio\": \(decimal(timing.ratio, digits: 2)), \"allocations\": \(timing.allocations)}"
        }
        return "[\n  " + objects.joined(separator: ",\n  ") + "\n]"
    }

    /// Pads the text with spaces to a width; on the left if the width is negative.
    private static func padded(_ text: String, _ width: Int) -> String {
        let spaces = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? spaces + text : text + spaces
    }

    private static func decimal(_ value: Double, digits: Int) -> String {
        let scale = digits == 1 ? 10 : 100
        let scaled = Int((value * Double(scale)).rounded())
        let fraction = String(scaled % scale + scale).dropFirst()
        return "\(scaled / scale).\(fraction)"
    }
}
