/* A program that was written for the MIRACL MFA core and does not know mpin.h. It repeats the flows that were recorded
 * with the real service in 2017, runs flows with the fake MFA server, and logs in at a real mpind. */

#include "cxx_check.h"
#include "mfa_sdk.h"
/* The headers have the names and folders of the MIRACL MFA core's headers. */
#include "mpin_sdk_base.h"
#include "utils.h"
#include "json/elements.h"
#include "json/reader.h"
#include "json/visitor.h"
#include "json/writer.h"

#include "fake_host.h"

#include <curl/curl.h>
#include <fstream>
#include <queue>

using std::cerr;
using std::cout;
using std::vector;

typedef MfaSDK::String String;
typedef MfaSDK::StringMap StringMap;
typedef MfaSDK::Status Status;
typedef MfaSDK::User User;
typedef MfaSDK::UserPtr UserPtr;
typedef MfaSDK::IHttpRequest IHttpRequest;

/* Prints values for the messages of failed comparisons. */
namespace std {
ostream &operator<<(ostream &out, const Status &status) {
    return out << status.GetStatusCodeString();
}
ostream &operator<<(ostream &out, User::State state) { return out << User::StateToString(state); }
ostream &operator<<(ostream &out, const util::Url &url) {
    return out << url.GetScheme() << "|" << url.GetHost() << "|" << url.GetPort() << "|" << url.GetPath();
}
} // namespace std

template <typename Got, typename Expected>
static void CheckEqual(const Got &got, const Expected &expected, const char *what, int line) {
    Check(got == expected, what, __FILE__, line);
    if (!(got == expected)) cerr << "    got " << got << ", not " << expected << "\n";
}
#define EQUAL(got, expected) CheckEqual((got), (expected), #got, __LINE__)

/* ---- Contexts ------------------------------------------------------------------------------------------------- */

struct Answer {
    Answer() : success(false), status(0) {}
    Answer(bool didSucceed, const String &text, int httpStatus, const StringMap &fields, const String &body)
        : success(didSucceed), error(text), status(httpStatus), headers(fields), data(body) {}
    explicit Answer(const json::Object &recorded)
        : success(static_cast<const json::Boolean &>(recorded["success"]).Value()),
          error(static_cast<const json::String &>(recorded["error"]).Value()),
          status(static_cast<int>(static_cast<const json::Number &>(recorded["status"]).Value())),
          headers(util::StringMap()) {
        const json::UnknownElement &fields = recorded["headers"];
        if (!(fields == json::UnknownElement())) headers = StringMap(static_cast<const json::Object &>(fields));
        const json::UnknownElement &body = recorded["body"];
        try {
            data = static_cast<const json::String &>(body).Value();
        } catch (const json::Exception &) {
            std::stringstream text;
            json::Writer::Write(body, text);
            if (text.str() != "null") data = text.str();
        }
    }

    bool success;
    String error;
    int status;
    StringMap headers;
    String data;
};

/* What answers the requests of a context: a recording, the fake server or a real server. */
class Host {
public:
    virtual ~Host() {}
    virtual Answer Serve(const String &method, const String &url, const StringMap &headers, const String &body) = 0;
};

class HttpRequest : public IHttpRequest {
public:
    explicit HttpRequest(Host &host) : m_host(host) {}
    virtual void SetHeaders(const StringMap &headers) { m_headers = headers; }
    virtual void SetQueryParams(const StringMap &) { assert(false); }
    virtual void SetContent(const String &data) { m_content = data; }
    virtual void SetTimeout(int seconds) { CHECK(seconds > 0); }
    virtual bool Execute(Method method, const String &url) {
        m_answer = m_host.Serve(MethodToString(method), url, m_headers, m_content);
        return m_answer.success;
    }
    virtual const String &GetExecuteErrorMessage() const { return m_answer.error; }
    virtual int GetHttpStatusCode() const { return m_answer.status; }
    virtual const StringMap &GetResponseHeaders() const { return m_answer.headers; }
    virtual const String &GetResponseData() const { return m_answer.data; }

private:
    static String MethodToString(Method method) {
        switch (method) {
        case GET: return "GET";
        case POST: return "POST";
        case PUT: return "PUT";
        case DELETE:
        case OPTIONS:
        case PATCH: break;
        }
        assert(false);
        return "";
    }

    Host &m_host;
    StringMap m_headers;
    String m_content;
    Answer m_answer;
};

class MemoryStorage : public MPinSDKBase::IStorage {
public:
    virtual bool SetData(const String &data) {
        m_data = data;
        return true;
    }
    virtual bool GetData(OUT String &data) {
        data = m_data;
        return true;
    }
    virtual bool ClearData() { return SetData(""); }
    virtual const String &GetErrorMessage() const { return m_error; }

private:
    String m_data, m_error;
};

class Context : public MPinSDKBase::IContext {
public:
    explicit Context(Host &host) : m_host(host) {}
    virtual IHttpRequest *CreateHttpRequest() const { return new HttpRequest(m_host); }
    virtual void ReleaseHttpRequest(IN IHttpRequest *request) const { delete request; }
    virtual MPinSDKBase::IStorage *GetStorage(MPinSDKBase::IStorage::Type type) const {
        return type == MPinSDKBase::IStorage::SECURE ? &m_secure : &m_open;
    }
    virtual MPinSDKBase::CryptoType GetMPinCryptoType() const { return MPinSDKBase::CRYPTO_NON_TEE; }

private:
    Host &m_host;
    mutable MemoryStorage m_secure, m_open;
};

/* Answers with the recorded answers of the service of 2017. `context` is the name of a part of the recording. */
class RecordedHost : public Host {
public:
    explicit RecordedHost(const char *path) : m_missing(0) {
        std::ifstream file(path);
        json::Object recording;
        json::Reader::Read(recording, file);
        const json::Object &contexts = recording["contexts"];
        for (json::Object::const_iterator i = contexts.Begin(); i != contexts.End(); ++i) {
            const json::Array &exchanges = i->element;
            for (json::Array::const_iterator j = exchanges.Begin(); j != exchanges.End(); ++j) {
                const json::Object &request = (*j)["request"];
                const String method = static_cast<const json::String &>(request["method"]).Value();
                const String target = static_cast<const json::String &>(request["target"]).Value();
                m_answers.insert(std::make_pair(Key(method, target, i->name), Answer((*j)["response"])));
            }
        }
    }

