/// What is known of a number that the engine holds in four limbs. It is a sum of unknowns plus a multiple of p. Each
/// unknown is between 0 and a multiple of the largest normal value, P = p + 2^196 - 1.
struct LinearForm {
    /// The coefficient of each unknown.
    var terms: [Int: Int] = [:]
    /// The factor of p.
    var multiple = 0

    static func + (a: LinearForm, b: LinearForm) -> LinearForm {
        LinearForm(terms: a.terms.merging(b.terms, uniquingKeysWith: +), multiple: a.multiple + b.multiple)
    }

    static func * (a: LinearForm, k: Int) -> LinearForm {
        LinearForm(terms: a.terms.mapValues { $0 * k }, multiple: a.multiple * k)
    }

    /// The smallest and the largest possible value.
    var bounds: (least: BigInt, greatest: BigInt) {
        func sum(_ chosen: (Int) -> Bool) -> BigInt {
            let units = terms.reduce(0) { chosen($1.value) ? $0 + $1.value * Unknown.classes[$1.key] : $0 }
            return BigInt(units) * Unknown.largest + BigInt(multiple) * Parameters.p
        }
        return (sum { $0 < 0 }, sum { $0 > 0 })
    }
}

/// What is known of a number in eight limbs: a sum of products of two unknowns, of products of p and an unknown, and of
/// multiples of p^2 and of p (p + 2^199).
struct QuadraticForm {
    struct Pair: Hashable {
        let a: Int, b: Int

        init(_ a: Int, _ b: Int) { (self.a, self.b) = (min(a, b), max(a, b)) }
    }

    var pairs: [Pair: Int] = [:]
    var terms: [Int: Int] = [:]
    var squares = 0
    var multiple = 0

    static func + (a: QuadraticForm, b: QuadraticForm) -> QuadraticForm {
        QuadraticForm(
            pairs: a.pairs.merging(b.pairs, uniquingKeysWith: +).filter { $0.value != 0 },
            terms: a.terms.merging(b.terms, uniquingKeysWith: +).filter { $0.value != 0 },
            squares: a.squares + b.squares, multiple: a.multiple + b.multiple)
    }

    static func * (a: QuadraticForm, k: Int) -> QuadraticForm {
        QuadraticForm(
            pairs: a.pairs.mapValues { $0 * k }, terms: a.terms.mapValues { $0 * k }, squares: a.squares * k,
            multiple: a.multiple * k)
    }

    /// The product of two numbers.
    init(_ x: LinearForm, _ y: LinearForm) {
        for (i, a) in x.terms {
            for (j, b) in y.terms { pairs[Pair(i, j), default: 0] += a * b }
            terms[i, default: 0] += a * y.multiple
        }
        for (j, b) in y.terms { terms[j, default: 0] += b * x.multiple }
        squares = x.multiple * y.multiple
        self = self + QuadraticForm()
    }

    init(pairs: [Pair: Int] = [:], terms: [Int: Int] = [:], squares: Int = 0, multiple: Int = 0) {
        (self.pairs, self.terms, self.squares, self.multiple) = (pairs, terms, squares, multiple)
    }

    /// A lower and an upper bound of the value.
    var bounds: (least: BigInt, greatest: BigInt) { (0 - (self * -1).ceiling, ceiling) }

    /// An upper bound of the value.
    ///
    /// Unknowns that are multiplied with each other are examined together. A square is not negative, and at most the
    /// unknown times its bound, so it is replaced by one of these. After that no unknown is multiplied with itself, so
    /// the greatest value occurs where each unknown is 0 or at its bound. The code tries all these corners.
    private var ceiling: BigInt {
        let p = Parameters.p
        var result = BigInt(squares) * p.power(2) + BigInt(multiple) * p * (p + BigInt(2).power(199))
        for group in groups { result = result + greatest(group) }
        return result
    }

    /// Groups of unknowns that are connected by products.
    private var groups: [[Int]] {
        var group = [Int: Int]()
        for unknown in Set(pairs.keys.flatMap { [$0.a, $0.b] }).union(terms.keys) { group[unknown] = unknown }
        for pair in pairs.keys {
            guard let from = group[pair.b], let to = group[pair.a], from != to else { continue }
            for (unknown, name) in group where name == from { group[unknown] = to }
        }
        return Dictionary(grouping: group.keys) { group[$0] }.values.map { $0.sorted() }
    }

    /// The greatest value of the terms with these unknowns, over all corners.
    private func greatest(_ group: [Int]) -> BigInt {
        precondition(group.count <= 16, "\(group.count) unknowns have too many corners")
        let place = Dictionary(uniqueKeysWithValues: group.enumerated().map { ($1, $0) })
        // An unknown of class m is at most m P. Products of two unknowns are counted in units of P^2, products with p
        // in units of P p.
        var products: [(mask: Int, inPP: Int, inPTimesP: Int)] = []
        for (pair, factor) in pairs {
            guard let a = place[pair.a], let b = place[pair.b] else { continue }
            if a == b && factor < 0 { continue }
            let units = factor * Unknown.classes[pair.a] * Unknown.classes[pair.b]
            products.append((1 << a | 1 << b, units, 0))
        }
        for (unknown, factor) in terms {
            if let a = place[unknown] { products.append((1 << a, 0, factor * Unknown.classes[unknown])) }
        }
        var best = (sum: 0, inPP: 0)
        for corner in 0..<1 << group.count {
            var inPP = 0, inPTimesP = 0
            for product in products where corner & product.mask == product.mask {
                inPP += product.inPP
                inPTimesP += product.inPTimesP
            }
            // P exceeds p by less than p/2^57, so the sum of both counts decides. If two sums are equal, the one with
            // more P^2 is larger.
            if (inPP + inPTimesP, inPP) > best { best = (inPP + inPTimesP, inPP) }
        }
        let inPP = BigInt(best.inPP) * Unknown.largest, inPTimesP = BigInt(best.sum - best.inPP) * Parameters.p
        return (inPP + inPTimesP) * Unknown.largest
    }
}

/// The numbers with which formulas start, and the results of reductions. Only the class of such a number is known.
enum Unknown {
    /// The class of each unknown: the unknown is at most this multiple of `largest`.
    nonisolated(unsafe) static var classes: [Int] = []

    /// The largest normal value.
    static var largest: BigInt { Parameters.p + BigInt(2).power(196) - 1 }

    /// A new unknown of class k.
    static func next(class k: Int = 1) -> LinearForm {
        classes.append(k)
        return LinearForm(terms: [classes.count - 1: 1])
    }
}

extension BigInt {
    convenience init(_ value: Int) { self.init(integerLiteral: value) }
}
