import XCTest

// Replacements for the types in which the engine's formulas are written (Limbs.swift, Wide.swift and others). Here
// limbs hold what is known of a number in place of the number.

/// A place in the `Memory` below.
package struct Limbs {
    let place: Int

    package static func + (a: Limbs, n: Int) -> Limbs { Limbs(place: a.place + n) }
    package static func += (a: inout Limbs, n: Int) { a = a + n }
}

package typealias ConstLimbs = Limbs
package typealias Limb = UInt

/// What is known of the number at each place. A number is stored at the place of its first limb.
enum Memory {
    private enum Cell {
        case narrow(LinearForm), wide(QuadraticForm)
    }

    private nonisolated(unsafe) static var cells: [Int: Cell] = [:]
    private nonisolated(unsafe) static var size = 0

    /// The errors that were found in the formulas.
    nonisolated(unsafe) static var findings: [String] = []

    static func clear() {
        cells = [:]
        findings = []
        Unknown.classes = []
        size = 0
    }

    /// Returns the next `count` free places, at which no number is stored yet.
    static func take(_ count: Int) -> Limbs {
        defer { size += count }
        return Limbs(place: size)
    }

    static func narrow(at p: Limbs) -> LinearForm {
        if case .narrow(let form) = cells[p.place] { return form }
        findings.append("no number of four limbs lies at limb \(p.place)")
        return Unknown.next()
    }

    static func wide(at p: Limbs) -> QuadraticForm {
        if case .wide(let form) = cells[p.place] { return form }
        findings.append("no number of eight limbs lies at limb \(p.place)")
        return QuadraticForm()
    }

    static func store(_ form: LinearForm, at p: Limbs) {
        if case .wide = cells[p.place - 4] { cells[p.place - 4] = nil }
        if case .wide = cells[p.place] { cells[p.place + 4] = nil }
        cells[p.place] = .narrow(form)
    }

    static func store(_ form: QuadraticForm, at p: Limbs) {
        if case .wide = cells[p.place - 4] { cells[p.place - 4] = nil }
        cells[p.place + 4] = nil
        cells[p.place] = .wide(form)
    }

    /// Copies the content of n limbs.
    static func copy(_ r: Limbs, _ a: ConstLimbs, _ n: Int) {
        for i in stride(from: 0, to: n, by: 4) {
            switch cells[a.place + i] {
            case .narrow(let form): store(form, at: r + i)
            case .wide(let form): store(form, at: r + i)
            case nil: break
            }
        }
    }

    /// Reports a number that may be negative or may not fit into `bits` bits.
    static func check(_ bounds: (least: BigInt, greatest: BigInt), bits: Int, _ what: String) {
        if bounds.least < 0 { findings.append("\(what) may be negative") }
        if bounds.greatest > BigInt(2).power(bits) - 1 { findings.append("\(what) may need more than \(bits) bits") }
    }
}

func copyLimbs(_ r: Limbs, _ a: ConstLimbs, _ n: Int) { Memory.copy(r, a, n) }

func zeroLimbs(_ r: Limbs, _ n: Int) {
    for i in stride(from: 0, to: n, by: 4) { Memory.store(LinearForm(), at: r + i) }
}

func selectLimbs(_ r: Limbs, _ a: ConstLimbs, _ n: Int, mask: UInt) {
    for i in stride(from: 0, to: n, by: 4) { Narrow(r + i).replaced(by: Narrow(a + i), mask: mask).store(r + i) }
}

struct Wide {
    private let form: QuadraticForm

    private init(form: QuadraticForm) { self.form = form }
    init(_ p: ConstLimbs) { form = Memory.wide(at: p) }

    init(multiple k: Int) {
        if !(0...36).contains(k) { Memory.findings.append("there is no offset of class \(k)") }
        form = QuadraticForm(multiple: k)
    }

    func store(_ r: Limbs) { Memory.store(form, at: r) }

    static func + (x: Wide, y: Wide) -> Wide { Wide(form: x.form + y.form) }
    static func - (x: Wide, y: Wide) -> Wide { Wide(form: x.form + y.form * -1) }
    static func * (x: Wide, k: UInt) -> Wide { Wide(form: x.form * Int(k)) }

    var reduced: Narrow {
        Memory.check(form.bounds, bits: 512, "what is reduced")
        return Narrow(form: Unknown.next())
    }
}

struct Narrow {
    fileprivate let form: LinearForm

    fileprivate init(form: LinearForm) { self.form = form }
    init(_ p: ConstLimbs) { form = Memory.narrow(at: p) }

    init(evenMultiple k: Int) {
        if !(0...2).contains(k) { Memory.findings.append("there is no offset of \(2 * k) p") }
        form = LinearForm(multiple: 2 * k)
    }

    func store(_ r: Limbs) { Memory.store(form, at: r) }

    static func + (x: Narrow, y: Narrow) -> Narrow { Narrow(form: x.form + y.form) }
    static func - (x: Narrow, y: Narrow) -> Narrow { Narrow(form: x.form + y.form * -1) }
    static func * (x: Narrow, k: UInt) -> Narrow { Narrow(form: x.form * Int(k)) }

    /// Returns one of two numbers. Of the result only an upper bound is known: that of the larger one.
    func replaced(by other: Narrow, mask: UInt) -> Narrow {
        let bounds = form.bounds, others = other.form.bounds
        Memory.check(bounds, bits: 256, "what is chosen from")
        Memory.check(others, bits: 256, "what is chosen from")
        let greatest = max(bounds.greatest, others.greatest)
        let fitting = (1...8).first { greatest < BigInt($0) * Unknown.largest + 1 }
        return Narrow(form: Unknown.next(class: fitting ?? 8))
    }

    var normal: Narrow {
        Memory.check(form.bounds, bits: 256, "what is made normal")
        return Narrow(form: Unknown.next())
    }
}

extension Fp {
    static func mulWide(_ w: Limbs, _ x: ConstLimbs, _ y: ConstLimbs) {
        let a = Memory.narrow(at: x), b = Memory.narrow(at: y)
        Memory.check(a.bounds, bits: 256, "a factor")
        Memory.check(b.bounds, bits: 256, "a factor")
        Memory.store(QuadraticForm(a, b), at: w)
    }

    static func sqrWide(_ w: Limbs, _ x: ConstLimbs) { mulWide(w, x, x) }

    static func inverse(_ r: Limbs, _ a: ConstLimbs, _ s: Limbs) { Narrow(a).normal.store(r) }

    static func zeroMask(_ a: ConstLimbs, _ s: Limbs) -> UInt {
        _ = Memory.narrow(at: a)
        return 0
    }

    static func setOne(_ r: Limbs) { Memory.store(Unknown.next(), at: r) }

    static var one: ConstLimbs { normal(1) }
    static var powerScratch: Int { 76 }

    /// Unknown normal elements, one after the other.
    static func normal(_ count: Int) -> Limbs {
        let result = Memory.take(4 * count)
        for i in 0..<count { Memory.store(Unknown.next(), at: result + 4 * i) }
        return result
    }
}

extension Fp2 {
    static func frobenius(_ n: Int) -> Fp2 { Fp2(Fp.normal(2)) }
}

// In the engine, the constant-time test replaces this function, to mark a verdict as public. Here it does nothing.
func declassify(_ verdict: UInt) -> UInt { verdict }
