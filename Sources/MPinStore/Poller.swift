import CPostgres
import Foundation
import Glibc
import Synchronization

/// A connection that waits for its server without a thread.
protocol Polled: AnyObject, Sendable {
    /// Reads what has arrived, and sends what did not fit before.
    func advance()

    /// Gives up what the server has not answered in time. It is called a few times a second.
    func expire(at now: ContinuousClock.Instant)
}

/// One thread that waits for the sockets of all connections to PostgreSQL, and of those that listen to Redis, by epoll.
final class Poller: Sendable {
    static let shared = Poller()

    private struct Entry {
        let owner: ObjectIdentifier
        weak var link: (any Polled)?
    }

    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    private let links = Mutex<[Int32: Entry]>([:])

    /// Milliseconds after which the thread looks for exchanges whose deadline is over.
    private static let tick: Int32 = 250

    private init() {
        let thread = Thread { [self] in
            var last = ContinuousClock.now
            while true {
                look()
                // Busy connections may give the thread something to do all the time.
                let now = ContinuousClock.now
                guard now - last >= .milliseconds(Self.tick) else { continue }
                last = now
                expire(at: now)
            }
        }
        thread.name = "stores"
        thread.start()
    }

    func add(_ link: any Polled, _ descriptor: Int32) throws {
        let isAdded = links.withLock { links in
            links[descriptor] = Entry(owner: ObjectIdentifier(link), link: link)
            return control(EPOLL_CTL_ADD, descriptor, 0)
        }
        guard isAdded else {
            throw StoreError.unavailable("epoll: " + String(cString: strerror(errno)))
        }
    }

    /// Forgets a socket of `link`, which calls this at its end, before it closes the socket. But libpq closes the socket of a
    /// lost connection itself. Then its number may already be that of a newer connection, which goes on.
    func remove(_ link: any Polled, _ descriptor: Int32) {
        links.withLock { links in
            guard links[descriptor]?.owner == ObjectIdentifier(link) else { return }
            _ = control(EPOLL_CTL_DEL, descriptor, 0)
            links[descriptor] = nil
        }
    }

    /// Waits once until the socket can be read, or until it can be written if `forWriting`.
    func arm(_ descriptor: Int32, forWriting: Bool) {
        _ = control(EPOLL_CTL_MOD, descriptor, EPOLLIN.rawValue | (forWriting ? EPOLLOUT.rawValue : 0))
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32) -> Bool {
        var event = epoll_event(events: events | EPOLLONESHOT.rawValue, data: epoll_data_t(fd: descriptor))
        return epoll_ctl(epoll, operation, descriptor, &event) == 0
    }

    private func look() {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        let count = epoll_wait(epoll, &events, Int32(events.count), Self.tick)
        for event in events.prefix(max(0, Int(count))) { link(event.data.fd)?.advance() }
    }

    private func link(_ descriptor: Int32) -> (any Polled)? { links.withLock { $0[descriptor]?.link } }

    private func expire(at now: ContinuousClock.Instant) {
        let links = links.withLock { $0.values.compactMap(\.link) }
        for link in links { link.expire(at: now) }
    }
}
