/// Users of other clients.
extension SDK {
    /// Takes over the users that another client has stored, but for those that are known here. Returns their number.
    package func importStorage(_ source: ImportSource) throws(SDKError) -> Int {
        try perform { session, _ throws(SDKError) in try session.importStorage(source) }
    }
}
