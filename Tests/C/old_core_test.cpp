/* A program that was written for the Milagro SDK core and does not know mpin.h. Its context has its own HTTP
 * functions and storages. */

#include "cxx_check.h"
#include "mpin_sdk.h"
#include "mpin_sdk_base.h"

#include <cstring>
#include <curl/curl.h>
#include <iostream>
#include <map>
#include <stdexcept>

using std::cout;
using std::vector;

typedef MPinSDK::String String;
typedef MPinSDK::StringMap StringMap;
typedef MPinSDK::Status Status;
typedef MPinSDK::User User;
typedef MPinSDK::UserPtr UserPtr;

/* Answers for requests that our server does not support, made from the description of the protocol. The key is a part
 * of the request's URL. */
static std::map<std::string, std::pair<int, String> > written;

/* The last request. */
static struct {
    MPinSDK::HttpMethod method;
    String url, content;
    StringMap headers;
} sent;

class HttpRequest : public MPinSDK::IHttpRequest {
public:
    HttpRequest() : m_status(0), m_timeout(30) {}
    virtual void SetHeaders(const StringMap &headers) { m_headers = headers; }
    virtual void SetQueryParams(const StringMap &) {}
    virtual void SetContent(const String &data) { m_content = data; }
    virtual void SetTimeout(int seconds) { m_timeout = seconds; }
    virtual bool Execute(Method method, const String &url) {
        sent.method = method;
        sent.url = url;
        sent.content = m_content;
        sent.headers = m_headers;
        for (auto i = written.begin(); i != written.end(); ++i)
            if (url.find(i->first) != String::npos) {
                m_status = i->second.first;
                m_data = i->second.second;
                return true;
            }
        CURL *curl = curl_easy_init();
        curl_slist *lines = NULL;
        for (StringMap::const_iterator i = m_headers.begin(); i != m_headers.end(); ++i)
            lines = curl_slist_append(lines, String().Format("%s: %s", i->first.c_str(), i->second.c_str()).c_str());
        curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(m_timeout));
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        if (method != GET) {
            curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(m_content.size()));
            curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, m_content.c_str());
        }
        if (method == PUT) curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT");
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &m_data);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Receive);
        const CURLcode code = curl_easy_perform(curl);
        long status = 0;
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        m_status = static_cast<int>(status);
        m_error.Format("old HTTP: %s", curl_easy_strerror(code));
        curl_slist_free_all(lines);
        curl_easy_cleanup(curl);
        return code == CURLE_OK;
    }
    virtual const String &GetExecuteErrorMessage() const { return m_error; }
    virtual int GetHttpStatusCode() const { return m_status; }
    virtual const StringMap &GetResponseHeaders() const { return m_answer; }
    virtual const String &GetResponseData() const { return m_data; }

private:
    static size_t Receive(char *bytes, size_t size, size_t count, void *data) {
        static_cast<String *>(data)->append(bytes, size * count);
        return size * count;
    }

    StringMap m_headers, m_answer;
    String m_content, m_data, m_error;
    int m_status, m_timeout;
};

/* A storage without ClearData, a function that the first cores did not have. */
class MemoryStorage : public MPinSDK::IStorage {
public:
    virtual bool SetData(const String &data) {
        m_data = data;
        return true;
    }
    virtual bool GetData(OUT String &data) {
        data = m_data;
        return true;
    }
    virtual const String &GetErrorMessage() const { return m_error; }

    String m_data, m_error;
};

class Context : public MPinSDK::IContext {
public:
    virtual MPinSDK::IHttpRequest *CreateHttpRequest() const { return new HttpRequest; }
    virtual void ReleaseHttpRequest(IN MPinSDK::IHttpRequest *request) const { delete request; }
    virtual MPinSDK::IStorage *GetStorage(MPinSDK::IStorage::Type type) const {
        return type == MPinSDK::IStorage::SECURE ? &m_secure : &m_open;
    }
    virtual MPinSDK::CryptoType GetMPinCryptoType() const { return MPinSDK::CRYPTO_NON_TEE; }

