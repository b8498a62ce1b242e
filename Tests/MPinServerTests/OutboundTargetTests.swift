import MPinServer
import XCTest

/// Tests which addresses a URL of an admin token's holder may lead to.
final class OutboundTargetTests: XCTestCase {
    private func admits(_ targets: OutboundTargets, _ address: String) throws -> Bool {
        targets.admits(try XCTUnwrap(IPAddress(address), address))
    }

    func testOnlyThePublicInternetIsOpen() throws {
        let inside = [
            "127.0.0.1", "127.9.9.9", "0.0.0.0", "::", "::1", "169.254.169.254", "10.0.0.1", "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1", "198.18.0.1", "192.0.0.8", "224.0.0.1", "255.255.255.255", "fd00::1", "fe80::1", "ff02::1",
            "fec0::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
            "fd00:ec2::254",
        ]
        for address in inside { XCTAssertFalse(try admits(OutboundTargets(), address), address) }
        for address in ["1.1.1.1", "172.15.255.255", "172.32.0.1", "2606:4700::1111", "64:ff9b::101:101"] {
            XCTAssertTrue(try admits(OutboundTargets(), address), address)
        }
    }

    func testTheOperatorOpensNetworks() throws {
        var targets = OutboundTargets()
        targets.internalNetworks = ["10.1.0.0/16", "::1"].compactMap { IPNetwork($0) }
        for (address, isOpen) in [
            ("10.1.2.3", true), ("::ffff:10.1.2.3", true), ("10.2.0.1", false), ("::1", true), ("127.0.0.1", false),
            ("169.254.169.254", false), ("1.1.1.1", true),
        ] { XCTAssertEqual(try admits(targets, address), isOpen, address) }
    }
}
