/* A program for the MIRACL MFA core at a real server: registers a user who has an activation code, and logs in to get an
 * authorization code, which it prints. usage: mfa_client BACKEND CUSTOMER USER ACTIVATION_CODE ACCESS_CODE */

#include "mfa_sdk.h"

#include <curl/curl.h>
#include <iostream>

typedef MfaSDK::String String;
typedef MfaSDK::StringMap StringMap;
typedef MfaSDK::Status Status;

/* Sends the core's requests with libcurl, as such programs do. */
class HttpRequest : public MfaSDK::IHttpRequest {
public:
    HttpRequest() : m_status(0) {}
    virtual void SetHeaders(const StringMap &headers) { m_headers = headers; }
    virtual void SetQueryParams(const StringMap &) {}
    virtual void SetContent(const String &data) { m_content = data; }
    virtual void SetTimeout(int) {}
    virtual bool Execute(Method method, const String &url) {
        CURL *curl = curl_easy_init();
        curl_slist *lines = NULL;
        for (StringMap::const_iterator i = m_headers.begin(); i != m_headers.end(); ++i)
            lines = curl_slist_append(lines, (i->first + ": " + i->second).c_str());
        curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
        if (method != GET) curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, m_content.c_str());
        if (method == PUT) curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT");
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &m_data);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Receive);
        const CURLcode code = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &m_status);
        m_error = curl_easy_strerror(code);
        curl_slist_free_all(lines);
        curl_easy_cleanup(curl);
        return code == CURLE_OK;
    }
    virtual const String &GetExecuteErrorMessage() const { return m_error; }
    virtual int GetHttpStatusCode() const { return static_cast<int>(m_status); }
    virtual const StringMap &GetResponseHeaders() const { return m_none; }
    virtual const String &GetResponseData() const { return m_data; }

private:
    static size_t Receive(char *bytes, size_t size, size_t count, void *data) {
        static_cast<String *>(data)->append(bytes, size * count);
        return size * count;
    }

    StringMap m_headers, m_none;
    String m_content, m_data, m_error;
    long m_status;
};

class Storage : public MfaSDK::IStorage {
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

class Context : public MfaSDK::IContext {
public:
    virtual MfaSDK::IHttpRequest *CreateHttpRequest() const { return new HttpRequest; }
    virtual void ReleaseHttpRequest(IN MfaSDK::IHttpRequest *request) const { delete request; }
    virtual MfaSDK::IStorage *GetStorage(MfaSDK::IStorage::Type type) const {
        return type == MfaSDK::IStorage::SECURE ? &m_secure : &m_open;
    }
    virtual MfaSDK::CryptoType GetMPinCryptoType() const { return MfaSDK::CRYPTO_NON_TEE; }

private:
    mutable Storage m_secure, m_open;
};

/* Ends the program unless the step has the expected result. */
static void Require(const char *step, const Status &status, Status::Code expected) {
    if (status == expected) return;
    std::cerr << step << ": " << status.GetStatusCodeString() << ": " << status.GetErrorMessage() << "\n";
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    Context context;
    MfaSDK sdk;
    StringMap config;
    config.Put(MfaSDK::CONFIG_BACKEND, argv[1]);
    sdk.SetCID(argv[2]);
    Require("Init", sdk.Init(config, &context), Status::OK);
    const MfaSDK::UserPtr user = sdk.MakeNewUser(argv[3]);
    Require("StartRegistration", sdk.StartRegistration(user, "", "", argv[4]), Status::OK);
    Require("ConfirmRegistration", sdk.ConfirmRegistration(user), Status::OK);
    Require("FinishRegistration", sdk.FinishRegistration(user, "1234"), Status::OK);
    String code;
    Require("StartAuthentication", sdk.StartAuthentication(user, argv[5]), Status::OK);
    Require("a wrong PIN", sdk.FinishAuthentication(user, "4321", argv[5], code), Status::INCORRECT_PIN);
    Require("StartAuthentication", sdk.StartAuthentication(user, argv[5]), Status::OK);
    Require("FinishAuthentication", sdk.FinishAuthentication(user, "1234", argv[5], code), Status::OK);
    std::cout << code << "\n";
    return 0;
}