    mutable MemoryStorage m_secure, m_open;
};

static void TestUtilities() {
    String text = "  a-b-c\n";
    CHECK(text.Trim() == "a-b-c");
    text.ReplaceAll("-", "--");
    CHECK(text == "a--b--c");
    CHECK(String("xxaxx").TrimLeft("x") == "axx");
    CHECK(String("xxaxx").TrimRight("x") == "xxa");
    CHECK(String("   ").Trim().empty());
    CHECK(String().Format("%s-%d", "n", 7) == "n-7");
    CHECK(String("1234").GetHash() % 10000 == 9442);
    text.Overwrite('*');
    CHECK(text == "*******");
    StringMap map;
    CHECK(map.Put("a", "1") && !map.Put("a", "2"));
    CHECK(String(map.Get("a")) == "1" && String(map.Get("b")).empty());
    StringMap other;
    other["a"] = "3";
    map.PutAll(other);
    CHECK(String(map.Get("a")) == "3");
    CHECK(User::StateToString(User::BLOCKED) == "BLOCKED");
}

static UserPtr Register(MPinSDK &sdk, const String &id) {
    UserPtr user = sdk.MakeNewUser(id, "an old device");
    CHECK(user->GetState() == User::INVALID && user->GetId() == id);
    CHECK(sdk.StartRegistration(user) == Status::OK);
    CHECK(user->GetState() == User::ACTIVATED);
    CHECK(user->GetMPinId().find(id) != String::npos);
    const MPinSDK::Expiration &expiration = user->GetRegistrationExpiration();
    CHECK(expiration.expireTimeSeconds > expiration.nowTimeSeconds && expiration.nowTimeSeconds > 0);
    CHECK(user->GetCustomerId().empty() && user->GetAppId().empty());
    CHECK(sdk.ConfirmRegistration(user) == Status::OK);
    CHECK(sdk.FinishRegistration(user, "1234") == Status::OK);
    CHECK(user->GetState() == User::REGISTERED && user->GetStateString() == "REGISTERED");
    CHECK(user->GetPinLength() == 0 && !user->CanSign());
    return user;
}

