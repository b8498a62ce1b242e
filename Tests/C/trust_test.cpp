/* Tests the C++ class of MIRACL Trust projects with a real server, whose base URL is the argument. The project `codes`
 * mails codes of six digits to the folder in the variable MAILS. */

#include "cxx_check.h"
#include "trust_sdk.h"

#include <dirent.h>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

typedef TrustSDK::String String;
typedef TrustSDK::Status Status;
typedef TrustSDK::User User;
typedef TrustSDK::UserPtr UserPtr;

static std::string url, folder;

/* ---- Mails and pages ------------------------------------------------------------------------------------------ */

/* A line of six digits; empty if there is none. */
static std::string CodeIn(const std::string &path) {
    std::ifstream mail(path);
    for (std::string line; std::getline(mail, line);) {
        while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
        if (line.size() == 6 && line.find_first_not_of("0123456789") == std::string::npos) return line;
    }
    return "";
}

/* The code in the only mail that has one, which may be on its way; removes the mail. Other programs' mails may be there. */
static String MailedCode() {
    const std::string mails = std::getenv("MAILS");
    for (int i = 0; i < 600; ++i, usleep(50000)) {
        DIR *found = opendir(mails.c_str());
        for (dirent *entry; found && (entry = readdir(found));) {
            const std::string name = entry->d_name, path = mails + "/" + name;
            if (name.size() < 4 || name.substr(name.size() - 4) != ".eml") continue;
            const std::string code = CodeIn(path);
            if (code.empty()) continue;
            unlink(path.c_str());
            closedir(found);
            return code;
        }
        if (found) closedir(found);
    }
    return "";
}

/* POSTs a JSON object as a page of the project, and returns the text of a member of the answer. */
static String Post(const std::string &path, const std::string &body, const std::string &member) {
    const std::string command = "curl -fsS -H 'Content-Type: application/json' -H 'X-MIRACL-CID: codes' -d '" + body +
                                "' '" + (path[0] == '/' ? url : "") + path + "'";
    std::string answer;
    FILE *curl = popen(command.c_str(), "r");
    char part[512];
    for (size_t n; curl && (n = fread(part, 1, sizeof part, curl)) > 0;) answer.append(part, n);
    CHECK(curl && pclose(curl) == 0);
    const std::string mark = "\"" + member + "\":\"";
    const size_t start = answer.find(mark);
    if (start == std::string::npos) return "";
    std::string text = answer.substr(start + mark.size(), answer.find('"', start + mark.size()) - start - mark.size());
    for (size_t slash; (slash = text.find("\\/")) != std::string::npos;) text.erase(slash, 1);
    return text;
}

/* ---- Tests ---------------------------------------------------------------------------------------------------- */

static void Open(TrustSDK &sdk, const char *store) {
    OK(sdk.Init(folder + "/" + store));
    OK(sdk.SetProject("codes", url, "a test"));
}

static UserPtr Registered(TrustSDK &sdk, const String &id) {
    TrustSDK::VerificationResponse mail;
    TrustSDK::ActivationTokenResponse activation;
    UserPtr user;
    OK(sdk.SendVerificationEmail(id, mail));
    CHECK(mail.method == TrustSDK::VerificationResponse::CODE && mail.backoff > time(NULL));
    OK(sdk.GetActivationToken(id, MailedCode(), activation));
    CHECK(activation.projectId == "codes" && activation.userId == id && !activation.activationToken.empty());
    OK(sdk.Register(
        id, activation.activationToken, [](int digits) { return digits == 4 ? "1234" : ""; }, user));
    return user;
}

static void TestBeforeTheStart() {
    TrustSDK sdk;
    std::vector<UserPtr> users;
    UserPtr user;
    String jwt;
    STATUS(sdk.SetProject("codes", url), Status::FLOW_ERROR);
    STATUS(sdk.GetUsers(users), Status::FLOW_ERROR);
    STATUS(sdk.Authenticate(user, "1234", jwt), Status::FLOW_ERROR);
    OK(sdk.Init(folder + "/none"));
    STATUS(sdk.SetProject("", url), Status::INVALID_ARGUMENT);
    STATUS(sdk.SetProject("codes", "http://service.example.com"), Status::UNTRUSTED_DOMAIN_ERROR);
}

