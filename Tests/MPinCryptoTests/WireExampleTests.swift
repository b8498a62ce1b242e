import MPinCrypto
import XCTest

/// Compares results with the test vector in wire section 16: one registration with PIN "1234" and logins on day 20778,
/// computed by the original cryptographic library.
final class WireExampleTests: XCTestCase {
    private let date: Int32 = 20_778
    private let s1 = bytes(
        "154a9c6664148b67c569ccfa9701ab172f258fa2998f5c07a3484ac6437c4a80")
    private let s2 = bytes(
        "0d10b00e72eba63a68a932020099185e878cf2008cfe3ec87cc40cebf45854de")
    private let id = bytes(
        "7b226d6f62696c65223a20312c2022697373756564223a2022323032362d31312d32312030323a33363a3139"
            + "2e323731343438222c2022757365724944223a2022616c696365406578616d706c652e636f6d222c20227361"
            + "6c74223a20223030313132323333343435353636373738383939616162626363646465656666227d")
    private let hashID = bytes(
        "968bef360dd6dbf281dab8c69626443d588b7dc90b49007a94337a04d9e3b6b9")
    private let serverShare1 = bytes(
        "229ddae52d699158e0797623e508ca8846489b3ace00f561759b754a543c3dde0e0f995b997a57f63737c141"
            + "650c8242ee3432db224017413e4415235f64f4c720dfa0f2588a36bdf6b9cd01600efd9128ef4e00add7593e"
            + "4edfcc752f8095c61bcc4bfa9dc8361c1737077850e50507a0135dfea60608d2c7976007a0b62d58")
    private let serverShare2 = bytes(
        "0d4cdfcf7c716e35fa1bd69a4efcc22eb7cdcb25b69e23346c667ad862cd458d1a3635bb6cfe8d419cda6dca"
            + "c38211fdf8be6d1bbf3b48fb7e5c40b9c32914c319f5a01589d6a96632b88ae869a328732296f55337d56873"
            + "f236b1ff1176d5d00fb8bc7f317b0d4d8fa868fb6187cd52eb2965b694b3099390fb46b2add956cf")
    private let serverSecret = bytes(
        "1cc121fa41ae03b2bca2e8e41b7a9b2a17ce8018e31b1edf4ac6c53cd3983c4006adde0c5ace68d515e3e45d"
            + "a15741e40a8db16146a1c23abf30b533e62ecb6714e38a9b614c7b06be6032de253da481911b38e82319fda1"
            + "0883b0adb896a5a40b5827d968cbb0dcd2bc15a69905dafc5c13730a36783583cd0698e70847cda7")
    private let clientShare1 = bytes(
        "0420bb376f4d54c9179ddc0ab600a572518743d7ea45747827bf948b5506490c3b02ab5629d3fea46cfbda44"
            + "618d652b1b6ac452587c4cf2949065328fe3d55be5")
    private let clientShare2 = bytes(
        "04115bbeaa45b1b8d0242701a2d1b3c83256b8716ae8e1b6ce6b2179757fe33ca60d82177b15b2c4b287a9c6"
            + "c78c6b4c4f0875cbc1553efeb44271a89d485396a0")
    private let clientSecret = bytes(
        "04148357288428ce8066ea1c70ff0781c64226e3d69f4578ff60c69b1e42d037652050a0c6186dd301718c3f"
            + "2c8d9c94520ea5f24ceb71f9e14dfb7505835d666b")
    private let token = bytes(
        "0421210a97ba3c2f1624a528761ce7a79b0034e635728e1f0ede9cd42b936a285b18bef6ffc45f6466206377"
            + "c021e5e8537b617277dc54bd7dd4591f374e4a43b0")
    private let permitShare1 = bytes(
        "040e71d886aa1f950cb5bff2e6d8ccfa4ad0ac5a80297c8f0d0222c1b03d130f2811167d9b27969c1bc41e1c"
            + "c34a1cacafe428f6c22cd61c63102f6a3c1173dc70")
    private let permitShare2 = bytes(
        "040f00607f992d7152cd953e033ff4c0ea17a8b11cc8e6b78da1f47a00330447a00e576a404fa6937c5e1793"
            + "8252965c102c784f60664abc95f281d5ae00753f94")
    private let permit = bytes(
        "041a247306011d16abbb1e8330539ace8ca2f6d6c726bdec4e9757d712f8f082891eff1ecaa0edc05b21ccff"
            + "51b5c8105e26b344c06e217a6d3678f2651ad38ec3")
    private let x = bytes(
        "108f835f499631653cf102ea40ddf26e1ec1c09f1d6038078dbf18866ce6a9b9")
    private let u = bytes(
        "041c9211587a8e3ca4c3fe001a23f247a4ffc3b77be4ad0aa7e3ff2016ecce8b4414913fdb2a756c0a2f73e5"
            + "efd66e28ce1bc6a0ee3d97d7c4ee0e19e2b359d08c")
    private let ut = bytes(
        "0414337e1a7ab1c4bc5476c5a57a8d267d02eb252537ff270ef12dde6376ad2a1601e97440f0881d74b01f40"
            + "5d6aeedb6467e05fc925c55cc0d19c9fbe16c8d1ca")
    private let y = bytes(
        "0153b0d825036b7315acee3e5a873f12a115a153fea5cdc0de5359d8f339ca78")
    private let v = bytes(
        "040eb682bb0e64ac9b8bf7c4d52cf538124cee0d28c74bb8fa0d2a7b43a1b0d9a1088021c0b0b4e947f2913b"
            + "b36b92679cbe5009471fa06d69969e2f28d3dc8b8d")
    private let vWrongPIN = bytes(
        "04125820a4e6da9f6bfa27dddf6fac40c5556b7075d1d9acd684170dc14eb3708109ef8f611b26ac69769970"
            + "cc7ad6bf3faceac5273114b359b8d6aa676c28194e")
    private let vWithoutPermit = bytes(
        "0409c9a7cf4e99c5f2905ee326b7d618cd49edefb9997ae6ee97342cbb5f21f77f096c25071e23fe735f58bd"
            + "55eeb9811b5b34deb6638fc3ed46a1f8912994b479")

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).map { i in
            UInt8(String(decoding: digits[i..<i + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    func testRegistration() throws {
        XCTAssertEqual(try Engine.hashID(id), hashID)
        for (master, share) in [(s1, clientShare1), (s2, clientShare2)] {
            let made = try Engine.clientShare(master, hashID)
            XCTAssertEqual(made, share)
        }
        XCTAssertEqual(
            try Engine.recombineG1(clientShare1, clientShare2), clientSecret)
        let e = try pinScalar(Array("1234".utf8), .legacyHash)
        XCTAssertEqual(e, scalarBytes(9442))
        let made = try Engine.extractPIN(id: id, e: e, bits: 14, secret: clientSecret)
        XCTAssertEqual(made, token)
    }

    func testServerSecret() throws {
        for (master, share) in [(s1, serverShare1), (s2, serverShare2)] {
            XCTAssertEqual(
                try Engine.serverShare(master), share)
        }
        XCTAssertEqual(
            try Engine.recombineG2(serverShare1, serverShare2), serverSecret)
    }

    func testTimePermit() throws {
        for (master, share) in [(s1, permitShare1), (s2, permitShare2)] {
            let made = try Engine.permitShare(master, date, hashID)
            XCTAssertEqual(made, share)
        }
        XCTAssertEqual(
            try Engine.recombineG1(permitShare1, permitShare2), permit)
    }

    func testLogin() throws {
        for (pin, expected) in [("1234", v), ("1235", vWrongPIN)] {
            let e = try pinScalar(Array(pin.utf8), .legacyHash)
            let pass1 = try Engine.clientPass1(date: date, id: id, x: x, e: e, token: token, permit: permit)
            XCTAssertEqual(pass1.u, u)
            XCTAssertEqual(pass1.ut, ut)
            XCTAssertEqual(
                try Engine.clientPass2(x: x, y: y, sec: pass1.sec), expected)
        }
        let e = try pinScalar(Array("1234".utf8), .legacyHash)
        let pass1 = try Engine.clientPass1(date: 0, id: id, x: x, e: e, token: token, permit: nil)
        XCTAssertEqual(
            try Engine.clientPass2(x: x, y: y, sec: pass1.sec), vWithoutPermit)
    }

    /// Tests that the server accepts only the right PIN, and only on the day of the permit.
    func testServerAcceptsOnlyTheRightPINOnItsDay() throws {
        let context = try Engine.serverContext(serverSecret)
        func accepts(_ date: Int32, _ commitment: [UInt8], _ proof: [UInt8]) throws -> Bool {
            try Engine.verify(context, id: id, date: date, u: commitment, y: y, v: proof)
        }
        XCTAssertTrue(try accepts(date, ut, v))
        XCTAssertFalse(try accepts(date, ut, vWrongPIN))
        XCTAssertFalse(try accepts(date + 1, ut, v))
        XCTAssertTrue(try accepts(0, u, vWithoutPermit))
        XCTAssertFalse(try accepts(0, u, v))
        XCTAssertFalse(try accepts(date, u, v))
        XCTAssertFalse(try accepts(date, ut, vWithoutPermit))
    }

    /// Tests that the server finds by how much the PIN "1235" in the vector is wrong: hash("1235") - hash("1234") = 1.
    func testKangarooFindsTheErrorOfTheWrongPIN() throws {
        let context = try Engine.serverContext(serverSecret)
        let (hid, htid) = try Engine.serverPass1(date: date, id: id)
        let result = try Engine.serverPass2(
            context: context, date: date, hid: hid, htid: htid, y: y, u: u, ut: ut, v: vWrongPIN)
        XCTAssertEqual(result.code, -19)
        let e = try XCTUnwrap(result.e), f = try XCTUnwrap(result.f)
        XCTAssertEqual(try Engine.kangaroo(e: e, f: f), 1)
    }
}
