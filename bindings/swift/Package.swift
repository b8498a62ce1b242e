// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "login",
    dependencies: [.package(name: "libmpin", path: "../..")],
    targets: [.executableTarget(name: "login", dependencies: [.product(name: "MPin", package: "libmpin")])]
)
