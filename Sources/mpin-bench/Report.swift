/// Formats the results.
enum Report {
    /// One row, `name  ns/op  ratio`, in columns.
    static func line(_ rung: Rung) -> String {
        let time = rung.nanoseconds < 1000 ? decimal(rung.nanoseconds, digits: 1) : String(Int(rung.nanoseconds))
        let ratio = rung.ratio < 1000 ? decimal(rung.ratio, digits: 2) : String(Int(rung.ratio))
        let line = padded(rung.name, 22) + padded(time, -12) + padded(ratio, -12)
        return rung.allocations == 0 ? line : line + "  \(rung.allocations) allocations"
    }

    /// A JSON array of objects `name`, `ns`, `unit` (in ns, too), `ratio`, `allocations`. The names need no escaping.
    static func json(_ rungs: [Rung]) -> String {
        let objects = rungs.map { rung in
            "{\"name\": \"\(rung.name)\", \"ns\": \(decimal(rung.nanoseconds, digits: 1)), "
                + "\"unit\": \(decimal(rung.unit, digits: 2)), \"ratio\": \(decimal(rung.ratio, digits: 2)), \"allocations\": \(rung.allocations)}"
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