    virtual Answer Serve(const String &method, const String &url, const StringMap &, const String &) {
        if (!written.empty()) {
            const Answer answer = written.front();
            written.pop();
            return answer;
        }
        const std::map<String, Answer>::const_iterator found = m_answers.find(Key(method, url, context));
        if (found != m_answers.end()) return found->second;
        cerr << "nothing was recorded for " << Key(method, url, context) << "\n";
        ++m_missing;
        return Answer();
    }

    size_t GetSize() const { return m_answers.size(); }
    int GetMissing() const { return m_missing; }

    String context;
    /* Answers that replace the next recorded ones. */
    std::queue<Answer> written;

private:
    static String Key(const String &method, const String &url, const String &context) {
        return method + " " + url + " " + context;
    }

    std::map<String, Answer> m_answers;
    int m_missing;
};

/* Answers with the server of fake_server.h, which checks proofs. */
class FakeHost : public Host {
public:
    explicit FakeHost(const char *user) : m_server(fake_host_new()), m_user(user) {}
    ~FakeHost() { fake_host_free(m_server); }
    virtual Answer Serve(const String &method, const String &url, const StringMap &headers, const String &body) {
        vector<char> answer(FAKE_HOST_ANSWER);
        sentHeaders = headers;
        sent = util::JsonObject();
        if (!body.empty()) CHECK(sent.Parse(body.c_str()));
        const int status =
            fake_host_serve(m_server, method.c_str(), url.c_str(), body.c_str(), m_user.c_str(), answer.data());
        return Answer(true, "", status, StringMap(), answer.data());
    }

    StringMap sentHeaders;
    util::JsonObject sent;

private:
    FakeHost(const FakeHost &);
    void operator=(const FakeHost &);

    void *m_server;
    String m_user;
};

/* Sends the requests to a server on this machine. */
class NetworkHost : public Host {
public:
    virtual Answer
    Serve(const String &method, const String &url, const StringMap &headers, const String &body) {
        CURL *curl = curl_easy_init();
        curl_slist *lines = NULL;
        String data;
        long status = 0;
        for (StringMap::const_iterator i = headers.begin(); i != headers.end(); ++i)
            lines = curl_slist_append(lines, (i->first + ": " + i->second).c_str());
        curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines);
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
        if (method != "GET") curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body.c_str());
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &data);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Receive);
        const CURLcode code = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        curl_slist_free_all(lines);
        curl_easy_cleanup(curl);
        return Answer(code == CURLE_OK, curl_easy_strerror(code), static_cast<int>(status), StringMap(), data);
    }

private:
    static size_t Receive(char *bytes, size_t size, size_t count, void *data) {
        static_cast<String *>(data)->append(bytes, size * count);
        return size * count;
    }
};

/* ---- Values --------------------------------------------------------------------------------------------------- */

static void TestJsonObject() {
    util::JsonObject object;
    CHECK(object.Parse(" {\"name\":\"Al\\u00edce \\ud83d\\ude00\\n\",\"n\":-12.5e1,\"big\":1489503014098,\"yes\":true,"
                       "\"none\":null,\"list\":[1,{\"in\":\"deep\"},[]],\"inner\":{\"a\":\"b\"}} "));
    CHECK(object.GetParseError().empty());
    EQUAL(String(object.GetStringParam("name")), "Al\xc3\xad" "ce \xf0\x9f\x98\x80\n");
    EQUAL(String(object.GetStringParam("n", "default")), "default");
    EQUAL(String(object.GetStringParam("missing")), "");
    EQUAL(object.GetIntParam("n"), -125);
    EQUAL(object.GetIntParam("big", 7), 7);
    EQUAL(object.GetIntParam("name", -1), -1);
    EQUAL(object.GetInt64Param("big"), 1489503014098LL);
    CHECK(object.GetBoolParam("yes") && !object.GetBoolParam("n") && object.GetBoolParam("missing", true));
    EQUAL(static_cast<const json::String &>(object["list"][1]["in"]).Value(), "deep");

    util::JsonObject data;
    data["userId"] = json::String("a\"b\\\x01");
    data["mobile"] = json::Number(1);
    data["third"] = json::Number(0.1);
    data["active"] = json::Boolean(false);
    data["inner"] = object["inner"];
    data.PutIfNotEmpty("kept", "x");
    data.PutIfNotEmpty("left", "");
    EQUAL(data.ToString(), "{\"userId\":\"a\\\"b\\\\\\u0001\",\"mobile\":1,\"third\":0.1,\"active\":false,"
                           "\"inner\":{\"a\":\"b\"},\"kept\":\"x\"}");
    util::JsonObject again;
    CHECK(again.Parse(data.ToString().c_str()) && again == data);
    const json::Object plain = data;
    const util::JsonObject copy(plain);
    EQUAL(copy.ToString(), data.ToString());
    again = plain;
    EQUAL(again.ToString(), data.ToString());
    EQUAL(util::GetOptionalStringParam(plain, "kept"), "x");
    EQUAL(util::GetOptionalStringParam(plain, "left", "default"), "default");
    EQUAL(util::GetOptionalIntParam(plain, "mobile"), 1);
    EQUAL(util::GetOptionalIntParam(plain, "left", 9), 9);
    bool thrown = false;
    try {
        CHECK(again.Parse("{\"big\":3e9}"));
        util::GetOptionalIntParam(again, "big");
    } catch (const json::Exception &) {
        thrown = true;
    }
    CHECK(thrown);
    again = plain;
    util::OverwriteJsonValues(again);
    EQUAL(again.ToString(), "{\"userId\":\"     \",\"mobile\":0,\"third\":0,\"active\":false,"
                            "\"inner\":{\"a\":\" \"},\"kept\":\" \"}");
    again.Clear();
    CHECK(again.Empty());
}

