/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CXX_JSON_WRITER_H
#define MPIN_CXX_JSON_WRITER_H

#include <cmath>
#include <cstdio>
#include <ostream>

#include "elements.h"

namespace json {

/** Writes JSON text without spaces. Strings are taken as UTF-8. */
class Writer : private ConstVisitor {
public:
    static void Write(const Object &object, std::ostream &out) {
        WriteAny(object, out);
    }
    static void Write(const Array &array, std::ostream &out) {
        WriteAny(array, out);
    }
    static void Write(const String &string, std::ostream &out) {
        WriteAny(string, out);
    }
    static void Write(const Number &number, std::ostream &out) {
        WriteAny(number, out);
    }
    static void Write(const Boolean &boolean, std::ostream &out) {
        WriteAny(boolean, out);
    }
    static void Write(const Null &null, std::ostream &out) {
        WriteAny(null, out);
    }
    static void Write(const UnknownElement &element, std::ostream &out) {
        Writer writer(out);
        element.Accept(static_cast<ConstVisitor &>(writer));
    }

private:
    explicit Writer(std::ostream &out) : m_out(out) {}

    template <typename Value>
    static void WriteAny(const Value &value, std::ostream &out) {
        Writer writer(out);
        writer.Visit(value);
    }

    virtual void Visit(const Array &array) {
        const char *before = "[";
        for (Array::const_iterator i = array.Begin(); i != array.End(); ++i) {
            m_out << before;
            i->Accept(static_cast<ConstVisitor &>(*this));
            before = ",";
        }
        m_out << (array.Empty() ? "[]" : "]");
    }

    virtual void Visit(const Object &object) {
        const char *before = "{";
        for (Object::const_iterator i = object.Begin(); i != object.End();
             ++i) {
            m_out << before;
            WriteText(i->name);
            m_out << ":";
            i->element.Accept(static_cast<ConstVisitor &>(*this));
            before = ",";
        }
        m_out << (object.Empty() ? "{}" : "}");
    }

    virtual void Visit(const Number &number) {
        const double value = number.Value();
        if (!std::isfinite(value)) throw Exception("JSON has no such number");
        char text[32];
        std::snprintf(text, sizeof text, "%.17g", value);
        /* Finds the shortest text that is read back as the same number. */
        for (int digits = 1; digits < 17; ++digits) {
            char shorter[32];
            double again = 0;
            std::snprintf(shorter, sizeof shorter, "%.*g", digits, value);
            if (std::sscanf(shorter, "%lf", &again) != 1 || again < value ||
                again > value)
                continue;
            std::snprintf(text, sizeof text, "%s", shorter);
            break;
        }
        /* Whole numbers are written without an exponent: 100, not 1e+02. */
        if (std::fabs(value) < 9007199254740992.0 &&
            std::floor(value) >= value)
            std::snprintf(text, sizeof text, "%.0f", value);
        /* The program's locale may have a comma as decimal point. */
        for (char *c = text; *c; ++c)
            if (*c == ',') *c = '.';
        m_out << text;
    }

    virtual void Visit(const String &string) { WriteText(string.Value()); }
    virtual void Visit(const Boolean &boolean) {
        m_out << (boolean.Value() ? "true" : "false");
    }
    virtual void Visit(const Null &) { m_out << "null"; }

    void WriteText(const std::string &text) {
        m_out << '"';
        for (size_t i = 0; i < text.size(); ++i) {
            const unsigned char c = static_cast<unsigned char>(text[i]);
            if (c == '"' || c == '\\') {
                m_out << '\\' << text[i];
            } else if (c < 0x20 || c == 0x7f) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04x", c);
                m_out << escape;
            } else {
                m_out << text[i];
            }
        }
        m_out << '"';
    }

    std::ostream &m_out;
};

} // namespace json

#endif
