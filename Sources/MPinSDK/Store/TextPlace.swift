import MPinHTTP
package import MPinSecrets

/// Where one secret text is kept.
package protocol TextPlace: Sendable {
    /// The absolute path of the file that the text is in; nil: it is in memory only.
    var path: String? { get }
    /// The text; nil if there is none.
    func read() throws(SDKError) -> SecretBytes?
    /// A number that differs after every change, also by another process.
    func version() -> UInt64
    /// Replaces the text by what `change` returns. It receives what ``read()`` returns. `afterwards` is called before
    /// anybody else can change the text, also after a failure.
    func update(
        within limits: CallLimits?, afterwards: () -> Void,
        _ change: (SecretBytes?) throws(SDKError) -> SecretBytes
    ) throws(SDKError)
}

/// A text in the memory of this process. It is gone, and wiped, when this object is.
package final class TextInMemory: TextPlace {
    package let path: String? = nil
    private let text = Locked<(version: UInt64, bytes: SecretBytes?)>((0, nil))
    /// Held during a change, which may read the text.
    private let changes = Locked<Void>(())

    package init() {}

    package func read() throws(SDKError) -> SecretBytes? { text.withLock { $0.bytes } }

    package func version() -> UInt64 { text.withLock { $0.version } }

    package func update(
        within limits: CallLimits?, afterwards: () -> Void,
        _ change: (SecretBytes?) throws(SDKError) -> SecretBytes
    ) throws(SDKError) {
        try changes.withLock { _ throws(SDKError) in
            defer { afterwards() }
            let new = try change(text.withLock { $0.bytes })
            text.withLock { $0 = ($0.version &+ 1, new) }
        }
    }
}