static void TestNoJson() {
    const String deep(200, '[');
    const String refused[] = {
        "", " ", "[1]", "1", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1} x", "{'a':1}", "{\"a\":01}",
        "{\"a\":1.}", "{\"a\":+1}", "{\"a\":1e999}", "{\"a\":nul}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\\ud800\"}", "{\"a\":\"\\ud800\\u0041\"}", "{\"a\":\"\\u12", "{\"a\":\"", "{\"a\":[1 2]}",
        "{\"a\":1,\"a\":2}", "{\"a\":" + deep,
    };
    util::JsonObject object;
    for (const String &text : refused) {
        object["former"] = json::String("value");
        if (object.Parse(text.c_str())) cerr << text << "\n";
        CHECK(object.Empty() && !object.GetParseError().empty());
    }
    CHECK(!object.Parse(NULL));
    CHECK(!object.Parse("{\"pin\":\"1234\""));
    CHECK(object.GetParseError().find("1234") == std::string::npos);
}

static void TestElements() {
    json::Array array;
    array.Insert(json::String("one"));
    array.Insert(json::Number(2));
    json::Object member;
    member.Insert(json::Object::Member("a", json::Null()));
    array.Insert(member);
    CHECK(array.Size() == 3 && array.Begin() != array.End() && !array.Empty());
    const json::Array &constant = array;
    CHECK(constant[0] == json::String("one") && json::Number(2) == constant[1] && constant[2] == member);
    CHECK(static_cast<const json::Number &>(constant[1]).Value() < 2.5);
    bool thrown[] = {false, false, false, false};
    try {
        const json::Number &number = constant[0];
        CHECK(number.Value() < 0);
    } catch (const json::Exception &) {
        thrown[0] = true;
    }
    try {
        CHECK(constant[3] == json::Null());
    } catch (const json::Exception &) {
        thrown[1] = true;
    }
    try {
        const json::Object &object = member;
        CHECK(object["b"] == json::Null());
    } catch (const json::Exception &) {
        thrown[2] = true;
    }
    try {
        member.Insert(json::Object::Member("a"));
    } catch (const json::Exception &error) {
        thrown[3] = *error.what() != '\0';
    }
    CHECK(thrown[0] && thrown[1] && thrown[2] && thrown[3]);
    /* If a JSON value is not const, an element of it changes its type to that with which the program accesses it. */
    json::String &text = array[1];
    text = String("two");
    EQUAL(static_cast<const json::String &>(constant[1]).Value(), "two");
    array[0]["x"][2] = json::Boolean(true);
    std::stringstream out;
    json::Writer::Write(array, out);
    EQUAL(out.str(), "[{\"x\":[null,null,true]},\"two\",{\"a\":null}]");
    json::Array read;
    json::Reader::Read(read, out);
    CHECK(read == array);
    read.Erase(read.Begin());
    read.Resize(1);
    CHECK(read.Size() == 1 && !(read == array));

    struct Counter : json::ConstVisitor {
        Counter() : count(0) {}
        virtual void Visit(const json::Array &) { count += 1; }
        virtual void Visit(const json::Object &) { count += 10; }
        virtual void Visit(const json::Number &) { count += 100; }
        virtual void Visit(const json::String &) { count += 1000; }
        virtual void Visit(const json::Boolean &) { count += 10000; }
        virtual void Visit(const json::Null &) { count += 100000; }
        int count;
    } counter;
    for (json::Array::const_iterator i = constant.Begin(); i != constant.End(); ++i) i->Accept(counter);
    EQUAL(counter.count, 1020);
}

static void TestUtilities() {
    StringMap map;
    map.Put("Content-Type", "application/json");
    StringMap more;
    more.Put("Accept", "*/*");
    map.PutAll(more);
    const json::Object object = map.ToJsonObject();
    EQUAL(util::JsonObject(object).ToString(), "{\"Accept\":\"*/*\",\"Content-Type\":\"application/json\"}");
    CHECK(StringMap(object) == map);
    json::Object number;
    number["n"] = json::Number(1);
    bool thrown = false;
    try {
        CHECK(StringMap(number).empty());
    } catch (const json::Exception &) {
        thrown = true;
    }
    CHECK(thrown);

    EQUAL(util::HexEncode(String("\x00\xff" "A", 3)), "00ff41");
    EQUAL(util::HexDecode("00fF41"), String("\x00\xff" "A", 3));
    CHECK(util::HexDecode("000").empty() && util::HexDecode("0g").empty());
    CHECK(String("pin").EndsWith("in") && !String("in").EndsWith("pin"));
    EQUAL(String("HtTpS").ToLower(), "https");
    std::string secret = "1234";
    util::OverwriteString(secret, '0');
    EQUAL(secret, "0000");

    const struct {
        const char *text;
        util::Url parts;
    } urls[] = {
        {"https://example.com:8080/a/b?c#d", util::Url("https", "example.com", "8080", "a/b?c#d")},
        {"HtTp://EXAMPLE.com", util::Url("http", "example.com", "", "")},
        {"example.com:81", util::Url("", "example.com", "81", "")},
        {"https:///example.com/", util::Url("https", "example.com", "", "")},
        {"http:/example.com", util::Url("", "http", "", "example.com")},
        {"/path", util::Url("", "", "", "path")},
        {"https://caf\xc3\xa9.example/:80/p", util::Url("https", "caf\xc3\xa9.example", "", ":80/p")},
        {"", util::Url("", "", "", "")},
    };
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; ++i) EQUAL(util::Url(urls[i].text), urls[i].parts);
    CHECK(util::Url("http://a") != util::Url("https://a"));

    MfaSDK::MultiFactor factors("1234");
    factors.push_back("567890");
    CHECK(factors.size() == 2 && !factors.IsEmpty());
    CHECK(MfaSDK::MultiFactor().IsEmpty() && MfaSDK::MultiFactor("").IsEmpty());
}

