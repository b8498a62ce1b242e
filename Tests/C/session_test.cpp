/* Tests the C++ class of sessions with a real server, which is also the OpenID provider, and whose base URL is the
 * argument. Its client `apps` has the grants and scopes of with_server.sh. */

#include "cxx_check.h"
#include "mpin_session.h"
#include "trust_sdk.h"

#include <fstream>
#include <stdexcept>
#include <unistd.h>

typedef MPinSession::String String;
typedef MPinSession::Status Status;

static const char user_id[] = "session@example.com";
static std::string url, folder;

/* What the callbacks were told, and what they answer. */
static std::vector<String> questions, events, pages, codes;
static String pin = "1234";

static MPinSession::Callbacks Answers() {
    MPinSession::Callbacks callbacks;
    callbacks.askPin = [](const MPinSession::PinRequest &request) -> String {
        questions.push_back(request.provider + " " + request.userId + " " + std::to_string(request.attemptsLeft));
        const String answer = pin;
        if (answer == "throw") throw std::runtime_error("no PIN pad");
        if (answer == "9999") pin = "1234";
        return answer;
    };
    callbacks.openBrowser = [](const String &page) {
        pages.push_back(page);
        if (pages.size() > 1) throw std::runtime_error("no browser");
        return false;
    };
    callbacks.showCode = [](const MPinSession::DeviceCode &code) {
        codes.push_back(code.userCode + " " + code.url);
        throw std::runtime_error("no screen");
    };
    callbacks.onEvent = [](MPinSession::State state, const String &provider) {
        events.push_back(std::to_string(state) + " " + provider);
        throw std::runtime_error("nobody listens");
    };
    return callbacks;
}

/* An sdk with a registered user. */
static mpin_sdk *Registered() {
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    mpin_config config = mpin_config();
    const std::string store = folder + "/store";
    config.size = sizeof config;
    config.storage_path = store.c_str();
    config.backend = url.c_str();
    CHECK(mpin_sdk_new(&sdk) == MPIN_OK && mpin_sdk_init(sdk, &config) == MPIN_OK);
    CHECK(mpin_sdk_make_new_user(sdk, &user, user_id, NULL) == MPIN_OK);
    CHECK(mpin_sdk_start_registration(sdk, user, NULL, NULL) == MPIN_OK);
    CHECK(mpin_sdk_confirm_registration(sdk, user, NULL) == MPIN_OK);
    CHECK(mpin_sdk_finish_registration(sdk, user, "1234") == MPIN_OK);
    mpin_user_free(user);
    return sdk;
}

static MPinSession::Provider Home(const char *name = "home") {
    MPinSession::Provider provider;
    provider.name = name;
    provider.clientId = "apps";
    provider.issuer = url;
    provider.origins = {"https://api.example.com", url};
    return provider;
}

static MPinSession::State StateOf(const MPinSession &session) {
    MPinSession::State state = MPinSession::SIGNING_IN;
    OK(session.GetState(state));
    return state;
}

/* The status of an API's answer; userinfo of the provider is the API. The token is in no argument list. */
static std::string Call(const String &value) {
    const std::string answer = folder + "/status";
    const std::string command =
        "curl -s -o /dev/null -w '%{http_code}' -H @- " + url + "/oidc/userinfo >" + answer;
    FILE *curl = popen(command.c_str(), "w");
    CHECK(curl && std::fprintf(curl, "Authorization: %s\n", value.c_str()) > 0 && pclose(curl) == 0);
    std::string status;
    std::ifstream(answer) >> status;
    return status;
}

/* ---- Tests ---------------------------------------------------------------------------------------------------- */

static void TestBeforeTheStart(mpin_sdk *sdk) {
    MPinSession session;
    MPinSession::State state;
    MPinSession::Profile profile;
    String text = "unchanged";
    STATUS(session.GetState(state), Status::INVALID_HANDLE);
    STATUS(session.GetProfile(profile), Status::INVALID_HANDLE);
    STATUS(session.GetAccessToken(text), Status::INVALID_HANDLE);
    CHECK(!session.HasValid() && !session.CanRenew() && text == "unchanged");
    STATUS(session.Open(NULL), Status::INVALID_HANDLE);
    STATUS(session.Open(sdk, folder + "/none/session"), Status::STORAGE_ERROR);
    OK(session.Open(sdk, folder + "/silent"));
    STATUS(session.Open(sdk), Status::FLOW_ERROR);
    OK(session.AddProvider(Home()));
    STATUS(session.LogIn("home", user_id), Status::INTERACTION_NOT_ALLOWED);
    STATUS(session.GetAccessToken(text), Status::NO_CREDENTIALS);
    CHECK(StateOf(session) == MPinSession::SIGNED_OUT);
    MPinSession::Provider nameless = Home("");
    STATUS(session.AddProvider(nameless), Status::INVALID_ARGUMENT);
    nameless = Home();
    nameless.claimNames["sub"] = "id=x";
    STATUS(session.AddProvider(nameless), Status::INVALID_ARGUMENT);
}

