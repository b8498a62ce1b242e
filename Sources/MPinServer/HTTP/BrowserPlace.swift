import HTTPTypes
import Hummingbird
package import MPinService
import MPinWire

extension TellsPlace {
    /// Tells the place, or that of the server or program that has asked in its stead.
    mutating func tell(_ place: WaitingBrowser.Place?) {
        guard let place, place.isScreen else { return siteAddress = place?.address }
        (browserAddress, browserProgram) = (place.address, place.program)
    }
}

extension WaitingBrowser.Place {
    /// Where the browser is that has sent a request. Nil if the address is not known.
    init?(_ request: Request, _ context: RequestContext) {
        guard let address = context.remoteAddress else { return nil }
        self.init(address: "\(address)", program: Self.program(request.headers[.userAgent] ?? ""))
    }

    /// Who has asked by JSON for a session: the browser that will show its code, or else a server or a program. Browsers
    /// send `Origin` with every POST of a script, and none sends the credentials of a project.
    init?(asking request: Request, _ context: RequestContext) {
        guard let place = Self(request, context) else { return nil }
        let isScreen = request.headers[.origin] != nil && request.headers[.authorization] == nil
        self.init(address: place.address, program: isScreen ? place.program : "", isScreen: isScreen)
    }

    /// The name of a browser and of its system, as people know them. Each browser also names those that it wants to be
    /// taken for, so the first one here that is named counts.
    package static func program(_ userAgent: String) -> String {
        let browsers = [
            ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser", "Samsung Internet"), ("Firefox/", "Firefox"),
            ("FxiOS", "Firefox"), ("CriOS", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
        ]
        let systems = [
            ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
            ("Macintosh", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
        ]
        return [browsers, systems].compactMap { names in names.first { userAgent.contains($0.0) }?.1 }
            .joined(separator: ", ")
    }
}
