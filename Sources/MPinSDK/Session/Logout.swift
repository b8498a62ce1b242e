import MPinWire

extension Session {
    /// Once: forgotten as soon as the server has answered, whatever it said.
    func logout(_ user: User, _ caller: Caller) throws(SDKError) {
        try check(user, allows: .loggedOut)
        guard let logout = user.logout else { throw SDKError(.flowError, "there is no session to end") }
        do throws(SDKError) {
            _ = try caller.send(.logout, .post, try currentBackend().url + logout.path, logout.data)
        } catch {
            if error.httpStatus != nil { user.update { $0.logout = nil } }
            throw error
        }
        user.update { $0.logout = nil }
    }
}
