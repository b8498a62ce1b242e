extension String {
    /// The beginning of the text: at most `most` characters, and at most four bytes for each of them. One character can
    /// have any number of combining marks.
    package func beginning(_ most: Int) -> String {
        var bytes = 0
        return String(
            prefix(most).prefix {
                bytes += $0.utf8.count
                return bytes <= 4 * most
            })
    }
}
