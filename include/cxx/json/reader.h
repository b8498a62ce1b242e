/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CXX_JSON_READER_H
#define MPIN_CXX_JSON_READER_H

#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <istream>
#include <iterator>
#include <sstream>

#include "elements.h"

namespace json {

/** Reads JSON text (RFC 8259) to the end of a stream. Throws json::Exception if
 * the text is not JSON, if an object has the same name twice, if more than 128
 * values are nested, and if anything follows the value. */
class Reader {
public:
    class ScanException : public Exception {
    public:
        ScanException(const std::string &message) : Exception(message) {}
    };
    class ParseException : public Exception {
    public:
        ParseException(const std::string &message) : Exception(message) {}
    };

    static void Read(Object &object, std::istream &in) { ReadAny(object, in); }
    static void Read(Array &array, std::istream &in) { ReadAny(array, in); }
    static void Read(String &string, std::istream &in) { ReadAny(string, in); }
    static void Read(Number &number, std::istream &in) { ReadAny(number, in); }
    static void Read(Boolean &boolean, std::istream &in) {
        ReadAny(boolean, in);
    }
    static void Read(Null &null, std::istream &in) { ReadAny(null, in); }
    static void Read(UnknownElement &element, std::istream &in) {
        String text;
        const std::istreambuf_iterator<char> end;
        for (std::istreambuf_iterator<char> i(in); i != end; ++i)
            Add(text, *i);
        element = Reader(text).Whole();
    }

private:
    enum { MOST_NESTED = 128 };

    explicit Reader(const std::string &text)
        : m_text(text), m_at(0), m_nested(0) {}

    template <typename Value>
    static void ReadAny(Value &value, std::istream &in) {
        UnknownElement element;
        Read(element, in);
        try {
            const UnknownElement &read = element;
            value = static_cast<const Value &>(read);
        } catch (const Exception &) {
            throw ParseException("The JSON text is of another type");
        }
    }

    UnknownElement Whole() {
        UnknownElement element = Any();
        SkipSpace();
        if (m_at < m_text.size()) Fail("unexpected text behind the value");
        return element;
    }

    UnknownElement Any() {
        SkipSpace();
        switch (Peek()) {
        case '{': return Members();
        case '[': return Elements();
        case '"': return Text();
        case 't': return Word("true"), Boolean(true);
        case 'f': return Word("false"), Boolean(false);
        case 'n': return Word("null"), Null();
        default: return Digits();
        }
    }

    Object Members() {
        Object object;
        Enter();
        SkipSpace();
        bool more = Peek() != '}';
        while (more) {
            SkipSpace();
            if (Peek() != '"') Fail("a member's name is missing");
            const String name = Text();
            SkipSpace();
            if (!Take(':')) Fail("a colon is missing");
            object.Insert(Object::Member(name, Any()));
            SkipSpace();
            more = Take(',');
        }
        if (!Take('}')) Fail("a comma or closing brace is missing");
        --m_nested;
        return object;
    }

    Array Elements() {
        Array array;
        Enter();
        SkipSpace();
        bool more = Peek() != ']';
        while (more) {
            array.Insert(Any());
            SkipSpace();
            more = Take(',');
        }
        if (!Take(']')) Fail("a comma or closing bracket is missing");
        --m_nested;
        return array;
    }

    void Enter() {
        ++m_at;
        if (++m_nested > MOST_NESTED) Fail("too many values in one another");
    }

    Number Digits() {
        const size_t start = m_at;
        Take('-');
        if (!Take('0')) SkipDigits();
        if (Take('.')) SkipDigits();
        if (Take('e') || Take('E')) {
            if (!Take('+')) Take('-');
            SkipDigits();
        }
        const double value = Value(start);
        if (!std::isfinite(value)) Fail("a number is out of range");
        return Number(value);
    }

