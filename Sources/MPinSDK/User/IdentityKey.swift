/// What tells identities apart: the same user id at another backend, customer or application is another identity (wire
/// section 13; in the MIRACL MFA core the key is user id, backend, customer and application).
package struct IdentityKey: Hashable, Comparable, Sendable {
    let userID: String
    /// The base URL without its scheme: by http and by https it is the same server.
    let site: String
    /// Empty where the server has named none.
    let customerID: String
    let appID: String

    init(userID: String, backend: String, customerID: String?, appID: String?) {
        self.userID = userID
        site = Self.site(backend)
        self.customerID = customerID ?? ""
        self.appID = appID ?? ""
    }

    /// Whether it may be the key of that user, as far as the record says.
    func isOf(_ record: UserRecord) -> Bool {
        userID == record.userID && site == Self.site(record.backend) && customerID == record.customerID ?? customerID
            && appID == record.appID ?? appID
    }

    static func site(_ backend: String) -> String {
        let scheme = ["https://", "http://"].first { backend.hasPrefix($0) } ?? ""
        return String(backend.dropFirst(scheme.count))
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.userID, left.site, left.customerID, left.appID)
            < (right.userID, right.site, right.customerID, right.appID)
    }
}
