import BN254CX
import MPinCrypto
import MPinSecrets

/// Times every operation of M-Pin in the form in which callers use it, from octets to octets. The operations use
/// several users in turn, because mapping a hash to G1 takes a different number of tries for each user.
func measureProtocol(_ benchmark: inout Benchmark) throws(MPinError) {
    let bench = try ProtocolBench()
    try bench.measureShares(&benchmark)
    bench.measureClient(&benchmark)
    bench.measureFactors(&benchmark)
    try bench.measureServer(&benchmark)
    try measureKangaroo(&benchmark)
    try bench.measureKeyPair(&benchmark)
    try bench.measureOnePass(&benchmark)
    try bench.measureFull(&benchmark)
    try bench.measureElligator(&benchmark)
    bench.measureLogin(&benchmark)
}

/// Users, their server, and buffers for the results of the operations.
final class ProtocolBench {
    let master = Sample.scalar(seed: 7)
    let sessions: [Session]
    let context: ServerContext
    let serverSecret: [UInt8]
    private var next = 0
    private let output = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 128)
    let second = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 65)
    let third = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 65)
    let e = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 384)
    let f = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 384)
    let none = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)

    init() throws(MPinError) {
        let master = master
        var sessions: [Session] = []
        for number in 0..<16 { sessions.append(try Session(number: number, master: master)) }
        self.sessions = sessions
        serverSecret = try filled(128) { out throws(MPinError) in
            try TrustAuthority.serverSecretShare(master: master.span, into: &out)
        }
        let secret = serverSecret
        context = try ServerContext(serverSecret: secret.span)
    }

    func turn() -> Session { sessions[turnIndex()] }

    /// Goes on to the next user and returns that user's index, for values that are stored outside of the sessions.
    func turnIndex() -> Int {
        next &+= 1
        return next & 15
    }

    /// Lends `body` a buffer of `count` bytes, at most 128. If `body` throws, the program ends, because the time of a
    /// refused operation is meaningless.
    func write(_ count: Int, _ body: (inout MutableSpan<UInt8>) throws(MPinError) -> Void) {
        var span = UnsafeMutableBufferPointer(rebasing: output[..<count]).mutableSpan
        do throws(MPinError) { try body(&span) } catch { fatalError("refused: \(error)") }
    }

    func measureShares(_ benchmark: inout Benchmark) throws(MPinError) {
        let (master, secret) = (master, serverSecret)
        benchmark.time("random_generate") {
            write(32) { out throws(MPinError) in try RandomScalar.generate(into: &out, random: systemRandom) }
        }
        benchmark.time("challenge") {
            write(32) { y throws(MPinError) in
                try RandomScalar.generateChallenge(into: &y, random: systemRandom)
            }
        }
        benchmark.time("hash_id") {
            let user = turn()
            write(32) { out throws(MPinError) in try Identity.hash(id: user.id.span, into: &out) }
        }
        benchmark.time("get_client_secret") {
            let user = turn()
            write(65) { out throws(MPinError) in
                try TrustAuthority.clientSecretShare(master: master.span, hashID: user.hash.span, into: &out)
            }
        }
        benchmark.time("get_server_secret") {
            write(128) { out throws(MPinError) in
                try TrustAuthority.serverSecretShare(master: master.span, into: &out)
            }
        }
        benchmark.time("get_client_permit") {
            let user = turn()
            write(65) { out throws(MPinError) in
                try TrustAuthority.timePermitShare(
                    master: master.span, date: Session.date, hashID: user.hash.span, into: &out)
            }
        }
        benchmark.time("recombine_g1") {
            let user = turn()
            write(65) { out throws(MPinError) in
                try Shares.recombineG1(user.clientSecret.span, user.permit.span, into: &out)
            }
        }
        benchmark.time("recombine_g2") {
            write(128) { out throws(MPinError) in try Shares.recombineG2(secret.span, secret.span, into: &out) }
        }
    }

    func measureClient(_ benchmark: inout Benchmark) {
        let digits = Array("123456".utf8)
        benchmark.time("pin_to_scalar") {
            write(32) { out throws(MPinError) in try PINMapping.decimal6.scalar(pin: digits.span, into: &out) }
        }
        benchmark.time("extract_pin") {
            let user = turn()
            write(65) { out throws(MPinError) in
                try Client.extractPIN(
                    id: user.id.span, pinScalar: user.pin.span, pinBits: 14, clientSecret: user.clientSecret.span,
                    into: &out)
            }
        }
        benchmark.time("client_1") { client1(turn()) }
        benchmark.time("client_1_permit") { client1Permit(turn()) }
        benchmark.time("client_2") { client2(turn()) }
    }

    private func client1(_ user: Session) {
        var u = second.mutableSpan, timed = none.mutableSpan
        write(65) { sec throws(MPinError) in
            try Client.pass1(
                date: 0, id: user.id.span, x: user.x.span, pinScalar: user.pin.span, pinBits: 14,
                token: user.token.span, permit: nil, sec: &sec, u: &u, ut: &timed)
        }
    }

    private func client1Permit(_ user: Session) {
        var u = second.mutableSpan, timed = third.mutableSpan
        write(65) { sec throws(MPinError) in
            try Client.pass1(
                date: Session.date, id: user.id.span, x: user.x.span, pinScalar: user.pin.span, pinBits: 14,
                token: user.token.span, permit: user.permit.span, sec: &sec, u: &u, ut: &timed)
        }
    }

    private func client2(_ user: Session) {
        write(65) { out throws(MPinError) in
            try Client.pass2(x: user.x.span, y: user.y.span, sec: user.sec.span, into: &out)
        }
    }

    func measureServer(_ benchmark: inout Benchmark) throws(MPinError) {
        benchmark.time("server_1") {
            let user = turn()
            var timed = none.mutableSpan
            write(65) { out throws(MPinError) in
                try Server.pass1(date: 0, id: user.id.span, hid: &out, htid: &timed)
            }
        }
        let secret = serverSecret
        benchmark.time("server_context_new") {
            if (try? ServerContext(serverSecret: secret.span)) == nil { fatalError("a server secret was refused") }
        }
        benchmark.time("server_2") { verify(turn()) }
        benchmark.time("server_2_permit") {
            let user = turn()
            let isRight = try? context.verify(
                id: user.id.span, date: Session.date, u: user.timedU.span, y: user.y.span, v: user.timedV.span)
            if isRight != true { fatalError("a right PIN was refused") }
        }
        benchmark.time("server_2_bad_pin") {
            let user = turn()
            var e = e.mutableSpan, f = f.mutableSpan
            do throws(MPinError) {
                try context.pass2(
                    date: 0, hid: user.hid.span, htid: nil, y: user.y.span, u: user.wrongU.span, ut: nil,
                    v: user.wrongV.span, e: &e, f: &f)
                fatalError("a wrong PIN was accepted")
            } catch {
                if error != .badPIN { fatalError("refused: \(error)") }
            }
        }
    }

    private func verify(_ user: Session) {
        let isRight = try? context.verify(
            id: user.id.span, date: 0, u: user.u.span, y: user.y.span, v: user.v.span)
        if isRight != true { fatalError("a right PIN was refused") }
    }

    /// Times the work of the server and of the client for one login without a time permit.
    func measureLogin(_ benchmark: inout Benchmark) {
        benchmark.time("login_server") {
            write(32) { y throws(MPinError) in
                try RandomScalar.generateChallenge(into: &y, random: systemRandom)
            }
            verify(turn())
        }
        benchmark.time("login_client") {
            let user = turn()
            write(32) { x throws(MPinError) in try RandomScalar.generate(into: &x, random: systemRandom) }
            client1(user)
            client2(user)
        }
    }
}