static void TestFlows(const StringMap &config, Context &context, const String &backend) {
    MPinSDK sdk;
    vector<UserPtr> users;
    CHECK(sdk.ListUsers(users) == Status::FLOW_ERROR);
    CHECK(sdk.TestBackend(backend) == Status::FLOW_ERROR);
    const Status status = sdk.Init(config, &context);
    CHECK(status == Status::OK && status.GetErrorMessage().empty());
    CHECK(sdk.TestBackend(backend) == Status::OK);
    const Status refused = sdk.TestBackend("http://127.0.0.1:1");
    CHECK(refused == Status::NETWORK_ERROR && refused.GetErrorMessage().find("old HTTP: ") != String::npos);
    written["/clientSettings"] = std::make_pair(302, "");
    const Status moved = sdk.TestBackend(backend);
    CHECK(moved == Status::NETWORK_ERROR && moved.GetErrorMessage().find("old HTTP: ") == String::npos);
    written.clear();
    CHECK(sdk.TestBackend(backend, "wrong") == Status::HTTP_REQUEST_ERROR);
    CHECK(!sdk.GetClientParam("registerURL").empty());

    const UserPtr user = Register(sdk, "old@example.com");
    CHECK(sdk.IsUserExisting("old@example.com") && !sdk.IsUserExisting("new@example.com"));
    CHECK(sdk.ListUsers(users) == Status::OK && users.size() == 1 && users[0] == user);
    const String host = backend.substr(strlen("http://"));
    MPinSDK::StringVector backends;
    CHECK(sdk.ListBackends(backends) == Status::OK && backends.size() == 1 && backends[0] == host);
    CHECK(user->GetBackend() == host);
    for (const String &name : {backend, host, String(backend + "/"), String()})
        CHECK(sdk.ListUsers(users, name) == Status::OK && users.size() == 1 && users[0] == user);
    CHECK(sdk.ListUsers(users, "https://example.com") == Status::OK && users.empty());

    String data;
    CHECK(sdk.FinishAuthentication(user, "1234") == Status::FLOW_ERROR);
    CHECK(sdk.StartAuthentication(user) == Status::OK);
    CHECK(sdk.FinishAuthentication(user, "1234", data) == Status::OK && !data.empty());
    /* Logs in again without another StartAuthentication, which the Milagro core allowed. */
    data.clear();
    CHECK(sdk.FinishAuthentication(user, "1234", data) == Status::OK && !data.empty());
    MPinSDK::UserPtr never = sdk.MakeNewUser("never@example.com");
    CHECK(sdk.RestartRegistration(never) == Status::FLOW_ERROR);
    CHECK(sdk.ConfirmRegistration(never) == Status::FLOW_ERROR);
    CHECK(sdk.FinishRegistration(never, "1234") == Status::FLOW_ERROR);
    CHECK(sdk.StartAuthentication(never) == Status::FLOW_ERROR);
    CHECK(sdk.StartAuthentication(never, "2741539") == Status::FLOW_ERROR);
    CHECK(sdk.FinishAuthentication(never, "1234", data) == Status::FLOW_ERROR);
    CHECK(sdk.FinishAuthenticationAN(never, "1234", "2741539") == Status::FLOW_ERROR);
    CHECK(sdk.FinishAuthenticationMFA(never, "1234", data) == Status::FLOW_ERROR);
    CHECK(!sdk.FinishAuthentication(never, "1234").GetErrorMessage().empty());
    /* The core sends a registration with an empty id, and the server refuses it. */
    CHECK(sdk.StartRegistration(sdk.MakeNewUser("")) == Status::HTTP_REQUEST_ERROR);
    CHECK(sdk.StartAuthentication(user) == Status::OK);
    const Status wrong = sdk.FinishAuthentication(user, "4321");
    CHECK(wrong == Status::INCORRECT_PIN && !wrong.GetErrorMessage().empty());
    CHECK(wrong.GetStatusCodeString() == "INCORRECT_PIN");
    CHECK(sdk.CheckAccessNumber("2741539") == Status::OK);
    CHECK(sdk.CheckAccessNumber("2741530") == Status::INCORRECT_ACCESS_NUMBER);
    CHECK(sdk.StartAuthentication(user) == Status::OK);
    CHECK(sdk.FinishAuthenticationAN(user, "1234", "2741539") == Status::INCORRECT_ACCESS_NUMBER);
    MPinSDK::OTP otp;
    CHECK(sdk.StartAuthentication(user) == Status::OK);
    CHECK(sdk.FinishAuthenticationOTP(user, "1234", otp) == Status::OK && otp.otp.size() == 6);
    CHECK(!sdk.CanLogout(user) && !sdk.Logout(user));

    CHECK(sdk.IsInitilized() && sdk.IsBackendSet() && *sdk.GetVersion());
    CHECK(sdk.RestartRegistration(user) == Status::FLOW_ERROR);
    sdk.AddTrustedDomain("https://example.com");
    CHECK(sdk.TestBackend(backend) == Status::UNTRUSTED_DOMAIN_ERROR);
    /* A host name without a scheme is refused, whether it is trusted or not, because it is not a URL. */
    sdk.AddTrustedDomain("test.com");
    CHECK(sdk.TestBackend("test.com") == Status::UNTRUSTED_DOMAIN_ERROR);
    sdk.ClearTrustedDomains();
    CHECK(sdk.SetBackend(backend) == Status::OK);
}

