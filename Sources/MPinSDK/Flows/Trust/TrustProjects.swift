import MPinHTTP

/// Projects of MIRACL Trust. The functions of these files are named after those of the Trust SDKs.
extension SDK {
    /// The address of the service of MIRACL Trust.
    package static let trustURL = "https://api.mpin.io"

    /// Uses a project from now on, instead of the current backend or project. Sends nothing.
    package func setProject(
        _ id: String, url: String = SDK.trustURL, deviceName: String? = nil
    ) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            guard 1...255 ~= id.utf8.count, id.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
                throw SDKError(.invalidArgument, "the project's id is not 1 to 255 visible ASCII characters")
            }
            try core.setProject(TrustWire(id: id, url: Backend.base(url), deviceName: deviceName), caller)
        }
    }
}

extension Core {
    fileprivate func setProject(_ project: TrustWire, _ caller: Caller) throws(SDKError) {
        switch caller.policy.refusal(of: project.url) {
        case nil: break
        case .invalidURL?: throw SDKError(.invalidArgument, "the project's URL is no http or https URL")
        case let refusal?: throw SDKError(.untrustedDomainError, "project: \(refusal)")
        }
        guard !project.url.contains("?"), !project.url.contains("#") else {
            throw SDKError(.invalidArgument, "the project's URL has a query or a fragment")
        }
        var new = Backend(project: project)
        if let kind = AddressClass(url: project.url) { new.reach.insert(kind) }
        backend = new
        log?(.info, "the project is \(project.id) at \(project.url)")
    }

    func currentProject() throws(SDKError) -> TrustWire {
        guard let project = try currentBackend().project else {
            throw SDKError(.flowError, "no project of MIRACL Trust is set")
        }
        return project
    }

    /// Throws unless the user belongs to the current project and its state allows `input`. Returns the project.
    func project(of user: User, allows input: UserLifecycle.Input) throws(SDKError) -> TrustWire {
        let project = try currentProject()
        try check(user, allows: input)
        guard try currentBackend().has(user.record) else {
            throw SDKError(.flowError, "the user belongs to another project than the current one")
        }
        return project
    }
}
