/// The one of `names` that takes the fewest letters inserted, deleted or changed to become `text`.
func nearestName(to text: String, among names: [String]) -> String? {
    names.map { (name: $0, distance: distance(Array(text.utf8), Array($0.utf8))) }
        .min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
}

/// Levenshtein's distance.
private func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (index, byte) in left.enumerated() {
        var next = [index + 1]
        for (column, other) in right.enumerated() {
            let changed = row[column] + (byte == other ? 0 : 1)
            next.append(min(changed, row[column + 1] + 1, (next.last ?? 0) + 1))
        }
        row = next
    }
    return row.last ?? 0
}
