import Glibc

/// What the kernel reports about the server's process, and what the server says itself.
struct ServerProcess: Sendable {
    let pid: Int32
    /// Nil if nothing is signed.
    let metrics: SignatureTimes?

    /// Processor time of all its RSA signatures so far, in nanoseconds.
    func signatureNanoseconds() throws -> Double { try metrics?.nanoseconds() ?? 0 }

    /// Processor time of all its threads so far, in nanoseconds; nil when there is no such process.
    var cpuNanoseconds: Double? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// Resident memory in megabytes (10^6 bytes); nil when there is no such process.
    var megabytes: Double? {
        guard let file = fopen("/proc/\(pid)/statm", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let fields = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Double(fields[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1e6
    }
}
