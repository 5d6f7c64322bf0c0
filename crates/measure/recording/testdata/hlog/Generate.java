// Writes the interval logs of this folder and prints what the Java library says of them.
//
//   javac -cp HdrHistogram-<version>.jar -d out Generate.java
//   java -cp HdrHistogram-<version>.jar:out Generate <log> <plain|tagged|coarse|double>
//
// v0.hlog: HdrHistogram 1.2.1, plain; v1.hlog: 2.1.4, plain; v2.hlog: 2.2.2, plain; the others: 2.2.2, of their names. The old
// releases want javax.xml.bind, which Java has lost: a class DatatypeConverter there with printBase64Binary and
// parseBase64Binary will do. The values are those of a linear congruential generator: see `value`.
import java.io.*;
import java.util.*;
import org.HdrHistogram.*;

public class Generate {
    static long state = 42;

    // Knuth's MMIX constants. Nanoseconds from 40 us to about 1 s, most of them small.
    static long value() {
        state = state * 6364136223846793005L + 1442695040888963407L;
        long a = (state >>> 33) % 1000;
        long b = (state >>> 43) % 1000;
        return 40_000 + a * b * (1 + (a % 17 == 0 ? 999 : 0));
    }

    public static void main(String[] arguments) throws Exception {
        String kind = arguments[1];
        PrintStream out = new PrintStream(arguments[0], "UTF-8");
        HistogramLogWriter writer = new HistogramLogWriter(out);
        writer.outputComment("[Written by Generate.java, " + kind + "]");
        writer.outputLogFormatVersion();
        long start = 1_700_000_000_000L;
        writer.outputStartTime(start);
        writer.outputLegend();
        Histogram all = new Histogram(3_600_000_000_000L, 3);
        for (int interval = 0; interval < 3; interval++) {
            double from = interval, to = interval + 1;
            if (kind.equals("double")) {
                DoubleIntervals.write(writer, from, to, all);
                continue;
            }
            String[] tags = kind.equals("tagged") ? new String[] {null, "GET", "POST"} : new String[] {null};
            for (String tag : tags) {
                Histogram histogram = kind.equals("coarse")
                    ? new Histogram(1_000, 3_600_000_000_000L, 2) : new Histogram(3_600_000_000_000L, 3);
                for (int i = 0; i < 300; i++) {
                    long value = value();
                    histogram.recordValue(value);
                    all.recordValue(value);
                }
                if (tag != null) {
                    Histogram.class.getMethod("setTag", String.class).invoke(histogram, tag);
                }
                writer.outputIntervalHistogram(from, to, histogram);
            }
        }
        out.close();
        // Read back by the library itself, so that buckets are those of the log.
        HistogramLogReader reader = new HistogramLogReader(arguments[0]);
        Map<String, Histogram> read = new TreeMap<>();
        read.put("all", new Histogram(3_600_000_000_000L, 3));
        for (;;) {
            Object next = reader.nextIntervalHistogram();
            if (next == null) {
                break;
            }
            if (!(next instanceof Histogram)) {
                DoubleIntervals.read(next);
                continue;
            }
            Histogram histogram = (Histogram) next;
            read.get("all").add(histogram);
            if (kind.equals("tagged")) {
                Object tag = Histogram.class.getMethod("getTag").invoke(histogram);
                read.computeIfAbsent("tag " + tag, t -> new Histogram(3_600_000_000_000L, 3)).add(histogram);
            }
        }
        for (Map.Entry<String, Histogram> entry : read.entrySet()) {
            Histogram h = entry.getValue();
            System.out.println(arguments[0] + " " + entry.getKey() + ": count " + h.getTotalCount() + ", p50 "
                + h.getValueAtPercentile(50) + ", p99 " + h.getValueAtPercentile(99) + ", max " + h.getMaxValue()
                + ", mean " + h.getMean());
        }
    }

    // DoubleHistogram is younger than the first releases: looked up when it is used.
    static class DoubleIntervals {
        static Object sum;

        static void write(HistogramLogWriter writer, double from, double to, Histogram all) throws Exception {
            Class<?> kind = Class.forName("org.HdrHistogram.DoubleHistogram");
            Object histogram = kind.getConstructor(int.class).newInstance(3);
            for (int i = 0; i < 300; i++) {
                kind.getMethod("recordValue", double.class).invoke(histogram, value() / 1e6);
            }
            for (java.lang.reflect.Method method : HistogramLogWriter.class.getMethods()) {
                if (method.getName().equals("outputIntervalHistogram") && method.getParameterCount() == 4) {
                    method.invoke(writer, from, to, histogram, 1.0);
                }
            }
        }

        static void read(Object histogram) throws Exception {
            Class<?> kind = histogram.getClass();
            if (sum == null) {
                sum = kind.getConstructor(int.class).newInstance(3);
            }
            kind.getMethod("add", kind).invoke(sum, histogram);
            System.out.println("double: count " + kind.getMethod("getTotalCount").invoke(sum) + ", p50 "
                + kind.getMethod("getValueAtPercentile", double.class).invoke(sum, 50.0) + ", p99 "
                + kind.getMethod("getValueAtPercentile", double.class).invoke(sum, 99.0) + ", max "
                + kind.getMethod("getMaxValue").invoke(sum));
        }
    }
}
