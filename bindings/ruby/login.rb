#!/usr/bin/env ruby
# Registers a user, or logs one in, with libmpin through fiddle:
#
#     login.rb --backend URL --store PATH [--timeout SECONDS] register|login USER
#
# The PIN is read from standard input, one line. Never pass a PIN as an argument: all users of the machine can see it.
# Prints OK, or the name of the status that ended it, such as INCORRECT_PIN.
# Exit code: 0 OK, 1 failed, 2 wrong usage, 3 INCORRECT_PIN, 4 BLOCKED.

require "fiddle/import"
require "io/console"

# The functions and structures of mpin.h that are used.
module MPin
  extend Fiddle::Importer
  dlload ENV.fetch("MPIN_LIBRARY", "libmpin.so.1")

  OK, IDENTITY_NOT_VERIFIED, INCORRECT_PIN, USER_INVALID, USER_BLOCKED = 0, 8, 11, 0, 5
  # The first members of mpin_config. The size tells the library where they end.
  Config = struct ["size_t size", "char *storage_path", "char *storage_key_path", "char *backend"]

  extern "char *mpin_status_name(int)"
  extern "int mpin_sdk_new(void *)"
  extern "int mpin_sdk_init(void *, void *)"
  extern "int mpin_sdk_last_error(void *, char *, void *)"
  extern "int mpin_sdk_make_new_user(void *, void *, char *, char *)"
  extern "int mpin_user_get_state(void *, void *)"
  extern "int mpin_sdk_start_registration(void *, void *, char *, char *)"
  extern "int mpin_sdk_confirm_registration(void *, void *, char *)"
  extern "int mpin_sdk_finish_registration(void *, void *, char *)"
  extern "int mpin_sdk_start_authentication(void *, void *)"
  extern "int mpin_sdk_finish_authentication(void *, void *, char *, void *, char *)"
  extern "void mpin_user_free(void *)"
  extern "void mpin_sdk_free(void *)"

  # Memory of zeros for the library to write to. It is freed with the object.
  def self.room(size) = Fiddle::Pointer.malloc(size, Fiddle::RUBY_FREE).tap { |memory| memory[0, size] = "\0" * size }
end

# A user of a backend. If a call returns another status than OK, the program ends.
class Client
  def initialize(store, backend, id)
    check :new, MPin.mpin_sdk_new(out = MPin.room(Fiddle::SIZEOF_VOIDP))
    @sdk = out.ptr
    config = MPin::Config.malloc(Fiddle::RUBY_FREE)
    config.size = MPin::Config.size
    config.storage_path, config.storage_key_path, config.backend = store, nil, backend
    check :init, MPin.mpin_sdk_init(@sdk, config)
    check :make_new_user, MPin.mpin_sdk_make_new_user(@sdk, out, id, nil)
    @user = out.ptr
  end

  # Registers the user, or goes on with an interrupted registration.
  def register(seconds)
    check :start_registration, MPin.mpin_sdk_start_registration(@sdk, @user, nil, nil) if state == MPin::USER_INVALID
    deadline = Time.now + seconds
    status = MPin.mpin_sdk_confirm_registration(@sdk, @user, nil)
    while status == MPin::IDENTITY_NOT_VERIFIED && Time.now < deadline # until the user has opened the link in the mail
      sleep 0.2
      status = MPin.mpin_sdk_confirm_registration(@sdk, @user, nil)
    end
    check :confirm_registration, status
    with_pin(:finish_registration) { |pin| MPin.mpin_sdk_finish_registration(@sdk, @user, pin) }
  end

  def login
    check :start_authentication, MPin.mpin_sdk_start_authentication(@sdk, @user)
    with_pin(:finish_authentication) { |pin| MPin.mpin_sdk_finish_authentication(@sdk, @user, nil, nil, pin) }
  end

  def close
    MPin.mpin_user_free(@user)
    MPin.mpin_sdk_free(@sdk)
  end

  def state
    out = MPin.room(4)
    MPin.mpin_user_get_state(@user, out) == MPin::OK ? out[0, 4].unpack1("l") : MPin::USER_INVALID
  end

  # Prints the name of the status and the library's error text, and ends the program.
  def check(call, status)
    return if status == MPin::OK
    MPin.mpin_sdk_last_error(@sdk, text = MPin.room(512), [text.size].pack("J"))
    warn "#{call}: #{name = MPin.mpin_status_name(status)} (#{text})"
    blocked = state == MPin::USER_BLOCKED
    puts blocked ? "BLOCKED" : name
    exit blocked ? 4 : status == MPin::INCORRECT_PIN ? 3 : 1
  end

  # Reads a PIN, passes it to a call and wipes it.
  def with_pin(call)
    pin = MPin.room(16)
    warn "PIN:" if $stdin.tty?
    $stdin.tty? ? $stdin.noecho { read_line(pin) } : read_line(pin)
    status = yield pin
    pin[0, 16] = "\0" * 16
    check call, status
  end

  # Reads a line one byte at a time, because Ruby's buffer would keep a copy. A line that is too long for a PIN is cut.
  def read_line(pin)
    byte = String.new
    0.step { |i| $stdin.sysread(1, byte) == "\n" ? return : pin[[i, 14].min] = byte.ord }
  rescue EOFError # ends the line, too
  end
end

options = { "--timeout" => "300" }
options.store(ARGV.shift, ARGV.shift) while ARGV.size > 2
command, user = ARGV
unless user && %w[register login].include?(command) && options.keys.sort == %w[--backend --store --timeout]
  warn "usage: login.rb --backend URL --store PATH [--timeout SECONDS] register|login USER"
  exit 2
end
client = Client.new(options["--store"], options["--backend"], user)
command == "login" ? client.login : client.register(Integer(options["--timeout"]))
client.close
puts "OK"
