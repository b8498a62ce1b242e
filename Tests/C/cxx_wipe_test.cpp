/* Tests that the C++ headers overwrite their data before its memory is freed. Searches every freed block, and the
 * memory of every destroyed object, for the secret. */

#include "cxx_check.h"
#include "mfa_sdk.h"

#include <clocale>
#include <malloc.h>
#include <new>

/* A secret that is too long for the internal buffer of a text, and a part of it that fits into that buffer. */
static const char secret[] = "839174506283839174506283839174506283";
static const char part[] = "83917450";

static int Copies(const void *memory, size_t size) {
    const char *bytes = static_cast<const char *>(memory);
    int found = 0;
    for (size_t i = 0; i + sizeof part - 1 <= size; ++i) found += std::memcmp(bytes + i, part, sizeof part - 1) == 0;
    return found;
}

static int copies;

static void Free(void *memory) {
    if (memory) copies += Copies(memory, malloc_usable_size(memory));
    std::free(memory);
}

void *operator new(std::size_t size) {
    /* Allocates cleared memory, so that the search finds no older content of the block. */
    if (void *memory = std::calloc(1, size ? size : 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { Free(memory); }
void operator delete(void *memory, std::size_t) noexcept { Free(memory); }

/* Returns how often the memory that the action has freed contains the secret. */
template <typename Action> static int LeftBehind(const Action &action) {
    copies = 0;
    action();
    return copies;
}

static void TestTheSearchItself() {
    CHECK(LeftBehind([] { std::string text(secret); }) == 3);
    CHECK(LeftBehind([] { std::vector<char> bytes(secret, secret + sizeof secret); }) == 3);
    CHECK(LeftBehind([] { std::string text(100, '8'); }) == 0);
}

static void TestTexts() {
    CHECK(LeftBehind([] { util::String text(secret); }) == 0);
    CHECK(LeftBehind([] {
        util::String text(secret);
        text = "short";
    }) == 0);
    CHECK(LeftBehind([] {
        util::String text(secret);
        text = std::string(4096, ' ');
    }) == 0);
    CHECK(LeftBehind([] {
        util::String text(secret);
        text.clear();
    }) == 0);
    CHECK(LeftBehind([] {
        util::String text;
        text.Format("%s and %d", secret, 7).ReplaceAll("and", util::String(500, 'a')).Trim();
        CHECK(text.size() == sizeof secret + 502 && text.EndsWith("aa 7") && text.ToLower() == text);
    }) == 0);
    CHECK(LeftBehind([] {
        util::String url("https://example.com/");
        url += secret;
        CHECK(util::Url(url).GetPath() == secret);
    }) == 0);
}

static void TestTextsThatGrow() {
    CHECK(LeftBehind([] {
        util::String text(secret);
        for (int i = 0; i < 1000; ++i) text += 'x';
        CHECK(text.size() == sizeof secret + 999);
    }) == 0);
    CHECK(LeftBehind([] {
        util::String text(secret), more(1000, 'y');
        text += more;
        text.append(more.data(), 500).append(std::string(more)).append("z").append(3, '-').push_back('!');
        CHECK(text.size() == sizeof secret - 1 + 2505 && text.EndsWith("yz---!"));
    }) == 0);
}

static void TestTextsThatAreTheirOwnSource() {
    util::String text(secret);
    text.shrink_to_fit();
    text.append(text);
    CHECK(text == std::string(secret) + secret);
    const util::String &same = text;
    text = same;
    CHECK(text == std::string(secret) + secret);
    text = text.c_str() + 36;
    CHECK(text == secret);
}

/* Tests texts that are short enough for the internal buffer. The object is made at a known place, which is searched
 * afterwards. */
static void TestShortTexts() {
    alignas(util::String) static char place[sizeof(util::String)];
    util::String *text = new (place) util::String(part);
    CHECK(Copies(place, sizeof place) == 1);
    text->~String();
    CHECK(Copies(place, sizeof place) == 0);
    text = new (place) util::String(part);
    text->append(std::string(100, 'x'));
    CHECK(Copies(place, sizeof place) == 0);
    text->~String();
    text = new (place) util::String(part);
    text->erase(0);
    text->~String();
    CHECK(Copies(place, sizeof place) == 0);
}

static char json_text[512];

static void TestJson() {
    std::snprintf(json_text, sizeof json_text, "{\"a\":{\"b\":[1.5,\"%s\\u00fc%s\"]},\"token\":\"%s\",\"n\":-2.5e1,\"x\":%s}",
        secret, secret, secret, secret);
    CHECK(LeftBehind([] {
        util::JsonObject object;
        CHECK(object.Parse(json_text));
        CHECK(std::strcmp(object.GetStringParam("token"), secret) == 0);
        CHECK(object.GetIntParam("n") == -25);
    }) == 0);
    CHECK(LeftBehind([] {
        util::JsonObject object, other;
        CHECK(object.Parse(json_text));
        other = object;
        const json::Object copy = other;
        static_cast<json::String &>(object["token"]) = json::String("none");
        object.Erase(object.Find("a"));
        other.Clear();
        CHECK(object.Parse(json_text) && !object.Parse("{") && object.Empty());
    }) == 0);
    CHECK(LeftBehind([] {
        util::JsonObject object;
        CHECK(object.Parse(json_text));
        std::string text = object.ToString();
        CHECK(Copies(text.data(), text.size()) == 9);
        json::Wipe(text);
    }) == 0);
    CHECK(LeftBehind([] {
        json::String text;
        json::Append(text.Value(), secret, sizeof secret - 1);
        text = json::String(std::string(4096, ' '));
    }) == 0);
    CHECK(LeftBehind([] {
        std::istringstream in("[1.25e2]");
        json::Array array;
        json::Reader::Read(array, in);
        CHECK(array[0] == json::Number(125));
    }) == 0);
}

static void TestWhatIsNoJson() {
    CHECK(LeftBehind([] {
        util::JsonObject object;
        char broken[600];
        std::snprintf(broken, sizeof broken, "%s%s", json_text, secret);
        CHECK(!object.Parse(broken));
        std::snprintf(broken, sizeof broken, "{\"token\":\"%s", secret);
        CHECK(!object.Parse(broken));
        const std::string error = object.GetParseError();
        CHECK(!error.empty() && Copies(error.data(), error.size()) == 0);
        CHECK(!object.Parse("{\"n\":1e999}") && object.Parse("{\"n\":1e-999}") && object.GetIntParam("n", 7) == 0);
    }) == 0);
}

/* Replaces localeconv(), to get a decimal comma on a machine that may have no locale with one. */
static bool has_comma;

extern "C" struct lconv *localeconv(void) noexcept {
    static char comma[] = ",", point[] = ".";
    static struct lconv conventions;
    conventions.decimal_point = has_comma ? comma : point;
    return &conventions;
}

extern "C" double strtod(const char *text, char **end) noexcept {
    std::string digits(text);
    if (has_comma) {
        CHECK(digits.find('.') == std::string::npos);
        std::replace(digits.begin(), digits.end(), ',', '.');
    }
    const double value = static_cast<double>(std::strtold(digits.c_str(), NULL));
    json::Wipe(digits);
    CHECK(!end);
    return value;
}

static void TestNumbersInALocaleWithAComma() {
    util::JsonObject object;
    has_comma = true;
    CHECK(object.Parse("{\"n\":2.5}"));
    has_comma = false;
    const json::Object &read = object;
    CHECK(static_cast<const json::Number &>(read["n"]) == json::Number(2.5));
}

static void TestMaps() {
    CHECK(LeftBehind([] {
        util::StringMap map;
        map.Put("token", secret);
        const util::StringMap again(map.ToJsonObject());
        CHECK(std::strcmp(again.Get("token"), secret) == 0);
    }) == 0);
}

/* Tests that the memory to which the library writes its answers is overwritten. */
static void TestAnswers() {
    CHECK(LeftBehind([] { std::strcpy(mpin_cxx::Room(1 << 10).data(), secret); }) == 0);
    typedef mpin_cxx::Answer<mpin_otp> Otp;
    alignas(Otp) static char place[sizeof(Otp)];
    Otp *otp = new (place) Otp;
    CHECK(otp->size == sizeof(mpin_otp));
    std::strcpy(otp->otp, part);
    CHECK(Copies(place, sizeof place) == 1);
    otp->~Otp();
    CHECK(Copies(place, sizeof place) == 0);
}

int main() {
    TestTheSearchItself();
    TestTexts();
    TestTextsThatGrow();
    TestTextsThatAreTheirOwnSource();
    TestShortTexts();
    TestJson();
    TestWhatIsNoJson();
    TestNumbersInALocaleWithAComma();
    TestMaps();
    TestAnswers();
    std::cout << "cxx_wipe_test: " << passed << " cases: " << !failed << " passed, " << !!failed << " failed\n";
    return failed ? 1 : 0;
}