static void TestHeaders(const StringMap &config, Context &context, const String &backend) {
    MPinSDK sdk;
    StringMap headers, more;
    headers.Put("X-Old", "1");
    more.Put("X-New", "2");
    CHECK(sdk.Init(config, &context, headers) == Status::OK);
    CHECK(String(sent.headers.Get("X-Old")) == "1");
    sdk.AddCustomHeaders(more);
    sdk.SetClientId("old client");
    CHECK(sdk.TestBackend(backend) == Status::OK);
    CHECK(String(sent.headers.Get("X-Old")) == "1" && String(sent.headers.Get("X-New")) == "2");
    CHECK(String(sent.headers.Get("X-MIRACL-Client-ID")) == "old client");
    CHECK(sent.method == MPinSDK::IHttpRequest::GET && sent.url == backend + "/rps/clientSettings");
    sdk.ClearCustomHeaders();
    CHECK(sdk.TestBackend(backend) == Status::OK);
    CHECK(sent.headers.count("X-Old") == 0 && sent.headers.count("X-New") == 0);
    sdk.SetClientId("");
    CHECK(sdk.TestBackend(backend) == Status::OK && sent.headers.count("X-MIRACL-Client-ID") == 0);
}

/* A browser (browser.sh) that shows an access number or a QR code. IsLoggedIn() waits until its login has ended. */
class Browser {
public:
    Browser(const String &backend, const char *what) {
        char line[256] = "";
        m_pipe = popen(String().Format("./browser.sh '%s' %s", backend.c_str(), what).c_str(), "r");
        CHECK(m_pipe && fgets(line, sizeof line, m_pipe));
        m_code = String(line).Trim();
        const size_t hash = m_code.find('#');
        if (hash != String::npos) m_code.erase(0, hash + 1);
    }
    const String &GetCode() const { return m_code; }
    bool IsLoggedIn() { return m_pipe && pclose(m_pipe) == 0; }

private:
    FILE *m_pipe;
    String m_code;
};

static void TestBrowserLogins(const StringMap &config, Context &context, const String &backend) {
    MPinSDK sdk;
    vector<UserPtr> users;
    CHECK(sdk.Init(config, &context) == Status::OK);
    CHECK(sdk.ListUsers(users) == Status::OK && users.size() == 1);
    if (users.size() != 1) return;
    Browser first(backend, "getAccessNumber"), second(backend, "getQrUrl");
    CHECK(sdk.CheckAccessNumber(first.GetCode()) == Status::OK);
    CHECK(sdk.StartAuthentication(users[0]) == Status::OK);
    CHECK(sdk.FinishAuthenticationAN(users[0], "4321", first.GetCode()) == Status::INCORRECT_PIN);
    CHECK(sdk.FinishAuthenticationAN(users[0], "1234", first.GetCode()) == Status::OK);
    CHECK(first.IsLoggedIn());
    MPinSDK::SessionDetails details;
    CHECK(sdk.GetSessionDetails(second.GetCode(), details) == Status::OK);
    CHECK(sdk.StartAuthentication(users[0], second.GetCode()) == Status::OK);
    CHECK(sdk.FinishAuthenticationAN(users[0], "1234", second.GetCode()) == Status::OK);
    CHECK(second.IsLoggedIn());
    CHECK(sdk.AbortSession(second.GetCode()) == Status::OK);
}

