// swift-tools-version:6.2
import PackageDescription

/// The settings of all targets of this package. A warning is an error.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// With this feature, a nonisolated async function runs on the executor of its caller. Without it, every call would
/// first look up the executor that the task prefers, which takes time.
let callersPlace = SwiftSetting.enableUpcomingFeature("NonisolatedNonsendingByDefault")

/// A library of the Linux distribution, which pkg-config finds.
func system(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func module(
    _ name: String, _ dependencies: [Target.Dependency], _ extra: [SwiftSetting] = [], resources: [Resource] = [],
    exclude: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: strict + extra)
}

/// Tests of what a release contains, so they are built in release mode. The optimizer works on what they test, and not
/// on the tests themselves, which would take it three times as long.
func tests(_ name: String, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = unoptimized) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict + settings)
}
let unoptimized = [SwiftSetting.unsafeFlags(["-Onone"])]

/// Links the Swift libraries into a program, so that it runs where no Swift is installed. Calls within one file are also
/// faster: a login costs the server a tenth less. As in the library, all symbols are bound at the start.
let standalone = [
    LinkerSetting.unsafeFlags(
        ["-static-stdlib", "-no-toolchain-stdlib-rpath", "-use-ld=lld"]
            + ["--gc-sections", "-z", "relro", "-z", "now"].flatMap { ["-Xlinker", $0] }
            // What Foundation consists of.
            + [
                "Foundation", "FoundationEssentials", "FoundationInternationalization", "CoreFoundation",
                "_FoundationICU", "_FoundationCShims", "_FoundationCollections", "dispatch", "BlocksRuntime", "stdc++",
            ].map { "-l" + $0 })
]

