import Foundation
import MPinStore

/// Makes the database at `path` one that the version before has used: it has no id of its service, its records have no MACs,
/// which are 29 bytes behind each value, and no file says that they had.
func makeOld(_ path: String) throws {
    let connection = try SQLiteConnection(path: path)
    try connection.run("DELETE FROM item WHERE kind = 'setting' AND key IN ('service', 'service_key', 'sealed')")
    try connection.run(
        """
        UPDATE item SET value = substr(value, 1, length(value) - 29)
        WHERE kind NOT IN ('setting', 'audit_mark', 'service', 'health', 'copy')
        """)
    try? FileManager.default.removeItem(atPath: path.replacing(".sqlite", with: ".sealed"))
}
