/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CXX_UTILS_H
#define MPIN_CXX_UTILS_H

/**
 * Texts, maps, JSON objects and URLs for programs that were written for the
 * Milagro and MIRACL cores. The standard headers that utils.h of those cores
 * included are included here, too, because programs rely on them. */

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "json/elements.h"
#include "json/reader.h"
#include "json/visitor.h"
#include "json/writer.h"

/* The headers of the Milagro and MIRACL cores mark parameters with these
 * names. */
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif

namespace util {

/** Overwrites a text with `c`. The compiler cannot remove the writes, although
 * nobody reads the text afterwards. */
inline void OverwriteString(std::string &text, char c = ' ') {
    volatile char *start = text.empty() ? NULL : &text[0];
    for (size_t i = 0; i < text.size(); ++i) start[i] = c;
}

/** A std::string that is overwritten when it is freed, when it gets another
 * value, and when append() or += moves it to larger memory. */
class String : public std::string {
public:
    String() {}
    String(const std::string &text) : std::string(text) {}
    String(const char *text) : std::string(text ? text : "") {}
    String(const String &text) : std::string(text) {}
    String(const std::string &text, size_t pos, size_t size = npos)
        : std::string(text, pos, size) {}
    String(const char *text, size_t size) : std::string(text, size) {}
    String(size_t size, char c) : std::string(size, c) {}
    ~String() { json::Wipe(*this); }

    String &operator=(const String &text) {
        return *this = static_cast<const std::string &>(text);
    }
    String &operator=(const std::string &text) {
        /* The copy comes first, because `text` may be this object. */
        const String copy(text);
        json::Wipe(*this);
        assign(copy);
        return *this;
    }
    String &operator=(const char *text) { return *this = String(text); }

    using std::string::append;
    String &append(const char *text, size_t size) {
        json::Append(*this, text, size);
        return *this;
    }
    String &append(const char *text) {
        return append(text, std::strlen(text));
    }
    String &append(const std::string &text) {
        return append(text.data(), text.size());
    }
    String &append(const String &text) {
        return append(text.data(), text.size());
    }
    using std::string::operator+=;
    String &operator+=(const char *text) { return append(text); }
    String &operator+=(const std::string &text) { return append(text); }
    String &operator+=(const String &text) { return append(text); }
    String &operator+=(char c) { return append(&c, 1); }
    void push_back(char c) { append(&c, 1); }

    /** Replaces the text by formatted text, as printf does. */
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    String &Format(const char *format, ...) {
        va_list args, again;
        va_start(args, format);
        va_copy(again, args);
        const int size = std::vsnprintf(NULL, 0, format, args);
        va_end(args);
        String text(size < 0 ? 1 : static_cast<size_t>(size) + 1, '\0');
        if (size >= 0) std::vsnprintf(&text[0], text.size(), format, again);
        va_end(again);
        text.resize(text.size() - 1);
        return *this = text;
    }

    String &Trim(const std::string &chars = " \t\f\v\n\r") {
        TrimLeft(chars);
        return TrimRight(chars);
    }

    String &TrimLeft(const std::string &chars = " \t\f\v\n\r") {
        erase(0, find_first_not_of(chars));
        return *this;
    }

    String &TrimRight(const std::string &chars = " \t\f\v\n\r") {
        const size_t last = find_last_not_of(chars);
        erase(last == npos ? 0 : last + 1);
        return *this;
    }

    String &ReplaceAll(const std::string &from, const std::string &to) {
        if (from.empty()) return *this;
        String text;
        size_t start = 0;
        for (size_t at = find(from); at != npos; at = find(from, start)) {
            text.append(data() + start, at - start).append(to);
            start = at + from.size();
        }
        text.append(data() + start, size() - start);
        return *this = text;
    }

    void Overwrite(char c = ' ') { OverwriteString(*this, c); }

    bool EndsWith(const std::string &end) const {
        return size() >= end.size() &&
               compare(size() - end.size(), npos, end) == 0;
    }
    /** A copy with ASCII letters in lower case. */
    String ToLower() const {
        String lower(*this);
        for (size_t i = 0; i < lower.size(); ++i)
            if (lower[i] >= 'A' && lower[i] <= 'Z')
                lower[i] = static_cast<char>(lower[i] - 'A' + 'a');
        return lower;
    }

