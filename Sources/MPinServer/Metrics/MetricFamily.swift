/// All metrics, with names, labels and buckets for Prometheus. No label identifies a person.
enum MetricFamily: String, CaseIterable, Sendable {
    case requests = "mpin_http_requests_total"
    case requestSeconds = "mpin_http_request_duration_seconds"
    case rateLimited = "mpin_rate_limited_total"
    case overloaded = "mpin_overloaded_total"
    case connections = "mpin_connections"
    case connectionsMost = "mpin_connections_most"
    case connectionsLost = "mpin_connections_lost_total"
    case logins = "mpin_auth_total"
    case blocked = "mpin_blocked_total"
    case registrations = "mpin_registration_total"
    case pairingSeconds = "mpin_pairing_seconds"
    case signatureSeconds = "mpin_signature_cpu_seconds"
    case storeSeconds = "mpin_store_operation_seconds"
    case storeErrors = "mpin_store_errors_total"
    case refusedRecords = "mpin_store_refused_records_total"
    case storeConnections = "mpin_store_connections"
    case storeConnectionsMost = "mpin_store_connections_most"
    case storeWaiting = "mpin_store_waiting"
    case storeWaits = "mpin_store_waits_total"
    case storeWaitSeconds = "mpin_store_wait_seconds_total"
    case healthCheck = "mpin_health_check"
    case clockOffset = "mpin_clock_offset_seconds"
    case shortLivedItems = "mpin_live_sessions"
    case strangerBytes = "mpin_stranger_bytes"
    case tokens = "mpin_token_requests_total"
    case adminRequests = "mpin_admin_requests_total"
    case logouts = "mpin_logouts_total"
    case logoutTokens = "mpin_logout_tokens_total"
    case build = "mpin_build_info"

    var help: String {
        switch self {
        case .requests: "Answered requests."
        case .requestSeconds: "Time from a request's head to its answer."
        case .rateLimited: "Requests refused by a rate limit."
        case .overloaded: "Requests refused because too many were running."
        case .connections: "Open connections of a listener."
        case .connectionsMost: "The most connections that a listener has open."
        case .connectionsLost: "Connections that were closed or refused for lack of room."
        case .logins: "Login verdicts given to the relying party application."
        case .blocked: "Identities that a wrong PIN has blocked, for good or for a while."
        case .registrations: "Registrations started."
        case .pairingSeconds: "Time of one pass 2 check, waiting for a processor included."
        case .signatureSeconds: "Processor time of the signature of one token or certificate."
        case .storeSeconds: "Time of one store operation."
        case .storeErrors: "Store operations that failed."
        case .refusedRecords: "Records that were refused because their MAC is missing or wrong."
        case .storeConnections: "Connections to a PostgreSQL database in use."
        case .storeConnectionsMost: "The most connections to a PostgreSQL database that the server opens (pool)."
        case .storeWaiting:
            "Calls that wait for a connection to a PostgreSQL database now, or for the end of the transaction before theirs."
        case .storeWaits: "Calls that have waited for a connection to a PostgreSQL database."
        case .storeWaitSeconds: "Time that calls have waited for a connection to a PostgreSQL database."
        case .healthCheck: "1 if a check of /health/ready succeeded when that was last asked, 0 if it failed."
        case .clockOffset: "Seconds by which this machine's clock is ahead of the database's."
        case .shortLivedItems: "Short-lived items: running logins, tokens, access numbers."
        case .strangerBytes: "Bytes of what strangers have begun and not ended, by table."
        case .tokens: "Requests for OpenID tokens, by what they came to."
        case .adminRequests: "Requests to the admin API, by operation and outcome."
        case .logouts: "Browser sessions of the OpenID provider that were ended, by whom."
        case .logoutTokens: "Logout tokens that clients accepted, or that were given up after several tries."
        case .build: "Always 1; the labels say what runs."
        }
    }

    var labels: [String] {
        switch self {
        case .requests: ["listener", "method", "route", "code"]
        case .requestSeconds: ["listener", "method", "route"]
        case .rateLimited: ["group", "scope"]
        case .connections, .connectionsMost: ["listener"]
        case .connectionsLost: ["listener", "outcome"]
        case .logins: ["status"]
        case .blocked: ["block"]
        case .signatureSeconds: ["algorithm"]
        case .storeSeconds: ["store", "operation"]
        case .storeErrors: ["store", "operation", "kind"]
        case .refusedRecords: ["store", "table"]
        case .storeConnections, .storeConnectionsMost, .storeWaiting, .storeWaits, .storeWaitSeconds: ["store"]
        case .healthCheck: ["check"]
        case .strangerBytes: ["table"]
        case .tokens: ["grant", "outcome"]
        case .adminRequests: ["operation", "outcome"]
        case .logouts: ["by"]
        case .logoutTokens: ["outcome"]
        case .build: ["version"]
        case .overloaded, .registrations, .pairingSeconds, .clockOffset, .shortLivedItems: []
        }
    }

    /// The buckets' upper bounds in seconds; nil if the metric is no histogram.
    var buckets: [Double]? {
        switch self {
        case .requestSeconds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
        case .pairingSeconds: [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25]
        case .signatureSeconds: [0.000_025, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.01]
        case .storeSeconds: [0.000_01, 0.000_1, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5]
        default: nil
        }
    }

    /// Whether the metric is a counter without labels. It is 0 from the start, because Prometheus takes the first value
    /// of a counter for no increase.
    var beginsAtZero: Bool { labels.isEmpty && type == "counter" }

    var type: String {
        switch self {
        case .connections, .connectionsMost, .storeConnections, .storeConnectionsMost, .storeWaiting, .healthCheck,
            .clockOffset, .shortLivedItems,
            .strangerBytes, .build:
            "gauge"
        default: buckets == nil ? "counter" : "histogram"
        }
    }
}
