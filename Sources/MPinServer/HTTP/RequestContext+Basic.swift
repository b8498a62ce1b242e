/// The framework's own context is not used here.
typealias BasicRequestContext = RequestContext