/* ---- The recorded service ------------------------------------------------------------------------------------- */

static const char *const SERVICE = "https://api.dev.miracl.net";
static const char *const AUTHORIZE =
    "https://api.dev.miracl.net/authorize?client_id=nfoztuxb5dpn4&"
    "redirect_uri=https%3A%2F%2Fmcl.demo.dev.miracl.net%2Foidc&response_type=code&scope=openid+email+profile&"
    "state=ac5caf93cc4118d27bbe23ec4568b0dd&back_url=https%3A%2F%2Fmcl.demo.dev.miracl.net%2F&lang=en";

/* Repeats the calls of the recorded program. Before each call it selects the part of the recording with the answers. */
class Recorded : public MfaSDK {
public:
    Recorded(RecordedHost &host, Context &context) : m_host(host), m_context(context) {}

    Status Init(const StringMap &config) { return MfaSDK::Init(config, &m_context); }

    /* Gets the code of a new session. `number` is the number of the session in the recording. */
    String NextCode(const char *part, int number) {
        String code;
        m_host.context = String().Format("GetAccessCode%03d@%s", number, part);
        EQUAL(GetAccessCode(AUTHORIZE, code), Status::OK);
        m_host.context = String("@") + part;
        return code;
    }

    /* Makes a call, which gets the answers that were recorded for the user `who` in this part of the recording. */
    template <typename Call> Status As(const String &who, const char *part, const Call &call) {
        m_host.context = who + "@" + part;
        const Status status = call();
        m_host.context = String("@") + part;
        return status;
    }

    UserPtr Register(const String &id, const String &code, const char *part, const String &pin) {
        const UserPtr user = MakeNewUser(id);
        EQUAL(As(id + "-" + code + "-", part, [&] { return StartRegistration(user, code, ""); }), Status::OK);
        EQUAL(user->GetState(), User::STARTED_REGISTRATION);
        EQUAL(As(id, part, [&] { return ConfirmRegistration(user); }), Status::OK);
        EQUAL(FinishRegistration(user, pin), Status::OK);
        EQUAL(user->GetState(), User::REGISTERED);
        return user;
    }

    Status Start(const UserPtr &user, const String &code, const char *part) {
        return As(user->GetId() + "-" + code, part, [&] { return StartAuthentication(user, code); });
    }
    Status Finish(const UserPtr &user, const String &pin, const String &code, const char *part) {
        return As(user->GetId() + "-" + pin + "-" + code, part, [&] {
            return FinishAuthentication(user, pin, code);
        });
    }

private:
    RecordedHost &m_host;
    Context &m_context;
};

static void TestNotInitialised(Recorded &sdk) {
    MfaSDK::ServiceDetails service;
    MfaSDK::SessionDetails session;
    String text;
    vector<UserPtr> users;
    EQUAL(sdk.GetServiceDetails("https://example.com", service), Status::FLOW_ERROR);
    EQUAL(sdk.GetSessionDetails("12345", session), Status::FLOW_ERROR);
    EQUAL(sdk.AbortSession("12345"), Status::FLOW_ERROR);
    EQUAL(sdk.GetAccessCode("https://example.com", text), Status::FLOW_ERROR);
    EQUAL(sdk.TestBackend("12345"), Status::FLOW_ERROR);
    EQUAL(sdk.SetBackend("12345"), Status::FLOW_ERROR);
    EQUAL(sdk.ListUsers(users), Status::FLOW_ERROR);
    const UserPtr user = sdk.MakeNewUser("nobody");
    MfaSDK::OTP otp;
    MfaSDK::RegCode regCode;
    MfaSDK::VerificationResult verification;
    MfaSDK::Signature signature;
    EQUAL(sdk.StartRegistration(user, "", ""), Status::FLOW_ERROR);
    EQUAL(sdk.RestartRegistration(user), Status::FLOW_ERROR);
    EQUAL(sdk.ConfirmRegistration(user), Status::FLOW_ERROR);
    EQUAL(sdk.SetRegistrationToken(user, "token"), Status::FLOW_ERROR);
    EQUAL(sdk.FinishRegistration(user, ""), Status::FLOW_ERROR);
    EQUAL(sdk.StartAuthentication(user, ""), Status::FLOW_ERROR);
    EQUAL(sdk.FinishAuthentication(user, "", ""), Status::FLOW_ERROR);
    EQUAL(sdk.FinishAuthentication(user, "1234", "code", text), Status::FLOW_ERROR);
    EQUAL(sdk.StartAuthenticationOTP(user), Status::FLOW_ERROR);
    EQUAL(sdk.FinishAuthenticationOTP(user, "", otp), Status::FLOW_ERROR);
    EQUAL(sdk.StartAuthenticationRegCode(user), Status::FLOW_ERROR);
    EQUAL(sdk.FinishAuthenticationRegCode(user, "1234", regCode), Status::FLOW_ERROR);
    EQUAL(sdk.StartVerification(user, "client", ""), Status::FLOW_ERROR);
    EQUAL(sdk.FinishVerification(user, "code", verification), Status::FLOW_ERROR);
    EQUAL(sdk.StartRegistrationDVS(user, "1234"), Status::FLOW_ERROR);
    EQUAL(sdk.FinishRegistrationDVS(user, "1234"), Status::FLOW_ERROR);
    EQUAL(sdk.Sign(user, "hash", "1234", 0, signature), Status::FLOW_ERROR);
    CHECK(!sdk.IsRegistrationTokenSet(user) && !sdk.CanLogout(user) && !sdk.Logout(user));
    EQUAL(user->GetState(), User::INVALID);
    sdk.DeleteUser(user);
}