    /** Java's string hash: the sum of s[i] * 31^(n-1-i), in 32 bits. */
    int GetHash() const {
        uint32_t hash = 0;
        for (const_iterator i = begin(); i != end(); ++i)
            hash = hash * 31 + static_cast<uint32_t>(static_cast<int32_t>(*i));
        return static_cast<int32_t>(hash);
    }
};

/* ---- JSON ------------------------------------------------------------- */

void OverwriteJsonValues(json::UnknownElement &element);

inline void OverwriteJsonValues(json::Object &object) {
    for (json::Object::iterator i = object.Begin(); i != object.End(); ++i)
        OverwriteJsonValues(i->element);
}

inline void OverwriteJsonValues(json::Array &array) {
    for (json::Array::iterator i = array.Begin(); i != array.End(); ++i)
        OverwriteJsonValues(*i);
}

inline void OverwriteJsonValues(json::UnknownElement &element) {
    struct Overwriter : json::Visitor {
        virtual void Visit(json::Array &array) { OverwriteJsonValues(array); }
        virtual void Visit(json::Object &object) {
            OverwriteJsonValues(object);
        }
        virtual void Visit(json::String &string) {
            OverwriteString(string.Value());
        }
        virtual void Visit(json::Number &number) { number.Value() = 0; }
        virtual void Visit(json::Boolean &boolean) { boolean.Value() = false; }
        virtual void Visit(json::Null &) {}
    } overwriter;
    element.Accept(overwriter);
}

/** A JSON object whose values are overwritten when it is freed. */
class JsonObject : public json::Object {
public:
    JsonObject() {}
    JsonObject(const json::Object &other) : json::Object(other) {}
    JsonObject(const JsonObject &other)
        : json::Object(other), m_parseError(other.m_parseError) {}
    ~JsonObject() { OverwriteJsonValues(*this); }

    JsonObject &operator=(const json::Object &other) {
        json::Object::operator=(other);
        m_parseError.clear();
        return *this;
    }
    JsonObject &operator=(const JsonObject &other) {
        return *this = static_cast<const json::Object &>(other);
    }

    /** The object as JSON text. The caller must overwrite it. */
    std::string ToString() const {
        Written text;
        std::ostream stream(&text);
        json::Writer::Write(*this, stream);
        return text.text;
    }

    /** Parses `text`. False, with an empty object, if `text` is not a JSON
     * object; GetParseError() then gives the reason, without parts of the text.
     */
    bool Parse(const char *text) {
        Clear();
        m_parseError.clear();
        try {
            Memory memory(text ? text : "");
            std::istream stream(&memory);
            json::Reader::Read(*this, stream);
            return true;
        } catch (const json::Exception &error) {
            m_parseError = error.what();
            return false;
        }
    }
    std::string GetParseError() const { return m_parseError; }

    /* These functions return the member, or the default if the member is
     * missing or has another type. */

    const char *
    GetStringParam(const char *name, const char *defaultValue = "") const {
        const json::String *found = Get<json::String>(name);
        return found ? found->Value().c_str() : defaultValue;
    }
    int GetIntParam(const char *name, int defaultValue = 0) const {
        const json::Number *found = Get<json::Number>(name);
        return found && std::fabs(found->Value()) <= 2147483647.0
                   ? static_cast<int>(found->Value())
                   : defaultValue;
    }
    int64_t GetInt64Param(const char *name, int64_t defaultValue = 0) const {
        const json::Number *found = Get<json::Number>(name);
        return found && std::fabs(found->Value()) < 9.2e18
                   ? static_cast<int64_t>(found->Value())
                   : defaultValue;
    }
    bool GetBoolParam(const char *name, bool defaultValue = false) const {
        const json::Boolean *found = Get<json::Boolean>(name);
        return found ? found->Value() : defaultValue;
    }

    void PutIfNotEmpty(const std::string &name, const std::string &value) {
        if (!value.empty()) (*this)[name] = json::String(value);
    }

private:
    /* These streams have no buffer, because the buffer of a stream cannot be
     * overwritten. */
    class Memory : public std::streambuf {
    public:
        explicit Memory(const char *text) {
            char *start = const_cast<char *>(text);
            setg(start, start, start + std::strlen(text));
        }
    };

    class Written : public std::streambuf {
    public:
        String text;

    protected:
        virtual int_type overflow(int_type c) {
            text += traits_type::to_char_type(c);
            return c;
        }
    };

    template <typename Value> const Value *Get(const char *name) const {
        try {
            const json::Object &object = *this;
            return &static_cast<const Value &>(object[name]);
        } catch (const json::Exception &) {
            return NULL;
        }
    }

