/// A program and its version, as at the beginning of a User-Agent (RFC 9110 section 10.1.5): `MyApp/2.1.3`.
package struct ProductVersion: Sendable, Equatable {
    package let name: String
    /// The numbers of the version, from the left.
    package let version: [Int]

    /// Reads the beginning of a User-Agent; nil unless it is a name, a slash and a version of decimal numbers.
    package init?(_ text: String) {
        let product = text.prefix { $0 != " " }.split(separator: "/", omittingEmptySubsequences: false)
        guard product.count == 2, !product[0].isEmpty else { return nil }
        let numbers = product[1].split(separator: ".", omittingEmptySubsequences: false)
        let version = numbers.compactMap { part in
            part.utf8.allSatisfy { (48...57).contains($0) } ? Int(part) : nil
        }
        guard version.count == numbers.count else { return nil }
        name = String(product[0])
        self.version = version
    }

    /// Whether this version is at least `oldest`; 2.1 is the same as 2.1.0.
    func isAsNew(as oldest: ProductVersion) -> Bool {
        for place in 0..<max(version.count, oldest.version.count) {
            let own = place < version.count ? version[place] : 0
            let other = place < oldest.version.count ? oldest.version[place] : 0
            if own != other { return own > other }
        }
        return true
    }
}