static void TestRecordedInit(Recorded &sdk, RecordedHost &host) {
    StringMap config;
    config.Put(MfaSDK::CONFIG_BACKEND, SERVICE);
    host.context = "@InitNoCID";
    EQUAL(sdk.Init(config), Status::BAD_USER_AGENT);
    sdk.SetCID("mcl");
    host.context = "@Init";
    EQUAL(sdk.Init(config), Status::OK);
    CHECK(sdk.IsInitilized() && sdk.IsBackendSet());
    EQUAL(sdk.GetClientParam("appID"), "OIDC");

    const char *part = "ServiceAndSessionDetails";
    host.context = "@ServiceAndSessionDetails";
    MfaSDK::ServiceDetails service;
    EQUAL(sdk.GetServiceDetails("https://mcl.dev.mpin.io", service), Status::OK);
    CHECK(service.backendUrl == SERVICE && service.rpsPrefix == "rps" && !service.name.empty() &&
          !service.logoUrl.empty());
    const String code = sdk.NextCode(part, 1);
    MfaSDK::SessionDetails session;
    EQUAL(sdk.As(code + "-GetSessionDetails", part, [&] { return sdk.GetSessionDetails(code, session); }), Status::OK);
    CHECK(session.appName == "TCB Demo" && session.customerName == "Miracl" && session.prerollId.empty() &&
          session.appIconUrl.empty() && session.customerIconUrl.empty() && !session.registerOnly);
    EQUAL(session.customerId, "8b382b4e-6f35-4475-88c3-1548e4d3248f");
    session.Clear();
    CHECK(session.customerId.empty());
    EQUAL(sdk.As(code + "-AbortSession", part, [&] { return sdk.AbortSession(code); }), Status::OK);

    host.context = "@TestBackend";
    EQUAL(sdk.TestBackend("https://m-pindemo.certivox.org"), Status::OK);
    EQUAL(sdk.TestBackend("https://blabla.certivox.org"), Status::NETWORK_ERROR);
    host.context = "@SetBackend";
    EQUAL(sdk.SetBackend("https://blabla.certivox.org"), Status::NETWORK_ERROR);
    EQUAL(sdk.SetBackend(SERVICE), Status::OK);
}

static void TestRecordedUsers(Recorded &sdk) {
    const char *part = "Users";
    const UserPtr user = sdk.MakeNewUser("testUser1@example.com");
    EQUAL(sdk.As("testUser1@example.com--", part, [&] { return sdk.StartRegistration(user, "", ""); }),
          Status::HTTP_REQUEST_ERROR);
    EQUAL(user->GetState(), User::INVALID);
    const String code = sdk.NextCode(part, 2);
    EQUAL(sdk.As("testUser1@example.com-" + code + "-", part, [&] { return sdk.StartRegistration(user, code, ""); }),
          Status::OK);
    EQUAL(user->GetState(), User::STARTED_REGISTRATION);
    const MfaSDK::Expiration expiration = user->GetRegistrationExpiration();
    EQUAL(expiration.expireTimeSeconds - expiration.nowTimeSeconds, 3600);
    CHECK(!user->GetCustomerId().empty() && sdk.IsUserExisting(user->GetId(), user->GetCustomerId()));
    CHECK(!sdk.IsUserExisting(user->GetId(), "another") && user->GetVerificationType().empty());
    CHECK(!sdk.CanLogout(user) && !sdk.Logout(user));
    vector<UserPtr> users;
    CHECK(sdk.ListUsers(users) == Status::OK && users.size() == 1 && users[0] == user);
    EQUAL(sdk.FinishRegistration(user, ""), Status::FLOW_ERROR);
    EQUAL(sdk.Start(user, code, part), Status::FLOW_ERROR);
    EQUAL(sdk.Finish(user, "", code, part), Status::FLOW_ERROR);
    EQUAL(user->GetState(), User::STARTED_REGISTRATION);
    sdk.DeleteUser(user);
    EQUAL(user->GetState(), User::INVALID);
    EQUAL(sdk.RestartRegistration(user), Status::FLOW_ERROR);
    for (int i = 0; i < 10; ++i) {
        const UserPtr another = sdk.MakeNewUser(String().Format("testUser%03d@example.com", i));
        EQUAL(sdk.As(another->GetId() + "-" + code + "-", part,
                  [&] { return sdk.StartRegistration(another, code, ""); }), Status::OK);
    }
    CHECK(sdk.ListUsers(users) == Status::OK && users.size() == 10);
    for (vector<UserPtr>::iterator i = users.begin(); i != users.end(); ++i) sdk.DeleteUser(*i);
    CHECK(sdk.ListUsers(users) == Status::OK && users.empty());
}

static void TestRecordedRegistrations(Recorded &sdk) {
    const char *part = "Registration";
    const String code = sdk.NextCode(part, 3);
    const UserPtr first = sdk.Register("testUser1@example.com", code, part, "1234");
    EQUAL(sdk.RestartRegistration(first), Status::FLOW_ERROR);
    EQUAL(first->GetState(), User::REGISTERED);

    const UserPtr second = sdk.MakeNewUser("testUser2@example.com");
    EQUAL(sdk.As("testUser2@example.com-" + code + "-", part,
              [&] { return sdk.StartRegistration(second, code, ""); }), Status::OK);
    EQUAL(sdk.As("testUser2@example.com", part, [&] { return sdk.RestartRegistration(second); }), Status::OK);
    EQUAL(second->GetState(), User::STARTED_REGISTRATION);
    EQUAL(sdk.As("testUser2@example.com", part, [&] { return sdk.ConfirmRegistration(second); }), Status::OK);
    EQUAL(sdk.FinishRegistration(second, String("1234")), Status::OK);

    /* The user registers again. The server answers with the same customer, at which this id already has a user. */
    const UserPtr again = sdk.MakeNewUser("testUser1@example.com");
    EQUAL(sdk.As("testUser1@example.com-" + code + "-test", part,
              [&] { return sdk.StartRegistration(again, code, "test"); }), Status::FLOW_ERROR);
    EQUAL(again->GetState(), User::INVALID);
    EQUAL(first->GetState(), User::REGISTERED);

    const UserPtr third = sdk.MakeNewUser("testUser3@example.com");
    EQUAL(sdk.As("testUser3@example.com-" + code + "-", part,
              [&] { return sdk.StartRegistration(third, code, ""); }), Status::OK);
    EQUAL(sdk.FinishRegistration(third, ""), Status::FLOW_ERROR);

    const UserPtr fourth = sdk.MakeNewUser("testUser4@example.com");
    EQUAL(sdk.As("testUser4@example.com-" + code + "-", part,
              [&] { return sdk.StartRegistration(fourth, code, ""); }), Status::OK);
    EQUAL(sdk.As("testUser4@example.com", part, [&] { return sdk.ConfirmRegistration(fourth); }), Status::OK);
    EQUAL(sdk.FinishRegistration(fourth, ""), Status::PIN_INPUT_CANCELED);
    EQUAL(fourth->GetState(), User::STARTED_REGISTRATION);
}