static void TestRegistration(TrustSDK &sdk) {
    TrustSDK::VerificationResponse mail;
    TrustSDK::ActivationTokenResponse activation;
    UserPtr user;
    OK(sdk.SendVerificationEmail("alice@example.com", mail));
    const String code = MailedCode();
    STATUS(sdk.SendVerificationEmail("alice@example.com", mail), Status::REQUEST_BACKOFF);
    CHECK(sdk.GetErrorDetails().retryAt == mail.backoff && sdk.GetErrorDetails().code == "REQUEST_BACKOFF");
    STATUS(sdk.GetActivationToken("alice@example.com", "no code", activation), Status::VERIFICATION_FAILED);
    STATUS(sdk.GetActivationToken("https://example.com/", activation), Status::INVALID_ARGUMENT);
    OK(sdk.GetActivationToken("alice@example.com", code, activation));
    OK(sdk.StartRegistration("alice@example.com", activation.activationToken, user));
    STATUS(sdk.FinishRegistration(user, "12345"), Status::PIN_INVALID);
    STATUS(sdk.FinishRegistration(user, ""), Status::PIN_INPUT_CANCELED);
    CHECK(user->GetState() == User::INVALID);
    OK(sdk.FinishRegistration(user, "1234"));
    CHECK(user->GetState() == User::REGISTERED && !user->IsRevoked() && user->GetPinLength() == 4);
    CHECK(user->GetUserId() == "alice@example.com" && user->GetProjectId() == "codes" && !user->GetMPinId().empty());
    STATUS(
        sdk.StartRegistration("alice@example.com", activation.activationToken, user), Status::ACTIVATION_TOKEN_INVALID);
}

static void TestLogins(TrustSDK &sdk, const UserPtr &user) {
    String jwt = "unchanged";
    STATUS(sdk.Authenticate(user, "4321", jwt), Status::INCORRECT_PIN);
    CHECK(jwt == "unchanged");
    OK(sdk.Authenticate(user, "1234", jwt));
    CHECK(std::count(jwt.begin(), jwt.end(), '.') == 2);
    OK(sdk.ChangePin(user, "1234", "9876"));
    OK(sdk.Authenticate(user, "9876", jwt));
    OK(sdk.ChangePin(user, "9876", "1234"));
    STATUS(sdk.Authenticate(UserPtr(), "1234", jwt), Status::FLOW_ERROR);
}

static void TestSessions(TrustSDK &sdk, const UserPtr &user) {
    TrustSDK::CrossDeviceSession session;
    String page = Post("/rps/v2/session", "{\"projectId\":\"codes\"}", "qrURL");
    OK(sdk.GetCrossDeviceSession(page, session));
    CHECK(session.sessionId == page.substr(page.rfind('#') + 1) && session.projectId == "codes" && session.hash.empty());
    STATUS(sdk.AuthenticateWithQRCode(user, page, "4321"), Status::INCORRECT_PIN);
    OK(sdk.AuthenticateWithQRCode(user, page, "1234"));
    OK(sdk.AuthenticateWithAppLink(user, Post("/rps/v2/session", "{\"projectId\":\"codes\"}", "qrURL"), "1234"));
    util::StringMap payload;
    payload["userID"] = user->GetUserId();
    STATUS(sdk.AuthenticateWithNotificationPayload(payload, "1234"), Status::INVALID_ARGUMENT);
    payload["qrURL"] = Post("/rps/v2/session", "{\"projectId\":\"codes\"}", "qrURL");
    payload["projectID"] = "another";
    STATUS(sdk.AuthenticateWithNotificationPayload(payload, "1234"), Status::PROJECT_MISMATCH);
    payload.erase("projectID");
    OK(sdk.AuthenticateWithNotificationPayload(payload, "1234"));
    payload["userID"] = "nobody@example.com";
    STATUS(sdk.AuthenticateWithNotificationPayload(payload, "1234"), Status::USER_NOT_FOUND);
    OK(sdk.AbortCrossDeviceSession(Post("/rps/v2/session", "{\"projectId\":\"codes\"}", "qrURL")));
    STATUS(sdk.AbortCrossDeviceSession("https://example.com/#none"), Status::SESSION_INVALID);
    STATUS(sdk.GetCrossDeviceSession("https://example.com/#none", session), Status::SESSION_INVALID);
}

