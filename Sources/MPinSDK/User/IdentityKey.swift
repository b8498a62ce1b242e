/// The key of an identity. The same user id at another backend, customer or application is another identity (wire
/// section 13). The MIRACL MFA core uses the same four values.
package struct IdentityKey: Hashable, Comparable, Sendable {
    let userID: String
    /// The base URL without its scheme, because http and https lead to the same server.
    let site: String
    /// The name of the customer; empty if there is none.
    let customerID: String
    /// The name of the application; empty if there is none.
    let appID: String

    init(userID: String, backend: String, customerID: String?, appID: String?) {
        self.userID = userID
        site = Self.site(backend)
        self.customerID = customerID ?? ""
        self.appID = appID ?? ""
    }

    /// Whether the record may have this key. A record without customer or application matches any customer or
    /// application.
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
