import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * FlinkCEP's side of bench/patterns_flink.py: a local environment, parallelism 1, heap state, the events in memory.
 *
 * Arguments: file of events (lines "kind milliseconds", in order of arrival), structure (ABC or AB+C), policy (stnm or
 * stam), window in ms (inclusive), watermark interval in ms, bound of disorder in ms, number of patterns, file of answers
 * or "-". With a file the events are sent one a millisecond, and the file has a line for each match: times of its events
 * with commas, when it was answered and when its last event was sent, in microseconds since the first event. Prints JSON.
 */
public class FlinkPatterns {
    static char[] kinds;
    static long[] times;
    static final AtomicLong FOUND = new AtomicLong();
    static final AtomicLong LEAST_ANSWER = new AtomicLong();
    static volatile long seen;
    static long newest;
    static long bound;
    static boolean isPaced;
    static long began;
    static long[] sent;
    static final StringBuilder ANSWERS = new StringBuilder();

    public static class Happening {
        public char kind;
        public long ms;

        public Happening() {}

        public Happening(char kind, long ms) {
            this.kind = kind;
            this.ms = ms;
        }
    }

    static class Is extends SimpleCondition<Happening> {
        final char kind;

        Is(char kind) {
            this.kind = kind;
        }

        @Override
        public boolean filter(Happening event) {
            return event.kind == kind;
        }
    }

    static class Count extends PatternProcessFunction<Happening, Long> {
        @Override
        public void processMatch(Map<String, List<Happening>> match, Context context, Collector<Long> out) {
            FOUND.incrementAndGet();
            if (isPaced) {
                long now = System.nanoTime();
                long latest = 0;
                StringBuilder times = new StringBuilder();
                for (String step : List.of("a", "b", "c")) {
                    for (Happening event : match.get(step)) {
                        times.append(times.length() == 0 ? "" : ",").append(event.ms);
                        latest = Math.max(latest, sent[(int) event.ms]);
                    }
                }
                ANSWERS.append(times).append(' ').append((now - began) / 1000);
                ANSWERS.append(' ').append((latest - began) / 1000).append('\n');
            }
            long last = match.get("c").get(0).ms;
            // Event time seen by now; what the end of the stream flushes has waited for nothing.
            if (last < newest - bound && seen - last < LEAST_ANSWER.get()) {
                LEAST_ANSWER.set(seen - last);
            }
        }
    }

    static Pattern<Happening, ?> pattern(String structure, boolean any, long withinMs) {
        Pattern<Happening, Happening> a =
                Pattern.<Happening>begin("a", AfterMatchSkipStrategy.noSkip()).where(new Is('a'));
        Pattern<Happening, Happening> b = (any ? a.followedByAny("b") : a.followedBy("b")).where(new Is('b'));
        if (structure.equals("AB+C")) {
            b = any ? b.oneOrMore().allowCombinations() : b.oneOrMore();
        }
        Pattern<Happening, Happening> c = (any ? b.followedByAny("c") : b.followedBy("c")).where(new Is('c'));
        return c.within(Duration.ofMillis(withinMs + 1)); // Flink's window is exclusive
    }

    static Happening next(int index) {
        if (isPaced) {
            if (index == 0) {
                began = System.nanoTime();
            }
            for (long left; (left = began + index * 1_000_000L - System.nanoTime()) > 0; ) {
                LockSupport.parkNanos(left);
            }
            sent[(int) times[index]] = System.nanoTime();
        }
        seen = Math.max(seen, times[index]);
        return new Happening(kinds[index], times[index]);
    }

    static void run(String[] args, int count) throws Exception {
        Configuration configuration = new Configuration();
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1, configuration);
        env.getConfig().setAutoWatermarkInterval(Long.parseLong(args[4]));
        env.getConfig().enableObjectReuse();
        if (isPaced) {
            env.setBufferTimeout(0); // an event is sent at once
        }
        long boundMs = Long.parseLong(args[5]);
        bound = boundMs;
        WatermarkStrategy<Happening> strategy =
                boundMs == 0
                        ? WatermarkStrategy.forMonotonousTimestamps()
                        : WatermarkStrategy.forBoundedOutOfOrderness(Duration.ofMillis(boundMs));
        SingleOutputStreamOperator<Happening> events =
                env.fromSequence(0, count - 1)
                        .map(index -> next(index.intValue()))
                        .returns(Happening.class)
                        .assignTimestampsAndWatermarks(
                                strategy.withTimestampAssigner((event, before) -> event.ms))
                        .filter(event -> event.kind <= 'c');
        for (int number = 0; number < Integer.parseInt(args[6]); number++) {
            long withinMs = Long.parseLong(args[3]) + number;
            CEP.pattern(events, pattern(args[1], args[2].equals("stam"), withinMs))
                    .process(new Count())
                    .sinkTo(new DiscardingSink<>());
        }
        env.execute();
    }

    public static void main(String[] args) throws Exception {
        List<String> lines = Files.readAllLines(Path.of(args[0]));
        kinds = new char[lines.size()];
        times = new long[lines.size()];
        for (int number = 0; number < kinds.length; number++) {
            kinds[number] = lines.get(number).charAt(0);
            times[number] = Long.parseLong(lines.get(number).substring(2));
            newest = Math.max(newest, times[number]);
        }
        run(args, Math.min(kinds.length, 5_000)); // warm: classes, compiler, local cluster
        isPaced = !args[7].equals("-");
        sent = new long[(int) newest + 1];
        FOUND.set(0);
        LEAST_ANSWER.set(1_000_000_000);
        seen = 0;
        var system =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = system.getProcessCpuTime();
        long wall = System.nanoTime();
        run(args, kinds.length);
        if (isPaced) {
            Files.writeString(Path.of(args[7]), ANSWERS);
        }
        System.out.printf(
                "{\"cpu_s\": %.3f, \"wall_s\": %.3f, \"matches\": %d, \"answer_ms\": %d}%n",
                (system.getProcessCpuTime() - cpu) / 1e9,
                (System.nanoTime() - wall) / 1e9,
                FOUND.get(),
                LEAST_ANSWER.get());
    }
}