/* Tests functions that our server does not support, with answers from `written`. */
static void TestWrittenAnswers(const StringMap &config, Context &context, const String &backend) {
    MPinSDK sdk;
    CHECK(sdk.Init(config, &context) == Status::OK);
    MPinSDK::ServiceDetails service;
    written["/page/service"] = std::make_pair(200, "{\"name\":\"Page\",\"url\":\"" + backend +
        "\",\"rps_prefix\":\"rps\",\"logo_url\":\"/logo.png\",\"type\":\"online\"}");
    CHECK(sdk.GetServiceDetails(backend + "/page", service) == Status::OK);
    CHECK(service.name == "Page" && service.backendUrl == backend && service.rpsPrefix == "rps" &&
          service.logoUrl == "/logo.png");
    written["/page/service"].first = 412;
    CHECK(sdk.GetServiceDetails(backend + "/page", service) == Status::BAD_CLIENT_VERSION);

    MPinSDK::SessionDetails session;
    written["/rps/codeStatus"] =
        std::make_pair(200, "{\"prerollId\":\"alice\",\"appName\":\"Shop\",\"appLogoURL\":\"/shop.png\"}");
    CHECK(sdk.GetSessionDetails("abcdef", session) == Status::OK);
    CHECK(session.prerollId == "alice" && session.appName == "Shop" && session.appIconUrl == "/shop.png");
    CHECK(sent.content.find("\"wid\"") != String::npos && sent.content.find("abcdef") != String::npos);
    session.Clear();
    CHECK(session.prerollId.empty() && session.appName.empty() && session.appIconUrl.empty());
    CHECK(sdk.AbortSession("abcdef") == Status::OK && sent.content.find("\"abort\"") != String::npos);

    const UserPtr user = Register(sdk, "mfa@example.com");
    String code, data;
    written["/rps/authenticate"] = written["/mpinAuthenticate"] = std::make_pair(200,
        "{\"status\":200,\"code\":\"authz-code\",\"logoutURL\":\"/leave\",\"logoutData\":{\"session\":7}}");
    CHECK(sdk.StartAuthentication(user) == Status::OK);
    CHECK(sdk.FinishAuthenticationMFA(user, "1234", code) == Status::OK && code == "authz-code");
    CHECK(sdk.StartAuthentication(user) == Status::OK);
    CHECK(sdk.FinishAuthentication(user, "1234", data) == Status::OK && data.find("authz-code") != String::npos);
    CHECK(sdk.CanLogout(user));
    written["/leave"] = std::make_pair(200, "");
    CHECK(sdk.Logout(user) && !sdk.CanLogout(user));
    CHECK(sent.method == HttpRequest::POST && sent.url == backend + "/leave" &&
          sent.content.find("\"session\"") != String::npos);

    /* The answer contains a one-time password but not its times. */
    MPinSDK::OTP otp;
    CHECK(sdk.StartAuthentication(user) == Status::OK);
    CHECK(sdk.FinishAuthenticationOTP(user, "1234", otp) == Status::OK && otp.otp.size() == 6);
    CHECK(otp.status == Status::RESPONSE_PARSE_ERROR && otp.status.GetErrorMessage() == "a time is missing");
    written.clear();
    sdk.DeleteUser(user);
    CHECK(!sdk.IsUserExisting("mfa@example.com"));
}

/* Tests a registration that waits for its confirmation. The answers come from `written`, because the real server in
 * this test confirms registrations at once. */
static void TestRestart(const StringMap &config, Context &context) {
    MPinSDK sdk;
    CHECK(sdk.Init(config, &context) == Status::OK);
    const UserPtr user = sdk.MakeNewUser("waits@example.com");
    written["/rps/user"] = std::make_pair(200,
        "{\"mpinId\":\"7b22757365724944223a20227761697473406578616d706c652e636f6d227d\",\"regOTT\":\"00\",\"active\":false}");
    written["/rps/signature/"] = std::make_pair(401, "");
    CHECK(sdk.StartRegistration(user, "code", "some data") == Status::OK);
    CHECK(user->GetState() == User::STARTED_REGISTRATION);
    CHECK(sent.content.find("\"code\"") != String::npos && sent.content.find("some data") != String::npos);
    CHECK(sdk.ConfirmRegistration(user, "push") == Status::IDENTITY_NOT_VERIFIED);
    CHECK(sdk.RestartRegistration(user, "other data") == Status::OK);
    CHECK(sent.method == HttpRequest::PUT && sent.content.find("other data") != String::npos);
    written.clear();
    sdk.DeleteUser(user);
    CHECK(user->GetState() == User::INVALID);
}

/* Tests that users can be cleared from memory, and that the next Init() loads them from the storage again. */
static void TestClearUsers(const StringMap &config, Context &context) {
    MPinSDK sdk;
    vector<UserPtr> users;
    CHECK(sdk.Init(config, &context) == Status::OK);
    CHECK(sdk.ListAllUsers(users) == Status::OK && users.size() == 1);
    sdk.ClearUsers();
    CHECK(sdk.ListAllUsers(users) == Status::OK && users.empty());
    sdk.Destroy();
    CHECK(!sdk.IsInitilized() && !sdk.IsBackendSet());
    CHECK(sdk.Init(config, &context) == Status::OK);
    CHECK(sdk.ListAllUsers(users) == Status::OK && users.size() == 1);
}

