import MPinStore

/// The tables in which somebody who has not logged in can begin something. Whatever else expires takes credentials, a
/// mail or a right PIN to begin, or has a fixed number of places: challenges and tokens of registered identities by
/// identity, those of other IDs by slots.
enum StrangerTables {
    static let all: Set<String> = [
        // Pages and programs that wait for a phone.
        "wid", "webott", "project_session", "project_session_name",
        // Logins at the OpenID provider: of browsers, of pages of the clients, of devices, and at protected hosts.
        "oidc_login", "oidc_login_session", "oidc_login_session_key", "oidc_device", "oidc_user_code",
        "forward_auth_login",
        // Registrations, and the mails for them.
        "registration", "project_code", "project_link", "project_mail", "pending_mail", "asked_mail",
    ]
}

extension Limits {
    var stores: StoreBudget.Sizes {
        StoreBudget.Sizes(table: memoryBudget, address: memoryPerAddress, network: memoryPerNetwork)
    }
}

extension StoreBudget.Caller {
    init(_ address: IPAddress) {
        self.init(address: .init(address), network: .init(high: address.network.high, low: address.network.low))
    }
}
