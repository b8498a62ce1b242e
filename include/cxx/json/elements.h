/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CXX_JSON_ELEMENTS_H
#define MPIN_CXX_JSON_ELEMENTS_H

/**
 * JSON values, under the names that programs for the Milagro and MIRACL cores
 * use. A value whose type is not known yet is an UnknownElement:
 *
 *     const json::Object &answer = ...;
 *     const json::String &code = answer["code"];   throws json::Exception
 *     object["code"] = json::String("1234");
 *
 * If an UnknownElement is read as another type than its own, a constant one
 * throws, and one that is not constant becomes an empty value of the type that
 * is read.
 *
 * Values may be secrets. So each value is overwritten when it is freed, and so
 * is every copy that reader and writer make of a text.
 */

#include <algorithm>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>

namespace json {

class Array;
class ConstVisitor;
class Null;
class Object;
class Visitor;
template <typename Value> class TrivialType_T;
typedef TrivialType_T<double> Number;
typedef TrivialType_T<bool> Boolean;
typedef TrivialType_T<std::string> String;

/** Empties a text and overwrites its whole memory. */
inline void Wipe(std::string &text) {
    text.resize(text.capacity());
    volatile char *start = text.empty() ? NULL : &text[0];
    for (size_t i = 0; i < text.size(); ++i) start[i] = 0;
    text.clear();
}

inline void Wipe(double &value) { *const_cast<volatile double *>(&value) = 0; }
inline void Wipe(bool &value) {
    *const_cast<volatile bool *>(&value) = false;
}

/** Appends to a text. If the text moves, its old memory is wiped. */
inline void Append(std::string &text, const char *bytes, size_t size) {
    if (size > text.capacity() - text.size()) {
        std::string larger;
        larger.reserve(std::max(2 * text.capacity(), text.size() + size));
        larger.append(text);
        /* Appends before the old memory is wiped, because `bytes` may be inside
         * that memory. */
        larger.append(bytes, size);
        Wipe(text);
        text.swap(larger);
    } else {
        text.append(bytes, size);
    }
}

class Exception : public std::runtime_error {
public:
    Exception(const std::string &message) : std::runtime_error(message) {}
};

/** A value of any type; a new one is Null. */
class UnknownElement {
public:
    UnknownElement();
    UnknownElement(const UnknownElement &other);
    UnknownElement(const Object &value);
    UnknownElement(const Array &value);
    UnknownElement(const Number &value);
    UnknownElement(const Boolean &value);
    UnknownElement(const String &value);
    UnknownElement(const Null &value);
    UnknownElement &operator=(const UnknownElement &other);

    operator const Object &() const;
    operator const Array &() const;
    operator const Number &() const;
    operator const Boolean &() const;
    operator const String &() const;
    operator const Null &() const;
    operator Object &();
    operator Array &();
    operator Number &();
    operator Boolean &();
    operator String &();
    operator Null &();

    /** Return the member `name` of an Object, or the element `index` of an
     * Array. */
    UnknownElement &operator[](const std::string &name);
    const UnknownElement &operator[](const std::string &name) const;
    UnknownElement &operator[](size_t index);
    const UnknownElement &operator[](size_t index) const;

    void Accept(ConstVisitor &visitor) const;
    void Accept(Visitor &visitor);
    bool operator==(const UnknownElement &other) const;

private:
    class Held;
    template <typename Value> class Held_T;

    template <typename Value> const Value &Read() const;
    template <typename Value> Value &Convert();

    std::shared_ptr<Held> m_held;
};

class Array {
public:
    typedef std::deque<UnknownElement> Elements;
    typedef Elements::iterator iterator;
    typedef Elements::const_iterator const_iterator;

    iterator Begin() { return m_elements.begin(); }
    iterator End() { return m_elements.end(); }
    const_iterator Begin() const { return m_elements.begin(); }
    const_iterator End() const { return m_elements.end(); }
    size_t Size() const { return m_elements.size(); }
    bool Empty() const { return m_elements.empty(); }

    iterator Insert(const UnknownElement &element) {
        return Insert(element, End());
    }
    iterator Insert(const UnknownElement &element, iterator where) {
        return m_elements.insert(where, element);
    }
    iterator Erase(iterator where) { return m_elements.erase(where); }
    void Resize(size_t size) { m_elements.resize(size); }
    void Clear() { m_elements.clear(); }

