package import MPinHTTP
package import MPinSecrets

/// What the session of an app uses of an initialised ``SDK``.
package struct SessionParts: Sendable {
    let transport: any HTTPTransport
    package let policy: HTTPPolicy
    /// Where the session is: in a file that is sealed under the key of the users, or in memory.
    package let place: any TextPlace
    package let random: RandomSource
    package let now: Clock
    package let log: Log?
    /// Whether the task is cancelled whose call this thread runs.
    package let isCancelled: @Sendable () -> Bool
    /// How long one call may take.
    package let timeoutMilliseconds: UInt32

    /// A caller for URLs that the app gave, and for those that its providers have named.
    package func caller(_ limits: CallLimits) -> Caller {
        Caller(transport: transport, policy: policy, headers: [], limits: limits, log: log)
    }
}

extension SDK {
    /// The parts for a session that is stored in the file at `path`; nil: the path of the users' store followed by
    /// `.session`; empty: it is in memory only. Throws if the program stores the users itself and `path` is nil.
    package func sessionParts(path: String?) throws(SDKError) -> SessionParts {
        try perform { core, caller throws(SDKError) in
            guard let path = path ?? (core.storagePath.isEmpty ? nil : core.storagePath + ".session")
            else { throw SDKError(.invalidArgument, "no path for the session: name a file in its configuration") }
            return SessionParts(
                transport: core.transport, policy: caller.policy,
                place: path.isEmpty ? TextInMemory() : core.store.sealedFile(path, purpose: "mpin-session"),
                random: core.random, now: core.now, log: core.log,
                isCancelled: environment.isCancelled, timeoutMilliseconds: timeout)
        }
    }
}
