package function

import (
	"fmt"
	"math"
	"strings"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// estimates are upper bounds of what functions make of their arguments, for those
// that make much of little and for those that follow values to their leaves.
// Arguments have the right types when an estimate is asked for.
var estimates = func() map[string]func(l *Library, args []any) (int64, error) {
	found := map[string]func(l *Library, args []any) (int64, error){
		"repeat": func(_ *Library, args []any) (int64, error) {
			return product(count(args[0]), size(args[1])), nil
		},
		"until": func(l *Library, args []any) (int64, error) {
			return 0, l.Elements(steps(0, count(args[0]), 1))
		},
		"untilStep": func(l *Library, args []any) (int64, error) {
			return 0, l.Elements(steps(count(args[0]), count(args[1]), count(args[2])))
		},
		"seq": sequence,
		"replace": func(_ *Library, args []any) (int64, error) {
			times := int64(strings.Count(text(args[2]), text(args[0])))
			return size(args[2]) + product(times, size(args[1])), nil
		},
		"join": func(l *Library, args []any) (int64, error) {
			w, err := l.Measure(args[1])
			return 2*w.Bytes + product(w.Nodes, size(args[0])), err
		},
		"wrap":     func(_ *Library, args []any) (int64, error) { return 2 * size(args[1]), nil },
		"wrapWith": func(_ *Library, args []any) (int64, error) { return product(size(args[2]), size(args[1])+1), nil },
		"concat": func(_ *Library, args []any) (int64, error) {
			var bytes int64
			for _, list := range args {
				bytes += shallow(list)
			}
			return bytes, nil
		},
	}
	for _, name := range strings.Fields("indent nindent") {
		found[name] = func(_ *Library, args []any) (int64, error) {
			return size(args[1]) + product(count(args[0]), int64(strings.Count(text(args[1]), "\n")+1)), nil
		}
	}
	for _, name := range strings.Fields("trimAll trimall") {
		found[name] = func(l *Library, args []any) (int64, error) {
			// Each character of the text may be looked for among all that are cut.
			return 0, l.Work(product(size(args[0]), size(args[1])) / 64)
		}
	}
	for _, name := range strings.Fields("split splitList splitn") {
		found[name] = func(l *Library, args []any) (int64, error) {
			return 0, l.Elements(int64(strings.Count(text(args[len(args)-1]), text(args[0])) + 1))
		}
	}
	for _, name := range strings.Fields("randAlphaNum randAlpha randAscii randNumeric randBytes") {
		found[name] = func(_ *Library, args []any) (int64, error) { return random(count(args[0])) }
	}
	for _, name := range strings.Fields("append push mustAppend mustPush prepend mustPrepend") {
		found[name] = func(_ *Library, args []any) (int64, error) { return shallow(args[0]) + 16, nil }
	}
	// These print or copy values with everything in them.
	for _, name := range strings.Fields(`quote squote toString toStrings cat sortAlpha print println html js urlquery toDecimal
		deepCopy mustDeepCopy merge mergeOverwrite mustMerge mustMergeOverwrite deepEqual has mustHas without mustWithout uniq mustUniq`) {
		found[name] = func(l *Library, args []any) (int64, error) {
			w, err := l.Measure(args...)
			return 2 * w.Bytes, err
		}
	}
	return found
}()

func count(arg any) int64 {
	n, _ := operand.Integer(arg)
	return n
}

func text(arg any) string {
	switch arg := arg.(type) {
	case string:
		return arg
	case operand.File:
		return string(arg)
	}
	return ""
}

func size(arg any) int64 { return int64(len(text(arg))) }

// product multiplies without overflow.
func product(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > math.MaxInt64/b/2 {
		return math.MaxInt64 / 2
	}
	return a * b
}

// steps is how many numbers there are from start to stop.
func steps(start, stop, step int64) int64 {
	// A step near the largest integers leads beyond them, and around again.
	const most = 1 << 61
	if max(start, stop, step) > most || min(start, stop, step) < -most {
		return math.MaxInt64 / 4
	}
	if step == 0 {
		step = 1
	}
	return int64(math.Min(math.Abs(float64(stop)-float64(start))/math.Abs(float64(step)), math.MaxInt64/4)) + 1
}

func sequence(l *Library, args []any) (int64, error) {
	switch len(args) {
	case 1:
		return 0, l.Elements(steps(1, count(args[0]), 1))
	case 2:
		return 0, l.Elements(steps(count(args[0]), count(args[1]), 1))
	case 3:
		return 0, l.Elements(steps(count(args[0]), count(args[2]), count(args[1])))
	}
	return 0, nil
}

// maxRandom bounds one random text, which is slow to make.
const maxRandom = 64 << 10

func random(n int64) (int64, error) {
	if n > maxRandom || n < 0 {
		return 0, &failure.Refusal{Reason: fmt.Sprintf("random texts have at most %d characters", maxRandom)}
	}
	return n, nil
}

func (l *Library) sprint(args ...any) string { return fmt.Sprint(args...) }

func (l *Library) sprintln(args ...any) string { return fmt.Sprintln(args...) }
