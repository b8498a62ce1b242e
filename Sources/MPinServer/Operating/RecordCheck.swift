import Glibc
import MPinSecrets
import MPinService
import MPinStore

extension Doctor {
    /// The most records that ``records(_:_:at:)`` names.
    private static let most = 20

    /// Whether the records of an RPS have MACs (``RecordMAC``), and, where the key is known, whether these are right.
    func records(
        _ store: any WholeStore, _ database: ServiceDatabase, at now: Moment
    ) async throws -> [(Finding.Weight, String)] {
        let state = try await ServiceBinding.state(of: store, at: now)
        if let file = database.keyFile, SealedMark(keyFile: file).isThere, state != .complete {
            return [(.fault, "the records have no MACs, but those of this server had: this is another database")]
        }
        switch state {
        case .none:
            let advice = "run `mpind migrate --seal` when all servers are of this version"
            return [(.note, "records have no MACs, so whoever can write to the database can exchange them: \(advice)")]
        case .begun:
            return [(.fault, "not all records have MACs yet: if `mpind migrate --seal` was interrupted, repeat it")]
        case .complete: return try await wrong(store, database, at: now)
        }
    }

    private func wrong(
        _ store: any WholeStore, _ database: ServiceDatabase, at now: Moment
    ) async throws -> [(Finding.Weight, String)] {
        guard let file = database.keyFile, access(file, F_OK) == 0 else {
            let options = "--service-key-file, --config or --state-dir"
            return [(.note, "the MACs of the records were not checked: give \(options)")]
        }
        let key = try loadKey(file)
        let id: ServiceID?
        do { id = try await ServiceID.read(in: store, key: key, at: now) } catch is ServiceID.ForeignKey {
            return [(.fault, "the records have MACs of another key than \(file)")]
        }
        guard let id else { return [(.fault, "the records have MACs, but the service has no id")] }
        let places = try await refused(store, ServiceBinding.mac(id.text, key), at: now)
        let more: [(Finding.Weight, String)] =
            places.count > Self.most ? [(.fault, "\(places.count - Self.most) more records with wrong MACs")] : []
        return places.prefix(Self.most).map { (.fault, "\($0.shown): its MAC is missing or wrong") } + more
    }

    /// The places of the records that a server would refuse.
    private func refused(_ store: any WholeStore, _ mac: RecordMAC, at now: Moment) async throws -> [ItemKey] {
        var (found, last) = ([ItemKey](), ItemKey?.none)
        while true {
            let page = try await store.items(after: last, limit: 500, at: now)
            guard let end = page.last?.key else { return found }
            last = end
            for (key, item) in page where !BoundStore.free.contains(key.table) {
                if (try? mac.opened(item, at: key, takesPlain: false)) == nil { found.append(key) }
            }
        }
    }
}