    String m_parseError;
};

/** Returns the member; the default if it is missing. Throws if it has another
 * type. */
inline std::string GetOptionalStringParam(
    const json::Object &object, const std::string &name,
    const std::string &defaultValue = "") {
    if (object.Find(name) == object.End()) return defaultValue;
    return static_cast<const json::String &>(object[name]).Value();
}

inline int GetOptionalIntParam(
    const json::Object &object, const std::string &name,
    int defaultValue = 0) {
    if (object.Find(name) == object.End()) return defaultValue;
    const double value =
        static_cast<const json::Number &>(object[name]).Value();
    if (!(std::fabs(value) <= 2147483647.0))
        throw json::Exception("A number is out of range: " + name);
    return static_cast<int>(value);
}

/* ---- Maps ------------------------------------------------------------- */

class StringMap : public std::map<String, String> {
public:
    StringMap() {}
    /** Throws json::Exception if a member is not a string. */
    StringMap(const json::Object &object) {
        for (json::Object::const_iterator i = object.Begin();
             i != object.End(); ++i)
            (*this)[i->name] =
                static_cast<const json::String &>(i->element).Value();
    }

    json::Object ToJsonObject() const {
        json::Object object;
        for (const_iterator i = begin(); i != end(); ++i)
            object[i->first] = json::String(i->second);
        return object;
    }

    /** Adds an entry. False, with nothing changed, if there is an entry with
     * this key. */
    bool Put(const String &key, const String &value) {
        return insert(value_type(key, value)).second;
    }

    /** Adds the entries of `other`. They replace entries with the same key. */
    void PutAll(const StringMap &other) {
        for (const_iterator i = other.begin(); i != other.end(); ++i)
            (*this)[i->first] = i->second;
    }

    /** The value of the key; "" if there is none. */
    const char *Get(const String &key) const {
        const const_iterator i = find(key);
        return i == end() ? "" : i->second.c_str();
    }
};

/* ---- Hex -------------------------------------------------------------- */

/** The bytes in hex, two lower-case digits each. */
inline std::string HexEncode(const char *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    std::string hex;
    hex.reserve(2 * size);
    for (size_t i = 0; i < size; ++i) {
        const unsigned char byte = static_cast<unsigned char>(bytes[i]);
        hex += digits[byte >> 4];
        hex += digits[byte & 15];
    }
    return hex;
}

inline std::string HexEncode(const std::string &bytes) {
    return HexEncode(bytes.data(), bytes.size());
}

/** The bytes of `hex`. Empty if `hex` is not pairs of hex digits. */
inline std::string HexDecode(const std::string &hex) {
    static const std::string digits("0123456789abcdef0123456789ABCDEF");
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
        const size_t high = digits.find(hex[i]), low = digits.find(hex[i + 1]);
        if (high == std::string::npos || low == std::string::npos) return "";
        bytes += static_cast<char>(high % 16 * 16 + low % 16);
    }
    return hex.size() % 2 == 0 ? bytes : "";
}

/* ---- URLs ------------------------------------------------------------- */

/** The parts of a URL. Scheme and host are in lower case; the path contains the
 * query and has no leading "/". A part that the text does not have is empty. */
class Url {
public:
    Url(const std::string &url) {
        String rest = url;
        const size_t scheme = rest.find("://");
        if (scheme != std::string::npos) {
            m_scheme = String(rest, 0, scheme).ToLower();
            rest = String(rest, scheme + 3).TrimLeft("/");
        }
        const size_t path = rest.find('/');
        if (path != std::string::npos) {
            m_path = String(rest, path + 1);
            rest.erase(path);
        }
        const size_t port = rest.find(':');
        if (port != std::string::npos) {
            m_port = String(rest, port + 1);
            rest.erase(port);
        }
        m_host = rest.ToLower();
    }
    Url(const std::string &scheme, const std::string &host,
        const std::string &port, const std::string &path)
        : m_scheme(scheme), m_host(host), m_port(port), m_path(path) {}

    const String &GetScheme() const { return m_scheme; }
    const String &GetHost() const { return m_host; }
    const String &GetPort() const { return m_port; }
    const String &GetPath() const { return m_path; }

    bool operator==(const Url &other) const {
        return m_scheme == other.m_scheme && m_host == other.m_host &&
               m_port == other.m_port && m_path == other.m_path;
    }
    bool operator!=(const Url &other) const { return !(*this == other); }

private:
    String m_scheme;
    String m_host;
    String m_port;
    String m_path;
};

} // namespace util

#endif
