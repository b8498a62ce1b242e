#!/usr/bin/env bash
# Starts samples of bindings/samples with a real server, and logs in to each of them in Chromium, with our client as the
# phone. Then everything ends. If KEEP=1 is in the environment, everything runs on until Ctrl-C instead, and the
# addresses are printed.
# usage: samples.sh NAME...
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"
# shellcheck source=Tests/EndToEnd/websites.sh
. "$(dirname "$0")/websites.sh"
samples=$root/bindings/samples

# Each of these starts one sample and sets NAME_url, as start_flask does.
start_apache() {
    local port modules=/usr/lib/apache2/modules
    free_ports 1
    read -r port <&"$ports"
    apache_url=http://127.0.0.1:$port
    add_client wiki --name "The wiki" --first-party true --redirect-uri "$apache_url/oidc/callback"
    mkdir "$sites/pages"
    cp "$samples/apache/index.shtml" "$sites/pages"
    cat >"$sites/apache.conf" <<END
ServerRoot $sites
Listen 127.0.0.1:$port
ServerName 127.0.0.1
User www-data
Group www-data
PidFile $sites/apache.pid
ErrorLog $sites/apache.log
$(for name in mpm_event authn_core authz_core authz_user dir include mime auth_openidc; do
        echo "LoadModule ${name}_module $modules/mod_$name.so"
    done)
DocumentRoot $sites/pages
DirectoryIndex index.shtml
TypesConfig /dev/null
AddType text/html .shtml
AddOutputFilter INCLUDES .shtml
<Directory $sites/pages>
    Options Includes
</Directory>
Include $samples/apache/site.conf
END
    ISSUER=$backend CLIENT_ID=wiki CLIENT_SECRET=$client_secret COOKIE_KEY=$(openssl rand -hex 32) SITE=$apache_url \
        /usr/sbin/apache2 -D FOREGROUND -f "$sites/apache.conf" >>"$sites/apache.log" 2>&1 &
    await_port "$port" apache
}

start_nginx() {
    local port app_port
    free_ports 2
    read -r port app_port <&"$ports"
    nginx_url=http://127.0.0.1:$port
    add_client dashboard --name "The dashboard" --forward-auth "$nginx_url"
    python3 -B "$samples/nginx/dashboard.py" "$app_port" 2>"$sites/dashboard.log" &
    mkdir "$sites/nginx"
    sed -e "s/listen 443 ssl/listen 127.0.0.1:$port/" -e '/ssl_certificate/d' -e "s/127.0.0.1:3000/127.0.0.1:$app_port/" \
        -e "s|http://127.0.0.1:8005|$backend|" -e "s|https://app.example.com|$nginx_url|" \
        -e "s/server_name app.example.com/server_name 127.0.0.1/" -e "s/Host app.example.com/Host 127.0.0.1:$port/" \
        -e "s/X-Mpin-Client app/X-Mpin-Client dashboard/" "$samples/nginx/site.conf" >"$sites/nginx/site.conf"
    cat >"$sites/nginx.conf" <<END
user www-data;
daemon off;
pid $sites/nginx.pid;
events {}
http {
    access_log off;
$(for name in client_body proxy fastcgi uwsgi scgi; do echo "    ${name}_temp_path $sites/nginx/$name;"; done)
    include $sites/nginx/site.conf;
}
END
    /usr/sbin/nginx -e "$sites/nginx.log" -c "$sites/nginx.conf" &
    await_port "$app_port" dashboard
    await_port "$port" nginx
}

# start_api: starts bindings/samples/api, unless it runs already. Its name at the provider is $audience.
start_api() {
    local port
    audience=https://orders.example
    [ -z "${api_url:-}" ] || return 0
    free_ports 1
    read -r port <&"$ports"
    api_url=http://127.0.0.1:$port
    add_client orders --name "The orders" --resource "$audience" --grant ''
    ISSUER=$backend AUDIENCE=$audience CLIENT_ID=orders CLIENT_SECRET=$client_secret PYTHONPATH=$samples/api \
        "$python" -B -m flask --app orders run --port "$port" >"$sites/api.log" 2>&1 &
    await_port "$port" api
    export MPIN_SAMPLE_API=$api_url MPIN_SAMPLE_AUDIENCE=$audience
}

# The apps of these two are started by their tests.
start_superapp() {
    start_api
    "$root/build/mpind" client add superapp --name "The super-app" --first-party true --auth-method none \
        --redirect-uri http://127.0.0.1/callback --audience "$audience" --audience "$backend" \
        --grant authorization_code --grant refresh_token --grant urn:ietf:params:oauth:grant-type:token-exchange \
        --scope openid --scope profile --scope email --scope offline_access --state-dir "$work/state" >"$sites/superapp"
    superapp_url=$api_url
}

start_providers() {
    start_api
    "$root/build/mpind" client add providers --name "The app" --first-party true --auth-method none \
        --redirect-uri http://127.0.0.1/callback --audience "$audience" --grant authorization_code --grant refresh_token \
        --scope openid --scope profile --scope email --scope offline_access --state-dir "$work/state" >"$sites/providers"
    providers_url=$api_url
}

start_server --force-activate --issuer "$backend" --behind-proxy
for name in "$@"; do "start_$name"; done

mkdir -p "$root/build/browser"
export MPIN_BACKEND=$backend MPIN_MAILS=$work/mail MPIN_PICTURES=$root/build/browser HOME=$work
export MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python PYTHONDONTWRITEBYTECODE=1
for name in "$@"; do
    address=${name}_url
    export "MPIN_SAMPLE_${name^^}=${!address}"
done
printf -v chosen ' or test_%s' "$@"
"$python" -m pytest -q -W error -p no:cacheprovider -k "${chosen# or }" "$root/Tests/EndToEnd/test_samples.py"
if [ "${KEEP:-}" = 1 ]; then
    for name in "$@"; do
        address=${name}_url
        echo "$name: ${!address}"
    done
    cat <<END
providers: ISSUER=$backend CLIENT_ID=providers STORE=$work/providers API=${api_url:-} \\
           OTHER_ISSUER=... OTHER_CLIENT_ID=... OTHER_CLIENT_SECRET=... python3 bindings/samples/providers/app.py
superapp:  ISSUER=$backend CLIENT_ID=superapp STORE=$work/superapp API=${api_url:-} AUDIENCE=${audience:-} \\
           .build/release/superapp
phone: build/mpin-cli --backend $backend --store $work/phone register you@example.com
       build/mpin-cli --backend $backend --store $work/phone login you@example.com --qr URL
Ctrl-C ends all of it.
END
    wait "$server_pid"
fi
# shellcheck disable=SC2046 # a list of process numbers
kill $(jobs -p | grep -vx "$server_pid") 2>/dev/null || true
stop_server