/* Tests that programs for later versions of the core, which had the base class MPinSDKBase, can use its name. */
static void TestBaseClass() {
    MPinSDKBase sdk;
    MPinSDKBase::Status status(MPinSDKBase::Status::FLOW_ERROR, "no");
    status.SetStatusCode(MPinSDKBase::Status::OK);
    status.SetErrorMessage("");
    CHECK(status == Status::OK && status.GetErrorMessage().empty() && status.GetStatusCodeString() == "OK");
    CHECK(!sdk.IsInitilized());
}

/* Tests that a later object with the same storages finds the stored user. */
static void TestStorages(const StringMap &config, Context &context) {
    CHECK(!context.m_open.m_data.empty() && context.m_open.m_data.find("old@example.com") == String::npos);
    MPinSDK sdk;
    CHECK(sdk.Init(config, &context) == Status::OK);
    vector<UserPtr> users;
    CHECK(sdk.ListAllUsers(users) == Status::OK && users.size() == 1);
    if (users.empty()) return;
    CHECK(sdk.StartAuthentication(users[0]) == Status::OK);
    CHECK(sdk.FinishAuthentication(users[0], "1234") == Status::OK);
    sdk.DeleteUser(users[0]);
    CHECK(users[0]->GetState() == User::INVALID);
    sdk.Destroy();
    CHECK(sdk.Init(config, &context) == Status::OK);
    CHECK(sdk.ListAllUsers(users) == Status::OK && users.empty());
}

/* Tests that data which a Milagro core left in the storages is imported at the first Init(), and not again. */
static void TestOldStorages(const StringMap &config, const String &backend) {
    const char id[] = "{\"mobile\": 1, \"issued\": \"2026-11-21 02:36:19.271448\", \"userID\": \"alice@example.com\", "
                      "\"salt\": \"00112233445566778899aabbccddeeff\"}";
    String hex;
    for (const char *c = id; *c; ++c) hex += String().Format("%02x", static_cast<unsigned>(*c));
    Context context;
    context.m_open.m_data = "{\"" + backend.substr(7) + "\": {\"" + hex +
                            "\": {\"state\": \"REGISTERED\", \"deviceName\": \"\", \"timePermitCache\": {}}}}";
    context.m_secure.m_data = "{\"" + hex + "\": {\"token\": "
        "\"0421210a97ba3c2f1624a528761ce7a79b0034e635728e1f0ede9cd42b936a285b"
        "18bef6ffc45f6466206377c021e5e8537b617277dc54bd7dd4591f374e4a43b0\"}}";
    for (int round = 0; round < 2; ++round) {
        MPinSDK sdk;
        CHECK(sdk.Init(config, &context) == Status::OK);
        vector<UserPtr> users;
        CHECK(sdk.ListAllUsers(users) == Status::OK && users.size() == 1);
        CHECK(!users.empty() && users[0]->GetId() == "alice@example.com" && users[0]->GetState() == User::REGISTERED);
    }
    CHECK(context.m_secure.m_data.size() == 64 && context.m_open.m_data.find(hex) == String::npos);
}

/* A context in which a chosen function throws an exception when the library calls it. */
class ThrowingContext : public Context {
public:
    enum Part { NONE, CREATE, RELEASE, STORAGE };

    ThrowingContext() : m_part(NONE) {}
    virtual MPinSDK::IHttpRequest *CreateHttpRequest() const {
        Throw(CREATE);
        return Context::CreateHttpRequest();
    }
    virtual void ReleaseHttpRequest(IN MPinSDK::IHttpRequest *request) const {
        Context::ReleaseHttpRequest(request);
        Throw(RELEASE);
    }
    virtual MPinSDK::IStorage *GetStorage(MPinSDK::IStorage::Type type) const {
        Throw(STORAGE);
        return Context::GetStorage(type);
    }

