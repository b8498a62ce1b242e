import MPinCrypto

extension ProtocolBench {
    /// Times adding and subtracting factors of a token: a factor of 256 bits, and PINs.
    func measureFactors(_ benchmark: inout Benchmark) {
        let factor = Sample.scalar(seed: 11), newPIN = Sample.bytes(2, seed: 12)
        let newScalar = [UInt8](repeating: 0, count: 30) + [newPIN[0] & 0x3F, newPIN[1]]
        benchmark.time("extract_factor") {
            let user = turn()
            write(65) { out throws(MPinError) in
                try Factor.extract(
                    id: user.id.span, factor: factor.span, bits: 256, token: user.token.span, into: &out)
            }
        }
        benchmark.time("restore_factor") {
            let user = turn()
            write(65) { out throws(MPinError) in
                try Factor.restore(
                    id: user.id.span, factor: factor.span, bits: 256, token: user.token.span, into: &out)
            }
        }
        benchmark.time("change_pin") {
            let user = turn()
            write(65) { out throws(MPinError) in
                try Factor.changePIN(
                    id: user.id.span, old: user.pin.span, oldBits: 14, new: newScalar.span, newBits: 14,
                    token: user.token.span, into: &out)
            }
        }
    }
}
