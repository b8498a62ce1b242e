import Foundation
import MPinServer
import XCTest

/// Tests the operator's name, logo and colour on the pages.
final class BrandTests: XCTestCase {
    private static let svg = Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)

    private func color(_ text: String) throws -> Color { try XCTUnwrap(Color(text), text) }

    /// Returns the values of a CSS variable in the order of the style sheet: first that of the light design, then that
    /// of the dark design if it has one of its own.
    private func variable(_ name: String, _ style: String) throws -> [Color] {
        try style.matches(of: /--([a-z-]+): (#[0-9a-f]{6})/).filter { $0.1 == name }.map { try color(String($0.2)) }
    }

    func testWhateverTheAccentItsTextAndItsLinksCanBeRead() throws {
        let papers = try (["ffffff", "f6f5fb"].map(color), ["14131d", "1f1d2b"].map(color))
        var accents = ["000000", "ffffff", "777777", "808080", "ffcc00", "00ff00", "0000ff", "ff0000", "4338ca"]
        accents += (0..<500).map { _ in String(String(UInt32.random(in: 0...0xffffff) | 1 << 24, radix: 16).dropFirst())
        }
        for text in accents {
            var brand = Brand()
            brand.accent = try color(text)
            let style = brand.style
            let (accent, onAccent) = (try variable("accent", style)[0], try variable("on-accent", style)[0])
            XCTAssertEqual(accent.css, "#" + text)
            XCTAssertGreaterThanOrEqual(accent.contrast(onAccent), 4.5, text)
            let inks = try variable("accent-ink", style)
            XCTAssertEqual(inks.count, 2)
            for paper in papers.0 { XCTAssertGreaterThanOrEqual(inks[0].contrast(paper), 4.5, text) }
            for paper in papers.1 { XCTAssertGreaterThanOrEqual(inks[1].contrast(paper), 4.5, text) }
        }
        XCTAssertEqual(try color("000000").contrast(color("#ffffff")), 21, accuracy: 0.001)
        for wrong in ["", "#", "fff", "#12345", "1234567", "red", "12345g", "##12345"] {
            XCTAssertNil(Color(wrong), wrong)
        }
    }

    func testPagesCarryNameLogoAndColour() throws {
        let server = try InProcess(changeRPA: { rpa in
            rpa.site.brand.name = "Röst & Söhne <b>"
            rpa.site.brand.logo = try? Logo(Self.svg)
            rpa.site.brand.accent = Color("ffcc00") ?? .indigo
        }).keep(in: self)
        let page = try server.backend.call("GET", "/").text
        XCTAssertTrue(page.contains("<span>Röst &amp; Söhne &lt;b&gt;</span>"), page)
        XCTAssertTrue(page.contains("· Röst &amp; Söhne &lt;b&gt;</title>"), page)
        XCTAssertTrue(page.contains("<img src=\"/logo.svg\" alt=\"\">"), page)
        XCTAssertTrue(page.contains("<link rel=\"icon\" href=\"/logo.svg\" type=\"image/svg+xml\">"), page)
        let logo = try server.backend.call("GET", "/logo.svg")
        XCTAssertEqual(logo.headers["content-type"], "image/svg+xml")
        XCTAssertEqual(logo.body, Data(Self.svg))
        XCTAssertTrue(try XCTUnwrap(logo.headers["content-security-policy"]).contains("sandbox"))
        XCTAssertTrue(try server.backend.call("GET", "/style.css").text.hasPrefix(":root { --accent: #ffcc00; "))
        XCTAssertTrue(try server.backend.call("GET", "/icon.svg").text.contains("fill=\"#ffcc00\""))
        let favicon = try server.backend.call("GET", "/favicon.ico")
        XCTAssertEqual(favicon.status, 302)
        XCTAssertEqual(favicon.headers["location"], "/logo.svg")
    }

    func testWithoutABrandTheFaviconIsOurs() throws {
        let server = try InProcess().keep(in: self)
        let icon = try server.backend.call("GET", "/favicon.ico")
        XCTAssertEqual(icon.status, 200)
        XCTAssertEqual(icon.headers["content-type"], "image/x-icon")
        XCTAssertEqual(Array(icon.body.prefix(4)), [0, 0, 1, 0])
    }

    func testALogoIsAPictureThatBrowsersShow() throws {
        for picture in [Self.svg, [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10], [0xff, 0xd8, 0xff, 0xe0]] {
            XCTAssertNoThrow(try Logo(picture))
        }
        for wrong in [[], Array("hello".utf8), Array("GIF89a".utf8), Self.svg + [UInt8](repeating: 32, count: 262_144)]
        {
            XCTAssertThrowsError(try Logo(wrong))
        }
    }

    func testConfigCheckRefusesWhatNoPageCouldShow() throws {
        let folder = NSTemporaryDirectory() + "brand-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("no picture".utf8).write(to: URL(fileURLWithPath: folder + "/text"))
        try Data(Self.svg).write(to: URL(fileURLWithPath: folder + "/logo.svg"))
        XCTAssertEqual(mkfifo(folder + "/pipe", 0o600), 0)
        func check(_ more: String...) throws {
            let options = ["--all-in-one", "--state-dir", folder + "/state"] + more
            try SettingsReader(.serve).read(arguments: options, environment: [:]).check()
        }
        for (options, problem) in [
            (["--accent-color", "blue"], "a colour such as 4338ca"), (["--accent-color", "#12"], "a colour"),
            (["--service-logo", folder + "/none"], "cannot be read"),
            (["--service-logo", folder + "/text"], "is no SVG"),
            (["--service-logo", folder + "/pipe"], "cannot be read"),
            (["--service-name", "a\nb"], "nobody sees"), (["--language", "it"], "en, de, fr, es"),
        ] {
            XCTAssertThrowsError(try check(options[0], options[1]), "\(options)") {
                XCTAssertTrue("\($0)".contains(problem), "\($0)")
            }
        }
        try check("--accent-color", "#0aF0b1")
        try check("--accent-color", "0af0b1")
        try check("--service-logo", folder + "/logo.svg")
    }
}
