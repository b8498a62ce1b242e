extension Session {
    /// Takes over another client's users, but for those that are known here. Returns their number.
    func importStorage(_ source: ImportSource) throws(SDKError) -> Int {
        let records = try source.records { () throws(SDKError) in try currentBackend().url }
        let added = try add(records)
        log?(.info, "\(added) users imported")
        return added
    }
}