    /* Returns the number in the digits from `start` on. The "." is replaced,
     * because strtod() expects the decimal point of the program's locale. A
     * stream with a fixed locale is not used, because it would keep a copy of
     * the digits. */
    double Value(size_t start) const {
        String digits;
        for (size_t i = start; i < m_at; ++i) {
            if (m_text[i] != '.') {
                Add(digits, m_text[i]);
                continue;
            }
            for (const char *c = std::localeconv()->decimal_point; *c; ++c)
                Add(digits, *c);
        }
        return std::strtod(digits.Value().c_str(), NULL);
    }

    void SkipDigits() {
        const size_t start = m_at;
        while (Peek() >= '0' && Peek() <= '9') ++m_at;
        if (m_at == start) Fail("a value is missing");
    }

    void Word(const std::string &word) {
        if (m_text.compare(m_at, word.size(), word) != 0)
            Fail("a value is missing");
        m_at += word.size();
    }

    String Text() {
        String text;
        ++m_at;
        for (;;) {
            if (m_at >= m_text.size()) Fail("a string does not end");
            const char c = m_text[m_at++];
            if (c == '"') return text;
            if (static_cast<unsigned char>(c) < 0x20)
                Fail("a string has a control character");
            if (c == '\\')
                Escape(text);
            else
                Add(text, c);
        }
    }

    void Escape(String &text) {
        static const std::string names("\"\\/bfnrt");
        static const char meanings[] = "\"\\/\b\f\n\r\t";
        const char c = Peek();
        ++m_at;
        if (c == 'u') return AppendUTF8(text, CodePoint());
        const size_t found = c ? names.find(c) : std::string::npos;
        if (found == std::string::npos) Fail("an escape is unknown");
        Add(text, meanings[found]);
    }

    uint32_t CodePoint() {
        const uint32_t unit = Hex4();
        if (unit < 0xd800 || unit > 0xdfff) return unit;
        if (unit > 0xdbff || !Take('\\') || !Take('u'))
            Fail("half of a surrogate pair");
        const uint32_t low = Hex4();
        if (low < 0xdc00 || low > 0xdfff) Fail("half of a surrogate pair");
        return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }

    uint32_t Hex4() {
        uint32_t value = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = Peek();
            const std::string digits("0123456789abcdef0123456789ABCDEF");
            const size_t found = c ? digits.find(c) : std::string::npos;
            if (found == std::string::npos) Fail("four hex digits are missing");
            value = value * 16 + static_cast<uint32_t>(found % 16);
            ++m_at;
        }
        return value;
    }

    static void Add(String &text, char c) { Append(text.Value(), &c, 1); }

    static void AppendUTF8(String &text, uint32_t c) {
        static const uint32_t limits[] = {0x80, 0x800, 0x10000};
        static const uint32_t leads[] = {0, 0xc0, 0xe0, 0xf0};
        int more = 0;
        while (more < 3 && c >= limits[more]) ++more;
        Add(text, static_cast<char>(leads[more] | (c >> (6 * more))));
        while (more-- > 0)
            Add(text, static_cast<char>(0x80 | ((c >> (6 * more)) & 0x3f)));
    }

    /* The next character; 0 at the end. A NUL in the text gives 0, too; no
     * caller accepts 0. */
    char Peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    bool Take(char c) {
        if (m_at >= m_text.size() || m_text[m_at] != c) return false;
        ++m_at;
        return true;
    }
    void SkipSpace() {
        while (m_at < m_text.size() &&
               (m_text[m_at] == ' ' || m_text[m_at] == '\t' ||
                m_text[m_at] == '\n' || m_text[m_at] == '\r'))
            ++m_at;
    }

    [[noreturn]] void Fail(const char *what) const {
        std::ostringstream message;
        message << "JSON, byte " << m_at << ": " << what;
        throw ParseException(message.str());
    }

    const std::string &m_text;
    size_t m_at;
    int m_nested;
};

} // namespace json

#endif