/// A part of a sample in bindings/samples.
func sample(_ name: String, _ folder: String, _ dependencies: [Target.Dependency], isProgram: Bool = true) -> Target {
    let path = "bindings/samples/\(folder)"
    return isProgram
        ? .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
        : .target(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

let hummingbird: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "HummingbirdTLS", package: "hummingbird"),
]
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle: [Target.Dependency] = [
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
    .product(name: "UnixSignals", package: "swift-service-lifecycle"),
]
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOSSL", package: "swift-nio-ssl"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
    .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
]
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let jwt: [Target.Dependency] = [
    .product(name: "JWTKit", package: "jwt-kit"), .product(name: "CryptoExtras", package: "swift-crypto"),
]
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "libmpin",
    products: [
        .library(name: "mpin", type: .dynamic, targets: ["MPinABI"]),
        .library(name: "MPin", targets: ["MPin"]),
        .executable(name: "mpind", targets: ["mpind"]),
        .executable(name: "mpin-cli", targets: ["mpin-cli"]),
        .executable(name: "mpin-bench", targets: ["mpin-bench"]),
        .executable(name: "mpin-load", targets: ["mpin-load"]),
    ],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        // Hummingbird uses the following packages. They are listed because the server also imports them directly.
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.34.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.1"),
        // jwt-kit uses this package. It is listed because the server also imports it, to make RSA keys.
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.1.0"),
    ],
    targets: [
        .systemLibrary(name: "CBN254CX"),
        system("CGMP", pkgConfig: "gmp", apt: "libgmp-dev"),
        system("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev"),
        system("CJansson", pkgConfig: "jansson", apt: "libjansson-dev"),
        system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        system("CQREncode", pkgConfig: "libqrencode", apt: "libqrencode-dev"),
        .systemLibrary(name: "CMPin", path: "include"),
        // The functions of libcurl. The library is not linked, but loaded when it is first used.
        .target(name: "CCurl"),
        // The functions of libpq, likewise.
        .target(name: "CPostgres"),
        // The functions of hiredis, likewise.
        .target(name: "CRedis"),
        // Signatures by cjose, likewise.
        .target(name: "CJose"),

        module("BN254CX", ["CGMP", "CBN254CX"]),
        module("MPinSecrets", ["CSodium"], [.enableExperimentalFeature("Lifetimes")]),
        module("MPinCrypto", ["BN254CX", "MPinSecrets"]),
        module("MPinWire", ["MPinSecrets", "CJansson"]),
        module("MPinHTTP", ["CCurl", "MPinSecrets"]),
        module("MPinSDK", ["MPinCrypto", "MPinWire", "MPinHTTP", "MPinSecrets"]),
        module("MPinSession", ["MPinSDK", "MPinWire", "MPinHTTP", "MPinSecrets", "CJose"]),
        module("MPin", ["MPinSDK", "MPinSession", "MPinWire", "MPinHTTP", "MPinSecrets"]),
        module("MPinABI", ["CMPin", "MPinSDK", "MPinSession", "MPinWire", "MPinHTTP", "MPinCrypto", "MPinSecrets"]),
        module("MPinStore", ["MPinWire", "MPinSecrets", "CSQLite", "CPostgres", "CRedis"] + nio, [callersPlace]),
        module(
            "MPinService",
            [
                "MPinStore", "MPinCrypto", "MPinWire", "MPinSecrets", logging, lifecycle[0],
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ], [callersPlace]),
        module("MPinOpenID", ["MPinStore", "MPinWire", "MPinSecrets", yams] + jwt, [callersPlace]),
        module(
            "MPinServer",
            [
                "MPinOpenID", "MPinService", "MPinStore", "MPinCrypto", "MPinWire", "MPinHTTP", "MPinSecrets",
                "CQREncode",
            ]
                + [yams, logging, asyncHTTPClient] + lifecycle + hummingbird + nio,
            [callersPlace],
            // The website's files are compiled into the program.
            resources: [
                "Assets/style.css", "Assets/live.js", "Assets/times.js", "Assets/resend.js", "Assets/submit.js",
                "Assets/once.js", "Assets/icon.svg", "Assets/favicon.ico", "Assets/confirm.html", "Languages/en.json",
                "Languages/de.json", "Languages/fr.json", "Languages/es.json",
            ].map { .embedInCode("RelyingPartyApplication/Website/" + $0) },
            exclude: ["openapi.yaml", "BrowserClient/Files"]),
        .executableTarget(
            name: "mpind",
            dependencies: [
                "CMPin", "MPinServer", "MPinOpenID", "MPinService", "MPinStore", "MPinSecrets", argumentParser,
                logging,
            ], swiftSettings: strict, linkerSettings: standalone),

        .executableTarget(
            name: "mpin-cli", dependencies: ["CMPin", "MPin", argumentParser], swiftSettings: strict,
            linkerSettings: standalone),

        // The sample of a super-app and its smaller apps.
        sample("SuperappHanded", "superapp/Handed", ["MPin"], isProgram: false),
        sample("superapp", "superapp/App", ["MPin", "SuperappHanded"]),
        sample("superapp-orders", "superapp/Orders", ["SuperappHanded"]),
        sample("superapp-card", "superapp/Card", ["SuperappHanded"]),

        // Counts heap allocations. Only mpin-bench uses it.
        .target(name: "CAllocations"),
        .executableTarget(
            name: "mpin-bench", dependencies: ["MPinCrypto", "BN254CX", "MPinSecrets", "CGMP", "CAllocations"],
            swiftSettings: strict),

        .executableTarget(
            name: "mpin-load",
            dependencies: ["MPinCrypto", "MPinSecrets", "MPinWire", "CGMP", argumentParser],
            swiftSettings: strict),

        // Optimized, because it repeats fast arithmetic by slow arithmetic of its own.
        tests("BN254CXTests", ["BN254CX", "CBN254CX", "CGMP"], []),
        // Compiles the formulas of BN254CX a second time, through symbolic links to its files, with numbers of which
        // only lower and upper bounds are known.
        tests("IntervalTests", ["CGMP"]),
        tests("MPinCryptoTests", ["MPinCrypto", "BN254CX", "MPinSecrets"]),
        tests("MPinSecretsTests", ["MPinSecrets"]),
        tests("MPinWireTests", ["MPinWire", "MPinSecrets"]),
        .target(
            name: "LoopbackServer", dependencies: ["MPinHTTP"], path: "Tests/LoopbackServer", swiftSettings: strict),
        .executableTarget(
            name: "StoreWriter", dependencies: ["MPinSDK", "MPinHTTP", "MPinSecrets"], path: "Tests/StoreWriter",
            swiftSettings: strict),
        tests("MPinHTTPTests", ["MPinHTTP", "MPinSecrets", "LoopbackServer"]),
        tests(
            "MPinSDKTests",
            ["MPinSDK", "MPinCrypto", "MPinWire", "MPinHTTP", "MPinSecrets", "LoopbackServer", "StoreWriter"]),
        tests(
            "MPinSessionTests",
            [
                "MPinSession", "MPinSDK", "MPinWire", "MPinHTTP", "MPinSecrets", "LoopbackServer",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        tests("MPinTests", ["MPin", "MPinHTTP", "MPinSDK", "LoopbackServer"]),
        // Stores for tests. They detect code that relies on more than the `Store` protocol promises.
        .target(
            name: "StoreEngines", dependencies: ["MPinStore", "LoopbackServer"], path: "Tests/StoreEngines",
            exclude: ["patroni.sh", "postgres.sh", "redis.sh", "sentinel.sh"],
            swiftSettings: strict + [callersPlace]),
        tests("MPinStoreTests", ["MPinStore", "StoreEngines", "LoopbackServer"] + nio),
        tests(
            "MPinServiceTests",
            ["MPinService", "MPinStore", "StoreEngines", "MPinCrypto", "MPinWire", "MPinSecrets", logging]),
        tests("MPinOpenIDTests", ["MPinOpenID", "MPinStore", "StoreEngines", "MPinSecrets", "MPinWire"] + jwt),
        tests(
            "MPinServerTests",
            [
                "MPinServer", "MPinOpenID", "MPinService", "MPinStore", "MPinCrypto", "BN254CX", "MPinWire", "MPinHTTP",
                "MPinSecrets", "LoopbackServer", "StoreEngines", logging,
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// Only builds of the documentation need DocC's plugin, so programs that use this package do not depend on it.
if Context.environment["MPIN_DOCS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin.git", from: "1.5.0"))
}
