import Foundation
import MPinSecrets
import MPinServer
import XCTest

/// The real program as a separate process.
final class Mpind {
    let process = Process()
    let log: URL
    /// The secrets that were sent and received, which the log must not contain.
    private let traffic: Traffic

    /// The path of the program, which was built together with the tests.
    static var path: String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (tests as NSString).deletingLastPathComponent + "/mpind"
    }

    /// `files`: the limit on open files in the form of prlimit(1) (`soft:hard`); nil: the limit of the test process.
    init(
        _ arguments: [String], _ traffic: Traffic = Traffic(), files: String? = nil, environment: [String: String] = [:]
    ) throws {
        self.traffic = traffic
        log = URL(fileURLWithPath: NSTemporaryDirectory() + "mpind-" + UUID().uuidString + ".log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        process.executableURL = URL(fileURLWithPath: files == nil ? Self.path : "/usr/bin/prlimit")
        process.arguments = (files.map { ["--nofile=" + $0, Self.path] } ?? []) + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
    }

    /// Starts all parts in one process on the backend's ports.
    convenience init(
        _ backend: Backend, _ more: [String] = [], files: String? = nil, environment: [String: String] = [:]
    ) throws {
        try self.init(
            [
                "--all-in-one", "--state-dir", backend.stateFolder, "--mail-dir", backend.mailFolder, "--port",
                "\(backend.port)", "--private-port", "\(backend.privatePort)", "--dta1-port", "\(backend.dta1Port)",
                "--dta2-port", "\(backend.dta2Port)", "--rate-limits", "off", "--log-level", "debug",
            ] + more, backend.traffic, files: files, environment: environment)
    }

    /// Starts a separate RPA on the backend's ports, with new keys. It forwards requests to the RPS at `rpsURL`.
    static func rpa(_ backend: Backend, over rpsURL: String, _ more: [String] = []) throws -> Mpind {
        let state = backend.stateFolder
        try makeFolder(state)
        for key in ["rpa", "rps-rpa"] { _ = try KeyFile.create("\(state)/\(key).key") }
        let mpind = try Mpind(
            [
                "rpa", "--listen", "127.0.0.1:\(backend.port)", "--private-listen", "127.0.0.1:\(backend.privatePort)",
                "--key-file", state + "/rpa.key", "--rps-key-file", state + "/rps-rpa.key", "--mail-dir",
                backend.mailFolder, "--rps-url", rpsURL, "--log-level", "debug", "--rate-limits", "off",
            ] + more, backend.traffic)
        try mpind.waitUntilReady()
        return mpind
    }

    /// Runs a command to its end. Returns its exit code, standard output and standard error.
    static func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (code: Int32, output: String, error: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, complaint)
    }

    var logText: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    func waitUntilReady() throws {
        let end = Date(timeIntervalSinceNow: 60)
        while !logText.contains("mpind is ready") {
            guard process.isRunning, Date() < end else { throw Sockets.Failure(text: "not ready: \(logText)") }
            usleep(10_000)
        }
    }

    /// Waits until the log contains the text. Returns without an error after a minute, or when the process has ended;
    /// the caller then checks the log.
    func waitForLog(_ text: String) {
        let end = Date(timeIntervalSinceNow: 60)
        while !logText.contains(text), process.isRunning, Date() < end { usleep(10_000) }
    }

    /// Sends the signal. Returns the exit code, or minus the number of the signal that ended the process. After 30 s it
    /// sends SIGKILL.
    @discardableResult
    func stop(_ signal: Int32) -> Int32 {
        if process.isRunning { kill(process.processIdentifier, signal) }
        let process = process
        let killer = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 30, execute: killer)
        process.waitUntilExit()
        killer.cancel()
        traffic.assertSilent(logText)
        guard process.terminationReason != .exit else { return process.terminationStatus }
        if process.terminationStatus != signal { print("mpind ended by signal \(process.terminationStatus):", logText) }
        return -process.terminationStatus
    }

    deinit {
        stop(SIGKILL)
        try? FileManager.default.removeItem(at: log)
    }
}
