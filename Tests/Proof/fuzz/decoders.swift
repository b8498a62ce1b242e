// A libFuzzer target for everything that decodes octets or text from outside. Nothing may trap or read out of bounds.
// An accepted input must be the only encoding of its value, so encoding that value again gives the same bytes.
//
// The first byte selects the decoder, and the rest is its input.

import BN254CX
import Glibc
import MPinCrypto
import MPinSecrets

/// libFuzzer calls this function once for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDecoders(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
    withInput(data, size) { selector, input in
        var limbs = [UInt](repeating: 0, count: Arena.capacity)
        limbs.withUnsafeMutableBufferPointer { room in
            guard let base = room.baseAddress else { return }
            var arena = Arena(base)
            decode(input.span, with: selector, &arena)
        }
    }
}

private func decode(_ input: Span<UInt8>, with decoder: UInt8, _ arena: inout Arena) {
    switch decoder % 8 {
    case 0: g1(input, &arena)
    case 1: g2(input, &arena)
    case 2: gt(input, &arena)
    case 3: scalar(input, &arena)
    case 4: narrowScalar(input, bits: Int(decoder) * 2 - 100, &arena)
    case 5: hex(input)
    case 6: pin(input, decoder)
    default: mapToG1(input, &arena)
    }
}

private func g1(_ input: Span<UInt8>, _ arena: inout Arena) {
    let point = arena.g1()
    guard point.decode(input, arena.scratch) else { return }
    expect(point.infinityMask(arena.scratch) == 0, "infinity was decoded")
    expectSame(input) { point.encode(into: &$0, arena.scratch) }
}

private func g2(_ input: Span<UInt8>, _ arena: inout Arena) {
    let point = arena.g2(), multiple = arena.g2(), order = arena.scalar()
    guard point.decode(input, arena.scratch) == .valid else { return }
    expect(order.load(groupOrder.span), "the order is 32 bytes")
    multiple.multiply(point, by: order, bits: 256, arena.scratch)
    expect(multiple.infinityMask(arena.scratch) != 0, "a point outside the subgroup was decoded")
    expectSame(input) { point.encode(into: &$0, arena.scratch) }
}

private func gt(_ input: Span<UInt8>, _ arena: inout Arena) {
    let value = arena.gt()
    guard value.decode(input, arena.scratch) == .valid else { return }
    expectSame(input) { value.encode(into: &$0, arena.scratch) }
}

private func scalar(_ input: Span<UInt8>, _ arena: inout Arena) {
    let value = arena.scalar()
    guard value.decode(input, arena.scratch) else { return }
    expectSame(input) { value.encode(into: &$0) }
}

private func narrowScalar(_ input: Span<UInt8>, bits: Int, _ arena: inout Arena) {
    let value = arena.scalar()
    guard value.decode(input, bits: bits) else { return }
    expect(1...256 ~= bits, "a width out of range was accepted")
    expectSame(input) { value.encode(into: &$0) }
}

private func hex(_ input: Span<UInt8>) {
    guard let secret = SecretBytes(hex: input) else { return }
    expect(secret.count * 2 == input.count, "half as many bytes as digits")
    let text = Array(secret.hex().utf8)
    for i in 0..<input.count { expect(text[i] == input[i] | (input[i] > 64 ? 32 : 0), "the same digits") }
}

private func pin(_ input: Span<UInt8>, _ selector: UInt8) {
    let mapping = PINMapping.allCases[Int(selector) / 8 % PINMapping.allCases.count]
    var octets = [UInt8](repeating: 0, count: MPinSize.scalar), room = octets.mutableSpan
    guard (try? mapping.scalar(pin: input, into: &room)) != nil else { return }
    let value = octets.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    expect(octets.prefix(28).allSatisfy { $0 == 0 } && value < 1 << mapping.bits, "a PIN fits its width")
}

private func mapToG1(_ input: Span<UInt8>, _ arena: inout Arena) {
    let point = arena.g1(), again = arena.g1()
    guard point.mapVartime(hash: input, arena.scratch) else {
        return expect(input.count != 32, "every hash has a point")
    }
    var octets = [UInt8](repeating: 0, count: G1.octets), room = octets.mutableSpan
    expect(point.encode(into: &room, arena.scratch), "the point is not infinite")
    expect(again.decode(octets.span, arena.scratch), "the point is on the curve")
    expect(octets[64] & 1 == 0, "the even root")
}

/// Checks that encoding the decoded value gives the input again.
private func expectSame(_ input: Span<UInt8>, _ encode: (inout MutableSpan<UInt8>) -> Bool) {
    var octets = [UInt8](repeating: 0, count: input.count), room = octets.mutableSpan
    expect(encode(&room), "what was decoded can be encoded")
    for i in 0..<input.count { expect(octets[i] == input[i], "another encoding of the same value was accepted") }
}

private let groupOrder: [UInt8] = [
    0x24, 0, 0, 0, 0x08, 0x70, 0x2a, 0x0d, 0xb0, 0xbd, 0xdf, 0x64, 0x7a, 0x63, 0x66, 0xd2, 0xc4, 0x3f, 0xd6, 0xee, 0x0c,
    0xc9, 0x06, 0xce, 0xbe, 0x11, 0xc0, 0xa6, 0x36, 0xeb, 0x1f, 0x6d,
]
