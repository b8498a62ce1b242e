import CQREncode

/// A QR code as a picture (ISO/IEC 18004, by libqrencode).
enum QRCode {
    /// The number of empty modules on each side, which readers need.
    private static let quietZone = 4

    /// An SVG image of the text, black on white, with the label `label`; nil if the text is too long.
    static func svg(_ text: String, label: String) -> HTML? {
        guard let (side, path) = drawing(text) else { return nil }
        return """
            <svg class="code" viewBox="0 0 \(side) \(side)" role="img" aria-label="\(label)" shape-rendering="crispEdges">\
            <path fill="#fff" d="M0 0h\(side)v\(side)H0z"/><path fill="#000" d="\(path)"/></svg>
            """
    }

    /// The side of the picture in modules, and the data of an SVG path with the dark ones. Nil if the text is too long.
    static func drawing(_ text: String) -> (side: Int, path: String)? {
        let bytes = Array(text.utf8)
        guard let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        let modules = UnsafeBufferPointer(start: code.pointee.data, count: width * width)
        return (width + 2 * quietZone, path(modules, width))
    }

    /// Returns the data of an SVG path with one rectangle for each run of dark modules in a row.
    private static func path(_ modules: UnsafeBufferPointer<UInt8>, _ width: Int) -> String {
        var path = ""
        for row in 0..<width {
            var column = 0
            while column < width {
                let start = column
                // The lowest bit of a module is 1 if it is dark.
                while column < width, modules[row * width + column] & 1 == 1 { column += 1 }
                let run = column - start
                if run > 0 { path += "M\(start + quietZone) \(row + quietZone)h\(run)v1h-\(run)z" }
                column += 1
            }
        }
        return path
    }
}
