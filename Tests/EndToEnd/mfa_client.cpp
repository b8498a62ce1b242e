/* A program for the MIRACL MFA core at a real server: registers a user who has an activation code, logs in, and gets an
 * authorization code. usage: mfa_client BACKEND CUSTOMER USER ACTIVATION_CODE ACCESS_CODE */

#include "mfa_sdk.h"

#include <iostream>

typedef MfaSDK::String String;
typedef MfaSDK::Status Status;

static bool Is(const char *step, const Status &status, Status::Code expected) {
    if (status.GetStatusCode() == expected) return true;
    std::cerr << step << ": " << status.GetStatusCodeString() << ": " << status.GetErrorMessage() << "\n";
    return false;
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    MfaSDK sdk;
    MfaSDK::StringMap config;
    config.Put(MfaSDK::CONFIG_BACKEND, argv[1]);
    sdk.SetCID(argv[2]);
    if (!Is("Init", sdk.Init(config, NULL), Status::OK)) return 1;
    const MfaSDK::UserPtr user = sdk.MakeNewUser(argv[3]);
    if (!Is("StartRegistration", sdk.StartRegistration(user, "", "", argv[4]), Status::OK)) return 1;
    if (!Is("ConfirmRegistration", sdk.ConfirmRegistration(user), Status::OK)) return 1;
    if (!Is("FinishRegistration", sdk.FinishRegistration(user, "1234"), Status::OK)) return 1;
    String code;
    if (!Is("StartAuthentication", sdk.StartAuthentication(user, argv[5]), Status::OK)) return 1;
    if (!Is("a wrong PIN", sdk.FinishAuthentication(user, "4321", argv[5]), Status::INCORRECT_PIN)) return 1;
    if (!Is("FinishAuthentication", sdk.FinishAuthentication(user, "1234", argv[5], code), Status::OK)) return 1;
    std::cout << code << "\n";
    return 0;
}
