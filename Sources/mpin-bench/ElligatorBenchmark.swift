import MPinCrypto
import MPinSecrets

extension ProtocolBench {
    /// Times the encoding of points as strings that look random.
    func measureElligator(_ benchmark: inout Benchmark) throws(MPinError) {
        benchmark.time("encoding") {
            let user = turn()
            write(ElligatorSquared.size) { out throws(MPinError) in
                try ElligatorSquared.encode(point: user.u.span, random: systemRandom, into: &out)
            }
        }
        var strings: [[UInt8]] = []
        for user in sessions {
            strings.append(
                try filled(ElligatorSquared.size) { out throws(MPinError) in
                    try ElligatorSquared.encode(point: user.u.span, random: systemRandom, into: &out)
                })
        }
        benchmark.time("decoding") {
            let string = strings[turnIndex()]
            write(65) { point throws(MPinError) in try ElligatorSquared.decode(string.span, into: &point) }
        }
    }
}
