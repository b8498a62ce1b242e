/// Whether `text` is an absolute URL of one of `schemes`, without user name and password, that every program reads alike.
package func isURL(_ text: String, schemes: [String]) -> Bool { RemoteURL(text, schemes: schemes) != nil }