static void TestRefusedLogins(MPinSession &session) {
    STATUS(session.LogIn("nowhere", user_id), Status::PROVIDER_UNKNOWN);
    STATUS(session.Resume("app:/x?code=1"), Status::FLOW_ERROR);
    for (const char *refused : {"", "throw", "1234567890123456789012345678901234567890123456789012345678901234"}) {
        pin = refused;
        STATUS(session.LogIn("home", user_id), Status::PIN_INPUT_CANCELED);
    }
    pin = "1234";
    CHECK(questions.size() == 3 && questions[0] == std::string("home ") + user_id + " -1");
    MPinSession::Provider browser = Home("browser"), device = Home("device");
    browser.login = MPinSession::BROWSER;
    device.login = MPinSession::DEVICE_CODE;
    OK(session.AddProvider(browser));
    OK(session.AddProvider(device));
    STATUS(session.LogIn("browser", user_id), Status::INTERACTION_NOT_ALLOWED);
    STATUS(session.LogIn("browser", user_id), Status::INTERACTION_NOT_ALLOWED);
    CHECK(pages.size() == 2 && pages[0].find(url + "/authorize?") == 0);
    /* The client has no grant for devices. */
    STATUS(session.LogIn("device"), Status::HTTP_REQUEST_ERROR);
    CHECK(codes.empty());
    CHECK(StateOf(session) == MPinSession::SIGNED_OUT);
}

static void TestBrowserThatDoesNotComeBack(mpin_sdk *sdk) {
    MPinSession::Callbacks callbacks;
    callbacks.openBrowser = [](const String &) { return true; };
    MPinSession session(callbacks);
    MPinSession::Provider browser = Home();
    browser.login = MPinSession::BROWSER;
    OK(session.Open(sdk, folder + "/browser", 1));
    OK(session.AddProvider(browser));
    STATUS(session.LogIn("home"), Status::TIMED_OUT);
}

static void TestLogin(MPinSession &session) {
    events.clear();
    questions.clear();
    pin = "9999";
    OK(session.LogIn("home", user_id));
    CHECK(questions.size() == 2 && questions[1] == std::string("home ") + user_id + " 2");
    CHECK(events.size() == 2 && events[0] == "1 home" && events[1] == "2 home");
    CHECK(StateOf(session) == MPinSession::SIGNED_IN && session.CanRenew());
    CHECK(session.HasValid(60) && !session.HasValid(1 << 30));
    MPinSession::Profile profile;
    OK(session.GetProfile(profile));
    CHECK(profile.email == user_id && profile.emailVerified == "false" && !profile.sub.empty() && profile.picture.empty());
    String text;
    int64_t expiry = 0;
    OK(session.GetLastProvider(text));
    CHECK(text == "home");
    OK(session.GetScope(text));
    CHECK(text.find("offline_access") != String::npos);
    OK(session.GetIdToken(text));
    CHECK(text.find("eyJ") == 0);
    OK(session.GetExpiry(expiry));
    CHECK(expiry > time(NULL) && expiry < time(NULL) + 3600);
}

static void TestTokens(MPinSession &session) {
    String token, value, renewed, narrow;
    OK(session.GetAccessToken(token));
    OK(session.Authorize(url + "/oidc/userinfo", value));
    CHECK(value == "Bearer " + token && Call(value) == "200");
    OK(session.Authorize(url, renewed, value));
    CHECK(renewed != value && Call(renewed) == "200");
    STATUS(session.Authorize("https://evil.example", value), Status::UNTRUSTED_DOMAIN_ERROR);
    STATUS(session.GetAccessToken(token, 1 << 30), Status::LARGE_MIN_TTL);
    OK(session.GetAccessToken(token, 60, false, "openid"));
    String scope;
    OK(session.GetScope(scope));
    CHECK(scope == "openid");
    OK(session.Renew());
    OK(session.HandOver(url, "openid", narrow));
    CHECK(narrow.find("eyJ") == 0 && Call("Bearer " + narrow) == "200");
    STATUS(session.HandOver("https://unknown.example", "", narrow), Status::EXCHANGE_FAILED);
}

static void TestEnds(MPinSession &session, mpin_sdk *sdk) {
    String value;
    {
        MPinSession other(Answers());
        OK(other.Open(sdk));
        OK(other.AddProvider(Home()));
        OK(other.Authorize(url, value));
        OK(other.LogOut(true));
    }
    CHECK(StateOf(session) == MPinSession::SIGNED_OUT && Call(value) == "401");
    OK(session.LogIn("home", user_id));
    OK(session.Authorize(url, value));
    OK(session.Revoke());
    CHECK(StateOf(session) == MPinSession::SIGNED_OUT && Call(value) == "401");
    OK(session.LogIn("home", user_id));
    OK(session.Authorize(url, value));
    OK(session.Clear());
    CHECK(StateOf(session) == MPinSession::SIGNED_OUT && Call(value) == "200");
    OK(session.Cancel());
    mpin_sdk_free(sdk);
    STATUS(session.GetAccessToken(value), Status::INVALID_HANDLE);
}

static void Run() {
    mpin_sdk *sdk = Registered();
    if (failed) return;
    TestBeforeTheStart(sdk);
    MPinSession session(Answers());
    OK(session.Open(sdk));
    OK(session.AddProvider(Home()));
    TestRefusedLogins(session);
    TestBrowserThatDoesNotComeBack(sdk);
    TestLogin(session);
    TestTokens(session);
    TestEnds(session, sdk);
    MPinSDK core;
    TrustSDK trust;
    CHECK(core.GetHandle() && trust.GetHandle());
}

int main(int, char **arguments) {
    char made[] = "/tmp/session_test.XXXXXX";
    url = arguments[1];
    folder = mkdtemp(made);
    Run();
    if (std::system(("rm -rf " + folder).c_str()) != 0) ++failed;
    std::cout << "session_test: " << passed << " cases: " << (failed ? 0 : 1) << " passed, " << (failed ? 1 : 0)
              << " failed\n";
    return failed ? 1 : 0;
}
