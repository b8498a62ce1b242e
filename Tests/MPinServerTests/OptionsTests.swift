import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import MPinWire
import XCTest

/// Tests from which sources options come, and the messages about wrong options.
final class OptionsTests: XCTestCase {
    private var folder = ""

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "settings-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func file(_ text: String, _ name: String = "mpind.yaml") throws -> String {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        return "\(folder)/\(name)"
    }

    private func lines(
        _ part: ServerPart, _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> [String] {
        try SettingsReader(part).read(arguments: arguments, environment: environment).description
            .split(separator: "\n").map(String.init)
    }

    private func error(
        _ part: ServerPart, _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> SettingsError {
        do {
            _ = try SettingsReader(part).read(arguments: arguments, environment: environment)
        } catch { return error }
        throw Sockets.Failure(text: "no error for \(arguments) \(environment)")
    }

    func testTheOptionsOfLoginsReachTheService() throws {
        let arguments = [
            "--all-in-one", "--state-dir", folder, "--mail-dir", folder, "--block", "temporary", "--block-seconds", "7",
            "--max-failures", "8", "--registration-seconds", "9", "--access-number-seconds", "11",
            "--access-number-grace-seconds", "12", "--seed-bytes", "33", "--no-access-number-checksum", "--logout-url",
            "/out", "--service-name", "S", "--service-icon-url", "/i", "--forward-user-header", "X-A", "--allow-origin",
            "https://a", "--use-nfc",
        ]
        let settings = try SettingsReader(.serve).read(arguments: arguments, environment: [:])
        let rps = try XCTUnwrap(settings.parts().rps)
        XCTAssertEqual(rps.attempts.block, .temporary(seconds: 7))
        XCTAssertEqual(
            [rps.attempts.maxFailures, rps.limits.service.registrationSeconds, rps.limits.seedBytes], [8, 9, 33])
        XCTAssertEqual(
            [rps.limits.service.accessNumberSeconds, rps.limits.service.accessNumberGraceSeconds], [11, 12])
        XCTAssertEqual([rps.logoutURL, rps.serviceName, rps.serviceIconURL], ["/out", "S", "/i"])
        XCTAssertEqual([rps.forwardUserHeaders, rps.allowOrigin], [["X-A"], ["https://a"]])
        XCTAssertEqual([rps.accessNumberUseCheckSum, rps.useNFC, rps.setDeviceName], [false, true, false])
    }

    /// With a public URL, the server must describe itself, because phones that know only this URL ask for the
    /// description.
    func testWhereAPublicURLIsSetTheServiceDescribesItself() throws {
        let key = folder + "/a.key"
        _ = try KeyFile.create(key)
        let given: [(ServerPart, [String], String)] = [
            (.serve, ["--all-in-one", "--state-dir", folder + "/state", "--mail-dir", folder], "--public-url"),
            (
                .rps, ["--database", "x", "--key-file", key, "--dta1-key-file", key, "--dta2-key-file", key],
                "--base-url"
            ),
        ]
        for (part, arguments, option) in given {
            func service(_ more: [String]) throws -> ServiceResponse? {
                try SettingsReader(part).read(arguments: arguments + more, environment: [:]).parts().rps?.mobileService
            }
            XCTAssertNil(try service([]))
            let own = try XCTUnwrap(service([option, "https://login.example.org/", "--service-name", "Acme"]))
            XCTAssertEqual([own.name, own.url, own.rps_prefix], ["Acme", "https://login.example.org", "rps"])
            let other = try file(
                "{\"name\":\"Other\",\"url\":\"https://a.example\",\"rps_prefix\":\"r\",\"logo_url\":\"\",\"type\":\"online\"}"
            )
            let chosen = try service([option, "https://login.example.org", "--mobile-service", other])
            XCTAssertEqual(chosen?.name, "Other")
        }
    }

    func testALaterSourceWinsAndEachValueNamesItsSource() throws {
        let path = try file(
            "# comment\nmax-attempts: 4\nblock-seconds: 5\nport: 6\nallow-origin: [https://a, https://b]\n")
        let shown = try lines(
            .serve, ["--config", path, "--port", "8"],
            ["MPIND_PORT": "7", "MPIND_BLOCK_SECONDS": "9", "PATH": "/bin", "MPIND_VERIFY_URL": "of another part"])
        for line in [
            "max-attempts: 4  # \(path):2", "block-seconds: 9  # environment MPIND_BLOCK_SECONDS",
            "port: 8  # command line", "max-failures: 20  # default",
            "allow-origin: [\"https://a\", \"https://b\"]  # \(path):5",
        ] {
            XCTAssertTrue(shown.contains(line), "\(line) is not in \(shown)")
        }
    }

    func testAListIsReplacedNotExtendedByALaterSource() throws {
        let path = try file("allow-origin: [https://a]\n")
        let shown = try lines(
            .rpa, ["--config=\(path)", "--allow-origin", "https://b", "--allow-origin=https://c"],
            ["MPIND_ALLOW_ORIGIN": "https://d,https://e"])
        XCTAssertTrue(shown.contains("allow-origin: [\"https://b\", \"https://c\"]  # command line"), "\(shown)")
        let second = try lines(.rpa, ["--config", path], ["MPIND_ALLOW_ORIGIN": "https://d,https://e"])
        XCTAssertTrue(second.contains("allow-origin: [\"https://d\", \"https://e\"]  # environment MPIND_ALLOW_ORIGIN"))
    }

    func testAnUnknownKeyIsNamedTogetherWithTheNearestKnownOne() throws {
        let path = try file("state-dir: x\nmax-atempts: 3\n")
        XCTAssertEqual(
            try error(.serve, ["--config", path]).description,
            "\(path):2: unknown option max-atempts; did you mean max-attempts?")
        XCTAssertEqual(
            try error(.rps, ["--databse", "x"]).description, "unknown option databse; did you mean database?")
        XCTAssertEqual(
            try error(.rps, [], ["MPIND_PREFX": "x"]).description,
            "environment MPIND_PREFX: unknown option prefx; did you mean prefix?")
        XCTAssertTrue(try error(.rpa, ["--config", try file("dta1-url: x\n")]).description.contains("unknown option"))
        XCTAssertEqual(try error(.rps, ["--databse", "x"]).exitCode, 64)
        XCTAssertEqual(try error(.serve, ["--config", path]).exitCode, 78)
    }

    func testAWrongTypeNamesFileLineAndKey() throws {
        for (text, problem) in [
            ("max-attempts: three\n", ":1: max-attempts: \"three\" is not a number from 1 to 1000"),
            ("\nmax-attempts: 0\n", ":2: max-attempts: \"0\" is not a number from 1 to 1000"),
            ("max-attempts: [1]\n", ":1: max-attempts: expected a number"),
            ("max-attempts: true\n", ":1: max-attempts: expected a number"),
            ("max-attempts:\n", ":1: max-attempts: expected a number"),
            ("force-activate: \"true\"\n", ":1: force-activate: expected true or false"),
            ("force-activate: 1\n", ":1: force-activate: expected true or false"),
            ("allow-origin: https://a\n", ":1: allow-origin: expected a list of texts"),
            ("state-dir: {a: b}\n", ":1: state-dir: expected a text"),
            ("block: sometimes\n", ":1: block: \"sometimes\" is not permanent, temporary"),
            ("rate-login-address: often\n", ":1: rate-login-address: \"often\" is not REQUESTS/SECONDS or off"),
            ("config: other.yaml\n", ":1: config: expected a text"),
            ("port: 1\nport: 2\n", ":1: not YAML"), ("- port\n", ":1: expected one"), ("a: [\n", ":1: not YAML"),
        ] {
            let path = try file(text)
            let error = try error(.serve, ["--config", path])
            XCTAssertTrue(error.description.hasPrefix(path + problem), "\(text): \(error)")
            XCTAssertFalse(error.description.contains("\n"))
            XCTAssertEqual(error.exitCode, 78)
        }
        XCTAssertEqual(
            try error(.serve, ["--max-attempts", "x"]).description,
            "max-attempts: \"x\" is not a number from 1 to 1000")
        XCTAssertEqual(try error(.serve, ["--port"]).description, "missing value for --port")
        XCTAssertEqual(try error(.serve, ["--port", "1", "--port", "2"]).description, "port: given twice")
        XCTAssertTrue(try error(.serve, ["--config", "/none"]).description.contains("/none:1: cannot be read"))
    }

    private func secret(_ text: String, _ name: String, mode: mode_t = 0o600) throws -> String {
        let path = try file(text, name)
        XCTAssertEqual(chmod(path, mode), 0)
        return path
    }

    func testASecretComesFromAFileOrACredentialAndIsNeverShown() throws {
        let secret = try secret("hunter2-secret\n", "smtp-password")
        let path = try file("smtp-password-file: \(secret)\n")
        for (arguments, environment) in [
            (["--config", path], [:]), (["--smtp-password-file", secret], [:]),
            ([], ["MPIND_SMTP_PASSWORD_FILE": secret]), ([], ["CREDENTIALS_DIRECTORY": folder]),
            (["--config", try self.secret("smtp-password: hunter2-secret\n", "private.yaml")], [:]),
        ] as [([String], [String: String])] {
            let shown = try lines(.rpa, arguments, environment)
            XCTAssertTrue(shown.contains { $0.hasPrefix("smtp-password: (redacted)  # ") }, "\(shown)")
            XCTAssertFalse(shown.joined().contains("hunter2"))
        }
        let both = try self.secret("smtp-password: a\nsmtp-password-file: \(secret)\n", "both.yaml")
        XCTAssertTrue(try error(.rpa, ["--config", both]).description.contains("smtp-password: given twice"))
        XCTAssertTrue(
            try error(.rpa, ["--smtp-password-file", "/none"]).description.contains("cannot read /none"))
    }

    /// A secret on the command line or in the environment must be refused: every user of the machine can read a
    /// program's arguments, and every program of the same user can read its environment.
    func testASecretOnTheCommandLineOrInTheEnvironmentIsRefused() throws {
        for row in ServerPart.allCases.flatMap(\.rows) where row.isSecret {
            let name = row.name
            for problem in [
                try error(.rpa, ["--\(name)", "hunter2"]), try error(.rpa, ["--\(name)=hunter2"]),
                try error(.rpa, [], [row.environmentName: "hunter2"]),
            ] {
                XCTAssertTrue(problem.description.contains("name a file that holds it by "), problem.description)
                XCTAssertFalse(problem.description.contains("hunter2"), problem.description)
            }
        }
        let inURL = try error(.rpa, ["--smtp-url", "smtp://me:hunter2@mail.example:25"])
        XCTAssertTrue(inURL.description.contains("without user name and password"), inURL.description)
        XCTAssertFalse(ServerPart.rpa.help.contains("--smtp-password "), ServerPart.rpa.help)
    }

    func testAFileWithASecretThatOthersMayReadIsAnError() throws {
        for mode: mode_t in [0o644, 0o604, 0o602, 0o620] {
            let config = try secret("smtp-password: hunter2\n", "mpind.yaml", mode: mode)
            let password = try secret("hunter2\n", "password", mode: mode)
            for arguments in [["--config", config], ["--smtp-password-file", password]] {
                let problem = try error(.serve, arguments).description
                XCTAssertTrue(problem.contains("others may read") && problem.contains("chmod 600"), problem)
                XCTAssertFalse(problem.contains("hunter2"), problem)
            }
        }
        let open = try secret("max-attempts: 4\n", "mpind.yaml", mode: 0o644)
        XCTAssertTrue(
            try lines(.serve, ["--config", open]).contains("max-attempts: 4  # \(open):1"), "no secret in it")
        let config = try secret("smtp-password: hunter2\n", "mpind.yaml", mode: 0o644)
        let mpind = try Mpind(["config", "check", "--all-in-one", "--state-dir", "x", "--config", config])
        XCTAssertEqual(mpind.stop(0), 78, mpind.logText)
    }

    func testAFIFOInThePlaceOfAFileIsRefusedAtOnce() throws {
        let fifo = folder + "/fifo"
        XCTAssertEqual(mkfifo(fifo, 0o600), 0)
        let keys = ["--database", folder + "/x", "--key-file", fifo, "--rps-key-file", fifo]
        for arguments in [
            ["config", "check", "--config", fifo],
            ["config", "check", "--all-in-one", "--state-dir", "x", "--tls-cert", fifo, "--tls-key", fifo],
            ["config", "check", "rpa", "--smtp-password-file", fifo],
            ["dta"] + keys, ["dta", "shares", "--database", folder + "/x", "--key-file", fifo],
        ] {
            let mpind = try Mpind(arguments)
            XCTAssertGreaterThan(mpind.stop(0), 0, "\(arguments): \(mpind.logText)")
            XCTAssertTrue(mpind.logText.contains("fifo: not a regular file"), "\(arguments): \(mpind.logText)")
        }
    }

    func testAURLThatIsNoneOfTheWebIsRefused() throws {
        for (part, option) in [
            (.serve, "public-url"), (.rpa, "public-url"), (.rpa, "rps-url"), (.rpa, "rps-private-url"),
            (.rps, "base-url"), (.rps, "dta1-url"), (.rps, "dta2-public-url"), (.rps, "verify-url"),
            (.rps, "permit-url"), (.rps, "authenticate-url"), (.rps, "service-icon-url"), (.rps, "logout-url"),
        ] as [(ServerPart, String)] {
            for text in [
                "javascript:1", "data:text/html,x", "file:///x", "https://", "http://a b/", "https://u:p@a.example",
            ] {
                let problem = try error(part, ["--\(option)", text]).description
                XCTAssertTrue(problem.contains(option) && problem.contains("http"), problem)
            }
            XCTAssertNoThrow(try lines(part, ["--\(option)", "https://login.example.org/m"]), option)
        }
        let mpind = try Mpind(["config", "check", "--all-in-one", "--state-dir", "x", "--public-url", "javascript:1"])
        XCTAssertEqual(mpind.stop(0), 64, mpind.logText)
    }

    /// A trusted proxy may not be a very large network, because the server would believe what every client in that
    /// network says about its own address.
    func testATrustedProxyMustNotBeANetworkOfStrangers() throws {
        let proxy = ["--behind-proxy", "--public-url", "https://a.example", "--trusted-proxy"]
        for network in ["0.0.0.0/0", "::/0", "0.0.0.0/1", "128.0.0.0/1", "10.0.0.0/7", "::/8", "2000::/3", "::/64"] {
            XCTAssertThrowsError(try check(.serve, proxy + [network]), network) { error in
                XCTAssertTrue("\(error)".contains("trusted-proxy"), "\(error)")
            }
        }
        for network in ["10.0.0.0/8", "192.0.2.1", "fc00::/7", "2001:db8::/32", "::1"] {
            XCTAssertNoThrow(try check(.serve, proxy + [network]), network)
        }
    }

    func testAStateFolderThatOthersMayWriteInIsRefused() throws {
        let state = folder + "/state"
        try makeFolder(state)
        let given: [ServerPart: [String]] = [
            .serve: ["--all-in-one", "--state-dir", state],
            .dta: ["--database", state + "/x.sqlite", "--key-file", "x", "--rps-key-file", "x"],
        ]
        func problem(_ part: ServerPart) -> String? {
            do { try SettingsReader(part).read(arguments: given[part] ?? [], environment: [:]).check() } catch {
                return "\(error)"
            }
            return nil
        }
        for mode: mode_t in [0o770, 0o707, 0o720, 0o1777] {
            XCTAssertEqual(chmod(state, mode), 0)
            for part in [ServerPart.serve, .dta] {
                XCTAssertTrue(
                    problem(part)?.contains("others may write in the state folder") ?? false, "\(part) \(mode)")
            }
        }
        let mpind = try Mpind(["--all-in-one", "--state-dir", state])
        XCTAssertEqual(mpind.stop(0), 64, mpind.logText)
        for mode: mode_t in [0o700, 0o755] {
            XCTAssertEqual(chmod(state, mode), 0)
            for part in [ServerPart.serve, .dta] { XCTAssertNil(problem(part)) }
        }
    }

    /// There are no dates of time permits before 1970, and a clock of 1970 is one that nobody has set.
    func testAClockThatIsNotSetStopsTheStart() throws {
        let arguments = ["--all-in-one", "--state-dir", folder + "/state", "--mail-dir", folder + "/mail"]
        let settings = try SettingsReader(.serve).read(arguments: arguments, environment: [:])
        for (time, text) in [
            (Int64(-1), "1969-12-31T23:59:59Z"), (-2_000_000_000_000, "1969-12-08T20:26:40Z"),
            (0, "1970-01-01T00:00:00Z"),
            (1_577_836_799_999_999, "2019-12-31T23:59:59Z"),
        ] {
            XCTAssertThrowsError(try settings.parts(at: Moment(microseconds: time))) { error in
                XCTAssertTrue("\(error)".contains("the clock of this machine says \(text)"), "\(error)")
            }
        }
        XCTAssertNoThrow(try settings.parts(at: Moment(microseconds: 1_577_836_800_000_000)))
    }

    /// Whoever may change a folder above the state folder, or where a link on the way leads, can replace it.
    func testAFolderAboveTheStateFolderThatOthersMayChangeIsRefused() throws {
        let (above, state) = (folder + "/above", folder + "/above/state")
        try makeFolder(above)
        try makeFolder(state)
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/link", withDestinationPath: "above/../above/state")
        func problem(_ path: String, group: gid_t = 4_000_000) -> String? {
            do { try FolderPath(group: group).requireOwn(path) } catch { return "\(error)" }
            return nil
        }
        for path in [state, state + "/", folder + "/link", above + "/./state/../state", state + "/later/and/later"] {
            for (mode, reason) in [(0o707, "others may write"), (0o720, "group")] as [(mode_t, String)] {
                XCTAssertEqual(chmod(above, mode), 0)
                XCTAssertTrue(problem(path)?.contains(reason) ?? false, "\(path) \(mode)")
            }
            for mode in [0o700, 0o755, 0o1777] as [mode_t] {
                XCTAssertEqual(chmod(above, mode), 0)
                XCTAssertNil(problem(path), "\(path) \(mode)")
            }
            XCTAssertEqual(chmod(above, 0o775), 0)
            XCTAssertNil(problem(path, group: getegid()), "a volume of Kubernetes belongs to this process's group")
        }
        XCTAssertEqual(chmod(above, 0o707), 0)
        let refused = try Mpind(["--all-in-one", "--state-dir", state])
        XCTAssertEqual(refused.stop(0), 1, refused.logText)
        XCTAssertTrue(refused.logText.contains("\(above): others may write there"), refused.logText)
        guard geteuid() == 0 else { return }
        XCTAssertEqual(chmod(above, 0o755), 0)
        for owner in [above, state] {
            XCTAssertEqual(chown(owner, 12345, 0), 0)
            XCTAssertTrue(problem(state)?.contains("\(owner): belongs to user 12345") ?? false, owner)
            do { try FolderPath(user: 12345).requireOwn(state) } catch { XCTFail("\(error)") }
            XCTAssertEqual(chown(owner, 0, 0), 0)
        }
        XCTAssertEqual(symlink(folder + "/loop", folder + "/loop"), 0)
        XCTAssertTrue(problem(folder + "/loop/state")?.contains("leads nowhere") ?? false)
    }

    func testExposureNeedsAllOfItsOptionsAndNoContradiction() throws {
        for arguments in [
            ["--tls-cert", "a"], ["--tls-key", "a"], ["--trusted-proxy", "10.0.0.1"],
            ["--tls-cert", "a", "--tls-key", "b", "--behind-proxy"], ["--behind-proxy", "--trusted-proxy", "ten"],
            ["--tls-cert", "/none", "--tls-key", "/none"], ["--admin-listen", "nowhere"],
            ["--health-listen", "nowhere"],
        ] {
            XCTAssertThrowsError(try check(.serve, arguments), "\(arguments)")
        }
        let proxy = ["--behind-proxy", "--trusted-proxy", "10.0.0.0/8", "--public-url", "https://a.example"]
        try check(.serve, proxy)
        try check(.serve, proxy + ["--health-listen", "0.0.0.0:9000"])
    }

    /// The options that each part requires in all cases.
    private static let needed: [ServerPart: [String]] = [
        .serve: ["--all-in-one", "--state-dir", "x"], .dta: ["--database", "x", "--rps-key-file", "x"],
        .rps: ["--database", "x", "--key-file", "x", "--dta1-key-file", "x", "--dta2-key-file", "x"],
        .rpa: ["--key-file", "x", "--rps-key-file", "x"],
    ]

    /// The list `authorities` and the options of each D-TA must have the same meaning, from whatever source they come.
    func testTheDTAsCanBeAListOrTwoOptions() throws {
        let keys = (1...2).map { _ in "\(NSTemporaryDirectory())key-\(UUID().uuidString)" }
        for key in keys {
            _ = try KeyFile.create(key)
            addTeardownBlock { try? FileManager.default.removeItem(atPath: key) }
        }
        let (first, second) = ("http://127.0.0.1:7001", "http://127.0.0.1:7002")
        let shown = "https://dta2.example.org"
        let listed = try file(
            """
            authorities:
              - {index: 2, url: "\(second)/", public-url: "\(shown)", key-file: "\(keys[1])"}
              - url: \(first)
                key-file: \(keys[0])
                index: 1
            """)
        let texts = ["url=\(first);key-file=\(keys[0])", "url=\(second);public-url=\(shown);key-file=\(keys[1])"]
        let sources: [([String], [String: String])] = [
            (["--config", listed], [:]), ([], ["MPIND_AUTHORITIES": texts.joined(separator: ",")]),
            (["--authorities", texts[0], "--authorities", texts[1]], [:]),
            (
                [
                    "--dta1-url", first, "--dta1-key-file", keys[0], "--dta2-url", second, "--dta2-key-file", keys[1],
                    "--dta2-public-url", shown,
                ], [:]
            ),
        ]
        for (arguments, variables) in sources {
            let found = try authorities(arguments, variables)
            XCTAssertEqual(found.map(\.index), [1, 2], "\(arguments)")
            XCTAssertEqual(found.map(\.name), ["D-TA 1", "D-TA 2"])
            XCTAssertEqual(found.map(\.url), [first, second])
            XCTAssertEqual(found.map(\.publicURL), [nil, shown])
            for (authority, key) in zip(found, keys) {
                XCTAssertEqual(authority.requestKey.hex(), try KeyFile.load(key).hex())
            }
        }
    }

    private func authorities(_ arguments: [String], _ variables: [String: String]) throws -> [TrustAuthorityLink] {
        let rest = ["--database", "x", "--key-file", "x"]
        return try SettingsReader(.rps).read(arguments: rest + arguments, environment: variables).authorityLinks()
    }

    func testAWrongDTAIsNamedWithItsLine() throws {
        let good = "  - {url: \"http://127.0.0.1:7001\", key-file: a}\n"
        for (text, problem) in [
            ("  - {url: \"http://127.0.0.1:7002\", keyfile: b}\n", "unknown member keyfile; did you mean key-file?"),
            ("  - {key-file: b}\n", "missing url"), ("  - {url: \"http://127.0.0.1:7002\"}\n", "missing key-file"),
            ("  - {url: dta2, key-file: b}\n", "url: \"dta2\" is not a URL"),
            ("  - {url: \"http://b\", key-file: b, index: 3}\n", "index: \"3\" is not a number from 1 to 2"),
            ("  - {url: \"http://b\", public-url: b, key-file: b}\n", "public-url: \"b\" is not a URL"),
        ] {
            let path = try file("authorities:\n" + good + text)
            let error = try error(.rps, ["--config", path]).description
            XCTAssertTrue(error.hasPrefix("\(path):3: authorities: \(problem)"), "\(text): \(error)")
        }
        let path = try file("database: x\nauthorities: dta1\n")
        XCTAssertEqual(
            try error(.rps, ["--config", path]).description,
            "\(path):2: authorities: expected a list of mappings with url and key-file")
        for (list, problem) in [
            (["url=http://a;key-file=a"], "there must be 2 D-TAs"),
            (["url=http://a;key-file=a;index=1", "url=http://b;key-file=b;index=1"], "each with an index of its own"),
            (["a", "b", "c"].map { "url=http://\($0);key-file=\($0)" }, "there must be 2 D-TAs"),
        ] {
            XCTAssertThrowsError(try authorities(list.flatMap { ["--authorities", $0] }, [:])) {
                XCTAssertTrue("\($0)".contains(problem), "\($0)")
            }
        }
        let both = ["--authorities", "url=http://a;key-file=a", "--dta1-key-file", "x"]
        XCTAssertThrowsError(try authorities(both, [:])) {
            XCTAssertEqual("\($0)", "give either --authorities or --dta1-key-file")
        }
        let exposed = [
            "--database", "x", "--key-file", "x", "--behind-proxy", "--authorities", "url=http://a;key-file=a",
            "--authorities", "url=http://127.0.0.1:2;key-file=b",
        ]
        XCTAssertThrowsError(try SettingsReader(.rps).read(arguments: exposed, environment: [:]).check()) {
            XCTAssertTrue("\($0)".contains("public-url in the last of --authorities"), "\($0)")
        }
    }

    private func check(_ part: ServerPart, _ arguments: [String]) throws {
        try SettingsReader(part).read(arguments: (Self.needed[part] ?? []) + arguments, environment: [:]).check()
    }

    func testAnRPSKeepsItsStateWhereAURLSays() throws {
        let keys = ["--key-file", "x", "--dta1-key-file", "x", "--dta2-key-file", "x"]
        func check(_ database: String) throws {
            try SettingsReader(.rps).read(arguments: keys + ["--database", database], environment: [:]).check()
        }
        for database in ["x.sqlite", "sqlite:x.sqlite", "memory:", "postgres://db/mpin"] { try check(database) }
        for database in ["redis://localhost", "file:x"] {
            XCTAssertThrowsError(try check(database), database) {
                XCTAssertTrue("\($0)".contains("sqlite:PATH"), "\($0)")
            }
        }
    }

    /// Tests the options --short-lived-store, --signals and --counters from every source. The error about a wrong URL
    /// must say which stores are available.
    func testShortLivedStateSignalsAndCountersAreWhereURLsSay() throws {
        let parts: [(String, [ServerPart], String)] = [
            ("short-lived-store", [.serve, .rps, .rpa], "goes to memory:, redis: or postgres:"),
            ("signals", [.serve, .rps], "give memory:"), ("counters", ServerPart.allCases, "give memory:"),
        ]
        for (name, parts, advice) in parts {
            for part in ServerPart.allCases {
                let has = parts.contains(part)
                XCTAssertEqual(part.rows.contains { $0.name == name }, has, "\(name) \(part)")
                XCTAssertEqual(part.help.contains("--\(name) URL"), has, "\(name) \(part)")
            }
            for (url, problem) in [
                ("sqlite:x", advice), ("x.sqlite", advice),
                ("redis://u:p@localhost", "passfile"), ("redis://cache", "stunnel4"), ("rediss://cache", "stunnel4"),
                ("file:x", "sqlite:PATH"), ("memory:x", "sqlite:PATH"), ("postgres://u:p@db/mpin", "passfile"),
            ] {
                let file = try file("\(name): \"\(url)\"\n")
                let variable = "MPIND_" + name.uppercased().replacing("-", with: "_")
                let sources: [([String], [String: String])] = [
                    (["--\(name)", url], [:]), (["--config", file], [:]), ([], [variable: url]),
                ]
                for part in parts {
                    for (arguments, environment) in sources {
                        XCTAssertThrowsError(
                            try SettingsReader(part).read(arguments: arguments, environment: environment), url
                        ) {
                            XCTAssertTrue("\($0)".contains("\(name): "), "\($0)")
                            XCTAssertTrue("\($0)".contains(problem), "\($0)")
                        }
                    }
                }
            }
        }
        let mpind = try Mpind(["config", "check", "rps", "--signals", "sqlite:x"])
        XCTAssertEqual(mpind.stop(0), 64, mpind.logText)
        XCTAssertTrue(mpind.logText.contains("a file rings no signals: give memory:"), mpind.logText)
    }

    /// A private listener without a key accepts requests without a token, as Milagro's servers send them, so it must be
    /// on a loopback address.
    func testAPrivateListenerWithoutAKeyIsForThisMachineOnly() throws {
        let rpa = ["--key-file", "x", "--mail-dir", "m", "--private-listen"]
        func check(_ arguments: [String]) throws {
            try SettingsReader(.rpa).read(arguments: rpa + arguments, environment: [:]).check()
        }
        try check(["127.0.0.1:8012"])
        XCTAssertThrowsError(try check(["10.0.0.1:8012", "--behind-proxy"])) {
            XCTAssertTrue("\($0)".contains("--rps-key-file"), "\($0)")
        }
        XCTAssertThrowsError(try self.check(.rps, ["--private-listen", "10.0.0.1:8011", "--behind-proxy"])) {
            XCTAssertTrue("\($0)".contains("--rpa-key-file"), "\($0)")
        }
    }

    /// Behind a proxy, a public URL must be given. Without it, links and cookies would be made for plain HTTP or for an
    /// address that nobody can reach, and no error would show it.
    func testBehindAProxyAPublicURLIsRequired() throws {
        let url = ["--public-url", "https://login.example.org"]
        for (part, more, missing) in [
            (.serve, [], "--public-url"), (.rpa, ["--mail-dir", "m"], "--public-url"),
            (.serve, ["--public-url", "http://login.example.org"], "https"), (.rps, [], "--dta2-public-url"),
            (.rps, ["--dta2-url", "http://localhost:8002"], "--dta2-public-url"),
        ] as [(ServerPart, [String], String)] {
            XCTAssertThrowsError(try check(part, ["--behind-proxy"] + more), "\(part) \(more)") { error in
                XCTAssertTrue("\(error)".contains(missing), "\(error)")
                XCTAssertEqual((error as? SettingsError)?.exitCode, 64)
            }
        }
        try check(.serve, ["--behind-proxy"] + url)
        try check(.rpa, ["--behind-proxy", "--mail-dir", "m"] + url)
        try check(.rps, ["--behind-proxy", "--dta2-url", "https://dta2.example.org"])
        try check(.rps, ["--behind-proxy", "--dta2-public-url", "https://dta2.example.org"])
        try check(.dta, ["--behind-proxy", "--key-file", "x"])
    }

    /// Without --behind-proxy or TLS, only an RPA or a proxy on the same machine can reach the RPS, and all requests
    /// that it forwards count as those of one caller. The RPS must warn of this.
    func testAnRPSThatCountsAllCallersAsOneWarnsOfIt() throws {
        func warnings(_ part: ServerPart, _ more: [String]) throws -> [String] {
            try SettingsReader(part).read(arguments: (Self.needed[part] ?? []) + more, environment: [:]).warnings
        }
        XCTAssertEqual(try warnings(.rps, []).count, 1)
        XCTAssertTrue(try warnings(.rps, [])[0].contains("--behind-proxy"))
        for more in [["--behind-proxy"], ["--tls-cert", "a", "--tls-key", "b"]] {
            XCTAssertEqual(try warnings(.rps, more), [], "\(more)")
        }
        XCTAssertEqual(try warnings(.rpa, []), [])
        XCTAssertEqual(try warnings(.serve, ["--mail-dir", "m"]), [])
        let check = try Mpind(["config", "check", "rps"] + (Self.needed[.rps] ?? []))
        XCTAssertEqual(check.stop(0), 0, check.logText)
    }

    /// A wrong configuration must end the program with a special exit code, so that systemd does not start it again in
    /// vain.
    func testAConfigurationThatCannotStartIsRefused() throws {
        for (part, arguments, problem) in [
            (.dta, [], "either --key-file or --passphrase-file"),
            (.dta, ["--key-file", "x", "--passphrase-file", "y"], "either --key-file or --passphrase-file"),
            (.dta, ["--key-file", "x", "--listen", "0.0.0.0:8001"], "must be on a loopback address"),
            (.rpa, [], "--mail-dir or --smtp-url"), (.rpa, ["--smtp-url", "smtp://localhost"], "--mail-from"),
            (.serve, ["--mail-dir", "m", "--smtp-url", "smtp://localhost"], "either --mail-dir or --smtp-url"),
            (.serve, ["--audit-log", "a/b"], "--audit-log and --audit-key-file together"),
            (.serve, ["--host", "0.0.0.0"], "must be on a loopback address"),
            (.serve, ["--push-url", "https://a.example"], "--push-url and --push-key-file together"),
            (.serve, ["--push-url", "https://a.example", "--push-key-file", "x", "--trust=false"], "needs --trust"),
            (.serve, ["--push-url", "https://a.example", "--push-key-file", "x", "--force-activate"], "needs --trust"),
            (.serve, ["--admin-listen", "0.0.0.0:9000"], "admin listener must be on a loopback address"),
            (.serve, ["--health-listen", "0.0.0.0:9000"], "must be on a loopback address"),
            (.rps, ["--listen", "192.0.2.1:80"], "must be on a loopback address"),
            (.rps, ["--private-listen", "192.0.2.1:80", "--rpa-key-file", "x"], "must be on a loopback address"),
        ] as [(ServerPart, [String], String)] {
            XCTAssertThrowsError(try check(part, arguments), "\(part) \(arguments)") { error in
                XCTAssertTrue("\(error)".contains(problem), "\(error)")
                XCTAssertEqual((error as? SettingsError)?.exitCode, 64, "\(error)")
            }
        }
        let parts = try SettingsReader(.serve).read(arguments: ["--state-dir", "x"], environment: [:])
        XCTAssertThrowsError(try parts.check()) { XCTAssertTrue("\($0)".contains("give --all-in-one"), "\($0)") }
        try check(.rpa, ["--force-activate"])
        try check(.dta, ["--passphrase-file", "y"])
    }

    /// Clients of MIRACL Trust are served where that is possible, unless the operator says something else.
    func testTrustIsOnWhereItIsPossible() throws {
        func isOn(_ arguments: [String]) throws -> Bool {
            let state = NSTemporaryDirectory() + "state-" + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: state) }
            let all = ["--all-in-one", "--state-dir", state] + arguments
            return try SettingsReader(.serve).read(arguments: all, environment: [:]).parts().trust != nil
        }
        let proxy = ["--behind-proxy", "--mail-dir", "m", "--public-url", "https://a.example"]
        XCTAssertTrue(try isOn(["--mail-dir", "m"]))
        XCTAssertTrue(try isOn(["--mail-dir", "m", "--trust"]))
        XCTAssertTrue(try isOn(proxy))
        XCTAssertFalse(try isOn(["--mail-dir", "m", "--trust=false"]))
        XCTAssertFalse(try isOn(["--force-activate"]), "no mails")
        XCTAssertTrue(try isOn(["--force-activate", "--trust"]), "back ends verify the users")
        XCTAssertFalse(try isOn(["--force-activate", "--trust=false"]))
    }

    func testWhatIsPrintedIsAConfigurationFileWithTheSameValues() throws {
        let first = try lines(.serve, ["--state-dir", "a \"b\" \\c", "--max-attempts", "7", "--force-activate"])
        let path = try file(first.joined(separator: "\n"))
        func values(_ lines: [String]) -> [String] { lines.map { String($0.prefix { $0 != "#" }) } }
        XCTAssertEqual(values(try lines(.serve, ["--config", path])), values(first))
    }

    func testEveryOptionHasANameHelpAndADefaultThatItAccepts() throws {
        for part in ServerPart.allCases {
            XCTAssertEqual(Set(part.rows.map(\.name)).count, part.rows.count, "\(part): a name twice")
            for row in part.rows {
                XCTAssertNotNil(row.name.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/), row.name)
                XCTAssertFalse(row.help.isEmpty)
                guard let fallback = row.fallback, !row.kind.isFlag else { continue }
                XCTAssertNoThrow(
                    try SettingsReader(part).read(arguments: ["--\(row.name)", fallback], environment: [:]), row.name)
            }
        }
    }

    func testTheProgramChecksAndPrints() throws {
        let path = try file("state-dir: x\nmax-atempts: 3\n")
        let bad = try Mpind(["config", "check", "--config", path])
        XCTAssertEqual(bad.stop(0), 78)
        XCTAssertEqual(
            bad.logText, "mpind: error: \(path):2: unknown option max-atempts; did you mean max-attempts?\n")
        XCTAssertEqual(try Mpind(["config", "check", "--all-in-one", "--state-dir", "x"]).stop(0), 0)
        XCTAssertEqual(try Mpind(["config", "check", "rps", "--state-dir", "x"]).stop(0), 64)
        XCTAssertEqual(try Mpind(["config", "print", "dta"]).stop(0), 0)
        XCTAssertEqual(try Mpind(["rps", "--help"]).stop(0), 0)
    }
}
