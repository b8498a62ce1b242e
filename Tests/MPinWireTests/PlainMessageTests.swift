import MPinWire
import XCTest

/// Tests that the messages of a login are read from the simplest form exactly as they are read by jansson.
final class PlainMessageTests: XCTestCase {
    private let pass1 = [
        #"{"pass":1,"mpin_id":"7b7d","U":"04aa","UT":""}"#,
        " {\"mpin_id\" : \"7b7d\",\r\n\t\"UT\":\"04bb\", \"U\":\"\" } ",
    ]
    private let pass2 = [
        #"{"pass":2,"mpin_id":"7b7d","V":"04aa","WID":"0","OTP":false}"#,
        #"{"mpin_id":"7b7d","V":"04aa","WID":"1234567","OTP":1,"pass":2}"#,
    ]
    private let authenticate = [
        #"{"mpinResponse":{"version":"0.3","pass":2,"authOTT":"0f"}}"#,
        #"{"mpinResponse":{"OTP":null,"a":true,"n":123456789012345}}"#, #"{"mpinResponse":"text"}"#,
    ]
    private let access = [
        #"{"webOTT":"0f","wait":30,"status":"new"}"#, #"{"webOTT":"0f","refusals":0}"#, #"{"webOTT":""}"#,
    ]

    private let trustPass1 = [
        #"{"scope":["jwt"],"mpin_id":"7b7d","publicKey":"01","U":"04aa","dtas":"WQ==","UT":""}"#,
        #"{"U":"04aa","mpin_id":"7b7d","scope":[]}"#, #"{"U":"04aa","mpin_id":"7b7d","scope":["oidc", "jwt"]}"#,
    ]
    private let trustPass2 = [#"{"mpin_id":"7b7d","V":"04aa"}"#, #"{"mpin_id":"7b7d","WID":"0","V":"04aa"}"#]
    private let trustAuthenticate = [#"{"authOTT":"0f","wam":"dvs"}"#, #"{"authOTT":"0f"}"#]

    /// A member that may be left out has another type.
    private let mistyped = [
        #"{"U":"04aa","mpin_id":"7b7d","scope":["jwt"],"dtas":1}"#, #"{"mpin_id":"7b7d","WID":0,"V":"04aa"}"#,
        #"{"authOTT":"0f","wam":true}"#, #"{"webOTT":"0f","status":1}"#, #"{"webOTT":"0f","wait":"30"}"#,
        #"{"webOTT":"0f","refusals":false}"#,
    ]

    func testLoginsAreReadWithoutATree() throws {
        try assertPlain(Pass1Request.self, pass1)
        try assertPlain(Pass2Request.self, pass2)
        try assertPlain(AuthenticateRequest.self, authenticate)
        try assertPlain(AccessRequest.self, access)
        try assertPlain(TrustPass1Request.self, trustPass1)
        try assertPlain(TrustPass2Request.self, trustPass2)
        try assertPlain(TrustAuthenticateRequest.self, trustAuthenticate)
    }

    func testTheOtherFormsAreLeftToJansson() throws {
        for text in [
            #"{"a":"\u0061"}"#, #"{"a":"é"}"#, #"{"a":-1}"#, #"{"a":1.5}"#, #"{"a":1e2}"#, #"{"a":[[1]]}"#,
            #"{"a":[{}]}"#, #"{"a":{"b":[]}}"#, #"{"a":[1,]}"#, #"{"a":[}"#, #"{"a":01}"#,
            #"{"a":1,"a":1}"#, #"{"a":{"b":{}}}"#, #"{"a":1234567890123456}"#, #"{"a":nul}"#, #"{"a":1}x"#,
            #"{"a":1,}"#,
            "", "{", "[]", "1", #"{"a"}"#, #"{"a":}"#, #"{"a":"}"#, "{\"a\":\"\u{7}\"}",
            "{" + (0...16).map { #""\#($0)":0"# }.joined(separator: ",") + "}",
        ] {
            XCTAssertNil(PlainMembers(Array(text.utf8).span), text)
        }
        let large = #"{"a":"\#(String(repeating: "a", count: JSON.maxBytes))"}"#
        XCTAssertNil(PlainMembers(Array(large.utf8).span))
        XCTAssertNil(PlainMembers(Array(#"{"a":[0\#(String(repeating: ",0", count: 16))]}"#.utf8).span))
        XCTAssertNil(try TrustPass1Request(plain: members(#"{"scope":[1],"mpin_id":"7b7d","U":"04aa"}"#)))
        for text in [
            #"{"mpin_id":"7b7d","U":"04aa"}"#, #"{"mpin_id":"7b7d","U":"04aa","UT":null}"#,
            #"{"mpin_id":"7b7d","U":"04aa","UT":"","other":1}"#,
        ] {
            XCTAssertNil(try Pass1Request(plain: members(text)), text)
        }
    }

    /// The answers that are written as values have the same members as by their Codable form.
    func testAnswersAsValues() throws {
        var access = AccessResponse(status: "user", userId: "u", authOTT: "0f")
        XCTAssertEqual(access.json, try value(of: access))
        (access.redirectURL, access.refusals, access.refusal) = ("https://a", 2, 401)
        XCTAssertEqual(access.json, try value(of: access))
        for code in [nil, "c"] {
            let answer = MobileAuthenticateResponse(logoutURL: "/l", logoutData: .object(["a": .int(1)]), code: code)
            XCTAssertEqual(answer.json, try value(of: answer))
        }
        XCTAssertEqual(TrustPass1Response(y: "0f").json, try value(of: TrustPass1Response(y: "0f")))
        XCTAssertEqual(TrustPass2Response(authOTT: "0f").json, try value(of: TrustPass2Response(authOTT: "0f")))
        let password = TrustAuthenticateResponse.Password(text: "012345", seconds: 60, now: 1_700_000_000)
        for answer in [
            TrustAuthenticateResponse(jwt: nil), .init(jwt: "a.b.c"), .init(jwt: nil, code: "c"),
            .init(jwt: nil, password: password), .init(jwt: "a.b.c", code: "c", password: password),
            .init(renewal: "t"),
        ] {
            XCTAssertEqual(answer.json, try value(of: answer))
        }
    }

    /// Each text with one character removed, replaced or added is read, or refused, as jansson does it.
    func testChangedTextsAreReadAsByJansson() throws {
        var cases = 0
        let trust = trustPass1 + trustPass2 + trustAuthenticate
        for text in pass1 + pass2 + authenticate + access + trust + mistyped {
            for text in changed(Array(text.utf8)) {
                try assertSameValue(text)
                assertSame(Pass1Request.self, text)
                assertSame(Pass2Request.self, text)
                assertSame(AuthenticateRequest.self, text)
                assertSame(AccessRequest.self, text)
                assertSame(TrustPass1Request.self, text)
                assertSame(TrustPass2Request.self, text)
                assertSame(TrustAuthenticateRequest.self, text)
                cases += 1
            }
        }
        XCTAssertGreaterThan(cases, 25_000)
    }

    /// A message that is always read by jansson.
    private struct ByJansson<Message: Decodable>: Decodable {
        let message: Message

        init(from decoder: any Decoder) throws { message = try Message(from: decoder) }
    }

    private func members(_ text: String) throws -> PlainMembers {
        let octets = Array(text.utf8)
        return try XCTUnwrap(PlainMembers(octets.span), text)
    }

    private func assertPlain<Message: PlainMessage>(_ type: Message.Type, _ texts: [String]) throws {
        for text in texts { XCTAssertNotNil(try Message(plain: members(text)), text) }
    }

    /// If the text has the simplest form, jansson reads the same members from it.
    private func assertSameValue(_ text: [UInt8]) throws {
        guard let plain = PlainMembers(text.span) else { return }
        let value = try JSON.decode(JSONValue.self, from: text.span)
        XCTAssertEqual(.object(Dictionary(plain.members.map { ($0.name, $0.value) }) { $1 }), value)
    }

    private func assertSame<Message: PlainMessage & Encodable>(_ type: Message.Type, _ text: [UInt8]) {
        let plain = try? value(of: JSON.decode(type, from: text.span))
        let tree = try? value(of: JSON.decode(ByJansson<Message>.self, from: text.span).message)
        XCTAssertEqual(plain, tree, String(decoding: text, as: UTF8.self))
    }

    private func changed(_ text: [UInt8]) -> [[UInt8]] {
        let others = Array("\"\\{}[]:,01a-.e \n\0\u{7F}é".utf8)
        return text.indices.flatMap { index -> [[UInt8]] in
            let (before, after) = (text[..<index], text[(index + 1)...])
            return [before + after].map(Array.init)
                + others.flatMap { [Array(before + [$0] + after), Array(before + [$0] + text[index...])] }
        }
    }
}
