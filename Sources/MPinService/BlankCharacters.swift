/// The characters that look like nothing, or like a space, with which two user ids could look the same. A new user id has
/// none of them but single spaces between others. User ids that were registered before this rule go on.
///
/// There are three classes: `White_Space` and `Default_Ignorable_Code_Point` are properties of Unicode (UAX #44,
/// `PropList.txt` and `DerivedCoreProperties.txt`; Swift knows them). The third class are characters whose glyph is empty
/// although Unicode counts them among letters, marks or symbols; it has no property, so ``glyphs`` lists them.
extension UserID {
    /// From the names in Unicode's `UnicodeData.txt` (16.0) with BLANK, FILLER or NULL that neither property has.
    private static let glyphs: Set<UInt32> = [
        0x2800,  // BRAILLE PATTERN BLANK
        0x303F,  // IDEOGRAPHIC HALF FILL SPACE
        0x13441,  // EGYPTIAN HIEROGLYPH FULL BLANK
        0x13442,  // EGYPTIAN HIEROGLYPH HALF BLANK
        0x16FE4,  // KHITAN SMALL SCRIPT FILLER
        0x1D159,  // MUSICAL SYMBOL NULL NOTEHEAD
    ]

    /// What is wrong with the blanks of a user id, for an error text; nil if nothing is.
    package static func badBlanks(in text: String) -> String? {
        let scalars = Array(text.unicodeScalars)
        if scalars.contains(where: { isBlank($0) && $0 != " " }) { return "blank characters" }
        if scalars.first == " " || scalars.last == " " { return "blanks at its ends" }
        if zip(scalars, scalars.dropFirst()).contains(where: { $0 == " " && $1 == " " }) {
            return "two blanks in a row"
        }
        return nil
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint || glyphs.contains(scalar.value)
    }
}