    /** The element at `index`. The array grows if it is shorter. */
    UnknownElement &operator[](size_t index) {
        if (index >= m_elements.size()) m_elements.resize(index + 1);
        return m_elements[index];
    }
    const UnknownElement &operator[](size_t index) const {
        if (index >= m_elements.size())
            throw Exception("Array out of bounds");
        return m_elements[index];
    }
    bool operator==(const Array &other) const {
        return m_elements == other.m_elements;
    }
    bool operator==(const UnknownElement &other) const {
        return UnknownElement(*this) == other;
    }

private:
    Elements m_elements;
};

/** The members stay in the order of insertion. Each name occurs once. */
class Object {
public:
    struct Member {
        Member(
            const std::string &memberName = std::string(),
            const UnknownElement &memberElement = UnknownElement())
            : name(memberName), element(memberElement) {}
        bool operator==(const Member &other) const {
            return name == other.name && element == other.element;
        }

        std::string name;
        UnknownElement element;
    };

    typedef std::list<Member> Members;
    typedef Members::iterator iterator;
    typedef Members::const_iterator const_iterator;

    iterator Begin() { return m_members.begin(); }
    iterator End() { return m_members.end(); }
    const_iterator Begin() const { return m_members.begin(); }
    const_iterator End() const { return m_members.end(); }
    size_t Size() const { return m_members.size(); }
    bool Empty() const { return m_members.empty(); }

    iterator Find(const std::string &name) {
        iterator i = Begin();
        while (i != End() && i->name != name) ++i;
        return i;
    }
    const_iterator Find(const std::string &name) const {
        const_iterator i = Begin();
        while (i != End() && i->name != name) ++i;
        return i;
    }

    /** Throws if the name exists already. */
    iterator Insert(const Member &member) { return Insert(member, End()); }
    iterator Insert(const Member &member, iterator where) {
        if (Find(member.name) != End())
            throw Exception("Object member already exists: " + member.name);
        return m_members.insert(where, member);
    }
    iterator Erase(iterator where) { return m_members.erase(where); }
    void Clear() { m_members.clear(); }

    /** The member `name`. If there is none, adds it as Null. */
    UnknownElement &operator[](const std::string &name) {
        iterator i = Find(name);
        if (i == End()) i = m_members.insert(End(), Member(name));
        return i->element;
    }
    const UnknownElement &operator[](const std::string &name) const {
        const const_iterator i = Find(name);
        if (i == End()) throw Exception("Object member not found: " + name);
        return i->element;
    }
    bool operator==(const Object &other) const {
        return m_members == other.m_members;
    }
    bool operator==(const UnknownElement &other) const {
        return UnknownElement(*this) == other;
    }

private:
    Members m_members;
};

template <typename Type> class TrivialType_T {
public:
    TrivialType_T(const Type &value = Type()) : m_value(value) {}
    TrivialType_T(const TrivialType_T &other) : m_value(other.m_value) {}
    ~TrivialType_T() { Wipe(m_value); }
    TrivialType_T &operator=(const TrivialType_T &other) {
        if (this == &other) return *this;
        Wipe(m_value);
        m_value = other.m_value;
        return *this;
    }
    operator Type &() { return m_value; }
    operator const Type &() const { return m_value; }
    Type &Value() { return m_value; }
    const Type &Value() const { return m_value; }
    bool operator==(const TrivialType_T &other) const {
        return m_value == other.m_value;
    }
    bool operator==(const UnknownElement &other) const {
        return UnknownElement(*this) == other;
    }

private:
    Type m_value;
};

class Null {
public:
    bool operator==(const Null &) const { return true; }
    bool operator==(const UnknownElement &other) const {
        return UnknownElement(*this) == other;
    }
};

class Visitor {
public:
    virtual ~Visitor() {}
    virtual void Visit(Array &array) = 0;
    virtual void Visit(Object &object) = 0;
    virtual void Visit(Number &number) = 0;
    virtual void Visit(String &string) = 0;
    virtual void Visit(Boolean &boolean) = 0;
    virtual void Visit(Null &null) = 0;
};

class ConstVisitor {
public:
    virtual ~ConstVisitor() {}
    virtual void Visit(const Array &array) = 0;
    virtual void Visit(const Object &object) = 0;
    virtual void Visit(const Number &number) = 0;
    virtual void Visit(const String &string) = 0;
    virtual void Visit(const Boolean &boolean) = 0;
    virtual void Visit(const Null &null) = 0;
};

/* ---- UnknownElement --------------------------------------------------- */

class UnknownElement::Held {
public:
    virtual ~Held() {}
    virtual std::shared_ptr<Held> Copy() const = 0;
    virtual void Accept(ConstVisitor &visitor) const = 0;
    virtual void Accept(Visitor &visitor) = 0;
    virtual bool Equals(const Held &other) const = 0;
};

template <typename Value>
class UnknownElement::Held_T : public UnknownElement::Held {
public:
    explicit Held_T(const Value &held) : value(held) {}
    virtual std::shared_ptr<Held> Copy() const {
        return std::make_shared<Held_T>(value);
    }
    virtual void Accept(ConstVisitor &visitor) const { visitor.Visit(value); }
    virtual void Accept(Visitor &visitor) { visitor.Visit(value); }
    virtual bool Equals(const Held &other) const {
        const Held_T *same = dynamic_cast<const Held_T *>(&other);
        return same && same->value == value;
    }