static void TestRecordedLogins(Recorded &sdk) {
    const char *part = "Authentication";
    vector<UserPtr> users;
    UserPtr user;
    CHECK(sdk.ListUsers(users) == Status::OK);
    for (size_t i = 0; i < users.size(); ++i)
        if (users[i]->GetId() == "testUser1@example.com") user = users[i];
    CHECK(user && user->GetState() == User::REGISTERED);
    if (!user) return;
    String code = sdk.NextCode(part, 4);
    EQUAL(sdk.Start(user, code, part), Status::OK);
    EQUAL(sdk.Finish(user, "1234", code, part), Status::OK);
    EQUAL(user->GetState(), User::REGISTERED);

    code = sdk.NextCode(part, 5);
    EQUAL(sdk.Start(user, code, part), Status::OK);
    EQUAL(sdk.As("testUser1@example.com-1234-" + code + "-AUTHZ", part,
              [&] { return sdk.FinishAuthentication(user, "1234", code); }), Status::OK);

    MfaSDK::OTP otp;
    EQUAL(sdk.StartAuthenticationOTP(user), Status::OK);
    EQUAL(sdk.As("testUser1@example.com-1234-OTP", part,
              [&] { return sdk.FinishAuthenticationOTP(user, "1234", otp); }), Status::OK);
    CHECK(otp.status == Status::OK && otp.otp == "157001" && otp.ttlSeconds == 90);
    EQUAL(otp.expireTime - otp.nowTime, 90);

    code = sdk.NextCode(part, 6);
    EQUAL(sdk.Start(user, code, part), Status::OK);
    EQUAL(sdk.Finish(user, "1111", code, part), Status::INCORRECT_PIN);
    EQUAL(user->GetState(), User::REGISTERED);
    EQUAL(sdk.Finish(user, "1234", code, part), Status::OK);
    EQUAL(sdk.Start(user, "1234", part), Status::OK);
    EQUAL(sdk.Finish(user, "1234", "1234", part), Status::INCORRECT_ACCESS_NUMBER);

    code = sdk.NextCode(part, 7);
    EQUAL(sdk.Start(user, code, part), Status::OK);
    EQUAL(sdk.Finish(user, "1111", code, part), Status::INCORRECT_PIN);
    EQUAL(sdk.Finish(user, "2222", code, part), Status::INCORRECT_PIN);
    EQUAL(user->GetState(), User::REGISTERED);
    EQUAL(sdk.Finish(user, "3333", code, part), Status::INCORRECT_PIN);
    EQUAL(user->GetState(), User::BLOCKED);
}

static void TestRecordedTrust(Recorded &sdk, RecordedHost &host) {
    const char *part = "TrustedDomains";
    host.context = "@TrustedDomains";
    sdk.AddTrustedDomain("mpin.io");
    MfaSDK::ServiceDetails service;
    MfaSDK::SessionDetails session;
    String code;
    EQUAL(sdk.GetServiceDetails("https://mcl.dev.mpin.io", service), Status::OK);
    EQUAL(sdk.GetAccessCode(AUTHORIZE, code), Status::UNTRUSTED_DOMAIN_ERROR);
    EQUAL(sdk.GetSessionDetails(code, session), Status::UNTRUSTED_DOMAIN_ERROR);
    EQUAL(sdk.AbortSession(code), Status::UNTRUSTED_DOMAIN_ERROR);
    const UserPtr user = sdk.MakeNewUser("testUser5@example.com");
    EQUAL(sdk.StartRegistration(user, code, ""), Status::UNTRUSTED_DOMAIN_ERROR);
    EQUAL(user->GetState(), User::INVALID);

    sdk.AddTrustedDomain("miracl.net");
    code = sdk.NextCode(part, 9);
    EQUAL(sdk.As(code + "-GetSessionDetails", part, [&] { return sdk.GetSessionDetails(code, session); }), Status::OK);
    EQUAL(sdk.As(code + "-AbortSession", part, [&] { return sdk.AbortSession(code); }), Status::OK);
    code = sdk.NextCode(part, 10);
    EQUAL(sdk.As("testUser5@example.com-" + code + "-", part,
              [&] { return sdk.StartRegistration(user, code, ""); }), Status::OK);
    EQUAL(sdk.As("testUser5@example.com", part, [&] { return sdk.ConfirmRegistration(user); }), Status::OK);
    EQUAL(sdk.FinishRegistration(user, "1234"), Status::OK);
    EQUAL(sdk.Start(user, code, part), Status::OK);
    EQUAL(sdk.Finish(user, "1234", code, part), Status::OK);
    sdk.ClearTrustedDomains();
}

