import HTTPTypes
import Hummingbird
import Logging
import MPinOpenID
import NIOCore

/// Logins of devices without a browser (RFC 8628): the endpoint that a device calls, and the page where a person types
/// the code that the device shows. After that page the login goes on like every other.
extension OpenIDFace {
    var deviceRoutes: [Route] {
        typealias Path = OpenIDProvider.Path
        return [
            Route(.post, path(Path.deviceAuthorization), limit: .access) { try await authorizeDevice($0, $1) },
            page(.get, Path.device, .other) { request, _ in showDevice(request) },
            page(.post, Path.device, .device) { try await enterCode($0, $1) },
            page(.get, Path.deviceEnd, .other) { request, _ in endDevice(request) },
        ]
    }

    /// Answers POST /oidc/device.
    private func authorizeDevice(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await answer(request, context) { .json(try await provider.authorizeDevice($0, header: $1).json) }
    }

    /// Answers GET /device. The device's QR code contains the user code, which the page shows in its field. Nothing
    /// happens before the person presses the button.
    private func showDevice(_ request: Request) -> Response {
        deviceForm(request, code: request.query("user_code").flatMap { UserCode($0) })
    }

    /// Answers POST /device: begins the login for the device that shows the code. Wrong codes and right ones count
    /// (``Route/Limit/device``), so that nobody can try many.
    private func enterCode(_ request: Request, _ context: RequestContext) async throws -> Response {
        guard request.isFromThisSite, request.isForm,
            let form = RequestParameters(String(buffer: try await request.bytes(limits)))
        else { return deviceForm(request, code: nil, status: .badRequest) }
        guard let code = form["user_code"].flatMap({ UserCode($0) }), let (wish, client) = try await provider.read(code)
        else { return deviceForm(request, code: nil, isUnknown: true, status: .badRequest) }
        let pages = pages(request)
        return try await telling(wish.address, pages, context.logger) {
            try await begin(wish, client, request, context, pages)
        }
    }

    private func deviceForm(
        _ request: Request, code: UserCode?, isUnknown: Bool = false, status: HTTPResponse.Status = .ok
    ) -> Response {
        pages(request).device(path(OpenIDProvider.Path.device), code: code, isUnknown: isUnknown).response(status)
    }

    /// Answers GET /device/done, where the login of a device ends.
    private func endDevice(_ request: Request) -> Response { pages(request).deviceEnd(request.query("error") == nil) }
}

extension Pages {
    /// The page where a person types the code of a device. `action`: where the form goes. `code`: the code that the page
    /// was opened with. `isUnknown`: say that there is no code like the one that was typed.
    fileprivate func device(_ action: String, code: UserCode?, isUnknown: Bool) -> Page {
        let alert: HTML =
            isUnknown ? "<p class=\"bad\" id=\"unknown\" role=\"alert\">\(language[.oidcDeviceUnknown])</p>" : ""
        let state: HTML = isUnknown ? " aria-invalid=\"true\" aria-describedby=\"unknown\"" : ""
        return page(
            .oidcDeviceTitle,
            """
            <section class="card">
            <p class="lead">\(language[.oidcDeviceLead])</p>
            \(alert)
            <form method="post" action="\(action)">
            <p><label for="code">\(language[.oidcDeviceCode])</label>
            <input id="code" name="user_code" type="text" value="\(code?.text ?? "")" autocomplete="off" \
            autocapitalize="characters" spellcheck="false" required maxlength="32"\(state)></p>
            <button type="submit">\(language[.oidcGoOn])</button></form>
            </section>
            """)
    }

    fileprivate func deviceEnd(_ isAllowed: Bool) -> Response {
        let (title, text): (Phrase, Phrase) =
            isAllowed ? (.oidcDeviceDoneTitle, .oidcDeviceDone) : (.oidcDeviceRefusedTitle, .oidcDeviceRefused)
        return message(title, language[text]).response()
    }
}
