/// Keeps one blob of bytes. A failure is ``Status/storageError``.
package protocol Storage: Sendable {
    /// The blob; nil where none was saved yet.
    func read() throws(SDKError) -> [UInt8]?
    /// Replaces the blob by what `change` makes of it. No other process or thread changes it meanwhile, and after a
    /// crash at any moment it is either the old or the new one. Nothing happens where `change` throws. Others are waited
    /// for within `limits`, those of the operation.
    func update(within limits: CallLimits?, _ change: ([UInt8]?) throws(SDKError) -> [UInt8]) throws(SDKError)
    /// Whether it may become empty while it is in use: a program may empty what is its own.
    var mayBeEmptied: Bool { get }
    /// Keeps a copy of a damaged blob beside it, for a person to look at.
    func setAside() throws(SDKError)
    /// Differs after every change of the blob; 0 where there is none.
    func version() -> UInt64
}