/* Tests HTTP statuses that the recorded service did not return. */
static void TestWrittenStatuses(Recorded &sdk, RecordedHost &host) {
    const char *part = "Misc";
    const UserPtr user = sdk.Register("misc3@example.com", sdk.NextCode(part, 12), part, "1234");
    const struct {
        int status;
        Status::Code login, registration;
    } cases[] = {
        {403, Status::IDENTITY_NOT_AUTHORIZED, Status::IDENTITY_NOT_AUTHORIZED},
        {406, Status::BAD_USER_AGENT, Status::BAD_USER_AGENT},
        {408, Status::REQUEST_EXPIRED, Status::HTTP_REQUEST_ERROR},
        {409, Status::CLIENT_SECRET_EXPIRED, Status::HTTP_REQUEST_ERROR},
        {500, Status::HTTP_SERVER_ERROR, Status::HTTP_SERVER_ERROR},
        {302, Status::NETWORK_ERROR, Status::NETWORK_ERROR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        EQUAL(sdk.StartAuthentication(user, ""), Status::OK);
        host.written.push(Answer(true, "", 200, StringMap(), "{\"y\":\"" + String(64, '1') + "\",\"pass\":1}"));
        host.written.push(Answer(true, "", 200, StringMap(), "{\"authOTT\":\"00\",\"pass\":2}"));
        host.written.push(Answer(true, "", cases[i].status, StringMap(), ""));
        EQUAL(sdk.FinishAuthentication(user, "1234", ""), cases[i].login);
        EQUAL(user->GetState(), User::REGISTERED);
        host.written = std::queue<Answer>();
        host.written.push(Answer(true, "", cases[i].status, StringMap(), ""));
        EQUAL(sdk.StartRegistration(sdk.MakeNewUser("misc9@example.com"), "", ""), cases[i].registration);
        host.written = std::queue<Answer>();
    }
    MfaSDK::ServiceDetails service;
    host.written.push(Answer(true, "", 412, StringMap(), ""));
    EQUAL(sdk.GetServiceDetails("https://mcl.dev.mpin.io/", service), Status::BAD_CLIENT_VERSION);
    String code;
    host.written.push(Answer(true, "", 200, StringMap(), "{\"qrURL\":\"https://mcl.dev.mpin.io#\"}"));
    EQUAL(sdk.GetAccessCode(AUTHORIZE, code), Status::RESPONSE_PARSE_ERROR);
    host.written.push(Answer(false, "no route", 0, StringMap(), ""));
    const Status unreachable = sdk.GetAccessCode(AUTHORIZE, code);
    EQUAL(unreachable, Status::NETWORK_ERROR);
    CHECK(unreachable.GetErrorMessage().find("no route") != String::npos);
    sdk.DeleteUser(user);
}

static void TestRecording(const char *path) {
    RecordedHost host(path);
    CHECK(host.GetSize() > 90);
    Context context(host);
    Recorded sdk(host, context);
    TestNotInitialised(sdk);
    TestRecordedInit(sdk, host);
    TestRecordedUsers(sdk);
    TestRecordedRegistrations(sdk);
    TestRecordedLogins(sdk);
    TestRecordedTrust(sdk, host);
    TestWrittenStatuses(sdk, host);
    EQUAL(host.GetMissing(), 0);

    /* Initialises the sdk again. It must find the stored users. */
    vector<UserPtr> before, after;
    CHECK(sdk.ListUsers(before) == Status::OK && before.size() == 5);
    sdk.Destroy();
    CHECK(sdk.Init(StringMap()) == Status::OK && !sdk.IsBackendSet());
    CHECK(sdk.ListUsers(after) == Status::OK && after.size() == before.size());
    sdk.ClearUsers();
    CHECK(sdk.ListUsers(after) == Status::OK && after.empty());
}

/* ---- The fake MFA server -------------------------------------------------------------------------------------- */

static void TestWrittenServer() {
    FakeHost host("alice@example.com");
    Context context(host);
    MfaSDK sdk;
    StringMap config, headers;
    config.Put(MfaSDK::CONFIG_BACKEND, FAKE_HOST_URL);
    headers.Put("X-Program", "test");
    sdk.SetCID("client");
    sdk.AddCustomHeaders(headers);
    EQUAL(sdk.Init(config, &context), Status::OK);
    EQUAL(host.sentHeaders.Get("X-MIRACL-CID"), String("client"));
    EQUAL(host.sentHeaders.Get("X-Program"), String("test"));
    sdk.ClearCustomHeaders();
    EQUAL(sdk.TestBackend(FAKE_HOST_URL), Status::OK);
    CHECK(host.sentHeaders.count("X-Program") == 0 && String(host.sentHeaders.Get("X-MIRACL-CID")) == "client");

    const UserPtr user = sdk.MakeNewUser("alice@example.com", "phone");
    MfaSDK::VerificationResult verification;
    String token, code;
    EQUAL(sdk.StartVerification(user, "app", "abcdef"), Status::OK);
    EQUAL(sdk.FinishVerification(user, "123456", verification), Status::OK);
    CHECK(verification.activationToken == "token" && verification.accessId == "access" &&
          verification.expireTime > 0);
    EQUAL(sdk.FinishVerification(user, "123456", token), Status::OK);
    EQUAL(token, "token");
    EQUAL(sdk.StartRegistration(user, "abcdef", "push", token), Status::OK);
    EQUAL(String(host.sent.GetStringParam("activateCode")), "token");
    EQUAL(String(host.sent.GetStringParam("pushToken")), "push");
    EQUAL(String(host.sent.GetStringParam("wid")), "abcdef");
    EQUAL(String(host.sent.GetStringParam("deviceName")), "phone");
    EQUAL(user->GetVerificationType(), MPinSDKBase::VERIFICATION_TYPE_EMAIL);
    CHECK(sdk.IsRegistrationTokenSet(user));
    EQUAL(sdk.SetRegistrationToken(user, "rest"), Status::FLOW_ERROR);
    EQUAL(sdk.ConfirmRegistration(user), Status::OK);

    /* Registers with two factors. Before that, a malformed third one is refused, and none of the three may be kept. */
    MfaSDK::MultiFactor factors("1234"), wrong("1234");
    factors.push_back("7788");
    wrong.push_back("7788");
    wrong.push_back("none");
    EQUAL(sdk.FinishRegistration(user, wrong), Status::PIN_INVALID);
    EQUAL(sdk.FinishRegistration(user, factors), Status::OK);
    EQUAL(user->GetPinLength(), 4);
    EQUAL(sdk.StartAuthentication(user, ""), Status::OK);
    EQUAL(sdk.FinishAuthentication(user, "1234", ""), Status::INCORRECT_PIN);
    EQUAL(sdk.StartAuthentication(user, ""), Status::OK);
    EQUAL(sdk.FinishAuthentication(user, factors, "", code), Status::OK);
    EQUAL(code, "authz-code");
    CHECK(sdk.CanLogout(user) && sdk.Logout(user) && !sdk.CanLogout(user));
    EQUAL(sdk.GetAccessCode(FAKE_HOST_URL "/authorize", code), Status::OK);
    EQUAL(code, "abcdef");
    MfaSDK::SessionDetails session;
    EQUAL(sdk.GetSessionDetails(code, session), Status::OK);
    CHECK(session.registerOnly && session.clientId == "i" && session.redirectURI == "/r" &&
          session.prerollId == "alice" && session.customerIconUrl == "/c");
    EQUAL(sdk.StartAuthentication(user, code), Status::OK);
    EQUAL(sdk.FinishAuthentication(user, factors, code), Status::OK);

    MfaSDK::RegCode regCode;
    EQUAL(sdk.StartAuthenticationRegCode(user), Status::OK);
    EQUAL(sdk.FinishAuthenticationRegCode(user, factors, regCode), Status::OK);
    CHECK(regCode.status == Status::OK && regCode.otp == "123456" && regCode.ttlSeconds == 60);

    MfaSDK::Signature signature;
    const String hash = sdk.HashDocument("a document");
    EQUAL(hash.size(), 32u);
    EQUAL(util::HexEncode(hash).substr(0, 8), "0d1da513");
    EQUAL(sdk.Sign(user, hash, "5678", 1893456000, signature), Status::FLOW_ERROR);
    EQUAL(sdk.StartRegistrationDVS(user, factors), Status::OK);
    EQUAL(sdk.FinishRegistrationDVS(user, "5678"), Status::OK);
    CHECK(user->CanSign());
    EQUAL(sdk.Sign(user, hash, "5678", 1893456000, signature), Status::OK);
    CHECK(signature.hash == hash && signature.u.size() == 65 && signature.v.size() == 65 &&
          signature.publicKey.size() == 128 && signature.dtas == "WyJhIl0=");
    CHECK(signature.mpinId.find("alice@example.com") != String::npos);
}

/* ---- A real mpind --------------------------------------------------------------------------------------------- */

/* An OpenID client's user logs in on this phone. The app's back end redeems the authorization code. */
static void TestAppLogin(MfaSDK &sdk, const UserPtr &user, NetworkHost &host, const String &backend) {
    const String client = "client_id=app&redirect_uri=https%3A%2F%2Fapp.example%2Flogin";
    String code, authzCode;
    EQUAL(sdk.GetAccessCode(backend + "/authorize?" + client + "&response_type=code&scope=openid&state=s"
                            "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256",
                            code), Status::OK);
    EQUAL(code.size(), 32u);
    EQUAL(sdk.StartAuthentication(user, code), Status::OK);
    EQUAL(sdk.FinishAuthentication(user, "4321", code, authzCode), Status::INCORRECT_PIN);
    EQUAL(sdk.StartAuthentication(user, code), Status::OK);
    EQUAL(sdk.FinishAuthentication(user, "1234", code, authzCode), Status::OK);
    EQUAL(authzCode.size(), 43u);
    StringMap headers;
    headers.Put("Content-Type", "application/x-www-form-urlencoded");
    const String form = "grant_type=authorization_code&" + client + "&code=" + authzCode +
                        "&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    for (int i = 0; i < 2; ++i) {
        const Answer answer = host.Serve("POST", backend + "/oidc/token", headers, form);
        EQUAL(answer.status, i ? 400 : 200);
        CHECK((answer.data.find("\"id_token\"") == String::npos) == (i == 1));
    }
}