    Value value;
};

inline UnknownElement::UnknownElement()
    : m_held(std::make_shared<Held_T<Null>>(Null())) {}
inline UnknownElement::UnknownElement(const UnknownElement &other)
    : m_held(other.m_held->Copy()) {}
inline UnknownElement::UnknownElement(const Object &value)
    : m_held(std::make_shared<Held_T<Object>>(value)) {}
inline UnknownElement::UnknownElement(const Array &value)
    : m_held(std::make_shared<Held_T<Array>>(value)) {}
inline UnknownElement::UnknownElement(const Number &value)
    : m_held(std::make_shared<Held_T<Number>>(value)) {}
inline UnknownElement::UnknownElement(const Boolean &value)
    : m_held(std::make_shared<Held_T<Boolean>>(value)) {}
inline UnknownElement::UnknownElement(const String &value)
    : m_held(std::make_shared<Held_T<String>>(value)) {}
inline UnknownElement::UnknownElement(const Null &value)
    : m_held(std::make_shared<Held_T<Null>>(value)) {}

/* Copies `other` before the old value is freed, because `other` may be inside
 * this element. */
inline UnknownElement &UnknownElement::operator=(const UnknownElement &other) {
    m_held = other.m_held->Copy();
    return *this;
}

template <typename Value> const Value &UnknownElement::Read() const {
    const Held_T<Value> *held =
        dynamic_cast<const Held_T<Value> *>(m_held.get());
    if (!held) throw Exception("Bad cast");
    return held->value;
}

template <typename Value> Value &UnknownElement::Convert() {
    Held_T<Value> *held = dynamic_cast<Held_T<Value> *>(m_held.get());
    if (!held) {
        m_held = std::make_shared<Held_T<Value>>(Value());
        held = static_cast<Held_T<Value> *>(m_held.get());
    }
    return held->value;
}

inline UnknownElement::operator const Object &() const {
    return Read<Object>();
}
inline UnknownElement::operator const Array &() const { return Read<Array>(); }
inline UnknownElement::operator const Number &() const {
    return Read<Number>();
}
inline UnknownElement::operator const Boolean &() const {
    return Read<Boolean>();
}
inline UnknownElement::operator const String &() const {
    return Read<String>();
}
inline UnknownElement::operator const Null &() const { return Read<Null>(); }
inline UnknownElement::operator Object &() { return Convert<Object>(); }
inline UnknownElement::operator Array &() { return Convert<Array>(); }
inline UnknownElement::operator Number &() { return Convert<Number>(); }
inline UnknownElement::operator Boolean &() { return Convert<Boolean>(); }
inline UnknownElement::operator String &() { return Convert<String>(); }
inline UnknownElement::operator Null &() { return Convert<Null>(); }

inline UnknownElement &UnknownElement::operator[](const std::string &name) {
    return Convert<Object>()[name];
}
inline const UnknownElement &
UnknownElement::operator[](const std::string &name) const {
    return Read<Object>()[name];
}
inline UnknownElement &UnknownElement::operator[](size_t index) {
    return Convert<Array>()[index];
}
inline const UnknownElement &UnknownElement::operator[](size_t index) const {
    return Read<Array>()[index];
}

inline void UnknownElement::Accept(ConstVisitor &visitor) const {
    const Held &held = *m_held;
    held.Accept(visitor);
}
inline void UnknownElement::Accept(Visitor &visitor) {
    m_held->Accept(visitor);
}
inline bool UnknownElement::operator==(const UnknownElement &other) const {
    return m_held->Equals(*other.m_held);
}

} // namespace json

#endif