    Part m_part;

private:
    void Throw(Part part) const {
        if (m_part == part) throw std::runtime_error("the context's");
    }
};

/* Tests that exceptions of the program do not pass through the library, and that the next call works as before. */
static void TestExceptions(const StringMap &config, const String &backend) {
    ThrowingContext context;
    MPinSDK sdk;
    CHECK(sdk.Init(config, &context) == Status::OK);
    context.m_part = ThrowingContext::CREATE;
    CHECK(sdk.TestBackend(backend) == Status::NETWORK_ERROR);
    context.m_part = ThrowingContext::RELEASE;
    CHECK(sdk.TestBackend(backend) == Status::OK);
    context.m_part = ThrowingContext::STORAGE;
    const UserPtr user = sdk.MakeNewUser("throws@example.com");
    CHECK(sdk.StartRegistration(user) == Status::STORAGE_ERROR);
    context.m_part = ThrowingContext::NONE;
    CHECK(sdk.TestBackend(backend) == Status::OK);
}

/* Tests that the same id at two customers gives two users, and that each user is always the same object. */
static void TestCustomers(const StringMap &config) {
    Context context;
    String users, secrets;
    const char *const customers[] = {"blue", "amber"};
    for (int i = 0; i < 2; ++i) {
        const String hex = String().Format("7b22757365724944223a22616c696365222c2273223a3%d7d", i);
        const char *comma = i ? "," : "";
        users += String().Format("%s\"%s\":{\"id\":\"alice\",\"backend\":\"https://example.com\",\"customerId\":\"%s\","
            "\"state\":\"STARTED_REGISTRATION\"}", comma, hex.c_str(), customers[i]);
        secrets += String().Format("%s\"%s\":{\"regOTT\":\"00\"}", comma, hex.c_str());
    }
    context.m_open.m_data = "{\"version\":1,\"data\":{" + users + "}}";
    context.m_secure.m_data = "{" + secrets + "}";
    MPinSDK sdk;
    vector<UserPtr> first, again;
    CHECK(sdk.Init(config, &context) == Status::OK);
    CHECK(sdk.ListAllUsers(first) == Status::OK && first.size() == 2);
    if (first.size() != 2) return;
    CHECK(first[0]->GetCustomerId() == "amber" && first[1]->GetCustomerId() == "blue");
    CHECK(sdk.ListAllUsers(again) == Status::OK && again == first);
    sdk.DeleteUser(first[0]);
    CHECK(sdk.ListAllUsers(again) == Status::OK && again.size() == 1 && again[0] == first[1]);

    /* The server names the customer in its answer to the registration. */
    const UserPtr user = sdk.MakeNewUser("bob");
    written["/rps/user"] = std::make_pair(200,
        "{\"mpinId\":\"7b22757365724944223a22626f62227d\",\"regOTT\":\"00\",\"active\":false,\"customerId\":\"green\"}");
    CHECK(sdk.StartRegistration(user) == Status::OK && user->GetCustomerId() == "green");
    written.clear();
    CHECK(sdk.ListAllUsers(again) == Status::OK && again.size() == 2 && again[1] == user);
    sdk.DeleteUser(user);
    CHECK(sdk.ListAllUsers(again) == Status::OK && again.size() == 1);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const String backend = argv[1];
    StringMap config;
    config.Put(MPinSDK::CONFIG_BACKEND, backend);
    Context context;
    TestUtilities();
    TestBaseClass();
    TestFlows(config, context, backend);
    TestHeaders(config, context, backend);
    TestBrowserLogins(config, context, backend);
    TestWrittenAnswers(config, context, backend);
    TestRestart(config, context);
    TestClearUsers(config, context);
    TestStorages(config, context);
    TestOldStorages(config, backend);
    TestCustomers(config);
    TestExceptions(config, backend);
    cout << "old_core_test: " << passed << " cases: " << !failed << " passed, " << !!failed << " failed\n";
    return failed ? 1 : 0;
}
