import ArgumentParser
import MPinServer
import MPinService

struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Ask the server on this machine whether it is ready; exit code 0 or not.",
        discussion: """
            For probes that run a command, because the admin listener answers only this machine. Its address comes from \
            --admin-listen or from the server's configuration.
            """)

    @Flag(help: "Ask only whether the process answers, not whether it can serve.")
    var live = false

    @Option(help: "Address of the server's admin listener, HOST:PORT.")
    var adminListen: String?

    @OptionGroup var config: ConfigOption

    func run() throws {
        try operate {
            guard let address = try adminListen ?? config.adminListen() else {
                throw StartError("give --admin-listen or --config: the server answers at its admin listener")
            }
            let probe = try HealthProbe(live ? .live : .ready, at: ListenAddress(address))
            print(probe.text)
            if !probe.isUp { throw ExitCode.failure }
        }
    }
}