static void TestSignatures(TrustSDK &sdk, const UserPtr &user) {
    const String hash(32, '\x07');
    TrustSDK::Signature signature;
    TrustSDK::CrossDeviceSession session;
    STATUS(sdk.Sign(user, "", "1234", signature), Status::INVALID_ARGUMENT);
    STATUS(sdk.Sign(user, hash, "4321", signature), Status::INCORRECT_PIN);
    OK(sdk.Sign(user, hash, "1234", signature));
    CHECK(signature.hash == hash && signature.u.size() == 65 && signature.v.size() == 65);
    CHECK(signature.publicKey.size() == 128 && signature.mpinId == user->GetMPinId() && signature.timestamp > 0);
    std::string hex;
    for (int i = 0; i < 32; ++i) hex += "07";
    const String page = Post(
        "/rps/v2/session", "{\"projectId\":\"codes\",\"description\":\"a contract\",\"hash\":\"" + hex + "\"}", "qrURL");
    OK(sdk.GetCrossDeviceSession(page, session));
    CHECK(session.hash == hash && session.sessionDescription == "a contract");
    OK(sdk.SignCrossDeviceSession(user, page, session.hash, "1234"));
}

static void TestOtherDevices(TrustSDK &sdk, const UserPtr &user) {
    TrustSDK::QuickCode quick;
    TrustSDK other, imported;
    UserPtr second;
    String jwt;
    OK(sdk.GenerateQuickCode(user, "1234", quick));
    CHECK(quick.code.size() == 6 && quick.ttlSeconds > 0 && quick.expireTime > time(NULL));
    Open(other, "other");
    STATUS(
        other.Register(user->GetUserId(), "no code", [](int) { return "5678"; }, second),
        Status::ACTIVATION_TOKEN_INVALID);
    CHECK(!second);
    OK(other.Register(user->GetUserId(), quick.code, [](int) { return "5678"; }, second));
    OK(other.Authenticate(second, "5678", jwt));

    size_t count = 0;
    struct stat kept;
    const std::string path = folder + "/exported";
    OK(sdk.ExportUsers(path, count));
    CHECK(count == 1 && stat(path.c_str(), &kept) == 0 && (kept.st_mode & 0777) == 0600);
    STATUS(sdk.ExportUsers(path, count), Status::STORAGE_ERROR);
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    Open(imported, "imported");
    OK(imported.ImportUsers(text.str(), count));
    CHECK(count == 1);
    OK(imported.GetUser(user->GetUserId(), second));
    OK(imported.Authenticate(second, "1234", jwt));
}

static void TestUsers(TrustSDK &sdk) {
    std::vector<UserPtr> users;
    UserPtr user;
    Registered(sdk, "bob@example.com");
    OK(sdk.GetUsers(users));
    CHECK(users.size() == 2 && users[1]->GetUserId() == "bob@example.com");
    OK(sdk.DeleteUser(users[1]));
    OK(sdk.GetUser("bob@example.com", user));
    CHECK(!user);
    OK(sdk.GetUsers(users));
    CHECK(users.size() == 1);
}

static int Run() {
    UserPtr user;
    String jwt;
    TestBeforeTheStart();
    {
        TrustSDK sdk;
        Open(sdk, "store");
        TestRegistration(sdk);
        OK(sdk.GetUser("alice@example.com", user));
        if (failed || !user) return 1;
        TestLogins(sdk, user);
        TestSessions(sdk, user);
        TestSignatures(sdk, user);
        TestOtherDevices(sdk, user);
        TestUsers(sdk);
    }
    CHECK(user->GetUserId().empty() && user->GetState() == User::INVALID);
    TrustSDK again;
    Open(again, "store");
    OK(again.GetUser("alice@example.com", user));
    OK(again.Authenticate(user, "1234", jwt));
    return failed ? 1 : 0;
}

int main(int, char **arguments) {
    char made[] = "/tmp/trust_test.XXXXXX";
    url = arguments[1];
    folder = mkdtemp(made);
    int status = Run();
    if (std::system(("rm -rf " + folder).c_str()) != 0) status = 1;
    std::cout << "trust_test: " << passed << " cases: " << (status ? 0 : 1) << " passed, " << (status ? 1 : 0) << " failed\n";
    return status;
}
