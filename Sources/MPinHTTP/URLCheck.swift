/// Whether `text` is an absolute URL with one of `schemes`, without user name and password, that all programs parse in
/// the same way.
package func isURL(_ text: String, schemes: [String]) -> Bool { RemoteURL(text, schemes: schemes) != nil }
