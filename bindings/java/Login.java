// Registers a user, or logs one in, with libmpin through JNA:
//
//     java -cp /usr/share/java/jna.jar Login.java --backend URL --store PATH [--timeout SECONDS] register|login USER
//
// The PIN is read from standard input, one line. Never pass a PIN as an argument: all users of the machine can see it.
// Prints OK, or the name of the status that ended it, such as INCORRECT_PIN.
// Exit code: 0 OK, 1 failed, 2 wrong usage, 3 INCORRECT_PIN, 4 BLOCKED.
import com.sun.jna.*;
import com.sun.jna.ptr.*;
import java.io.*;
import java.util.*;
import static java.lang.ProcessBuilder.Redirect.DISCARD;

public final class Login {
    /** The functions of mpin.h that are used. A size_t is a long, because libmpin runs on 64 bits only. */
    public interface MPin extends Library {
        int OK = 0, IDENTITY_NOT_VERIFIED = 8, INCORRECT_PIN = 11, USER_INVALID = 0, USER_BLOCKED = 5;
        String mpin_status_name(int status);
        int mpin_sdk_new(PointerByReference sdk);
        int mpin_sdk_init(Pointer sdk, Config config);
        int mpin_sdk_last_error(Pointer sdk, byte[] out, LongByReference size);
        int mpin_sdk_make_new_user(Pointer sdk, PointerByReference user, String id, String deviceName);
        int mpin_user_get_state(Pointer user, IntByReference state);
        int mpin_sdk_start_registration(Pointer sdk, Pointer user, String activateCode, String userData);
        int mpin_sdk_confirm_registration(Pointer sdk, Pointer user, String pushID);
        int mpin_sdk_finish_registration(Pointer sdk, Pointer user, Pointer pin);
        int mpin_sdk_start_authentication(Pointer sdk, Pointer user);
        int mpin_sdk_finish_authentication(Pointer sdk, Pointer user, byte[] data, LongByReference size, Pointer pin);
        void mpin_user_free(Pointer user);
        void mpin_sdk_free(Pointer sdk);

        /** The first members of mpin_config. The size tells the library where they end. */
        @Structure.FieldOrder({"size", "storage_path", "storage_key_path", "backend"})
        class Config extends Structure {
            public long size = size();
            public String storage_path, storage_key_path, backend;
        }
    }

    static final MPin mpin = Native.load(System.getenv().getOrDefault("MPIN_LIBRARY", "libmpin.so.1"), MPin.class,
        Map.of(Library.OPTION_STRING_ENCODING, "UTF-8"));
    static Pointer sdk, user;

    static int state() {
        IntByReference state = new IntByReference();
        return mpin.mpin_user_get_state(user, state) == MPin.OK ? state.getValue() : MPin.USER_INVALID;
    }

    /** For any status but OK, prints its name and the library's error text, and exits. */
    static void check(String call, int status) {
        if (status == MPin.OK) return;
        byte[] text = new byte[512];
        boolean isKnown = mpin.mpin_sdk_last_error(sdk, text, new LongByReference(text.length)) == MPin.OK;
        String name = mpin.mpin_status_name(status);
        System.err.println(call + ": " + name + (isKnown ? " (" + Native.toString(text, "UTF-8") + ")" : ""));
        System.out.println(state() == MPin.USER_BLOCKED ? "BLOCKED" : name);
        System.exit(state() == MPin.USER_BLOCKED ? 4 : status == MPin.INCORRECT_PIN ? 3 : 1);
    }

    /** Sets the terminal's echo. False if standard input is not a terminal. */
    static boolean stty(String mode) throws Exception {
        return new ProcessBuilder("stty", mode).inheritIO().redirectError(DISCARD).start().waitFor() == 0;
    }

    /** Reads a PIN, passes it to a call and wipes it. No array is used, because the garbage collector may copy it. */
    static void withPIN(String call, java.util.function.ToIntFunction<Pointer> use) throws Exception {
        Memory pin = new Memory(16);
        pin.clear();
        boolean isTerminal = stty("-echo");
        if (isTerminal) System.err.print("PIN: ");
        InputStream input = new FileInputStream(FileDescriptor.in); // without a buffer that would keep the PIN
        for (int c = input.read(), n = 0; c >= 0 && c != '\n'; c = input.read())
            if (n + 1 < pin.size()) pin.setByte(n++, (byte) c);
        if (isTerminal && stty("echo")) System.err.println();
        int status = use.applyAsInt(pin);
        pin.clear();
        check(call, status);
    }

    static void register(long seconds) throws Exception {
        if (state() == MPin.USER_INVALID) // else an interrupted registration goes on
            check("start_registration", mpin.mpin_sdk_start_registration(sdk, user, null, null));
        long end = System.nanoTime() + seconds * 1_000_000_000;
        int status = mpin.mpin_sdk_confirm_registration(sdk, user, null); // the user has to open the link in the mail
        for (; status == MPin.IDENTITY_NOT_VERIFIED && System.nanoTime() < end; Thread.sleep(200))
            status = mpin.mpin_sdk_confirm_registration(sdk, user, null);
        check("confirm_registration", status);
        withPIN("finish_registration", pin -> mpin.mpin_sdk_finish_registration(sdk, user, pin));
    }

    public static void main(String[] arguments) throws Exception {
        var words = new ArrayDeque<>(List.of(arguments));
        var options = new TreeMap<>(Map.of("--timeout", "300"));
        while (words.size() > 2) options.put(words.poll(), words.poll());
        if (words.size() != 2 || !Set.of("register", "login").contains(words.peekFirst())
            || !options.keySet().equals(Set.of("--backend", "--store", "--timeout"))) {
            System.err.println("usage: Login --backend URL --store PATH [--timeout SECONDS] register|login USER");
            System.exit(2);
        }
        var out = new PointerByReference();
        check("new", mpin.mpin_sdk_new(out));
        sdk = out.getValue();
        var config = new MPin.Config();
        config.storage_path = options.get("--store");
        config.backend = options.get("--backend");
        check("init", mpin.mpin_sdk_init(sdk, config));
        check("make_new_user", mpin.mpin_sdk_make_new_user(sdk, out, words.peekLast(), null));
        user = out.getValue();
        if (words.peekFirst().equals("register")) {
            register(Long.parseLong(options.get("--timeout")));
        } else {
            check("start_authentication", mpin.mpin_sdk_start_authentication(sdk, user));
            withPIN("finish_authentication", pin -> mpin.mpin_sdk_finish_authentication(sdk, user, null, null, pin));
        }
        mpin.mpin_user_free(user);
        mpin.mpin_sdk_free(sdk);
        System.out.println("OK");
    }
}