static void TestRealServer(const String &backend) {
    NetworkHost host;
    Context context(host);
    MfaSDK sdk;
    StringMap config;
    config.Put(MfaSDK::CONFIG_BACKEND, backend);
    EQUAL(sdk.Init(config, &context), Status::OK);
    const UserPtr user = sdk.MakeNewUser("mfa-core@example.com");
    EQUAL(sdk.StartRegistration(user, "", ""), Status::OK);
    EQUAL(user->GetState(), User::ACTIVATED);
    EQUAL(sdk.ConfirmRegistration(user), Status::OK);
    EQUAL(sdk.FinishRegistration(user, "1234"), Status::OK);
    EQUAL(sdk.StartAuthentication(user, ""), Status::OK);
    EQUAL(sdk.FinishAuthentication(user, "1234", ""), Status::OK);
    EQUAL(sdk.StartAuthentication(user, ""), Status::OK);
    EQUAL(sdk.FinishAuthentication(user, "4321", ""), Status::INCORRECT_PIN);
    MfaSDK::OTP otp;
    EQUAL(sdk.StartAuthenticationOTP(user), Status::OK);
    EQUAL(sdk.FinishAuthenticationOTP(user, "1234", otp), Status::OK);
    CHECK(otp.status == Status::OK && otp.otp.size() == 6);

    char line[256] = "";
    FILE *browser = popen(String().Format("./browser.sh '%s' getQrUrl", backend.c_str()).c_str(), "r");
    CHECK(browser && fgets(line, sizeof line, browser));
    String code = String(line).Trim();
    code.erase(0, code.find('#') + 1);
    MfaSDK::SessionDetails session;
    EQUAL(sdk.GetSessionDetails(code, session), Status::OK);
    EQUAL(sdk.StartAuthentication(user, code), Status::OK);
    EQUAL(sdk.FinishAuthentication(user, "1234", code), Status::OK);
    CHECK(browser && pclose(browser) == 0);
    TestAppLogin(sdk, user, host, backend);
    sdk.DeleteUser(user);
    EQUAL(user->GetState(), User::INVALID);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    TestJsonObject();
    TestNoJson();
    TestElements();
    TestUtilities();
    TestRecording(RECORDING);
    TestWrittenServer();
    TestRealServer(argv[1]);
    cout << "old_mfa_test: " << passed << " cases: " << !failed << " passed, " << !!failed << " failed\n";
    return failed ? 1 : 0;
}
